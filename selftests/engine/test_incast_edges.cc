// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_incast_edges.cc - the receiver's penalties at the edge of each decision, to the byte.
#include <gtest/gtest.h>

extern "C" {
#include "conn/mrc_conn.h"
#include "peer/mrc_incast.h"
}

namespace {

constexpr u64 epoch_ns = 20000;

struct incast_edges : testing::Test {
    void SetUp() override { init({}); }
    void init(const mrc_incast_cfg& cfg)
    {
        mrc_incast_init(&in, &cfg);
        in.epoch = 5;
        in.start_ns = now;
        in.senders = 2;
    }
    u8 note(u32 bytes = 0, u16 trims = 0)
    {
        mrc_incast_note n = {bytes, trims, 0};

        return mrc_incast_update(&in, &flow, &n, now, &restore);
    }
    // The penalty of a sender that brought @last bytes in the epoch before.
    u8 asked(u8 pen, u32 share, u32 last, u32 tokens = 0)
    {
        in.pen = pen;
        in.share = share;
        in.tokens = tokens;
        flow = {};
        flow.epoch = in.epoch - 1;
        flow.bytes = last;
        return note();
    }
    // An epoch of @bytes ends after @took; the link holds @full.
    void end(u64 full, u64 bytes, u64 took = epoch_ns, u32 trims = 0)
    {
        flow = {};
        in.full = full;
        in.bytes = bytes;
        in.trims = trims;
        in.senders = 2;
        in.start_ns = now - took;
        note();
    }

    mrc_incast in;
    mrc_incast_flow flow = {};
    u64 now = 1000000;
    bool restore = false;
};

TEST_F(incast_edges, half_of_the_share_is_shrunk_and_less_is_held)
{
    EXPECT_EQ(asked(16, 1000, 500), 16);
    EXPECT_EQ(asked(16, 1000, 499), 1);
    EXPECT_EQ(asked(16, 1000, 251), 1);
}

TEST_F(incast_edges, two_tokens_are_for_those_up_to_their_share)
{
    EXPECT_EQ(asked(1, 1000, 1000, 1), 0);
    EXPECT_EQ(in.tokens, 0u);
    EXPECT_EQ(asked(1, 1000, 1000, 0), 1);
    EXPECT_EQ(asked(1, 1000, 1001, 2), 1);
    EXPECT_EQ(asked(1, 1000, 1001, 3), 0) << "a link that is not full lets others grow as well";
}

TEST_F(incast_edges, more_than_four_shares_are_heavy)
{
    EXPECT_EQ(asked(1, 1000, 4003), 1);
    EXPECT_EQ(asked(1, 1000, 4004), 32);
}

TEST_F(incast_edges, only_the_epoch_before_counts)
{
    flow.epoch = in.epoch - 2;
    flow.bytes = 5000;
    note();
    EXPECT_EQ(flow.bytes_last, 0u);
    flow.epoch = in.epoch - 1;
    flow.bytes = 5000;
    note();
    EXPECT_EQ(flow.bytes_last, 5000u);
}

TEST_F(incast_edges, trims_add_up)
{
    note(1, 2);
    note(1, 3);
    EXPECT_EQ(in.trims, 5u);
}

TEST_F(incast_edges, a_full_link_is_learnt_at_once_and_forgotten_by_sixteenths)
{
    end(16000, 32000, epoch_ns, 1);
    EXPECT_EQ(in.full, 32000u);
    end(32000, 16000, epoch_ns, 1);
    EXPECT_EQ(in.full, 31000u);
    end(32000, 16000);
    EXPECT_EQ(in.full, 32000u) << "nothing is learnt without trims";
}

TEST_F(incast_edges, the_rate_bounds_it)
{
    mrc_incast_cfg cfg{};

    cfg.rate_mbps = 10000; // 25,000 bytes in 20 us
    init(cfg);
    end(0, 100000, epoch_ns, 1);
    EXPECT_EQ(in.full, 25000u);
}

TEST_F(incast_edges, four_epochs_of_silence_end_it)
{
    in.pen = 1;
    end(1000, 1000, 4 * epoch_ns);
    EXPECT_EQ(in.pen, 1);
    end(1000, 1000, 4 * epoch_ns + 1);
    EXPECT_EQ(in.pen, 0);
}

TEST_F(incast_edges, room_beyond_a_thirty_second_lets_one_more_grow)
{
    end(3200, 3100);
    EXPECT_EQ(in.tokens, 2u);
    end(3200, 3099);
    EXPECT_EQ(in.tokens, 3u);
    end(1 << 20, 0);
    EXPECT_EQ(in.tokens, 2u + (1 << 20) / 16384 + 1);
}

TEST_F(incast_edges, room_beyond_a_quarter_is_refilled)
{
    end(3200, 2400);
    EXPECT_FALSE(in.refill);
    end(3200, 2399);
    EXPECT_TRUE(in.refill);
}

TEST_F(incast_edges, it_ends_after_thirty_two_quiet_epochs_and_with_room)
{
    auto ends = [&](u32 quiet, u64 bytes) {
        in.pen = 1;
        in.quiet = quiet;
        end(3200, bytes);
        return in.pen == 0;
    };

    EXPECT_FALSE(ends(30, 2399));
    EXPECT_TRUE(ends(31, 2399)) << "the thirty-second";
    EXPECT_FALSE(ends(31, 2400)) << "a quarter and no more";
}

TEST_F(incast_edges, an_epoch_is_ten_milliseconds_at_most)
{
    mrc_incast_cfg cfg{};

    cfg.epoch_ns = ~0ull;
    init(cfg);
    EXPECT_EQ(in.cfg.epoch_ns, 10000000u);
}

TEST_F(incast_edges, the_count_of_epochs_skips_zero)
{
    in.epoch = ~0u;
    end(0, 0);
    EXPECT_EQ(in.epoch, 1u);
}

} // namespace
