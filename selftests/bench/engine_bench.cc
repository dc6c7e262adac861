// SPDX-License-Identifier: GPL-2.0
// engine_bench.cc - what the engine costs a data packet: at its sender, at its
// receiver, and its share of the SACK and the transport ACK that answer it.
//
// QPs take turns, four packets each, phase by phase, so that with 10,000 of
// them every phase finds its connection out of the cache. The fastest round
// counts: the minimum is what the code costs, the rest is the machine.
//
//	engine_bench			a table in nanoseconds, and sizes
//	engine_bench --rounds N K	only shape K, N rounds: for cachegrind, which
//					counts instructions (engine_instr.sh)
#include "engine_pair.h"

#include <algorithm>
#include <ctime>

namespace {

using namespace bench;

// WRITEs of 64 KiB: a SACK every 4 packets, an ACK every 16. And of 16 KiB: both every 4.
const shape shapes[] = {
    {1, 1, 8, 1, 4},      {128, 8, 8, 1, 4},     {256, 8, 8, 1, 4},
    {128, 8, 32, 1, 4},   {256, 8, 32, 1, 4},    {128, 8, 8, 1, 1},
    {1, 1, 8, 10000, 4},  {128, 8, 8, 10000, 4}, {256, 8, 8, 10000, 4},
    {128, 8, 8, 10000, 1},
};

u64 clock_ns()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<u64>(t.tv_sec) * 1000000000ull + static_cast<u64>(t.tv_nsec);
}

enum phase { SEND, RECEIVE, ANSWER, LEARN, WIRE, PHASES };

// One round of every QP; what each phase took. One warm QP does many turns.
void round(cluster &c, u32 turns, u64 (&ns)[PHASES])
{
    void (cluster::*const what[PHASES])(pair &) = {&cluster::send, &cluster::receive,
                                                   &cluster::answer, &cluster::learn,
                                                   &cluster::wire};

    std::fill(ns, ns + PHASES, 0);
    for (u32 turn = 0; turn < turns; turn++) {
        for (size_t i = 0; i < c.size(); i++)
            c.post(c.at(i));
        for (u32 k = 0; k < PHASES; k++) {
            u64 t0 = clock_ns();

            for (size_t i = 0; i < c.size(); i++)
                (c.*what[k])(c.at(i));
            ns[k] += clock_ns() - t0;
            c.pass(3000);
        }
        for (size_t i = 0; i < c.size(); i++)
            c.settle(c.at(i));
        c.pass(10000);
    }
}

// clock_gettime() itself, taken off where a turn is short.
u64 clock_cost(u32 times)
{
    u64 best = ~0ull;

    for (int i = 0; i < 50; i++) {
        u64 t0 = clock_ns();

        for (u32 k = 0; k < times; k++)
            clock_ns();
        best = std::min(best, clock_ns() - t0);
    }
    return best;
}

void measure(const shape &s)
{
    cluster c(s);
    u32 turns = s.qps == 1 ? 64 : 1;
    u32 rounds = s.qps == 1 ? 400 : 12;
    u64 off = s.qps == 1 ? clock_cost(turns) : 0;
    double best[PHASES], sum = 0;
    u64 ns[PHASES];

    std::fill(best, best + PHASES, 1e30);
    for (u32 r = 0; r < rounds; r++) {
        round(c, turns, ns);
        for (u32 k = 0; k < PHASES; k++)
            best[k] = std::min(best[k], static_cast<double>(ns[k] - std::min(ns[k], off)) /
                                            (static_cast<double>(turns) * s.qps * burst));
    }
    for (u32 k = 0; k < WIRE; k++)
        sum += best[k];
    std::printf("%5u %4u %6u %4u KiB %7.1f %7.1f %7.1f %7.1f %8.1f %8.1f\n", s.qps, s.evs,
                s.mpr * MRC_MPR_UNIT, s.turns * burst * mtu >> 10, best[SEND], best[RECEIVE],
                best[ANSWER] * burst, best[LEARN] * burst, sum, best[WIRE]);
}

size_t conn_mem(u8 mpr, u16 active)
{
    mrc_conn_cfg cfg = {};

    cfg.mpr_max = mpr;
    cfg.ev_active = active;
    cfg.sq_max = 1;
    cfg.rd_max = 1;
    cfg.rq_max = 1;
    cfg.tails = 1;
    return mrc_conn_mem_size(&cfg);
}

void sizes()
{
    size_t per_psn = (conn_mem(32, 1) - conn_mem(8, 1)) * 100 / (24 * MRC_MPR_UNIT);

    std::printf("bytes: struct mrc_conn %zu (counters %zu), what is owed %zu, per outstanding PSN "
                "%zu.%02zu, per EV %zu in the path set and %zu in a QP\n",
                sizeof(mrc_conn), sizeof(mrc_stats),
                MRC_OWED_SACKS * sizeof(mrc_owed_sack) + MRC_OWED_NACKS * sizeof(mrc_owed_nack),
                per_psn / 100, per_psn % 100,
                (mrc_evset_mem_size(256, false) - mrc_evset_mem_size(128, false)) / 128,
                (conn_mem(8, 256) - conn_mem(8, 128)) / 128);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 4 && !std::strcmp(argv[1], "--rounds")) {
        const shape &s = shapes[std::strtoul(argv[3], nullptr, 0) % std::size(shapes)];
        cluster c(s);
        u64 ns[PHASES];

        for (u32 r = 0; r < std::strtoul(argv[2], nullptr, 0); r++)
            round(c, 1, ns);
        return 0;
    }
    std::printf("# MTU %u, a SACK every %u packets, an ACK every WRITE; ns, fastest round\n", mtu,
                burst);
    std::printf("  QPs  EVs window    WRITE  tx/pkt  rx/pkt  SACK,ACK learn   both ends     wire\n");
    std::printf("                                           built,   them    a packet    apart\n");
    for (const shape &s : shapes)
        measure(s);
    sizes();
    return 0;
}
