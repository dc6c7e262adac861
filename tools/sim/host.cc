// SPDX-License-Identifier: GPL-2.0
// host.cc - one host (host.h).
#include "host.h"

#include "world.h"

#include <algorithm>

namespace sim {

namespace {

host_clock draw_clock(const options &o, u64 seed, u32 id)
{
    prng r(seed, "host/clock", id);
    u64 base = o.epoch_ns + r.below(o.clock_off_ns + 1);
    u64 most = o.drift_ppm * 1000;

    return host_clock(base, static_cast<s64>(r.below(2 * most + 1)) - static_cast<s64>(most));
}

} // namespace

host::host(world &w, u32 id)
    : w_(w), id_(id), rand_(w.seed, "host", id), slack_(w.seed, "host/slack", id),
      wake_(w.seed, "host/wake", id), clock_(draw_clock(w.opt, w.seed, id)), down_(w.opt.planes),
      believed_(static_cast<u32>((1ull << w.opt.planes) - 1)),
      rings_(w.opt.batch ? w.opt.planes : 1)
{
    mrc_damp_cfg dc = {};
    mrc_incast_cfg ic = {};

    dc.half_life_ns = w.opt.damp_ns;
    dc.off = !w.opt.damp_ns;
    mrc_damp_init(&damp_, &dc, believed_);
    ic.rate_mbps = static_cast<u32>(w.opt.rate_mbps * w.opt.planes);
    ic.off = !w.opt.incast;
    mrc_incast_init(&incast_, &ic);
    for (u32 r = 0; r < w.opt.hosts; r++) {
        peers_.push_back(nullptr);
        if (r != id)
            make_peer(r);
    }
}

void host::make_peer(u32 remote)
{
    const options &o = w_.opt;
    u16 n = static_cast<u16>(o.planes * o.evs);
    auto p = std::make_unique<peer>();
    mrc_evset_cfg cfg = {};
    mrc_cc_cfg cc = {};
    std::vector<u32> values;
    std::vector<u8> planes;

    for (u32 i = 0; i < n; i++) {
        // A tenth of them twice: a profile may weight a path.
        if (i && i % o.evs && rand_.chance(100000))
            values.push_back(values.back());
        else
            values.push_back(static_cast<u32>(rand_.next()));
        planes.push_back(static_cast<u8>(i / o.evs));
    }
    cfg.n = n;
    cfg.min_active = static_cast<u16>(o.min_active);
    cfg.n_planes = static_cast<u8>(o.planes);
    cfg.readmit = static_cast<u8>(o.readmit);
    cfg.counts = rand_.chance(500000);
    cfg.planes_up = believed_;
    cfg.probe_ns = o.probe_ns;
    cfg.probe_max_ns = o.probe_max_ns;
    p->evs_mem.assign((mrc_evset_mem_size(n, cfg.counts) + 7) / 8, 0xcdcdcdcdcdcdcdcdull);
    if (mrc_evset_init(&p->evs, p->evs_mem.data(), &cfg, values.data(), planes.data()))
        fail("mrc_evset_init() failed");
    mrc_port_init(&p->port, believed_);
    p->rot_order.resize(MRC_SPRAY_LEN(n));
    mrc_spray_init(&p->rot, p->rot_order.data(), n, rand_.next());

    const mrc_cc_ops *ops = o.nscc ? &mrc_nscc : &mrc_cc_fixed;
    cc.mtu = static_cast<u32>(o.mtu) + 100;
    cc.window_bytes = static_cast<u32>(o.cwnd_bytes ? o.cwnd_bytes : 512 << 10);
    cc.rate_mbps = static_cast<u32>(o.rate_mbps * o.planes);
    cc.trimming = o.trim;
    p->cc_mem.assign((ops->size + 7) / 8, 0xcdcdcdcdcdcdcdcdull);
    mrc_cc_init(p->cc(), ops, &cc, clock_ns());
    peers_[remote] = std::move(p);
}

// ---- time ----

u64 host::sim_ps() const
{
    return w_.now_ps() + spent_ps_;
}

u64 host::clock_ns() const
{
    return clock_.at(sim_ps() / 1000);
}

void host::timer(u64 local_ns, event_kind k, u32 target, u64 arg)
{
    u64 at = std::max(clock_.when(local_ns), w_.now_ns());

    w_.at_ns(at + slack_.below(w_.opt.slack_ns + 1), k, target, arg);
}

// After a pause everything is late at once, and in any order.
u64 host::wake_ps()
{
    bool pauses = pause_ps_ >= busy_ps_;

    w_.seen.put_off += !pauses;
    w_.seen.slept += pauses;
    return ready_ps() + (pauses ? wake_.below(20000000) : 0);
}

void host::pause(u64 until_ns)
{
    w_.seen.paused++;
    pause_ps_ = std::max(pause_ps_, until_ns * 1000);
}

void host::settle()
{
    busy_ps_ = std::max(busy_ps_, sim_ps());
    spent_ps_ = 0;
}

// ---- packets ----

void host::transmit(u32 pkt)
{
    spent_ps_ += w_.opt.tx_cost_ns * 1000;
    if (spent_ps_)
        w_.events.push(sim_ps(), event_kind::inject, id_, pkt);
    else
        w_.net.send(pkt);
}

void host::arrive(u32 pkt)
{
    std::deque<u32> &ring = rings_[w_.opt.batch ? w_.packets[pkt].plane : 0];

    if (w_.opt.ring_pkts && ring.size() >= w_.opt.ring_pkts) {
        w_.tr.say(w_.now_ps(), "%c: ring of plane %u is full", 'A' + id_, w_.packets[pkt].plane);
        w_.seen.ring_full++;
        w_.harm();
        w_.packets.put(pkt);
        return;
    }
    ring.push_back(pkt);
    soon(held_ns());
}

// Packets that come while it polls find it awake.
u64 host::held_ns() const
{
    u64 which = w_.opt.coalesce_host;

    return !which || which == id_ % 2 + 1 ? w_.opt.coalesce_ns : 0;
}

void host::soon(u64 held_ns)
{
    if (run_pending_)
        return;
    run_pending_ = true;
    u64 delay = w_.opt.rx_delay_ns ? rand_.below(w_.opt.rx_delay_ns) : 0;
    w_.seen.coalesced += held_ns != 0;
    w_.at_ns(w_.now_ns() + held_ns + delay, event_kind::host_run, id_);
}

// Without batches all that has come; else planes take turns, as NAPI's do.
std::vector<u32> host::take_batch()
{
    u32 n = static_cast<u32>(rings_.size());

    for (u32 tries = 0; tries < n && rings_[ring_].empty(); tries++)
        ring_ = (ring_ + 1) % n;
    std::deque<u32> &ring = rings_[ring_];
    size_t most = w_.opt.batch ? std::min<size_t>(w_.opt.batch, ring.size()) : ring.size();
    auto end = ring.begin() + static_cast<std::ptrdiff_t>(most);
    std::vector<u32> batch(ring.begin(), end);

    ring.erase(ring.begin(), end);
    ring_ = (ring_ + 1) % n;
    return batch;
}

void host::run()
{
    std::vector<u32> touched;
    bool more = false;

    run_pending_ = false;
    for (u32 pkt : take_batch())
        receive(pkt, touched);
    std::sort(touched.begin(), touched.end());
    for (u32 q : touched)
        w_.by_id(q).run();
    for (const auto &ring : rings_)
        more |= !ring.empty();
    if (more) {
        w_.seen.batches_left++;
        soon(0);
    }
}

void host::receive(u32 pkt, std::vector<u32> &touched)
{
    const packet &p = w_.packets[pkt];
    mrc_pkt parsed;
    int rc = mrc_wire_parse(p.buf, p.len, p.trimmed, &parsed);

    spent_ps_ += w_.opt.rx_cost_ns * 1000;
    if (rc)
        fail("mrc_wire_parse() of a packet we built: %d", rc);
    parsed.ev = p.ev;
    parsed.plane = p.plane;
    parsed.ecn_ce = p.ecn;
    parsed.trimmed = p.trimmed;
    parsed.udp_len = p.udp_len;
    if (parsed.dqpn == MRC_QPN_ENDPOINT) {
        rx_endpoint(p.src, parsed);
    } else {
        u32 q = parsed.dqpn - 0x1000;

        if (q >= w_.qps.size() || w_.by_id(q).home().id() != id_)
            fail("packet to QP %#x", parsed.dqpn);
        w_.by_id(q).rx(p, parsed);
        if (mrc_conn_answers_full(&w_.by_id(q).conn()))
            w_.by_id(q).run(); // as the kernel does
        if (std::find(touched.begin(), touched.end(), q) == touched.end())
            touched.push_back(q);
    }
    w_.packets.put(pkt);
}

// ---- ports ----

void host::rx_endpoint(u32 remote, const mrc_pkt &pkt)
{
    peer &p = to(remote);

    if (mrc_port_rx(&p.port, &pkt, clock_ns())) {
        w_.tr.say(w_.now_ps(), "%c: planes of %c are %#x", 'A' + id_, 'A' + remote,
                  p.port.remote_up);
        mrc_evset_remote_planes(&p.evs, p.port.remote_up, clock_ns());
        planes_changed(remote);
    }
    port_send(remote);
}

void host::carrier(u32 plane, bool up)
{
    u32 mask = 0;

    down_[plane] += up ? ~0u : 1u;
    for (u32 p = 0; p < w_.opt.planes; p++)
        mask |= down_[p] ? 0 : 1u << p;
    ports_are(mrc_damp_set(&damp_, mask, clock_ns()));
}

void host::on_damp_timer()
{
    ports_are(mrc_damp_poll(&damp_, clock_ns()));
}

void host::ports_are(u32 up)
{
    u64 at = mrc_damp_deadline_ns(&damp_);

    if (at != MRC_TIME_NEVER)
        timer(std::max(at, clock_ns() + 1), event_kind::damp_timer, id_);
    if (up == believed_)
        return;
    believed_ = up;
    w_.tr.say(w_.now_ps(), "%c: local planes are %#x", 'A' + id_, up);
    for (u32 r = 0; r < peers_.size(); r++) {
        if (r == id_)
            continue;
        mrc_evset_local_planes(&to(r).evs, up, clock_ns());
        mrc_port_set(&to(r).port, up, clock_ns());
        planes_changed(r);
        if (!to(r).qps.empty())
            port_send(r);
    }
}

void host::planes_changed(u32 remote)
{
    for (u32 q : to(remote).qps)
        w_.by_id(q).on_plane_event();
}

void host::port_send(u32 remote)
{
    peer &to_peer = to(remote);
    mrc_pkt hdr;

    std::memset(&hdr, 0, sizeof(hdr));
    while (mrc_port_tx_next(&to_peer.port, clock_ns(), &hdr)) {
        u16 e = hdr.plane == MRC_PLANE_NONE
                    ? mrc_spray_pick(&to_peer.rot, &to_peer.evs, MRC_NONE16)
                    : mrc_evset_nth_of(&to_peer.evs, hdr.plane, hdr.ev);

        if (e == MRC_NONE16)
            continue;
        u32 idx = w_.packets.get();
        packet &p = w_.packets[idx];
        int n = mrc_wire_build(p.buf, sizeof(p.buf), &hdr);

        if (n <= 0)
            fail("mrc_wire_build() of an endpoint packet: %d", n);
        p.len = static_cast<u32>(n);
        p.ev = to_peer.evs.ev[e].value;
        p.ev_idx = e;
        p.src = static_cast<u8>(id_);
        p.dst = static_cast<u8>(remote);
        p.plane = to_peer.evs.ev[e].plane;
        p.tclass = MRC_TC_CONTROL;
        p.trimmed = 0;
        p.ecn = false;
        p.udp_len = static_cast<u16>(8 + n + MRC_ICRC_LEN);
        w_.tr.say(sim_ps(), "%c endpoint tx %02x to %c id %u mask %#x plane %u", 'A' + id_,
                  hdr.opcode, 'A' + remote, hdr.psn, hdr.u.ep.port_status_mask, p.plane);
        to_peer.spent.packets++;
        transmit(idx);
    }
    u64 d = mrc_port_deadline_ns(&to_peer.port);
    if (d != MRC_TIME_NEVER)
        timer(d, event_kind::port_timer, id_,
              static_cast<u64>(remote) << 32 | ++to_peer.port_gen);
}

void host::on_port_timer(u32 remote, u64 gen)
{
    if (gen == to(remote).port_gen)
        port_send(remote);
}

void host::check() const
{
    for (u32 r = 0; r < peers_.size(); r++) {
        if (r == id_ || to(r).qps.empty())
            continue;
        const peer &p = to(r);
        int line = mrc_evset_check(&p.evs);
        u64 inflight = 0, active = 0;

        if (line)
            fail("mrc_evset_check() of %c towards %c: %d", 'A' + id_, 'A' + r, line);
        for (u32 q : p.qps) {
            const qp &x = w_.by_id(q);

            x.check();
            if (x.conn().cc != p.cc())
                continue;
            inflight += x.conn().snd.inflight;
            active += x.conn().snd.inflight != 0;
        }
        if (inflight != p.cc()->inflight_bytes || active != p.cc()->n_active)
            fail("controller of %c towards %c: %u bytes of %u connections in flight, its "
                 "connections have %llu of %llu", 'A' + id_, 'A' + r, p.cc()->inflight_bytes,
                 p.cc()->n_active, (unsigned long long)inflight, (unsigned long long)active);
    }
}

} // namespace sim
