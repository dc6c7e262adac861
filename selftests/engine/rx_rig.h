// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// rx_rig.h - packets that arrive at one connection, and what its SACKs say of them.
#pragma once

#include "conn_rig.h"

#include <set>

namespace {

class rx_stream : public rig {
protected:
    // The SACK that is due, if any.
    std::optional<mrc_sack> due_sack()
    {
        auto v = tx_ctrl(MRC_OPC_SACK);

        if (v.empty())
            return {};
        return v.back().hdr.u.sack;
    }
    // PSNs that a SACK says have arrived beyond cack.
    std::set<u32> said(const mrc_sack &s)
    {
        std::set<u32> v;

        for (u32 i = 0; i < 64; i++)
            if (s.bitmap >> i & 1)
                v.insert(mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(i)));
        return v;
    }
    void quiet()
    {
        rig_cfg k = defaults();

        k.rx.sack_pkts = 1000;
        k.rx.sack_bytes = 1 << 24;
        make(k);
        c.rcv.sack_pkts = 0; // the very first packet is answered: not what is looked at here
    }
};

} // namespace
