// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// loss_rig.h - a connection with packets in flight, some of which will be missed.
#pragma once

#include "conn_rig.h"

namespace {

class loss : public rig {
protected:
    // @n packets in flight, sent at `now`, and a round trip of 50 us known.
    std::vector<mrc_txop> flight(u32 n)
    {
        post(MRC_OP_WRITE, 10);
        tx_data();
        return after_a_round_trip(n);
    }
    void tick(u64 ns) { run_to(now + ns); }
};

} // namespace
