// SPDX-License-Identifier: GPL-2.0
// tcp.cc - see tcp.h.
#include "tcp.h"

#include "worker.h"

#include <algorithm>

namespace sim {

std::vector<tcp_flow> make_tcp_flows(const scenario &s, const workload &work)
{
    std::vector<tcp_flow> v(s.tcp.size());

    for (size_t i = 0; i < v.size(); i++) {
        const tcp_spec &x = s.tcp[i];
        tcp_flow &f = v[i];

        f.src = static_cast<u32>(x.src);
        f.dst = static_cast<u32>(x.dst);
        f.conn = work.first_tcp + 2 * static_cast<u32>(i) + (x.src > x.dst);
        f.plane = static_cast<u8>(x.plane);
        f.ev = topology::ev_value(static_cast<u32>(mix64(s.run.seed << 32 | i) % s.fabric.t1s), 0);
        f.start = x.start_us * ps_per_us;
        f.until = x.until_us ? x.until_us * ps_per_us : never;
        f.wake = f.start;
    }
    return v;
}

// By the port's one queue for data. An acknowledgement is small, and waits as data does.
void worker::send_tcp(u32 id, host &h, const tcp_flow &f, tcp_opcode op, tcp_segment s, u64 t)
{
    port &nic = w_.topo.nic_port(f.plane, id);
    const link_class &k = w_.topo.classes[nic.cls];
    packet p = {};

    p.conn = op == TCP_DATA ? f.conn ^ 1 : f.conn;
    p.psn_op = s.number << 8 | op;
    p.ev = f.ev;
    p.plane = f.plane;
    p.len = op == TCP_DATA ? static_cast<u16>(w_.s.fabric.mtu) : 0;
    p.flags = PKT_NO_TRIM;
    p.data.va = s.number;
    p.data.dmalen = s.seq;
    p.t = t;
    p.t = nic.send_data(k, t, static_cast<u32>(p.len + w_.s.fabric.header));
    set_tx_free(id, h);
    count.hops++;
    p.t += k.delay_ps;
    if (nic.dead)
        return lose(p, loss::dead);
    if (!w_.rules.empty() && meet_rules(id, p, t))
        return;
    post(w_.topo.t0_node(f.plane, w_.topo.rack_node(id)), p);
}

// As much as its window allows, and its port takes at once.
void worker::pull_tcp(u32 id, host &h, tcp_flow &f, u64 t)
{
    const port &nic = w_.topo.nic_port(f.plane, id);
    tcp_segment s;

    f.wake = never;
    while (t >= f.start && t < f.until) {
        if (nic.backlog(t) > slack_ps_) {
            f.wake = t + nic.backlog(t) - slack_ps_;
            break;
        }
        if (!f.tx.next(engine_ns(t), &s))
            break;
        count.tcp_sent++;
        send_tcp(id, h, f, TCP_DATA, s, t);
    }
    if (t < f.until)
        f.wake = std::min(f.wake, from_engine_ns(f.tx.deadline_ns()));
    h.tcp_wake = std::min(h.tcp_wake, f.wake);
}

void worker::run_tcp(u32 id, host &h, u64 t)
{
    h.tcp_wake = never;
    for (tcp_flow &f : w_.tcp) {
        if (f.src != id)
            continue;
        if (f.wake > t) {
            h.tcp_wake = std::min(h.tcp_wake, f.wake);
            continue;
        }
        f.tx.timer(engine_ns(t));
        pull_tcp(id, h, f, t);
    }
}

void worker::receive_tcp(host &h, const packet &p, u64 t)
{
    tcp_flow &f = w_.tcp[(p.conn - w_.work.first_tcp) / 2];
    u32 id = static_cast<u32>(&h - w_.hosts.data());

    if (p.opcode() == TCP_ACK) {
        f.tx.acked(p.data.va, engine_ns(t));
        return pull_tcp(id, h, f, t);
    }
    if (f.rx.take(p.data.dmalen)) {
        count.tcp_delivered += p.len;
        bucket(t).tcp += p.len;
    }
    send_tcp(id, h, f, TCP_ACK, {p.data.va, p.data.dmalen}, t);
}

} // namespace sim
