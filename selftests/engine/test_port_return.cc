// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_port_return.cc - an EV probe names the switch over which its answer returns (MRC_EP_RETURN).
#include "port_rig.h"

namespace {

// The requester names a switch: only the answer to this probe is bound to it, and to the plane that the probe came by.
TEST_F(port, the_answer_returns_over_the_switch_that_the_probe_names)
{
    mrc_pkt named = request(0, 4, MRC_EP_EV_PROBE), other = request(0, 5, MRC_EP_EV_PROBE);

    named.u.ep.vendor_info = MRC_EP_RETURN;
    named.ev = 0xc1231102;
    named.plane = 1;
    other.ev = 0xc1231103;
    other.plane = 0;
    mrc_port_rx(&p, &named, now);
    mrc_port_rx(&p, &other, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.psn, 4u);
    EXPECT_EQ(pkt.plane, 1);
    EXPECT_EQ(pkt.u.ep.via, 0x1102);
    EXPECT_EQ(pkt.u.ep.vendor_info, MRC_EP_RETURN);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.psn, 5u);
    EXPECT_EQ(pkt.plane, MRC_PLANE_NONE) << "any";
    EXPECT_EQ(pkt.u.ep.via, 0);
    EXPECT_EQ(pkt.u.ep.vendor_info, 0);
}

// Neither a probe that came by no plane, nor a Port Status Update, nor another vendor's information names a switch.
TEST_F(port, what_names_no_switch)
{
    mrc_pkt r = request(0, 4, MRC_EP_EV_PROBE);

    r.u.ep.vendor_info = MRC_EP_RETURN;
    r.ev = 0xc1231102;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.via, 0) << "by no plane";
    r.plane = 1;
    r.ev = 0xc1230000;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.vendor_info, 0) << "0 is no uSID";
    EXPECT_EQ(pkt.plane, MRC_PLANE_NONE);
    r.ev = 0xc1231102;
    r.u.ep.vendor_info = 0x77;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.via, 0) << "another vendor's";
    r = request(1, 6);
    r.u.ep.vendor_info = MRC_EP_RETURN;
    r.ev = 0xc1231102;
    r.plane = 1;
    mrc_port_rx(&p, &r, now);
    ASSERT_TRUE(tx());
    EXPECT_EQ(pkt.u.ep.op, MRC_EP_PORT_STATUS);
    EXPECT_EQ(pkt.u.ep.via, 0);
}

} // namespace
