// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The bitmap of a SACK says what is here and nothing else, wherever it begins: the
// ring behind it must not show its other end. Found by selftests/fuzz.
#include <algorithm>
#include <iterator>
#include <set>

#include "conn_rig.h"

namespace {

class ctl_bitmap : public rig {
protected:
    // Every SACK owed for these packets tells the truth; returns what they told.
    std::set<u32> told(const std::set<u32> &here)
    {
        std::set<u32> all;

        for (u32 psn : here) {
            rx(write_only(psn)); // again: a SACK for it
            for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
                const mrc_sack &s = t.hdr.u.sack;

                for (u32 i = 0; i < 64; i++) {
                    u32 what = mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(i));

                    if (!(s.bitmap >> i & 1))
                        continue;
                    EXPECT_TRUE(here.count(what)) << what << " from " << s.sack_offset;
                    all.insert(what);
                }
            }
        }
        return all;
    }
};

TEST_F(ctl_bitmap, both_ends_of_the_ring)
{
    for (u8 agreed : {1, 2}) {
        rig_cfg k = defaults();
        std::set<u32> here = {2004, 2127};

        k.rx.mpr = agreed; // 2: more than our bitmap
        make(k);
        for (u32 psn : here)
            ASSERT_TRUE(take(write_only(psn)));
        EXPECT_EQ(told(here), here);
    }
}

// Over a whole window with holes, each packet is told of, and no other.
TEST_F(ctl_bitmap, every_second_packet_of_a_window)
{
    rig_cfg k = defaults();
    std::set<u32> here;

    k.conn.mpr_max = 4;
    make(k);
    for (u32 psn = 2001; psn < 2000 + 512; psn += 2) {
        ASSERT_TRUE(take(write_only(psn)));
        here.insert(psn);
    }
    EXPECT_EQ(told(here), here);
}

// A receive ring brings a batch of one plane: what lies between its packets has yet to come. The
// SACKs that leave behind the batch show all of it, at once.
TEST_F(ctl_bitmap, a_batch_of_one_plane)
{
    for (u32 planes : {2, 4, 8}) {
        rig_cfg k = defaults();
        std::set<u32> here, all;

        k.conn.mpr_max = 8;
        k.rx.sack_pkts = 4;
        make(k);
        for (u32 i = 1; i <= 64; i++) {
            ASSERT_TRUE(take(write_only(2000 + i * planes)));
            here.insert(2000 + i * planes);
        }
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
            const mrc_sack &s = t.hdr.u.sack;

            for (u32 i = 0; i < 64; i++)
                if (s.bitmap >> i & 1)
                    all.insert(mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(i)));
        }
        std::set<u32> left;
        std::set_difference(here.begin(), here.end(), all.begin(), all.end(),
                            std::inserter(left, left.end()));
        // Those behind the last trigger wait for the next one, if its bitmap ends before them.
        for (u32 psn : left)
            EXPECT_GT(psn, 2000 + 61 * planes) << planes;
        TearDown();
    }
}

// One plane of two is long: its packets come 600 PSNs later, and trigger every SACK. What the
// other one brings is told soon all the same, even by every second SACK alone: the others
// may leave by the long plane.
TEST_F(ctl_bitmap, what_comes_last_is_told_soon_whoever_triggers)
{
    rig_cfg k = defaults();
    std::set<u32> by[2];
    u32 n = 0;

    k.conn.mpr_max = 8;
    k.rx.sack_pkts = 1000;
    k.rx.sack_bytes = 1 << 30;
    make(k);
    for (u32 i = 0; i < 400; i++) {
        ASSERT_TRUE(take(write_only(2000 + 2 * i)));
        if (i < 300)
            continue;
        mrc_pkt late = write_only(2001 + 2 * (i - 300));
        late.ackreq = true;
        ASSERT_TRUE(take(late));
        for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
            const mrc_sack &s = t.hdr.u.sack;

            for (u32 b = 0; b < 64; b++)
                if (s.bitmap >> b & 1)
                    by[n & 1].insert(mrc_psn_add(s.cack, s.sack_offset + static_cast<s32>(b)));
            n++;
        }
        if (i >= 320) {
            EXPECT_TRUE(by[0].count(2000 + 2 * (i - 10))) << i;
            EXPECT_TRUE(by[1].count(2000 + 2 * (i - 10))) << i;
        }
    }
    EXPECT_GE(n, 90u);
}

// An answer owed to a packet half of all PSNs behind: ahead, once the left edge has moved.
TEST_F(ctl_bitmap, the_other_half_of_the_psn_space)
{
    make(defaults());
    rx(write_only((2000 - (1u << 23) + 8) & MRC_PSN_MASK));
    for (u32 psn = 2000; psn < 2020; psn++)
        ASSERT_TRUE(take(write_only(psn)));
    ASSERT_TRUE(take(write_only(2100)));
    u32 n = 0;
    for (const mrc_txop &t : tx_ctrl(MRC_OPC_SACK)) {
        const mrc_sack &s = t.hdr.u.sack;

        EXPECT_GE(s.sack_offset, 1);
        EXPECT_LE(s.sack_offset, 81);
        EXPECT_EQ(s.cack, 2019u);
        for (u32 i = 0; i < 64; i++)
            if (s.bitmap >> i & 1)
                EXPECT_EQ(s.cack + s.sack_offset + i, 2100u);
        n++;
    }
    EXPECT_GE(n, 1u);
}

} // namespace
