// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// port_rig.h - what tests of Port Status Updates stand on: one end, and packets of the other.
#pragma once

extern "C" {
#include "peer/mrc_port.h"
}

#include <gtest/gtest.h>

namespace {

struct port : testing::Test {
    void SetUp() override { mrc_port_init(&p, 3); }

    bool tx() { return mrc_port_tx_next(&p, now, &pkt); }
    mrc_pkt request(u32 mask, u32 id, u8 what = MRC_EP_PORT_STATUS)
    {
        mrc_pkt r = {};

        r.plane = MRC_PLANE_NONE;
        r.opcode = MRC_OPC_EP_REQ;
        r.psn = id;
        r.dqpn = MRC_QPN_ENDPOINT;
        r.u.ep.op = what;
        r.u.ep.port_status_mask = mask;
        r.u.ep.tx_ts = 77;
        return r;
    }
    mrc_pkt response(u32 id)
    {
        mrc_pkt r = {};

        r.plane = MRC_PLANE_NONE;
        r.opcode = MRC_OPC_EP_RSP;
        r.psn = id;
        r.u.ep.op = MRC_EP_PORT_STATUS;
        return r;
    }

    mrc_port p;
    mrc_pkt pkt;
    u64 now = 1000;
};

} // namespace
