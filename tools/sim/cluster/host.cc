// SPDX-License-Identifier: GPL-2.0
// host.cc - a host: packets in, the engine's decisions out, timers, flows.
// See worker.h. A host's ports take packets as fast as they can send them: the engine
// is asked for the next one only when it can leave at once, as a NIC would.
#include "worker.h"

#include <algorithm>
#include <stdexcept>

namespace sim {

// ---- one rack ----

u64 worker::wake_time(const host &h) const
{
    u64 at = std::min(h.timer, h.next_start);

    if (h.first_head || h.ready_head)
        at = std::min(at, h.tx_free > slack_ps_ ? h.tx_free - slack_ps_ : 0);
    return h.notice ? 0 : at;
}

void worker::run_rack(u32 node)
{
    topology &topo = w_.topo;
    u32 first = node * topo.per_t0, last = std::min(first + topo.per_t0, topo.hosts);
    const due *at = due_.data(), *stop = at + due_.size();
    u64 wake_at = never;

    if (due_.empty() && w_.rack_wake[node] >= w_.window_end())
        return;
    for (u32 id = first; id < last; id++) {
        host &h = w_.hosts[id];
        const due *from = at;

        for (; at != stop && at->key >> 32 == id - first; at++)
            fold_packet(w_.node_hash[node], *at->p);
        if (from != at || wake_time(h) < w_.window_end())
            run_host(id, h, from, at);
        wake_at = std::min(wake_at, wake_time(h));
    }
    w_.rack_wake[node] = wake_at;
}

// A large cluster's ends are in no cache: ask for the one that is needed a few packets
// from now.
void worker::fetch_ahead(const due *at) const
{
    constexpr size_t ahead = 4, line = 64;
    const due *next = at + ahead;

    if (next >= due_.data() + due_.size() || next->p->conn == next[-1].p->conn)
        return;
    const char *e = reinterpret_cast<const char *>(w_.ends[next->p->conn]);
    for (size_t i = 0; e && i < sizeof(mrc_conn); i += line)
        __builtin_prefetch(e + i);
}

void worker::run_host(u32 id, host &h, const due *at, const due *stop)
{
    u64 now = w_.window_start();

    for (;;) {
        u64 arrival = at != stop ? at->p->t : never, own = wake_time(h);

        if (std::min(arrival, own) >= w_.window_end())
            return;
        if (arrival <= own) {
            now = arrival;
            fetch_ahead(at);
            receive(h, *at++->p);
        } else {
            now = std::max(now, own);
            wake(id, h, now);
        }
        pull(id, h, now);
    }
}

void worker::wake(u32 id, host &h, u64 t)
{
    if (h.notice)
        take_notice(h, t);
    if (h.next_start <= t)
        start_flows(id, h, t);
    if (h.timer <= t)
        run_timers(h, t);
}

end &worker::end_of(host &h, u32 id, u64 t)
{
    end *&e = w_.ends[id];

    if (!e) {
        e = w_.maker.make(mem_, id, h.up, t);
        e->next_on_host = h.ends;
        h.ends = e;
    }
    return *e;
}

// ---- lists of ends with something to send ----

void worker::make_ready(host &h, end &e, queued how)
{
    if (e.ready != queued::no)
        return;
    end *&head = how == queued::first ? h.first_head : h.ready_head;
    end *&tail = how == queued::first ? h.first_tail : h.ready_tail;
    e.ready = how;
    e.next_ready = nullptr;
    (head ? tail->next_ready : head) = &e;
    tail = &e;
}

end *worker::next_ready(host &h)
{
    end *&head = h.first_head ? h.first_head : h.ready_head;
    end *e = head;

    if (e) {
        head = e->next_ready;
        e->ready = queued::no;
    }
    return e;
}

// ---- time ----

void worker::arm(host &h, const end &e)
{
    u64 at = from_engine_ns(mrc_conn_deadline_ns(&e.conn));

    if (e.port)
        at = std::min(at, from_engine_ns(mrc_port_deadline_ns(e.port)));
    h.timer = std::min(h.timer, at);
}

// All ends of the host: there are few, or their timers are far apart. What is due and
// cannot be sent for want of a free port is asked again a little later.
void worker::run_timers(host &h, u64 t)
{
    constexpr u64 again_ps = 200 * ps_per_ns;
    u64 soonest = never;

    for (end *e = h.ends; e; e = e->next_on_host) {
        u64 at = from_engine_ns(mrc_conn_deadline_ns(&e->conn));

        if (e->port)
            at = std::min(at, from_engine_ns(mrc_port_deadline_ns(e->port)));
        if (at <= t) {
            count.timers++;
            mrc_conn_timer(&e->conn, engine_ns(t));
            make_ready(h, *e, queued::first);
            at = std::max(from_engine_ns(mrc_conn_deadline_ns(&e->conn)), t + again_ps);
        }
        soonest = std::min(soonest, at);
    }
    h.timer = soonest;
}

// Ports went down or came up.
void worker::take_notice(host &h, u64 t)
{
    mrc_cc_cfg cc = {};

    h.notice = false;
    w_.maker.rate(cc, h.up);
    for (end *e = h.ends; e; e = e->next_on_host) {
        mrc_evset_local_planes(&e->evs, h.up, engine_ns(t));
        mrc_conn_plane_event(&e->conn, engine_ns(t));
        if (e->cc->ops->set_cfg)
            e->cc->ops->set_cfg(e->cc, &cc, engine_ns(t));
        if (e->port)
            mrc_port_set(e->port, h.up, engine_ns(t));
        make_ready(h, *e, queued::first);
        arm(h, *e);
    }
}

// ---- flows ----

void worker::start_flows(u32 id, host &h, u64 t)
{
    while (h.next_start <= t) {
        u32 f = h.next_flow;
        flow &x = w_.work.flows[f];
        end &e = end_of(h, x.conn, t);

        if (x.src != id)
            throw std::logic_error("a flow starts at a host that is not its source");
        if (e.post_head == none32)
            e.post_head = f;
        else
            w_.work.flows[e.post_tail].next_post = f;
        e.post_tail = f;
        h.next_flow = x.next_start;
        h.next_start = h.next_flow == none32 ? never : w_.work.flows[h.next_flow].start;
        post_flows(h, e, t);
    }
}

void worker::post_flows(host &h, end &e, u64 t)
{
    while (e.post_head != none32) {
        flow &x = w_.work.flows[e.post_head];
        mrc_wr wr = {};

        wr.op = MRC_OP_WRITE_IMM;
        wr.cookie = e.post_head;
        wr.len = x.bytes;
        wr.rkey = e.post_head;
        wr.imm = e.post_head;
        int rc = mrc_conn_post(&e.conn, &wr, engine_ns(t));
        if (rc == -EAGAIN)
            return;
        if (rc)
            throw std::runtime_error("mrc_conn_post");
        e.post_head = x.next_post;
        make_ready(h, e, queued::normal);
    }
}

// A flow was received: the one that waited for it starts.
static void start_next(world &w, host &h, u32 f, u64 t)
{
    flow &x = w.work.flows[f];

    x.start = t;
    x.next_start = h.next_flow;
    h.next_flow = f;
    h.next_start = t;
}

void worker::finish(host &h, end &e, u64 t)
{
    mrc_tail tail;
    mrc_cpl c;

    while (mrc_conn_tail_next(&e.conn, &tail))
        ;
    while (mrc_conn_complete_next(&e.conn, &c)) {
        if (c.status != MRC_ST_OK)
            throw std::runtime_error("a connection failed, status " + std::to_string(c.status));
        if (c.kind == MRC_CPL_SEND) {
            w_.work.flows[c.cookie].tx_done = t;
            count.flows_sent++;
            post_flows(h, e, t);
            continue;
        }
        flow &x = w_.work.flows[c.imm];
        if (x.placed != x.bytes || c.len != x.bytes || x.rx_done != never)
            throw std::logic_error("a flow was completed before it was all there");
        x.rx_done = t;
        count.flows_received++;
        if (x.then != none32)
            start_next(w_, h, x.then, t);
    }
    if (mrc_conn_failed(&e.conn) != MRC_ST_OK)
        throw std::runtime_error("a connection failed");
#ifdef MRC_DEBUG
    if (int line = mrc_conn_check(&e.conn))
        throw std::logic_error("mrc_conn_check: " + std::to_string(line));
    if (int line = mrc_evset_check(&e.evs))
        throw std::logic_error("mrc_evset_check: " + std::to_string(line));
#endif
}

// ---- receiving ----

void worker::place(const mrc_rxop &op, u64 t)
{
    flow &x = w_.work.flows[op.rkey];
    size_t bucket = t / (w_.s.run.bucket_us * ps_per_us);

    if (op.place != MRC_PLACE_WRITE || op.va + op.len > x.bytes)
        throw std::logic_error("a packet would be placed outside its flow");
    x.placed += op.len;
    count.delivered += op.len;
    if (bucket >= series.size())
        series.resize(bucket + 1);
    series[bucket] += op.len;
}

void worker::receive(host &h, const packet &p)
{
    u64 now_ns = engine_ns(p.t);
    end &e = end_of(h, p.conn, p.t);
    mrc_incast_note note;
    mrc_rxop op;
    mrc_pkt pkt;

    unpack(p, pkt);
    if (pkt.opcode == MRC_OPC_EP_REQ || pkt.opcode == MRC_OPC_EP_RSP)
        return receive_port(h, e, pkt, p.t);
    if (mrc_conn_rx_begin(&e.conn, &pkt, now_ns, &op) == MRC_V_PLACE) {
        place(op, p.t);
        mrc_conn_rx_commit(&e.conn, &op, now_ns);
    }
    if (p.is_data() && mrc_conn_incast_note(&e.conn, &note)) {
        bool restore;
        u8 pen = mrc_incast_update(&h.incast, &e.incast, &note, now_ns, &restore);

        mrc_conn_set_penalty(&e.conn, pen, restore);
    }
    finish(h, e, p.t);
    make_ready(h, e, queued::first);
    arm(h, e);
}

void worker::receive_port(host &h, end &e, const mrc_pkt &p, u64 t)
{
    if (!e.port)
        throw std::logic_error("port status where nobody sends it");
    if (mrc_port_rx(e.port, &p, engine_ns(t))) {
        mrc_evset_remote_planes(&e.evs, e.port->remote_up, engine_ns(t));
        mrc_conn_plane_event(&e.conn, engine_ns(t));
    }
    make_ready(h, e, queued::first);
    arm(h, e);
}

// ---- sending ----

// Was this packet sent to its death? Ports may be read: faults come between windows.
void worker::note_dead_path(u32 id, end &e, const packet &p, u64 t)
{
    topology &topo = w_.topo;
    u32 dst = w_.work.end_host[p.conn], from = topo.rack_node(id), to = topo.rack_node(dst);
    u32 t1 = topology::ev_t1(p.ev);
    bool dead = topo.nic_port(p.plane, id).dead || topo.last_port(p.plane, dst).dead;

    if (from != to)
        dead = dead || topo.up_port(p.plane, from, t1).dead ||
               topo.down_port(p.plane, t1, to).dead;
    if (!dead)
        return;
    e.dead_sent++;
    e.dead_sent_last = t;
    count.dead_sent++;
}

void worker::transmit(u32 id, host &h, end &e, const mrc_txop &op, u64 t)
{
    port &nic = w_.topo.nic_port(op.hdr.plane, id);
    const link_class &k = w_.topo.classes[nic.cls];
    packet p;

    pack(op, p);
    p.conn = e.id ^ 1;
    if (p.is_data()) {
        count.data_sent++;
        count.plane_pkts[p.plane]++;
        if (w_.dead_links)
            note_dead_path(id, e, p, t);
        p.t = nic.send_data(k, t, static_cast<u32>(p.len + w_.s.fabric.header));
    } else {
        u32 bytes = static_cast<u32>(w_.s.fabric.control);

        (op.hdr.opcode == MRC_OPC_PROBE ? count.probes_sent : count.control_sent)++;
        p.t = p.flags & PKT_CONTROL ? nic.send_ctl(k, t, bytes) : nic.send_data(k, t, bytes);
    }
    h.tx_free = std::max(h.tx_free, nic.free_data);
    count.hops++;
    p.t += w_.window_ps;
    if (nic.dead)
        return lose(p, true);
    post(w_.topo.t0_node(p.plane, w_.topo.rack_node(id)), p);
}

// Port status goes to endpoint QPs, here: to the connection.
bool worker::pull_port(u32 id, host &h, end &e, u64 t)
{
    mrc_txop op = {};

    if (!mrc_port_tx_next(e.port, engine_ns(t), &op.hdr))
        return false;
    u16 idx = mrc_rot_pick(e.port_rot, &e.evs, MRC_NONE16);
    if (idx == MRC_NONE16)
        return false;
    op.tclass = MRC_TC_CONTROL;
    op.hdr.ev = e.evs.ev[idx].value;
    op.hdr.plane = e.evs.ev[idx].plane;
    transmit(id, h, e, op, t);
    return true;
}

bool worker::pull_one(u32 id, host &h, end &e, u64 t, bool &control)
{
    mrc_txop op;

    control = true;
    if (e.port && pull_port(id, h, e, t))
        return true;
    if (!mrc_conn_tx_next(&e.conn, engine_ns(t), &op))
        return false;
    control = op.src == MRC_SRC_NONE;
    transmit(id, h, e, op, t);
    return true;
}

// Ends that have just got something go first: what they owe is mostly control. Data
// takes turns among all.
void worker::pull(u32 id, host &h, u64 t)
{
    while (h.tx_free <= t + slack_ps_) {
        end *e = next_ready(h);
        bool control;

        if (!e)
            return;
        if (pull_one(id, h, *e, t, control))
            make_ready(h, *e, control ? queued::first : queued::normal);
        else // what it sent before is answered, or it comes here again: timers can wait
            arm(h, *e);
    }
}

} // namespace sim
