// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ctl_bth.cc - context ids, and the BTH of packets that MRC 1.0 knows.
#include "ctl_rig.h"

namespace {

class ctl_bth : public ctl_rig {};

// ---- MRC 1.0's context ids: ours first, as the peer's is in its packets ----

TEST_F(ctl_bth, context_ids_name_both_ends)
{
    rig_cfg k = defaults();

    k.rx.sqpn = 0x123456;
    k.rx.dqpn = 0xabcdef;
    make(k);
    take(write_only(2000));
    trim(2001);
    c.pto.owed = true;
    u32 seen = 0;
    for (const mrc_txop &t : tx_all()) {
        const auto &u = t.hdr.u;

        EXPECT_EQ(t.hdr.dqpn, 0xabcdefu);
        if (t.hdr.opcode == MRC_OPC_SACK) {
            EXPECT_EQ(u.sack.spdcid, 0x3456);
            EXPECT_EQ(u.sack.dpdcid, 0xcdef);
            seen |= 1;
        } else if (t.hdr.opcode == MRC_OPC_NACK) {
            EXPECT_EQ(u.nack.spdcid, 0x3456);
            EXPECT_EQ(u.nack.dpdcid, 0xcdef);
            seen |= 2;
        } else if (t.hdr.opcode == MRC_OPC_PROBE) {
            EXPECT_EQ(u.probe.spdcid, 0x3456);
            EXPECT_EQ(u.probe.dpdcid, 0xcdef);
            seen |= 4;
        }
    }
    EXPECT_EQ(seen, 7u);
}

// ---- MRC 1.0's data packets ----

// Byte 1 of BTH is zero: SE is at another bit for others, PadCnt is passed by.
TEST_F(ctl_bth, mrc_only_has_a_plain_bth)
{
    for (bool unpadded : {true, false}) {
        rig_cfg k = defaults();
        u8 b[MRC_HDR_MAX];

        k.rx.mrc_only = true;
        k.tx.unpadded = unpadded;
        make(k);
        ASSERT_EQ(post(MRC_OP_WRITE_IMM, 1021, MRC_WR_SOLICITED), 0);
        ASSERT_EQ(post(MRC_OP_WRITE_IMM, 1025, MRC_WR_SOLICITED), 0);
        auto v = tx_data();
        ASSERT_EQ(v.size(), 3u);
        for (const mrc_txop &t : v) {
            ASSERT_GT(mrc_wire_build(b, sizeof(b), &t.hdr), 0);
            EXPECT_EQ(b[1], unpadded ? 0 : (0u - t.len & 3u) << 4);
        }
        // and lost, it is the same again
        nack(v[0], MRC_NACK_TRIMMED);
        v = tx_data();
        ASSERT_EQ(v.size(), 1u);
        EXPECT_FALSE(v[0].hdr.se);
        EXPECT_EQ(v[0].hdr.pad, unpadded ? 0 : 3);
    }
}

TEST_F(ctl_bth, ours_say_solicited_and_pad)
{
    rig_cfg k = defaults();

    k.tx.unpadded = true; // is a matter of mrc.h QPs
    make(k);
    ASSERT_EQ(post(MRC_OP_WRITE_IMM, 1021, MRC_WR_SOLICITED), 0);
    auto v = tx_data();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_TRUE(v[0].hdr.se);
    EXPECT_EQ(v[0].hdr.pad, 3);
}

// Who waits for solicited completions only must not sleep through those of mrc.h QPs.
TEST_F(ctl_bth, on_mrc_only_all_is_solicited)
{
    rig_cfg k = defaults();

    k.rx.mrc_only = true;
    make(k);
    take(data(MRC_OPC_WRITE_ONLY_IMM, 2000, 10, 10));
    auto v = cpls();
    ASSERT_EQ(v.size(), 1u);
    EXPECT_TRUE(v[0].solicited);
}

} // namespace
