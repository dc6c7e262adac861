// SPDX-License-Identifier: GPL-2.0
// end.cc - configures the engine for one end of a connection (end.h).
#include "end.h"
#include "template_paths.h"

#include <algorithm>
#include <stdexcept>

namespace sim {

void *arena::take(size_t bytes)
{
    bytes = (bytes + 7) & ~static_cast<size_t>(7);
    if (bytes > left_) {
        left_ = std::max(bytes, huge_page);
        at_ = static_cast<u8 *>(store_.map(left_));
    }
    void *p = at_;
    at_ += bytes;
    left_ -= bytes;
    total_ += bytes;
    return p;
}

namespace {

u16 pow2_at_least(u64 n, u64 most)
{
    u64 p = 1;

    while (p < n && p < most)
        p <<= 1;
    return static_cast<u16>(p);
}

} // namespace

u32 end_maker::first_psn(u32 id)
{
    return static_cast<u32>(mix64(id)) & MRC_PSN_MASK;
}

// The window of the scenario, or for all there is to send if that is less.
mrc_conn_cfg end_maker::sizes(u32 id) const
{
    u32 out = work.end_flows[id], in = work.end_flows[id ^ 1];
    u64 psns = std::max(out * work.packets(work.end_bytes[id]),
                        in * work.packets(work.end_bytes[id ^ 1]));
    mrc_conn_cfg c = {};

    psns = std::min(psns, s.host.mpr * MRC_MPR_UNIT);
    c.mpr_max = static_cast<u8>(pow2_at_least((psns + MRC_MPR_UNIT - 1) / MRC_MPR_UNIT,
                                              MRC_MPR_MAX));
    c.sq_max = pow2_at_least(out, 16);
    c.rq_max = pow2_at_least(std::max(in, out), 16); // also what the peer lets us have out
    c.rd_max = 1;
    c.tails = static_cast<u8>(std::clamp<u32>(in, 1, 16));
    c.seed = mix64(s.run.seed << 32 | id);
    return c;
}

// Random T1s, each as often as the others.
void end_maker::draw_paths(const end &e, u32 per_plane, std::vector<path> &v) const
{
    std::vector<u32> t1(topo.t1s);
    mrc_prng rand = {mix64(s.run.seed << 32 | e.id) ^ 0x9a75};

    for (u32 j = 0; j < topo.t1s; j++)
        t1[j] = j;
    for (u32 p = 0; p < topo.planes; p++)
        for (u32 i = 0; i < per_plane; i++) {
            u32 j = i % topo.t1s;

            if (per_plane < topo.t1s)
                std::swap(t1[j], t1[j + mrc_prng_below(&rand, topo.t1s - j)]);
            if (i / topo.t1s >= s.host.ev_per_path)
                break;
            v.push_back({topology::ev_value(t1[j], i / topo.t1s), static_cast<u8>(p)});
        }
}

// As the template of the host says; at its own T0 any EV is as good.
void end_maker::template_evs(const end &e, u32 per_plane, std::vector<path> &v) const
{
    const u32 t1s = s.host.t1_choices ? static_cast<u32>(s.host.t1_choices) : topo.t1s;
    const u32 peer = work.end_host[e.id ^ 1];
    const template_paths paths(topo, e.host, t1s);

    for (u32 p = 0; p < topo.planes; p++)
        for (u32 i = 0; i < std::min(per_plane, t1s); i++)
            v.push_back({topology::ev_value(topo.rack_node(peer) == topo.rack_node(e.host) ?
                                            i : paths.t1(p, i, peer), 0), static_cast<u8>(p)});
}

// n EVs at most, the same number of every plane.
void end_maker::make_paths(arena &mem, end &e, u32 n, u32 planes_up) const
{
    const u32 per_plane = std::max(n / topo.planes, 1u);
    std::vector<path> v;
    std::vector<u32> values;
    std::vector<u8> planes;
    mrc_evset_cfg cfg = {};

    if (s.host.paths == "template")
        template_evs(e, per_plane, v);
    else
        draw_paths(e, per_plane, v);
    for (const path &x : v) {
        values.push_back(x.ev);
        planes.push_back(x.plane);
    }
    cfg.n = static_cast<u16>(values.size());
    cfg.n_planes = static_cast<u8>(topo.planes);
    cfg.planes_up = planes_up;
    if (!s.host.probe_default)
        cfg.probe_ns = s.host.probe_us ? s.host.probe_us * 1000 : s.base_rtt_ps() / ps_per_ns;
    e.evs = static_cast<mrc_evset *>(mem.take(sizeof(mrc_evset)));
    if (mrc_evset_init(e.evs, mem.take(mrc_evset_mem_size(cfg.n, false)), &cfg, values.data(),
                       planes.data()))
        throw std::runtime_error("mrc_evset_init");
}

void end_maker::rate(mrc_cc_cfg &c, u32 host, u32 planes_up) const
{
    u64 all = 0, up = 0, window = 0;

    for (u32 p = 0; p < topo.planes; p++) {
        all += s.plane_mbps(p);
        up += planes_up >> p & 1 ? s.plane_mbps(p) : 0;
        window += s.bdp_bytes(s.plane_mbps(p));
    }
    c.mtu = static_cast<u32>(s.fabric.mtu) + MRC_PKT_OVERHEAD;
    c.rate_mbps = static_cast<u32>(up ? up : all / topo.planes);
    c.trimming = s.fabric.trim;
    bool given = s.host.window_bytes && (s.host.cc == "nscc" || !s.nscc(host));
    if (given)
        c.window_bytes = static_cast<u32>(s.host.window_bytes);
    else if (!s.nscc(host))
        c.window_bytes = static_cast<u32>(std::min<u64>(window * s.host.window / 1000,
                                                        MRC_CC_WND_MAX));
}

void end_maker::make_port(arena &mem, end &e, u32 planes_up) const
{
    e.port = static_cast<mrc_port *>(mem.take(sizeof(mrc_port)));
    e.port_rot = static_cast<mrc_spray *>(mem.take(sizeof(mrc_spray)));
    mrc_port_init(e.port, planes_up);
    mrc_spray_init(e.port_rot, static_cast<u16 *>(mem.take(MRC_SPRAY_LEN(32) * sizeof(u16))), 32,
                   mix64(s.run.seed << 32 | e.id) ^ 0x9047);
}

void end_maker::start(arena &mem, end &e, u32 planes_up, u64 now_ns) const
{
    mrc_rx_cfg rx = {};
    mrc_tx_cfg tx = {};
    mrc_cc_cfg cc = {};
    const mrc_cc_ops *ops = mrc_cc_find(s.nscc(e.host) ? "uet-1.0-nscc" : nullptr);

    if (!ops)
        throw std::runtime_error("the engine has no congestion control of this name");
    rate(cc, e.host, planes_up);
    if (e.owner == &e) {
        e.cc = static_cast<mrc_cc *>(mem.take(ops->size));
        mrc_cc_init(e.cc, ops, &cc, now_ns);
    }
    rx.psn = first_psn(e.id ^ 1);
    rx.dqpn = e.id ^ 1;
    rx.sqpn = e.id;
    rx.mtu = static_cast<u16>(s.fabric.mtu);
    rx.sack_pkts = static_cast<u16>(s.host.sack_pkts);
    rx.sack_bytes = static_cast<u32>(s.host.sack_bytes);
    rx.mrc_only = !s.host.verbs;
    rx.svc_time = s.host.timestamps;
    tx.psn = first_psn(e.id);
    tx.timeout_ns = s.host.rto_ns ? s.host.rto_ns : s.host.rto_us * 1000;
    tx.exp_cnt = MRC_EXP_FOREVER;
    tx.timestamps = s.host.timestamps;
    tx.trim_nack = s.fabric.trim;
    tx.sleek = s.host.sleek;
    tx.burst = s.burst();
    tx.cc = e.cc;
    mrc_conn_set_path(&e.conn, e.evs);
    if (mrc_conn_set_rx(&e.conn, &rx, now_ns) || mrc_conn_set_tx(&e.conn, &tx, now_ns))
        throw std::runtime_error("mrc_conn_set_rx or _tx");
}

end *end_maker::make(arena &mem, u32 id, end *sibling, u32 planes_up, u64 now_ns) const
{
    mrc_conn_cfg cfg = sizes(id);
    // Who only acknowledges needs few paths; who sends draws its active set from all.
    u64 t1s = s.host.t1_choices ? s.host.t1_choices : topo.t1s;
    u64 all = std::min<u64>(t1s * s.host.ev_per_path * topo.planes, MRC_EVS_MAX);
    u64 few = s.host.ack_evs ? s.host.ack_evs : std::max<u64>(16, 4 * topo.planes);
    u32 n = static_cast<u32>(work.end_flows[id] ? all : std::min(all, few));

    cfg.ev_active = static_cast<u16>(std::min<u64>(n, s.host.evs));
    size_t bytes = mrc_conn_mem_size(&cfg);
    if (!bytes)
        throw std::runtime_error("mrc_conn_mem_size");
    end *e = static_cast<end *>(mem.take(sizeof(end)));
    std::memset(static_cast<void *>(e), 0, sizeof(*e));
    e->id = id;
    e->host = work.end_host[id];
    e->post_head = none32;
    e->post_tail = none32;
    if (mrc_conn_init(&e->conn, &cfg, mem.take(bytes)))
        throw std::runtime_error("mrc_conn_init");
    e->owner = sibling ? sibling->owner : e;
    e->evs = e->owner->evs;
    e->cc = e->owner->cc;
    if (!sibling)
        make_paths(mem, *e, n, planes_up);
    start(mem, *e, planes_up, now_ns);
    for (const fault_spec &f : s.fault)
        if (f.tells() && !e->port)
            make_port(mem, *e, planes_up);
    return e;
}

} // namespace sim
