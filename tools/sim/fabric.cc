// SPDX-License-Identifier: GPL-2.0
// fabric.cc - from one host's port to the other's.
#include "fabric.h"

#include "world.h"

namespace sim {

namespace {

// What a switch leaves of a packet: BTH, METH and TSETH.
constexpr u32 trim_len = MRC_BTH_LEN + MRC_METH_LEN + MRC_TSETH_LEN;

} // namespace

fabric::fabric(world &w, const options &o, u64 seed) : w_(w), o_(o)
{
    prng r(seed, "fabric/skew");

    for (u32 h = 0; h < 2; h++) {
        for (u64 p = 0; p < o.planes; p++)
            link_[h].push_back({prng(seed, "fabric/link", p * 2 + h)});
        for (u64 e = 0; e < o.planes * o.evs; e++)
            skew_ps_[h].push_back(r.below(o.skew_ns + 1) * 1000);
    }
}

void fabric::trim(packet &p, u8 how)
{
    p.trimmed = how;
    p.ecn = false;
    p.len = std::min(p.len, trim_len);
    stats_.trimmed++;
}

bool fabric::lost_at_random(link &l, const packet &p)
{
    bool ctrl = p.tclass == MRC_TC_CONTROL;

    if (l.burst) {
        l.burst--;
        return true;
    }
    if (o_.burst_ppm && l.rand.chance(o_.burst_ppm)) {
        l.burst = l.rand.below(o_.burst_len);
        return true;
    }
    if ((o_.loss_dir && o_.loss_dir != p.src + 1u) || (o_.loss_ctrl && (o_.loss_ctrl == 2) != ctrl))
        return false;
    return l.rand.chance(o_.loss_ppm);
}

u64 fabric::ser_ps(u32 bytes, u64 pct) const
{
    return (bytes + wire_overhead) * 800000000ull / (o_.rate_mbps * pct);
}

// Strict priority without preemption of what is being sent, nearly.
static u64 through_port(u64 now, u64 ser, bool control, u64 &data_ps, u64 &ctrl_ps)
{
    if (control) {
        ctrl_ps = std::max(now, ctrl_ps) + ser;
        data_ps = std::max(now, data_ps) + ser;
        return ctrl_ps;
    }
    data_ps = std::max(now, data_ps) + ser;
    return data_ps;
}

u64 fabric::leave_host(link &l, const packet &p)
{
    return through_port(w_.now_ps(), ser_ps(p.len, 100), p.tclass == MRC_TC_CONTROL, l.up_ps,
                        l.up_ctrl_ps);
}

u64 fabric::leave_switch(link &l, const packet &p, u64 t_ps)
{
    return through_port(t_ps, ser_ps(p.len, o_.down_pct), p.tclass == MRC_TC_CONTROL || p.trimmed,
                        l.down_ps, l.down_ctrl_ps);
}

// At the switch at @t_ps. True: dropped. Marks and trims on the way.
bool fabric::queue_full(const link &l, packet &p, u64 t_ps)
{
    u64 backlog = l.down_ps > t_ps
                      ? (l.down_ps - t_ps) / 1000 * o_.rate_mbps * o_.down_pct / 800000
                      : 0;

    if (p.tclass == MRC_TC_CONTROL)
        return false;
    if (o_.ecn_bytes && backlog > o_.ecn_bytes && !p.ecn) {
        p.ecn = true;
        stats_.marked++;
    }
    if (!o_.queue_bytes || backlog + p.len <= o_.queue_bytes)
        return false;
    if (!o_.trim || !mrc_opc_is_data(p.buf[0])) {
        stats_.overflowed++;
        return true;
    }
    trim(p, o_.trim == 1 ? MRC_NACK_TRIMMED : MRC_NACK_TRIMMED_LASTHOP);
    return false;
}

void fabric::deliver(link &l, u32 pkt, u64 at_switch_ps, u64 extra_ns)
{
    packet &p = w_.packets[pkt];

    if (queue_full(l, p, at_switch_ps)) {
        w_.packets.put(pkt);
        return;
    }
    u64 t = leave_switch(l, p, at_switch_ps);
    t += o_.delay_ns * 1000 + skew_ps_[p.src][p.ev_idx] + extra_ns * 1000;
    if (o_.jitter_ns)
        t += l.rand.below(o_.jitter_ns * 1000);
    stats_.delivered++;
    w_.events.push(t, event_kind::arrive, 1u - p.src, pkt);
}

void fabric::send(u32 pkt)
{
    packet &p = w_.packets[pkt];
    link &l = link_[p.src][p.plane];
    bool faulty = w_.now_ns() < o_.fault_ns;
    u64 extra_ns = 0;

    stats_.sent++;
    w_.tr.add(w_.now_ps());
    w_.tr.add(p.buf, std::min(p.len, 56u));
    w_.tr.add(static_cast<u64>(p.ev) << 8 | p.plane);
    u64 t = leave_host(l, p);
    if (w_.flt.plane_dead(p.src, p.plane) || w_.flt.hole(p.src, p.ev_idx)) {
        stats_.unreachable++;
        w_.packets.put(pkt);
        return;
    }
    if (faulty) {
        if (lost_at_random(l, p)) {
            stats_.lost++;
            w_.tr.say(w_.now_ps(), "  lost: host %c", 'A' + p.src);
            w_.packets.put(pkt);
            return;
        }
        if (l.rand.chance(o_.corrupt_ppm)) {
            stats_.corrupted++;
            w_.packets.put(pkt);
            return;
        }
        bool data = p.tclass != MRC_TC_CONTROL;
        if (mrc_opc_is_data(p.buf[0]) && l.rand.chance(o_.trim_ppm))
            trim(p, l.rand.chance(700000) ? MRC_NACK_TRIMMED : MRC_NACK_TRIMMED_LASTHOP);
        if (data && !p.trimmed && l.rand.chance(o_.ecn_ppm)) {
            p.ecn = true;
            stats_.marked++;
        }
        if (l.rand.chance(o_.reorder_ppm))
            extra_ns = l.rand.below(o_.reorder_ns);
        if (l.rand.chance(o_.dup_ppm)) {
            u32 copy = w_.packets.get();

            w_.packets[copy] = w_.packets[pkt];
            stats_.duplicated++;
            deliver(l, copy, t, l.rand.below(o_.reorder_ns));
        }
    }
    deliver(l, pkt, t, extra_ns);
}

} // namespace sim
