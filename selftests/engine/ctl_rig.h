// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ctl_rig.h - a connection of which only control packets matter, and what they say.
#ifndef CTL_RIG_H
#define CTL_RIG_H

#include "conn_rig.h"

#include <set>

class ctl_rig : public rig {
protected:
    rig_cfg quiet()
    {
        rig_cfg k = defaults();

        k.rx.sack_pkts = 5000;
        k.rx.sack_bytes = 1 << 30;
        return k;
    }
    void trim(u32 psn, mrc_nack how = MRC_NACK_TRIMMED)
    {
        mrc_pkt p = write_only(psn);

        p.payload_len = 0;
        p.dmalen = 0;
        p.va = 0;
        p.rkey = 0;
        p.trimmed = static_cast<u8>(how);
        rx(p);
    }
    void probe(u16 id, u16 ts = 0, u8 plane = 0)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_PROBE;
        p.plane = plane;
        p.u.probe.probe_id = id;
        p.u.probe.tx_ts = ts;
        p.ev = evs.ev[0].value;
        EXPECT_EQ(rx(p), MRC_V_DONE);
    }
    std::vector<u8> opcodes(const std::vector<mrc_txop> &v)
    {
        std::vector<u8> o;

        for (const mrc_txop &t : v)
            o.push_back(t.hdr.opcode);
        return o;
    }
    // Verifies the path of acknowledgements; when is the path set's business.
    static bool is_ev_probe(const mrc_txop &t)
    {
        return t.hdr.opcode == MRC_OPC_PROBE && t.hdr.u.probe.probe_id < MRC_PROBE_ID_EV_END;
    }
    void said(const mrc_sack &s, std::set<u32> &into)
    {
        for (u32 i = 0; i < 64; i++)
            if (s.bitmap >> i & 1)
                into.insert(mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(i)));
    }
};

#endif
