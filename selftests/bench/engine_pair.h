// SPDX-License-Identifier: GPL-2.0
// engine_pair.h - two connections that talk to each other, for measuring: no
// packet is built, a header goes from one engine to the other as it is.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

extern "C" {
#include "conn/mrc_conn.h"
}

namespace bench {

constexpr u32 mtu = 4096;
constexpr u32 burst = 4;     // packets of one QP at a time: what one SACK answers

inline void need(bool ok, const char *what)
{
    if (ok)
        return;
    std::fprintf(stderr, "engine_bench: %s\n", what);
    std::exit(1);
}

struct shape {
    u16 evs;
    u8 planes;
    u8 mpr;                  // window, units of 128 PSNs
    u32 qps;
    u32 turns;               // bursts per WRITE: a SACK for each burst, an ACK for each WRITE
};

// The path set that all QPs to one peer share.
struct paths {
    mrc_evset set = {};
    std::vector<u64> mem;

    explicit paths(const shape &s)
    {
        std::vector<u32> values;
        std::vector<u8> planes;
        mrc_evset_cfg cfg = {};

        for (u32 i = 0; i < s.evs; i++) {
            values.push_back(i * 2654435761u);
            planes.push_back(static_cast<u8>(i * s.planes / s.evs));
        }
        cfg.n = s.evs;
        cfg.n_planes = s.planes;
        cfg.planes_up = (1u << s.planes) - 1;
        mem.resize(mrc_evset_mem_size(s.evs, false) / 8 + 1);
        need(!mrc_evset_init(&set, mem.data(), &cfg, values.data(), planes.data()), "evset");
    }
};

struct end {
    mrc_conn c;
    std::vector<u64> mem;

    void init(const shape &s, paths &p, u64 seed, u64 now)
    {
        mrc_conn_cfg cfg = {};
        mrc_rx_cfg rx = {};
        mrc_tx_cfg tx = {};

        cfg.mpr_max = s.mpr;
        cfg.sq_max = 16;
        cfg.rd_max = 1;
        cfg.rq_max = 1;
        cfg.tails = 4;
        cfg.seed = seed;
        cfg.ev_active = s.evs;
        mem.resize(mrc_conn_mem_size(&cfg) / 8 + 1);
        need(!mrc_conn_init(&c, &cfg, mem.data()), "init");
        mrc_conn_set_path(&c, &p.set);
        rx.dqpn = 1;
        rx.mtu = mtu;
        rx.svc_time = true;
        need(!mrc_conn_set_rx(&c, &rx, now), "set_rx");
        tx.timeout_ns = 100000000;
        tx.linear_cnt = 7;
        tx.exp_cnt = MRC_EXP_FOREVER;
        tx.cwnd_bytes = 1u << 30;
        tx.timestamps = true;
        tx.trim_nack = true;
        need(!mrc_conn_set_tx(&c, &tx, now), "set_tx");
    }
    // What is not measured: completions, tails, and, unless a WRITE is under way, what
    // else wants to be said.
    void settle(mrc_conn &peer, u64 now, bool talk)
    {
        mrc_todo ev;
        mrc_txop op;
        mrc_rxop ignored;

        while (mrc_conn_next(&c, &ev))
            ;
        while (talk && mrc_conn_tx_next(&c, now, &op))
            mrc_conn_rx_begin(&peer, &op.hdr, now, &ignored);
    }
};

// One QP at each of two hosts; packets between the two phases of a step.
struct pair {
    end a, b;
    mrc_txop data[burst];
    mrc_txop ctrl[4];        // b to a
    mrc_txop probe[4];       // a to b, now and then
    u32 n_ctrl = 0, n_probe = 0;
    u32 turn = 0;            // of the WRITE under way
};

class cluster {
public:
    explicit cluster(const shape &s) : turns_(s.turns), a_(s), b_(s)
    {
        for (u32 i = 0; i < s.qps; i++) {
            pairs_.push_back(std::make_unique<pair>());
            pairs_.back()->a.init(s, a_, i + 1, now_);
            pairs_.back()->b.init(s, b_, ~i, now_);
        }
    }
    size_t size() const { return pairs_.size(); }
    pair &at(size_t i) { return *pairs_[i]; }
    void pass(u64 ns) { now_ += ns; }

    // A WRITE, when the last one has been sent.
    void post(pair &p)
    {
        mrc_wr wr = {};

        if (p.turn++ % turns_)
            return;
        wr.op = MRC_OP_WRITE;
        wr.len = turns_ * burst * mtu;
        need(!mrc_conn_post(&p.a.c, &wr, now_), "post");
    }
    [[gnu::noinline]] void send(pair &p)
    {
        for (u32 n = 0; n < burst;) {
            mrc_txop &op = p.data[n];

            if (!mrc_conn_tx_next(&p.a.c, now_, &op))
                no_data(p, n);
            if (op.len)
                n++;
            else if (p.n_probe < 4)
                p.probe[p.n_probe++] = op;
        }
    }
    [[gnu::noinline]] void receive(pair &p)
    {
        mrc_rxop op;

        for (mrc_txop &sent : p.data) {
            mrc_pkt &pkt = sent.hdr;

            pkt.udp_len = mtu + 48;
            need(mrc_conn_rx_begin(&p.b.c, &pkt, now_, &op) == MRC_V_PLACE, "not to be placed");
            mrc_conn_rx_commit(&p.b.c, &op, now_);
        }
        for (; p.n_probe; p.n_probe--)
            mrc_conn_rx_begin(&p.b.c, &p.probe[p.n_probe - 1].hdr, now_, &op);
    }
    [[gnu::noinline]] void answer(pair &p)
    {
        p.n_ctrl = 0;
        while (p.n_ctrl < 4 && mrc_conn_tx_next(&p.b.c, now_, &p.ctrl[p.n_ctrl]))
            p.n_ctrl++;
    }
    [[gnu::noinline]] void learn(pair &p)
    {
        mrc_rxop op;

        for (u32 i = 0; i < p.n_ctrl; i++)
            mrc_conn_rx_begin(&p.a.c, &p.ctrl[i].hdr, now_, &op);
    }
    // Every header of this turn into bytes and back, as the two network sides do it.
    [[gnu::noinline]] void wire(pair &p)
    {
        for (mrc_txop &op : p.data)
            over_the_wire(op, mtu);
        for (u32 i = 0; i < p.n_ctrl; i++)
            over_the_wire(p.ctrl[i], 0);
    }
    void settle(pair &p)
    {
        p.b.settle(p.a.c, now_, true);
        p.a.settle(p.b.c, now_, p.turn % turns_ == 0);
        need(p.a.c.snd.una == p.a.c.snd.next, "not everything is acknowledged");
    }

private:
    static void over_the_wire(const mrc_txop &op, u32 payload)
    {
        u8 bytes[MRC_HDR_MAX];
        mrc_pkt parsed;
        int len = mrc_wire_build(bytes, sizeof(bytes), &op.hdr);

        need(len > 0 && !mrc_wire_parse(bytes, static_cast<u32>(len) + payload, 0, &parsed),
             "not to be parsed");
    }
    [[noreturn, gnu::cold]] static void no_data(const pair &p, u32 n)
    {
        const mrc_conn &c = p.a.c;

        std::fprintf(stderr, "sent %u of %u: %u in flight, una %u next %u fail %d\n", n, burst,
                     c.snd.inflight, c.snd.una, c.snd.next, c.fail);
        std::exit(1);
    }

    u64 now_ = 1000000000;
    u32 turns_;
    paths a_, b_;
    std::vector<std::unique_ptr<pair>> pairs_;
};

} // namespace bench
