// SPDX-License-Identifier: GPL-2.0
// economy.cc - five promises about cost and recovery, each with its limits (economy.h).
#include "economy.h"

#include "world.h"

#include <algorithm>

namespace sim {

namespace {

// Beside a burst a path set may send one probe for each 50 packets, and ten a second.
constexpr u64 packets_a_probe = 50, probes_a_second = 10;

// Resends without a loss: beside a burst for the first false alarm one packet in 200,
// and what timeouts resend, whose length is the user's choice.
constexpr u64 packets_a_resend = 200;

// Packets that had to be resent, or asked about.
u64 not_taken(const world &w, const result &r)
{
    const fabric_stats &n = r.net;
    u64 gone = n.lost + n.overflowed + n.corrupted + n.unreachable + n.trimmed + w.seen.ring_full;
    u64 refused = r.stats.rx_place_failed + r.stats.rx_after_nak + r.stats.rx_oor +
                  r.stats.rx_not_ready + r.stats.nacks_sent;

    return gone + refused;
}

// That a plane is longer than the others, or that a host takes what waits plane by plane, can only
// be learnt by being wrong once: what each QP has out on one plane is called lost for it. SLEEK
// counts what is out of order, and learns nothing: each pause costs it a window.
u64 learning(const world &w)
{
    u64 packets = 0;

    for (const auto &q : w.qps)
        packets += q->conn().snd.window / w.opt.planes +
                   (w.opt.sleek ? w.opt.pauses * q->conn().snd.window / 2 : 0);
    return packets;
}

// Nobody is left to ask, or to answer: of a pair the ids differ in the lowest bit. Nor does another
// implementation's end use the engine's path set.
bool all_failed(const world &w, const peer &p)
{
    return std::all_of(p.qps.begin(), p.qps.end(),
                       [&w](u32 q) {
                           return w.qps[q]->foreign() || w.qps[q]->failed() ||
                                  w.qps[q ^ 1]->failed();
                       });
}

// EVs of @from's set towards @to that carry nothing, and did not when last looked at.
void check_set(const host &from, u32 to, double after_ms)
{
    const mrc_evset &s = from.to(to).evs;
    const std::vector<bool> &before = from.to(to).unusable;
    bool looked = before.size() == s.n;
    u32 unusable = 0, first = 0;

    for (u32 i = 0; i < s.n; i++)
        if (!mrc_ev_usable(&s, static_cast<u16>(i)) && (!looked || before[i]) && !unusable++)
            first = i;
    if (unusable)
        fail("economy: %u of %u EVs of %c towards %c not usable %.3f ms after the last fault, "
             "EV %u in state %u, planes %#x and %#x", unusable, s.n, 'A' + from.id(), 'A' + to,
             after_ms, first, s.ev[first].state, s.local_up, s.remote_up);
}

} // namespace

void check_probes(world &w, const expense &x, u32 from, u32 to)
{
    // Both earn parts of one: 1000 are a probe.
    u64 earned = x.packets * 1000 / packets_a_probe + w.now_ns() * probes_a_second / 1000000;
    u64 allowed = earned / 1000 + w.opt.probe_burst;

    w.seen.probe_pkts++;
    if (x.probes <= allowed)
        return;
    w.seen.probe_excess++;
    if (w.opt.economy & ECONOMY_PROBES)
        fail("economy: %llu probes of %c towards %c beside %llu packets in %.3f ms, allowed %llu",
             (unsigned long long)x.probes, 'A' + from, 'A' + to, (unsigned long long)x.packets,
             static_cast<double>(w.now_ns()) / 1e6, (unsigned long long)allowed);
}

void note_unusable(world &w)
{
    for (const auto &h : w.hosts)
        for (u32 to = 0; to < w.hosts.size(); to++) {
            if (to == h->id())
                continue;
            peer &p = h->to(to);

            p.unusable.clear();
            for (u32 i = 0; i < p.evs.n; i++)
                p.unusable.push_back(!mrc_ev_usable(&p.evs, static_cast<u16>(i)));
        }
}

void check_healed(const world &w)
{
    for (const auto &h : w.hosts)
        for (u32 to = 0; to < w.hosts.size(); to++)
            if (to != h->id() && !all_failed(w, h->to(to)))
                check_set(*h, to, static_cast<double>(w.opt.heal_ns) / 1e6);
}

// A stamp of the peer's clock, or of another copy, taken for one of ours shows here.
void check_trips(const world &w, const host &h)
{
    // Stamps count 128 ns, at both ends of a wait.
    u64 wire = 2 * w.net.ports().shortest_ns(), least = wire - std::min<u64>(wire, wire / 1000 + 512);

    if (!(w.opt.economy & ECONOMY_TRIPS))
        return;
    for (const auto &q : w.qps) {
        struct mrc_conn_info info;

        if (&q->home() != &h)
            continue;
        ::mrc_conn_info(&q->conn(), &info);
        if (info.min_rtt_ns && info.min_rtt_ns < least)
            fail("economy: %c%u measured a round trip of %u ns, the wire takes %llu", 'A' + h.id(),
                 q->id() / 2, info.min_rtt_ns, (unsigned long long)wire);
    }
}

// A tail probe is no question about a path: it stands for the packet whose answer is overdue, as
// the resend that it saves. To let it wait for the budget of paths would be to let single messages
// wait 100 ms for each other's losses. So it may always leave, and takes what is left of that budget
// (EVs wait the longer); and is held to a bound of its own: one for each packet that did not
// arrive, was refused or could not leave, and beside that what a path set may send, for each QP.
void check_tails(const world &w, const result &r)
{
    u64 cause = not_taken(w, r) + w.seen.undone;
    u64 allowed = cause + r.net.sent / packets_a_probe + w.opt.probe_burst +
                  w.qps.size() * probes_a_second * w.now_ns() / 1000000000;

    if (w.opt.economy & ECONOMY_TAILS && w.seen.tail_pkts > allowed)
        fail("economy: %llu tail probes beside %llu packets in %.3f ms, %llu of which did not arrive, "
             "allowed %llu", (unsigned long long)w.seen.tail_pkts, (unsigned long long)r.net.sent,
             static_cast<double>(w.now_ns()) / 1e6, (unsigned long long)cause,
             (unsigned long long)allowed);
}

// A packet held back for long is as good as lost, for a while.
void check_resends(const world &w, result &r)
{
    u64 resent = r.stats.rtx_rack + r.stats.rtx_sleek + r.stats.rtx_rto;
    u64 allowed = r.stats.tx_pkts / packets_a_resend + w.opt.resend_burst + r.stats.timeouts;

    if (w.opt.resend_burst) // 0: nothing at all
        allowed += learning(w);
    r.seen.lossless = !w.opt.reorder_ppm && !not_taken(w, r) && !r.failed_qps;
    if (r.seen.lossless && resent > allowed && (w.opt.economy & ECONOMY_RESENDS))
        fail("economy: %llu of %llu packets resent though none was lost, allowed %llu "
             "(later delivered %llu, out of order %llu, timeout %llu)", (unsigned long long)resent,
             (unsigned long long)r.stats.tx_pkts, (unsigned long long)allowed,
             (unsigned long long)r.stats.rtx_rack, (unsigned long long)r.stats.rtx_sleek,
             (unsigned long long)r.stats.rtx_rto);
}

} // namespace sim
