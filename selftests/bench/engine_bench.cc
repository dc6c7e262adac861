// SPDX-License-Identifier: GPL-2.0
// engine_bench.cc - what the engine costs: nanoseconds per operation.
//
// Each case runs a batch many times and prints the fastest batch divided by its
// size: the minimum is what the code costs, the rest is the machine. Setting a
// batch up is not timed. No packet leaves; the peer is made up.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

extern "C" {
#include "mrc_conn.h"
}

namespace {

u64 clock_ns()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<u64>(t.tv_sec) * 1000000000ull + static_cast<u64>(t.tv_nsec);
}

void need(bool ok, const char *what)
{
    if (ok)
        return;
    std::fprintf(stderr, "engine_bench: %s\n", what);
    std::exit(1);
}

constexpr u32 mtu = 4096;

struct bench {
    mrc_evset evs = {};
    mrc_conn c = {};
    std::vector<u64> evs_mem, mem;
    u64 now = 1000000000;
    u32 tx_psn = 0, rx_psn = 0;

    bench(u16 n_evs, u8 planes)
    {
        std::vector<u32> values;
        std::vector<u8> on;
        mrc_evset_cfg ec = {};
        mrc_conn_cfg cc = {};
        mrc_rx_cfg rx = {};
        mrc_tx_cfg tx = {};

        for (u16 i = 0; i < n_evs; i++) {
            values.push_back(i * 2654435761u);
            on.push_back(static_cast<u8>(i % planes));
        }
        ec.n = n_evs;
        ec.n_planes = planes;
        ec.planes_up = (1u << planes) - 1;
        evs_mem.resize(mrc_evset_mem_size(n_evs) / 8 + 1);
        need(!mrc_evset_init(&evs, evs_mem.data(), &ec, values.data(), on.data()), "evset");
        mem.resize(mrc_conn_mem_size(&cc) / 8 + 1);
        need(!mrc_conn_init(&c, &cc, mem.data()), "init");
        mrc_conn_set_path(&c, &evs);
        rx.dqpn = 1;
        rx.mtu = mtu;
        need(!mrc_conn_set_rx(&c, &rx, now), "set_rx");
        tx.timeout_ns = 100000000;
        tx.linear_cnt = 7;
        tx.exp_cnt = 25;
        tx.cwnd_bytes = 1u << 30;
        need(!mrc_conn_set_tx(&c, &tx, now), "set_tx");
    }

    void post(u32 pkts)
    {
        mrc_wr wr = {};

        wr.op = MRC_OP_WRITE;
        wr.len = pkts * mtu;
        need(!mrc_conn_post(&c, &wr, now), "post");
    }
    u32 send_all()
    {
        mrc_txop t;
        u32 n = 0;

        while (mrc_conn_tx_next(&c, now, &t))
            n++;
        return n;
    }
    void control(const mrc_pkt &p)
    {
        mrc_rxop op;

        mrc_conn_rx_begin(&c, &p, now, &op);
    }
    mrc_pkt sack(u32 cack, u64 bitmap, s16 offset)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_SACK;
        p.u.sack.cack = cack & MRC_PSN_MASK;
        p.u.sack.bitmap = bitmap;
        p.u.sack.sack_offset = offset;
        p.u.sack.ack_psn_offset = 0;
        return p;
    }
    // The peer has everything sent so far.
    void settle()
    {
        mrc_pkt a = {};
        mrc_cpl cpl;

        control(sack(c.psn_next - 1, 0, 1));
        a.opcode = MRC_OPC_ACK;
        a.psn = (c.psn_next - 1) & MRC_PSN_MASK;
        a.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
        control(a);
        while (mrc_conn_complete_next(&c, &cpl))
            ;
        send_all();
        now += 50000;
    }
};

// tx_next of one data packet: window, rotation over EVs, record.
u64 tx_batch(bench &b, u32 n)
{
    mrc_txop t;

    b.post(n);
    u64 t0 = clock_ns();
    for (u32 i = 0; i < n; i++)
        need(mrc_conn_tx_next(&b.c, b.now, &t), "tx_next");
    u64 d = clock_ns() - t0;
    b.settle();
    return d;
}

// The same with its headers built.
u64 tx_build_batch(bench &b, u32 n)
{
    u8 buf[MRC_HDR_MAX];
    mrc_txop t;

    b.post(n);
    u64 t0 = clock_ns();
    for (u32 i = 0; i < n; i++) {
        need(mrc_conn_tx_next(&b.c, b.now, &t), "tx_next");
        need(mrc_wire_build(buf, sizeof(buf), &t.hdr) > 0, "build");
    }
    u64 d = clock_ns() - t0;
    b.settle();
    return d;
}

// rx_begin and rx_commit of one packet of a WRITE; @swap: neighbours change places.
u64 rx_batch(bench &b, u32 n, bool swap)
{
    std::vector<mrc_pkt> v;
    mrc_rxop op;
    mrc_tail tail;

    for (u32 i = 0; i < n; i++) {
        mrc_pkt p = {};

        p.opcode = i == 0 ? MRC_OPC_WRITE_FIRST
                          : i == n - 1 ? MRC_OPC_WRITE_LAST : MRC_OPC_WRITE_MIDDLE;
        p.psn = (b.rx_psn + i) & MRC_PSN_MASK;
        p.payload_len = mtu;
        p.dmalen = n * mtu;
        p.va = i * mtu;
        p.ev = b.evs.ev[i % b.evs.n].value;
        p.udp_len = mtu + 48;
        v.push_back(p);
    }
    for (u32 i = 0; swap && i + 1 < n; i += 2)
        std::swap(v[i], v[i + 1]);
    u64 t0 = clock_ns();
    for (const mrc_pkt &p : v) {
        need(mrc_conn_rx_begin(&b.c, &p, b.now, &op) == MRC_V_PLACE, "rx_begin");
        mrc_conn_rx_commit(&b.c, &op, b.now);
    }
    u64 d = clock_ns() - t0;
    while (mrc_conn_tail_next(&b.c, &tail))
        ;
    b.rx_psn += n;
    b.send_all();
    b.now += 50000;
    return d;
}

// One SACK that moves the left edge over @step packets.
u64 sack_batch(bench &b, u32 n, u32 step)
{
    u32 first = b.c.psn_next;

    b.post(n * step);
    b.send_all();
    b.now += 20000;
    u64 t0 = clock_ns();
    for (u32 i = 0; i < n; i++)
        b.control(b.sack(first + (i + 1) * step - 1, 0, 1));
    u64 d = clock_ns() - t0;
    b.settle();
    return d;
}

// One SACK whose bitmap says @bits packets beyond a hole have arrived.
u64 sack_hole_batch(bench &b, u32 n, u32 bits)
{
    u32 first = b.c.psn_next;

    b.post(1 + n * bits);
    b.send_all();
    b.now += 20000;
    u64 t0 = clock_ns();
    for (u32 i = 0; i < n; i++)
        b.control(b.sack(first - 1, bits == 64 ? ~0ull : (1ull << bits) - 1,
                         static_cast<s16>(2 + i * bits)));
    u64 d = clock_ns() - t0;
    b.settle();
    return d;
}

u64 parse_batch(u32 n)
{
    mrc_pkt p = {}, q;
    u8 buf[MRC_HDR_MAX + 64] = {};

    p.opcode = MRC_OPC_WRITE_MIDDLE;
    need(mrc_wire_build(buf, sizeof(buf), &p) > 0, "build");
    u64 t0 = clock_ns();
    for (u32 i = 0; i < n; i++)
        need(!mrc_wire_parse(buf, MRC_BTH_LEN + MRC_METH_LEN + MRC_RETH_LEN + 16, 0, &q), "parse");
    return clock_ns() - t0;
}

template <typename F> void report(const char *name, u32 per_batch, F batch)
{
    u64 best = ~0ull;

    for (int i = 0; i < 2000; i++)
        best = std::min(best, batch());
    std::printf("%-44s %8.1f ns\n", name, static_cast<double>(best) / per_batch);
}

} // namespace

int main()
{
    constexpr u32 n = 512;

    for (u16 evs : {8, 256}) {
        bench b(evs, 8);

        std::printf("# %u EVs on 8 planes, MTU %u, window 1024\n", evs, mtu);
        report("tx: one data packet", n, [&] { return tx_batch(b, n); });
        report("tx: one data packet, headers built", n, [&] { return tx_build_batch(b, n); });
        report("rx: one data packet, in order", n, [&] { return rx_batch(b, n, false); });
        report("rx: one data packet, neighbours swapped", n, [&] { return rx_batch(b, n, true); });
        report("SACK: left edge moves by 4", n / 4, [&] { return sack_batch(b, n / 4, 4); });
        report("SACK: left edge moves by 16", n / 16, [&] { return sack_batch(b, n / 16, 16); });
        report("SACK: 16 packets beyond a hole", n / 16,
               [&] { return sack_hole_batch(b, n / 16, 16); });
    }
    report("parse: one data packet", n, [&] { return parse_batch(n); });
    return 0;
}
