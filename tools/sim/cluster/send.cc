// SPDX-License-Identifier: GPL-2.0
// send.cc - packets that a host sends, and their bookkeeping (worker.h).
//
// A host queries its ends for packets while one of its ports is free. An end whose packet waits for
// a port waits too; the host's other ends do not.
#include "capture.h"
#include "worker.h"

#include <algorithm>

namespace sim {

// Was this packet sent to its death? Ports may be read: faults come between windows.
bool worker::dead_path(u32 id, const packet &p, u64 t)
{
    topology &topo = w_.topo;
    u32 dst = w_.work.end_host[p.conn], from = topo.rack_node(id), to = topo.rack_node(dst);
    u32 t1 = topology::ev_t1(p.ev);
    bool dead = topo.nic_port(p.plane, id).dead || topo.last_port(p.plane, dst).dead;

    if (from != to)
        dead = dead || topo.up_port(p.plane, from, t1).dead ||
               topo.down_port(p.plane, t1, to).dead;
    return dead || (w_.rules.kill() && w_.rules.dead(p, from != to, t));
}

// Data, and what acknowledges: probes are meant to go there.
void worker::note_dead_path(u32 id, end &e, const packet &p, u64 t)
{
    if (!dead_path(id, p, t))
        return;
    if (!p.is_data()) {
        count.dead_acks++;
        return e.dead_acks.note(w_.outage, t);
    }
    e.dead_sent++;
    e.dead_data.note(w_.outage, t);
    w_.work.flows[p.data.key].hit = true;
    count.dead_sent++;
    count.late_dead += t >= w_.late_ps;
}

void worker::note_sent(u32 id, end &e, const packet &p, u64 t)
{
    count.data_sent++;
    count.plane_pkts[p.plane]++;
    bucket(t).data++;
    if (!w_.any_fault)
        return;
    if (t >= w_.late_ps) {
        count.late_sent++;
        count.late_plane_pkts[p.plane]++;
    }
    if (w_.repaired.plane == p.plane && e.repair_seen != w_.repaired.number) {
        e.repair_seen = w_.repaired.number;
        e.reuse_ps = std::max(e.reuse_ps, t - w_.repaired.at);
    }
    if (w_.dead_links || w_.rules.kill())
        note_dead_path(id, e, p, t);
}

void worker::note_control(u32 id, end &e, const mrc_txop &op, const packet &p, u64 t)
{
    if (op.hdr.opcode == MRC_OPC_PROBE) {
        count.probes_sent++;
        bucket(t).probes++;
        return;
    }
    count.control_sent++;
    count.marks_told += op.hdr.opcode == MRC_OPC_SACK && op.hdr.u.sack.m == MRC_M_SKIP_ONCE;
    if (op.hdr.opcode == MRC_OPC_SACK && !op.hdr.u.sack.pr) {
        const mrc_sack &s = op.hdr.u.sack;
        u32 psn = s.cack + static_cast<u32>(s.ack_psn_offset);

        count.sack_plane[e.psn_plane[psn % std::size(e.psn_plane)]]++;
    }
    bool acks = op.hdr.opcode == MRC_OPC_SACK || op.hdr.opcode == MRC_OPC_NACK ||
                op.hdr.opcode == MRC_OPC_ACK;
    if (acks && (w_.dead_links || w_.rules.kill()))
        note_dead_path(id, e, p, t);
}

// What [[path]] and the like do to a packet that was sent at t. True: it is lost.
bool worker::meet_rules(u32 id, packet &p, u64 t)
{
    u32 dst = w_.work.end_host[p.conn];
    path_rules::fate f = w_.rules.of(p, w_.topo.rack_node(id) != w_.topo.rack_node(dst), t);

    count.path_hits += f.hit;
    p.t += f.delay_ps;
    if (f.lost)
        lose(p, f.dead ? loss::dead : loss::random);
    return f.lost;
}

// Called after each packet: the port that is free first says when to query again.
void worker::set_tx_free(u32 id, host &h)
{
    h.tx_free = never;
    for (u32 p = 0; p < w_.topo.planes; p++)
        h.tx_free = std::min(h.tx_free, w_.topo.nic_port(p, id).free_data);
}

void worker::transmit(u32 id, host &h, end &e, const mrc_txop &op, u64 t)
{
    port &nic = w_.topo.nic_port(op.hdr.plane, id);
    const link_class &k = w_.topo.classes[nic.cls];
    u32 bytes = static_cast<u32>(w_.s.fabric.control);
    packet p;

    pack(op, p);
    p.conn = e.id ^ 1;
    p.t = t;
    if (w_.cap)
        w_.cap->note(t, e, w_.work.end_host[p.conn], op);
    if (p.is_data()) {
        bytes = static_cast<u32>(p.len + w_.s.fabric.header);
        note_sent(id, e, p, t);
    } else {
        note_control(id, e, op, p, t);
    }
    if (w_.topo.odd_nics && (p.flags & PKT_CONTROL ? nic.ctl_backlog(t) > k.ctl_limit
                                                   : nic.backlog(t) + k.ser(bytes) > k.limit))
        return lose(p, loss::queue);
    p.t = p.flags & PKT_CONTROL ? nic.send_ctl(k, t, bytes) : nic.send_data(k, t, bytes);
    set_tx_free(id, h);
    if (p.is_data() && w_.ends_wait && !e.foreign)
        e.tx_free = p.t;
    count.hops++;
    count.odd_hops += k.odd;
    p.t += k.delay_ps;
    if (nic.dead)
        return lose(p, loss::dead);
    if (!w_.rules.empty() && meet_rules(id, p, t))
        return;
    post(w_.topo.t0_node(p.plane, w_.topo.rack_node(id)), p);
}

// Port status goes to endpoint QPs, here: to the connection.
bool worker::pull_port(u32 id, host &h, end &e, u64 t)
{
    mrc_txop op = {};

    if (!mrc_port_tx_next(e.port, h.clock.ns(t), &op.hdr))
        return false;
    u16 idx = op.hdr.plane == MRC_PLANE_NONE ? mrc_spray_pick(e.port_rot, e.evs, MRC_NONE16)
                                             : mrc_evset_nth_of(e.evs, op.hdr.plane, op.hdr.ev);
    if (idx == MRC_NONE16)
        return false;
    op.tclass = MRC_TC_CONTROL;
    op.hdr.ev = e.evs->ev[idx].value;
    op.hdr.plane = e.evs->ev[idx].plane;
    transmit(id, h, e, op, t);
    return true;
}

bool worker::pull_one(u32 id, host &h, end &e, u64 t, bool &control)
{
    mrc_txop op;

    control = true;
    if (e.foreign)
        return pull_foreign(id, h, e, t, control);
    if (e.port && pull_port(id, h, e, t))
        return true;
    if (!mrc_conn_tx_next(&e.conn, h.clock.ns(t), &op))
        return false;
    control = op.src == MRC_SRC_NONE;
    transmit(id, h, e, op, t);
    return true;
}

void worker::wait_for_port(host &h, end &e)
{
    e.ready = queued::waits;
    h.waiting.push_back(&e);
    std::push_heap(h.waiting.begin(), h.waiting.end(), sent_later);
}

void worker::end_waits(host &h, u64 t)
{
    while (!h.waiting.empty() && h.waiting.front()->tx_free <= t + slack_ps_) {
        end &e = *h.waiting.front();

        std::pop_heap(h.waiting.begin(), h.waiting.end(), sent_later);
        h.waiting.pop_back();
        e.ready = queued::no;
        make_ready(h, e);
    }
}

static bool owes(end &e, u64 now_ns)
{
    return !e.foreign && mrc_conn_owes(&e.conn, now_ns);
}

// Ends that have just got something go first: what they owe is mostly control. Data
// takes turns among all.
void worker::pull(u32 id, host &h, u64 t)
{
    while (h.tx_free <= t + slack_ps_) {
        end_waits(h, t);
        end *e = next_first(h);
        bool control;

        if (e && e->ready == queued::turn && !owes(*e, h.clock.ns(t)))
            continue; // data of its has to wait for its turn
        if (!e)
            e = next_ready(h);
        if (!e)
            return;
        if (e->tx_free > t + slack_ps_) {
            if (e->ready == queued::no)
                wait_for_port(h, *e);
        } else if (pull_one(id, h, *e, t, control)) {
            control ? make_first(h, *e) : make_ready(h, *e);
        } else // what it sent before is answered, or it comes here again: timers can wait
            arm(h, *e);
        wake_siblings(h, *e);
    }
}

} // namespace sim
