// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// pair_rig.h - two connections and a wire that the test may meddle with. Headers
// travel as structs; payload does not travel at all, so that gigabytes cost little.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "conn_rig.h"

namespace {

class pair_rig : public testing::Test {
protected:
    using wire = std::deque<mrc_pkt>;

    struct end {
        mrc_evset evs = {};
        mrc_conn c = {};
        std::vector<u64> evs_mem, mem;
        wire in;
        u32 sent_ok = 0, sent_bad = 0, received = 0; // completions, in order
        u64 placed = 0;                               // payload bytes committed
        u32 next_post = 0;
        u32 recvs = UINT32_MAX; // posted
        mrc_cpl last_recv = {};
    };

    void make(rig_cfg k = defaults())
    {
        cfg = k;
        make_end(a, k.rx_psn, k.tx_psn);
        make_end(b, k.tx_psn, k.rx_psn);
    }

    int post(end &x, mrc_op op, u32 len, u32 flags = 0)
    {
        mrc_wr wr = {};

        wr.op = op;
        wr.len = len;
        wr.flags = flags;
        wr.cookie = x.next_post;
        wr.va = 0x100000000ull;
        wr.rkey = kRkey;
        int rc = mrc_conn_post(&x.c, &wr, now);
        x.next_post += rc == 0;
        return rc;
    }

    // Everything that may leave now goes onto the other's wire, then meddle(wire).
    void send(end &from, end &to)
    {
        mrc_txop t;

        while (mrc_conn_tx_next(&from.c, now, &t)) {
            t.hdr.udp_len = static_cast<u16>(t.len + 48);
            t.hdr.payload_len = static_cast<u16>(t.len);
            to.in.push_back(t.hdr);
        }
        if (meddle)
            meddle(to.in);
    }
    void receive(end &x)
    {
        for (; !x.in.empty(); x.in.pop_front()) {
            mrc_rxop op;

            if (mrc_conn_rx_begin(&x.c, &x.in.front(), now, &op) != MRC_V_PLACE)
                continue;
            if (op.needs_rq && op.rq_idx >= x.recvs) {
                const mrc_reject none = {MRC_NACK_NO_RESOURCE, MRC_NAK_NONE};

                mrc_conn_rx_reject(&x.c, &op, &none, now);
                if (x.c.ctl.nack_n == MRC_OWED_NACKS) // they leave before more is handed in
                    send(x, &x == &a ? b : a);
                continue;
            }
            mrc_conn_rx_commit(&x.c, &op, now);
            x.placed += op.len;
        }
        settle(x);
    }
    void settle(end &x)
    {
        mrc_todo e;

        while (mrc_conn_next(&x.c, &e)) {
            if (e.what == MRC_DO_EXEC && exec_ns)
                work.push_back({now + exec_ns, &x, e.exec.slot});
            else if (e.what == MRC_DO_EXEC)
                mrc_conn_exec_done(&x.c, e.exec.slot, 7, now);
            if (e.what != MRC_DO_COMPLETE)
                continue;
            if (e.cpl.kind == MRC_CPL_RECV) {
                EXPECT_EQ(e.cpl.rq_idx, x.received);
                x.received++;
                x.last_recv = e.cpl;
            } else {
                EXPECT_EQ(e.cpl.cookie, x.sent_ok + x.sent_bad);
                (e.cpl.status == MRC_ST_OK ? x.sent_ok : x.sent_bad)++;
            }
        }
    }
    // READs and ATOMICs whose exec_ns are over.
    void execute()
    {
        for (; !work.empty() && work.front().at <= now; work.pop_front())
            mrc_conn_exec_done(&work.front().x->c, work.front().slot, 7, now);
    }
    // One round trip.
    void round()
    {
        execute();
        send(a, b);
        send(b, a);
        now += 5 * kUs;
        receive(a);
        receive(b);
        for (end *x : {&a, &b})
            if (now >= mrc_conn_deadline_ns(&x->c))
                mrc_conn_timer(&x->c, now);
    }
    // Rounds until both have nothing to do; time jumps when only a timer can help.
    bool run(u32 rounds = 10000)
    {
        for (u32 i = 0; i < rounds; i++) {
            u64 sent = a.c.stats.tx_pkts + b.c.stats.tx_pkts + a.c.stats.tx_ctrl_pkts +
                       b.c.stats.tx_ctrl_pkts;

            round();
            if (mrc_conn_idle(&a.c) && mrc_conn_idle(&b.c) && a.in.empty() && b.in.empty())
                return true;
            if (sent == a.c.stats.tx_pkts + b.c.stats.tx_pkts + a.c.stats.tx_ctrl_pkts +
                            b.c.stats.tx_ctrl_pkts)
                sleep();
            if (i % 64 == 0)
                sound();
        }
        return false;
    }
    void sleep()
    {
        u64 at = std::min(mrc_conn_deadline_ns(&a.c), mrc_conn_deadline_ns(&b.c));

        if (at != MRC_TIME_NEVER)
            now = std::max(now, at);
        mrc_conn_timer(&a.c, now);
        mrc_conn_timer(&b.c, now);
    }
    void sound()
    {
        for (end *x : {&a, &b}) {
            EXPECT_EQ(mrc_conn_check(&x->c), 0);
            EXPECT_EQ(mrc_evset_check(&x->evs), 0);
        }
    }
    void TearDown() override
    {
        if (!a.mem.empty())
            sound();
    }

    rig_cfg cfg;
    end a, b;
    u64 now = 1000000;
    u64 exec_ns = 0; // how long a READ or ATOMIC takes
    std::function<void(wire &)> meddle;

private:
    struct job {
        u64 at;
        end *x;
        u16 slot;
    };
    std::deque<job> work;

    void make_end(end &x, u32 rx_psn, u32 tx_psn)
    {
        const u32 values[] = {10, 20, 30, 40};
        const u8 planes[] = {0, 0, 1, 1};
        rig_cfg k = cfg;
        mrc_evset_cfg ec = {};

        ec.n = 4;
        ec.n_planes = 2;
        ec.planes_up = 3;
        x.evs_mem.assign(mrc_evset_mem_size(4, false) / 8 + 1, 0);
        ASSERT_EQ(mrc_evset_init(&x.evs, x.evs_mem.data(), &ec, values, planes), 0);
        x.mem.assign(mrc_conn_mem_size(&k.conn) / 8 + 1, 0x5a5a5a5a5a5a5a5a);
        ASSERT_EQ(mrc_conn_init(&x.c, &k.conn, x.mem.data()), 0);
        mrc_conn_set_path(&x.c, &x.evs);
        k.rx.psn = rx_psn;
        k.tx.psn = tx_psn;
        ASSERT_EQ(mrc_conn_set_rx(&x.c, &k.rx, now), 0);
        ASSERT_EQ(mrc_conn_set_tx(&x.c, &k.tx, now), 0);
        whole_window(x.c, now);
    }
};

} // namespace
