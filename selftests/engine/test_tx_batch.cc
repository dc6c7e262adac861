// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_tx_batch.cc - several packets in one call, and how far they can be taken back.
#include "conn_rig.h"

namespace {

class tx_batch : public rig {
protected:
    void done(u32 psn)
    {
        sack(psn);
        ack(psn);
    }
    std::vector<mrc_txop> batch(u32 max, bool *more)
    {
        std::vector<mrc_txop> v(max);

        v.resize(mrc_conn_tx_batch(&c, now, v.data(), max, more));
        return v;
    }
    // From its last packet back to number @from.
    void undo(const std::vector<mrc_txop> &v, size_t from)
    {
        for (size_t i = v.size(); i-- > from;)
            mrc_conn_tx_undo(&c, &v[i]);
    }
};

TEST_F(tx_batch, as_many_as_wanted)
{
    bool more = false;

    make();
    post(MRC_OP_WRITE, 10 * 1024);
    auto v = batch(4, &more);
    EXPECT_EQ(psns(v), (psn_list{1000, 1001, 1002, 1003}));
    EXPECT_TRUE(more);
    v = batch(8, &more);
    EXPECT_EQ(v.size(), 6u);
}

TEST_F(tx_batch, ends_with_a_message)
{
    bool more = false;

    make();
    post(MRC_OP_WRITE, 2000);
    post(MRC_OP_SEND, 10);
    EXPECT_EQ(psns(batch(8, &more)), (psn_list{1000, 1001}));
    EXPECT_TRUE(more);
    EXPECT_EQ(psns(batch(8, &more)), psn_list{1002});
    EXPECT_TRUE(more);
    EXPECT_EQ(batch(8, &more).size(), 0u);
    EXPECT_FALSE(more);
}

// However many of it: as if they had never been asked for.
TEST_F(tx_batch, any_number_is_undone)
{
    for (size_t from = 0; from <= 3; from++) {
        bool more = false;

        make();
        post(MRC_OP_WRITE, 3 * 1024);
        post(MRC_OP_WRITE, 10);
        auto v = batch(8, &more);
        ASSERT_EQ(v.size(), 3u);
        undo(v, from);
        sound();
        EXPECT_EQ(c.stats.tx_pkts, from);
        auto again = tx_data();
        ASSERT_EQ(again.size(), 4 - from);
        for (size_t i = 0; i < again.size(); i++) {
            EXPECT_EQ(again[i].hdr.psn, 1000 + from + i);
            EXPECT_FALSE(again[i].hdr.rtx);
        }
        if (from < 3)
            EXPECT_EQ(again[0].off, from * 1024);
        done(1003);
        auto ended = cpls();
        ASSERT_EQ(ended.size(), 2u);
        EXPECT_TRUE(ended[0].status == MRC_ST_OK && ended[1].status == MRC_ST_OK);
    }
}

// What is lost leaves before what is new, in one batch, and goes back as it was.
TEST_F(tx_batch, lost_and_new_ones_are_undone)
{
    bool more = false;

    make();
    post(MRC_OP_WRITE, 3 * 1024);
    auto v = batch(2, &more);
    nack(v[0], MRC_NACK_TRIMMED);
    nack(v[1], MRC_NACK_TRIMMED);
    v = batch(8, &more);
    ASSERT_EQ(psns(v), (psn_list{1000, 1001, 1002}));
    undo(v, 0);
    sound();
    EXPECT_EQ(c.stats.rtx_trim, 0u);
    auto again = tx_data();
    EXPECT_EQ(psns(again), (psn_list{1000, 1001, 1002}));
    EXPECT_TRUE(again[0].hdr.rtx && again[1].hdr.rtx && !again[2].hdr.rtx);
}

TEST_F(tx_batch, answers_and_data)
{
    bool more = false;

    make();
    take(write_only(2000));
    post(MRC_OP_WRITE, 2000);
    auto v = batch(8, &more);
    ASSERT_GE(v.size(), 3u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ACK);
    undo(v, 0);
    sound();
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u);
}

} // namespace
