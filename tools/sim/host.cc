// SPDX-License-Identifier: GPL-2.0
// host.cc - one host.
#include "host.h"

#include "world.h"

#include <algorithm>

namespace sim {

host::host(world &w, u32 id) : w_(w), id_(id), rand_(w.seed, "host", id)
{
    const options &o = w.opt;
    u16 n = static_cast<u16>(o.planes * o.evs);
    u32 all = static_cast<u32>((1ull << o.planes) - 1);
    mrc_evset_cfg cfg = {};
    std::vector<u32> values;
    std::vector<u8> planes;

    for (u32 i = 0; i < n; i++) {
        values.push_back(static_cast<u32>(rand_.next()) / n * n + i);
        planes.push_back(static_cast<u8>(i % o.planes));
    }
    cfg.n = n;
    cfg.min_active = static_cast<u16>(o.min_active);
    cfg.n_planes = static_cast<u8>(o.planes);
    cfg.readmit = static_cast<u8>(o.readmit);
    cfg.planes_up = all;
    cfg.probe_ns = o.probe_ns;
    cfg.probe_max_ns = o.probe_max_ns;
    evs_mem_.assign((mrc_evset_mem_size(n) + 7) / 8, 0xcdcdcdcdcdcdcdcdull);
    if (mrc_evset_init(&evs_, evs_mem_.data(), &cfg, values.data(), planes.data()))
        fail("mrc_evset_init() failed");
    mrc_port_init(&port_, all);
    rot_order_.resize(n);
    mrc_rot_init(&rot_, rot_order_.data(), n, rand_.next());
}

void host::arrive(u32 pkt)
{
    rxq_.push_back(pkt);
    if (run_pending_)
        return;
    run_pending_ = true;
    u64 delay = w_.opt.rx_delay_ns ? rand_.below(w_.opt.rx_delay_ns) : 0;
    w_.at_ns(w_.now_ns() + delay, event_kind::host_run, id_);
}

void host::run()
{
    std::vector<u32> batch;
    std::vector<bool> touched(qps_.size());

    run_pending_ = false;
    batch.swap(rxq_);
    for (u32 pkt : batch) {
        const packet &p = w_.packets[pkt];
        mrc_pkt parsed;
        int rc = mrc_wire_parse(p.buf, p.len, p.trimmed, &parsed);

        if (rc)
            fail("mrc_wire_parse() of a packet we built: %d", rc);
        parsed.ev = p.ev;
        parsed.plane = p.plane;
        parsed.ecn_ce = p.ecn;
        parsed.trimmed = p.trimmed;
        parsed.udp_len = p.udp_len;
        if (parsed.dqpn == MRC_QPN_ENDPOINT) {
            rx_endpoint(parsed);
        } else {
            u32 i = (parsed.dqpn - 0x1000) / 2;

            if ((parsed.dqpn & 1) != id_ || i >= qps_.size())
                fail("packet to QP %#x", parsed.dqpn);
            qps_[i]->rx(p, parsed);
            touched[i] = true;
        }
        w_.packets.put(pkt);
    }
    for (u32 i = 0; i < qps_.size(); i++)
        if (touched[i])
            qps_[i]->run();
}

void host::rx_endpoint(const mrc_pkt &p)
{
    if (mrc_port_rx(&port_, &p, w_.engine_ns())) {
        w_.tr.say(w_.now_ps(), "%c: peer's planes are %#x", 'A' + id_, port_.remote_up);
        mrc_evset_remote_planes(&evs_, port_.remote_up, w_.engine_ns());
        planes_changed();
    }
    port_send();
}

void host::carrier(u32 up)
{
    w_.tr.say(w_.now_ps(), "%c: local planes are %#x", 'A' + id_, up);
    mrc_evset_local_planes(&evs_, up, w_.engine_ns());
    mrc_port_set(&port_, up, w_.engine_ns());
    planes_changed();
    port_send();
}

void host::planes_changed()
{
    for (auto &q : qps_)
        q->on_plane_event();
}

void host::port_send()
{
    mrc_pkt hdr;

    std::memset(&hdr, 0, sizeof(hdr));
    while (mrc_port_tx_next(&port_, w_.engine_ns(), &hdr)) {
        u16 e = mrc_rot_pick(&rot_, &evs_, MRC_NONE16);

        if (e == MRC_NONE16)
            continue;
        u32 idx = w_.packets.get();
        packet &p = w_.packets[idx];
        int n = mrc_wire_build(p.buf, sizeof(p.buf), &hdr);

        if (n <= 0)
            fail("mrc_wire_build() of an endpoint packet: %d", n);
        p.len = static_cast<u32>(n);
        p.ev = evs_.ev[e].value;
        p.ev_idx = e;
        p.src = static_cast<u8>(id_);
        p.plane = evs_.ev[e].plane;
        p.tclass = MRC_TC_CONTROL;
        p.trimmed = 0;
        p.ecn = false;
        p.udp_len = static_cast<u16>(8 + n + MRC_ICRC_LEN);
        w_.tr.say(w_.now_ps(), "%c endpoint tx %02x id %u mask %#x plane %u", 'A' + id_, hdr.opcode,
                  hdr.psn, hdr.u.ep.port_status_mask, p.plane);
        w_.net.send(idx);
    }
    u64 d = mrc_port_deadline_ns(&port_);
    if (d != MRC_TIME_NEVER)
        w_.at_ns(d > w_.opt.epoch_ns ? d - w_.opt.epoch_ns : 0, event_kind::port_timer, id_,
                 ++port_gen_);
}

void host::on_port_timer(u64 gen)
{
    if (gen == port_gen_)
        port_send();
}

void host::check() const
{
    int line = mrc_evset_check(&evs_);

    if (line)
        fail("mrc_evset_check() of %c: %d", 'A' + id_, line);
    for (const auto &q : qps_)
        q->check();
}

} // namespace sim
