// SPDX-License-Identifier: GPL-2.0
// fabric.cc - moves packets from port to port (fabric.h).
#include "fabric.h"

#include "world.h"

namespace sim {

namespace {

// What a switch leaves of a packet: BTH, METH and TSETH.
constexpr u32 trim_len = MRC_BTH_LEN + MRC_METH_LEN + MRC_TSETH_LEN;

} // namespace

fabric::fabric(world &w, const options &o, u64 seed)
    : w_(w), o_(o), topo_(o), links_(o, topo_, seed), link_rand_(seed, "fabric/links"),
      ports_(topo_.ports())
{
    prng r(seed, "fabric/skew");

    for (u64 i = 0; i < o.hosts * o.planes; i++)
        sources_.push_back({prng(seed, "fabric/source", i)});
    for (u64 i = 0; i < o.hosts * o.planes * o.evs; i++)
        skew_ps_.push_back(r.below(o.skew_ns + 1) * 1000);
}

// An EV's T1 is a property of its value, as it is with SRv6 and with ECMP.
void fabric::route(packet &p) const
{
    u32 from = topo_.t0_of(p.src), to = topo_.t0_of(p.dst);
    u32 t1 = static_cast<u32>(mix64(p.ev) % topo_.t1s());

    p.at = 0;
    p.hops = 0;
    p.path[p.hops++] = topo_.up(p.plane, p.src);
    if (from != to) {
        p.path[p.hops++] = topo_.t0_t1(p.plane, from, t1);
        p.path[p.hops++] = topo_.t1_t0(p.plane, t1, to);
    }
    p.path[p.hops++] = topo_.down(p.plane, p.dst);
}

void fabric::trim(packet &p, u8 how)
{
    p.trimmed = how;
    p.ecn = false;
    p.len = std::min(p.len, trim_len);
    stats_.trimmed++;
}

void fabric::drop(u32 pkt, u64 &count)
{
    count++;
    w_.harm();
    w_.packets.put(pkt);
}

// Direction 1: from even hosts, 2: from odd ones.
bool fabric::lost_on_plane(source &s, const packet &p)
{
    if ((o_.odd_loss_dir && o_.odd_loss_dir != p.src % 2 + 1u) ||
        !s.rand.chance(links_.plane_loss_ppm(p.plane)))
        return false;
    w_.seen.plane_lost++;
    return true;
}

bool fabric::lost_at_random(source &s, const packet &p)
{
    bool ctrl = p.tclass == MRC_TC_CONTROL;

    if (s.burst) {
        s.burst--;
        return true;
    }
    if (o_.burst_ppm && s.rand.chance(o_.burst_ppm)) {
        s.burst = s.rand.below(o_.burst_len);
        return true;
    }
    // Direction 1: from even hosts, 2: from odd ones.
    if ((o_.loss_dir && o_.loss_dir != p.src % 2 + 1u) ||
        (o_.loss_ctrl && (o_.loss_ctrl == 2) != ctrl))
        return false;
    return s.rand.chance(o_.loss_ppm);
}

// Control packets and what is left of trimmed ones. Switches with one queue for all know
// trimmed packets only.
bool fabric::first(const packet &p) const
{
    return p.trimmed || (!o_.fifo && p.tclass == MRC_TC_CONTROL);
}

u64 fabric::rate_kbps(u16 port) const
{
    return std::max<u64>(links_[port].rate_kbps * w_.flt.slow_pct(port) / 100, 1);
}

// Bytes that wait.
u64 fabric::backlog(u16 port) const
{
    const outlet &q = ports_[port];
    u64 now = w_.now_ps();

    return q.data_ps > now ? (q.data_ps - now) / 1000 * rate_kbps(port) / 8000000 : 0;
}

// Strict priority without preemption of what is being sent, nearly.
u64 fabric::leave(u16 port, const packet &p)
{
    outlet &q = ports_[port];
    u64 ser = (p.len + wire_overhead) * 8000000000ull / rate_kbps(port);

    if (first(p)) {
        q.ctrl_ps = std::max(w_.now_ps(), q.ctrl_ps) + ser;
        q.data_ps = std::max(w_.now_ps(), q.data_ps) + ser;
        return q.ctrl_ps;
    }
    q.data_ps = std::max(w_.now_ps(), q.data_ps) + ser;
    return q.data_ps;
}

// The buffer that all ports of a switch share.
bool fabric::buffer_full(u16 port, const packet &p)
{
    u64 sum = p.len;

    if (!o_.switch_bytes)
        return false;
    for (u16 other : links_.owned(links_[port].owner))
        sum += backlog(other);
    w_.seen.shared_full += sum > o_.switch_bytes;
    return sum > o_.switch_bytes;
}

// True: dropped. Marks and trims on the way.
bool fabric::queue_full(u16 port, packet &p)
{
    u64 waits = backlog(port), limit = links_[port].queue_bytes;
    bool last = topo_.is_last_hop(port), ctrl = p.tclass == MRC_TC_CONTROL;

    if (first(p))
        return false;
    if (o_.ecn_bytes && waits > o_.ecn_bytes && !p.ecn && !ctrl && (!last || o_.ecn_last)) {
        p.ecn = true;
        stats_.marked++;
    }
    if ((!limit || waits + p.len <= limit) && !buffer_full(port, p))
        return false;
    w_.seen.ctrl_dropped += ctrl;
    if (ctrl || p.tclass == MRC_TC_NO_TRIM)
        return true;
    if (!links_[port].trims) {
        w_.seen.not_trimmed += o_.trim;
        return true;
    }
    trim(p, last ? MRC_NACK_TRIMMED_LASTHOP : MRC_NACK_TRIMMED);
    return false;
}

// Faults per packet. True: gone.
bool fabric::strike(u32 pkt)
{
    packet &p = w_.packets[pkt];
    source &s = sources_[p.src * o_.planes + p.plane];
    bool data = p.tclass != MRC_TC_CONTROL;

    if (lost_on_plane(s, p) || lost_at_random(s, p)) {
        w_.tr.say(w_.now_ps(), "  lost: from host %c", 'A' + p.src);
        drop(pkt, stats_.lost);
        return true;
    }
    if (s.rand.chance(o_.corrupt_ppm)) {
        drop(pkt, stats_.corrupted);
        return true;
    }
    if (mrc_opc_is_data(p.buf[0]) && p.tclass != MRC_TC_NO_TRIM && s.rand.chance(o_.trim_ppm))
        trim(p, s.rand.chance(700000) ? MRC_NACK_TRIMMED : MRC_NACK_TRIMMED_LASTHOP);
    if (data && !p.trimmed && s.rand.chance(o_.ecn_ppm)) {
        p.ecn = true;
        stats_.marked++;
    }
    if (s.rand.chance(o_.reorder_ppm))
        p.extra_ns = static_cast<u32>(s.rand.below(o_.reorder_ns));
    if (!data)
        p.extra_ns += w_.flt.clog_ns(p.src);
    if (s.rand.chance(o_.dup_ppm)) {
        u32 copy = w_.packets.get();

        w_.packets[copy] = w_.packets[pkt];
        w_.packets[copy].extra_ns += static_cast<u32>(s.rand.below(o_.reorder_ns));
        stats_.duplicated++;
        hop(copy);
    }
    return false;
}

void fabric::send(u32 pkt)
{
    packet &p = w_.packets[pkt];

    stats_.sent++;
    w_.tr.add(w_.now_ps());
    w_.tr.add(p.buf, std::min(p.len, 56u));
    w_.tr.add(static_cast<u64>(p.ev) << 8 | p.plane);
    p.extra_ns = 0;
    route(p);
    if (w_.flt.hole(p.src, p.ev_idx)) {
        drop(pkt, stats_.unreachable);
        return;
    }
    if (!w_.faults_on() || !strike(pkt))
        hop(pkt);
}

void fabric::hop(u32 pkt)
{
    packet &p = w_.packets[pkt];
    u16 port = p.path[p.at];

    if (w_.flt.dead(port)) {
        drop(pkt, stats_.unreachable);
        return;
    }
    if (p.at && queue_full(port, p)) {
        drop(pkt, stats_.overflowed);
        return;
    }
    if (w_.faults_on() && link_rand_.chance(links_[port].loss_ppm)) {
        w_.seen.link_lost++;
        drop(pkt, stats_.lost);
        return;
    }
    u64 t = leave(port, p) + links_[port].delay_ps;
    if (++p.at < p.hops) {
        w_.events.push(t, event_kind::hop, p.dst, pkt);
        return;
    }
    t += skew_ps_[p.src * o_.planes * o_.evs + p.ev_idx % (o_.planes * o_.evs)] + p.extra_ns * 1000ull;
    if (o_.jitter_ns)
        t += sources_[p.src * o_.planes + p.plane].rand.below(o_.jitter_ns * 1000);
    stats_.delivered++;
    w_.events.push(t, event_kind::arrive, p.dst, pkt);
}

} // namespace sim
