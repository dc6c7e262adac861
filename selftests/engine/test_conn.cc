// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_conn.cc - a connection as a whole: sizes, life, two of them face to face.
#include "conn_rig.h"

#include <deque>

namespace {

class conn : public rig {};

TEST_F(conn, sizes_out_of_range)
{
    mrc_conn_cfg k = {};

    EXPECT_GT(mrc_conn_mem_size(&k), 0u) << "zeroes are defaults";
    k.sq_max = 3;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.mpr_max = 64;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.rd_max = 256;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.rq_max = 2048;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    k = {};
    k.ev_active = MRC_EVS_MAX + 1;
    EXPECT_EQ(mrc_conn_mem_size(&k), 0u);
    u64 space[8];
    EXPECT_EQ(mrc_conn_init(&c, &k, space), -EINVAL);
}

TEST_F(conn, memory_per_connection)
{
    mrc_conn_cfg k = {};

    EXPECT_LE(mrc_conn_mem_size(&k) + sizeof(mrc_conn), 48u << 10);
}

TEST_F(conn, states)
{
    rig_cfg k = defaults();

    make(k);
    mrc_conn_reset(&c);
    EXPECT_EQ(post(MRC_OP_WRITE, 1), -ENOENT);
    EXPECT_EQ(rx(write_only(2000)), MRC_V_DROP);
    EXPECT_EQ(c.stats.rx_not_ready, 1u);
    EXPECT_TRUE(tx_all().empty());
    EXPECT_EQ(mrc_conn_deadline_ns(&c), MRC_TIME_NEVER);
    EXPECT_EQ(mrc_conn_set_tx(&c, &k.tx, now), -EINVAL) << "RTS before RTR";
    k.rx.psn = 2000;
    ASSERT_EQ(mrc_conn_set_rx(&c, &k.rx, now), 0);
    EXPECT_TRUE(take(write_only(2000))) << "RTR receives";
    EXPECT_EQ(tx_ctrl(MRC_OPC_ACK).size(), 1u) << "and acknowledges";
    EXPECT_EQ(post(MRC_OP_WRITE, 1), -ENOENT);
    ASSERT_EQ(mrc_conn_set_tx(&c, &k.tx, now), 0);
    EXPECT_EQ(post(MRC_OP_WRITE, 1), 0);
}

TEST_F(conn, attributes_out_of_range)
{
    rig_cfg k = defaults();
    mrc_rx_cfg r = k.rx;
    mrc_tx_cfg t = k.tx;

    make(k);
    r.mtu = 128;
    EXPECT_EQ(mrc_conn_set_rx(&c, &r, now), -EINVAL);
    r = k.rx;
    r.psn = 1 << 24;
    EXPECT_EQ(mrc_conn_set_rx(&c, &r, now), -EINVAL);
    r = k.rx;
    r.mpr = MRC_MPR_MAX + 1;
    EXPECT_EQ(mrc_conn_set_rx(&c, &r, now), -EINVAL);
    r = k.rx;
    r.rd_atomic = 5;
    EXPECT_EQ(mrc_conn_set_rx(&c, &r, now), -EINVAL);
    t.psn = 1 << 24;
    EXPECT_EQ(mrc_conn_set_tx(&c, &t, now), -EINVAL);
    t = k.tx;
    t.wimm = 17;
    EXPECT_EQ(mrc_conn_set_tx(&c, &t, now), -EINVAL);
}

TEST_F(conn, reset_and_again)
{
    make();
    post(MRC_OP_WRITE, 5000);
    post(MRC_OP_READ, 5);
    tx_all();
    take(write_only(2005));
    mrc_conn_fail(&c, MRC_ST_FLUSHED, now);
    cpls();
    mrc_conn_reset(&c);
    EXPECT_EQ(mrc_conn_failed(&c), MRC_ST_OK);
    ASSERT_EQ(mrc_conn_set_rx(&c, &cfg.rx, now), 0);
    cfg.tx.psn = 5000;
    ASSERT_EQ(mrc_conn_set_tx(&c, &cfg.tx, now), 0);
    sound();
    EXPECT_TRUE(tx_all().empty());
    next_cookie = 0;
    ASSERT_EQ(post(MRC_OP_WRITE, 10), 0);
    EXPECT_EQ(psns(tx_data()), psn_list{5000});
    sack(5000);
    ack(5000);
    EXPECT_EQ(show(cpls()), "0:0");
    EXPECT_TRUE(mrc_conn_idle(&c));
}

TEST_F(conn, control_goes_first)
{
    make();
    post(MRC_OP_WRITE, 10);
    take(write_only(2000));
    auto v = tx_all();
    ASSERT_GE(v.size(), 2u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ACK);
    EXPECT_EQ(v[0].tclass, MRC_TC_CONTROL);
    EXPECT_EQ(v.back().hdr.opcode, MRC_OPC_WRITE_ONLY);
}

// A path set of two EVs on two planes, to change to.
struct small_set {
    small_set()
    {
        mrc_evset_cfg ec = {};
        const u32 values[] = {1, 2};
        const u8 planes[] = {0, 1};

        ec.n = 2;
        ec.n_planes = 2;
        ec.planes_up = 3;
        EXPECT_EQ(mrc_evset_init(&evs, space.data(), &ec, values, planes), 0);
    }
    ~small_set() { EXPECT_EQ(mrc_evset_check(&evs), 0); }

    std::vector<u64> space = std::vector<u64>(mrc_evset_mem_size(2, false) / 8 + 1);
    mrc_evset evs = {};
};

TEST_F(conn, another_path_set)
{
    small_set other;

    make();
    post(MRC_OP_WRITE, 20 * 1024);
    auto sent = tx_data();
    mrc_conn_set_path(&c, &other.evs);
    nack(sent[19].hdr.psn, sent[19].hdr.ev, MRC_NACK_TRIMMED);
    sack(1010, 0, 1, 1010, MRC_M_SKIP_ONCE, sent[10].hdr.ev);
    run_to(now + 5 * kMs);
    auto v = tx_all();
    EXPECT_FALSE(v.empty());
    for (const mrc_txop &t : v)
        EXPECT_LT(t.ev_idx, 2);
    mrc_conn_set_path(&c, &evs);
}

// An ACK is owed when the set changes: it takes its EV of the new one before data does.
TEST_F(conn, another_path_set_in_the_midst_of_a_burst)
{
    small_set other;
    rig_cfg k = defaults();

    k.evs = 64;
    k.tx.burst = 8;
    make(k);
    post(MRC_OP_WRITE, 40 * 1024);
    auto first = tx();
    ASSERT_TRUE(first && first->ev_idx >= 2);
    take(write_only(2000));
    mrc_conn_set_path(&c, &other.evs);
    auto v = tx_all();
    ASSERT_GT(v.size(), 16u);
    EXPECT_EQ(v[0].hdr.opcode, MRC_OPC_ACK);
    for (const mrc_txop &t : v)
        EXPECT_LT(t.ev_idx, 2);
    mrc_conn_set_path(&c, &evs);
}

// Planes that held too much are planes of the old set.
TEST_F(conn, another_path_set_has_no_full_planes)
{
    small_set other;
    rig_cfg k = defaults();

    k.evs = 64;
    k.planes = 4;
    make(k);
    post(MRC_OP_WRITE, 80 * 1024);
    u64 there = 0;
    for (int i = 0; i < 40; i++)
        if (auto t = tx(); t && t->hdr.plane != 3)
            there |= 1ull << (t->hdr.psn - 1000);
    now += 50 * kUs;
    sack(999, there);
    for (int i = 0; i < 4; i++)
        tx();
    ASSERT_EQ(c.snd.full, 8u);
    mrc_conn_set_path(&c, &other.evs);
    EXPECT_FALSE(tx_data().empty());
    EXPECT_EQ(c.snd.full & ~3u, 0u);
    mrc_conn_set_path(&c, &evs);
}

TEST_F(conn, the_plane_of_a_receiver_only)
{
    make();
    take(write_only(2000));
    mrc_evset_remote_planes(&evs, 2, now);
    mrc_conn_plane_event(&c, now);
    auto v = tx_all();
    EXPECT_FALSE(v.empty());
    for (const mrc_txop &t : v)
        EXPECT_EQ(t.hdr.plane, 1);
}

TEST_F(conn, info)
{
    struct mrc_conn_info i;

    make();
    post(MRC_OP_WRITE, 2000);
    tx_data();
    mrc_conn_info(&c, &i);
    EXPECT_EQ(i.psn_next, 1002u);
    EXPECT_EQ(i.psn_una, 1000u);
    EXPECT_EQ(i.rx_cack, 1999u);
    EXPECT_EQ(i.sq_posted, 1u);
    EXPECT_EQ(i.inflight_bytes, 2000u + 2 * MRC_PKT_OVERHEAD);
    EXPECT_EQ(i.stats.tx_pkts, 2u);
}

// ---- two connections, a perfect wire, everything through the codec ----

class pair_of : public testing::Test {
protected:
    struct end {
        mrc_evset evs = {};
        mrc_conn c = {};
        std::vector<u64> evs_mem, mem;
        std::deque<std::pair<std::vector<u8>, u32>> in;
        std::string log;
    };

    void SetUp() override
    {
        for (int i = 0; i < 2; i++)
            setup(e[i], i);
    }
    void setup(end &x, int i)
    {
        const u32 values[] = {10, 20, 30, 40};
        const u8 planes[] = {0, 0, 1, 1};
        rig_cfg k = defaults();
        mrc_evset_cfg ec = {};

        ec.n = 4;
        ec.n_planes = 2;
        ec.planes_up = 3;
        x.evs_mem.resize(mrc_evset_mem_size(4, false) / 8 + 1);
        ASSERT_EQ(mrc_evset_init(&x.evs, x.evs_mem.data(), &ec, values, planes), 0);
        x.mem.resize(mrc_conn_mem_size(&k.conn) / 8 + 1);
        ASSERT_EQ(mrc_conn_init(&x.c, &k.conn, x.mem.data()), 0);
        mrc_conn_set_path(&x.c, &x.evs);
        k.rx.psn = i ? 100 : 200;
        k.tx.psn = i ? 200 : 100;
        ASSERT_EQ(mrc_conn_set_rx(&x.c, &k.rx, now), 0);
        ASSERT_EQ(mrc_conn_set_tx(&x.c, &k.tx, now), 0);
    }
    void send(end &from, end &to)
    {
        mrc_txop t;

        while (mrc_conn_tx_next(&from.c, now, &t)) {
            std::vector<u8> b(MRC_HDR_MAX);
            t.hdr.pad = static_cast<u8>(-t.len & 3);
            int n = mrc_wire_build(b.data(), MRC_HDR_MAX, &t.hdr);
            ASSERT_GT(n, 0);
            b.resize(static_cast<size_t>(n) + t.len + t.hdr.pad);
            to.in.push_back({b, t.hdr.ev});
        }
    }
    void receive(end &x)
    {
        while (!x.in.empty()) {
            auto [b, ev] = x.in.front();
            mrc_pkt p;
            mrc_rxop op;

            x.in.pop_front();
            ASSERT_EQ(mrc_wire_parse(b.data(), static_cast<u32>(b.size()), 0, &p), 0);
            p.ev = ev;
            p.udp_len = static_cast<u16>(b.size() + 12);
            if (mrc_conn_rx_begin(&x.c, &p, now, &op) == MRC_V_PLACE)
                mrc_conn_rx_commit(&x.c, &op, now);
        }
        mrc_todo does;
        while (mrc_conn_next(&x.c, &does)) {
            if (does.what == MRC_DO_EXEC)
                mrc_conn_exec_done(&x.c, does.exec.slot, 7, now);
            else if (does.what == MRC_DO_COMPLETE)
                x.log += show({does.cpl}) + " ";
        }
    }
    void run()
    {
        for (int i = 0; i < 100; i++) {
            send(e[0], e[1]);
            send(e[1], e[0]);
            now += 5 * kUs;
            receive(e[0]);
            receive(e[1]);
            for (end &x : e) {
                if (now >= mrc_conn_deadline_ns(&x.c))
                    mrc_conn_timer(&x.c, now);
                EXPECT_EQ(mrc_conn_check(&x.c), 0);
            }
        }
    }
    void post(end &x, mrc_op op, u32 len, u32 cookie)
    {
        mrc_wr wr = {};

        wr.op = op;
        wr.len = len;
        wr.cookie = cookie;
        ASSERT_EQ(mrc_conn_post(&x.c, &wr, now), 0);
    }

    end e[2];
    u64 now = 1000000;
};

TEST_F(pair_of, every_operation_both_ways)
{
    const mrc_op ops[] = {MRC_OP_WRITE, MRC_OP_WRITE_IMM, MRC_OP_SEND, MRC_OP_SEND_IMM,
                          MRC_OP_SEND_INV, MRC_OP_READ, MRC_OP_CMP_SWAP, MRC_OP_FETCH_ADD,
                          MRC_OP_LOCAL};

    for (end &x : e)
        for (u32 i = 0; i < 9; i++)
            post(x, ops[i], ops[i] >= MRC_OP_CMP_SWAP && i < 8 ? 8 : i * 700, i);
    run();
    for (end &x : e) {
        std::string sends, recvs;
        std::string word;

        for (char ch : x.log) {
            word += ch;
            if (ch == ' ') {
                (word[0] == 'r' ? recvs : sends) += word;
                word.clear();
            }
        }
        EXPECT_EQ(sends, "0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0 8:0 ");
        EXPECT_EQ(recvs, "r0:0 r1:0 r2:0 r3:0 ");
        EXPECT_TRUE(mrc_conn_idle(&x.c));
        EXPECT_EQ(mrc_conn_deadline_ns(&x.c), MRC_TIME_NEVER);
        EXPECT_EQ(x.c.stats.timeouts, 0u);
        EXPECT_EQ(x.c.stats.rx_dup, 0u);
        EXPECT_EQ(x.c.stats.rtx_rack, 0u);
    }
}

TEST_F(pair_of, a_megabyte_without_a_retransmission)
{
    post(e[0], MRC_OP_WRITE_IMM, 1 << 20, 0);
    run();
    EXPECT_EQ(e[0].log, "0:0 ");
    EXPECT_EQ(e[1].log, "r0:0 ");
    EXPECT_EQ(e[0].c.stats.tx_pkts, 1024u);
    EXPECT_LE(e[1].c.stats.sacks_sent + e[1].c.stats.acks_sent, 1024u / 4);
    EXPECT_GE(e[1].c.stats.sacks_sent, 4u);
    EXPECT_GE(e[1].c.stats.acks_sent, 1u);
}

TEST_F(conn, who_owes_a_question_is_not_idle)
{
    make();
    EXPECT_TRUE(mrc_conn_idle(&c));
    c.pto.owed = true;
    EXPECT_FALSE(mrc_conn_idle(&c));
    EXPECT_EQ(tx_ctrl(MRC_OPC_PROBE).size(), 1u);
    EXPECT_TRUE(mrc_conn_idle(&c));
}

// ---- timers ----

TEST(deadline, a_timer_follows_when_half_of_its_time_is_gone)
{
    const u64 at = 1000 * kUs;

    EXPECT_TRUE(mrc_deadline_moves(MRC_TIME_NEVER, at, 0)) << "set for nothing";
    EXPECT_FALSE(mrc_deadline_moves(at, at, 0));
    EXPECT_FALSE(mrc_deadline_moves(at, at + 100 * kUs, 100 * kUs));
    EXPECT_FALSE(mrc_deadline_moves(at, at + 499 * kUs, 499 * kUs));
    EXPECT_TRUE(mrc_deadline_moves(at, at + 501 * kUs, 501 * kUs));
    EXPECT_TRUE(mrc_deadline_moves(at, at - 1, 0)) << "nearer";
    EXPECT_TRUE(mrc_deadline_moves(at, at + 1, at + 1)) << "about to fire, or it has";
    EXPECT_TRUE(mrc_deadline_moves(at, 0, at / 2)) << "over";
    EXPECT_FALSE(mrc_deadline_moves(at, MRC_TIME_NEVER, 0)) << "left alone";
    EXPECT_FALSE(mrc_deadline_moves(MRC_TIME_NEVER, MRC_TIME_NEVER, 0));
}

} // namespace
