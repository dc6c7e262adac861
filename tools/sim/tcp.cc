// SPDX-License-Identifier: GPL-2.0
// tcp.cc - see tcp.h.
#include "tcp.h"

#include "world.h"

namespace sim {

namespace {

constexpr u32 tcp_header = 56;

} // namespace

tcp_flows::tcp_flows(world &w, u64 seed) : w_(w)
{
    const options &o = w.opt;
    prng r(seed, "tcp");

    for (u64 i = 0; i < o.tcp_flows; i++) {
        one f = {};

        f.src = static_cast<u32>(r.below(o.hosts));
        f.dst = o.fan_in && f.src ? 0 : static_cast<u32>((f.src + r.range(1, o.hosts - 1)) % o.hosts);
        f.ev = static_cast<u32>(r.next());
        f.plane = static_cast<u8>(r.below(o.planes));
        f.ev_idx = static_cast<u16>(f.plane * o.evs);
        f.start_ns = r.below(o.fault_ns / 4 + 1);
        flow_.push_back(std::move(f));
    }
}

void tcp_flows::start()
{
    for (u32 i = 0; i < flow_.size(); i++)
        w_.at_ns(flow_[i].start_ns, event_kind::tcp, i);
}

void tcp_flows::send(u32 flow, bool ack, tcp_segment s)
{
    const one &f = flow_[flow];
    u32 idx = w_.packets.get();
    packet &p = w_.packets[idx];

    std::memset(p.buf, 0, tcp_header);
    std::memcpy(p.buf + 4, &s, sizeof(s));
    p.len = static_cast<u32>(tcp_header + (ack ? 0 : w_.opt.mtu));
    p.ev = f.ev;
    p.ev_idx = f.ev_idx;
    p.src = static_cast<u8>(ack ? f.dst : f.src);
    p.dst = static_cast<u8>(ack ? f.src : f.dst);
    p.plane = f.plane;
    p.tclass = MRC_TC_NO_TRIM;
    p.trimmed = 0;
    p.ecn = false;
    p.udp_len = 0;
    p.tcp = static_cast<u16>(flow + 1);
    w_.net.send(idx);
}

void tcp_flows::pull(u32 flow)
{
    one &f = flow_[flow];
    tcp_segment s;

    while (w_.faults_on() && f.tx.next(w_.now_ns(), &s)) {
        w_.seen.tcp_sent++;
        send(flow, false, s);
    }
    if (w_.faults_on() && f.tx.deadline_ns() != MRC_TIME_NEVER)
        w_.at_ns(f.tx.deadline_ns(), event_kind::tcp, flow, ++f.generation);
}

void tcp_flows::run(u32 flow, u64 generation)
{
    if (generation != flow_[flow].generation)
        return;
    flow_[flow].tx.timer(w_.now_ns());
    pull(flow);
}

void tcp_flows::arrive(u32 pkt)
{
    packet &p = w_.packets[pkt];
    u32 flow = p.tcp - 1u;
    one &f = flow_[flow];
    bool ack = p.dst == f.src;
    tcp_segment s;

    std::memcpy(&s, p.buf + 4, sizeof(s));
    w_.packets.put(pkt);
    if (!ack) {
        w_.seen.tcp_delivered += f.rx.take(s.seq);
        send(flow, true, s);
        return;
    }
    f.tx.acked(s.number, w_.now_ns());
    pull(flow);
}

} // namespace sim
