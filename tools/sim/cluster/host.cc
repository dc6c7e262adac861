// SPDX-License-Identifier: GPL-2.0
// host.cc - a host: received packets, timers, flows (worker.h). send.cc sends the engine's packets.
//
// A host that needs time for packets, or pauses, has a nic in which they wait. Nothing else happens
// during a pause, and nothing is sent in the middle of a batch.
#include "worker.h"

#include <algorithm>
#include <stdexcept>

namespace sim {

// ---- one rack ----

u64 worker::wake_time(const host &h) const
{
    u64 at = std::min({h.timer, h.next_start, h.tcp_wake, h.probe_wake}), send = never;

    if (h.first_head || h.ready_head)
        send = h.tx_free;
    else if (!h.waiting.empty())
        send = std::max(h.tx_free, h.waiting.front()->tx_free);
    if (send != never && !(h.rx && h.rx->in_batch()))
        at = std::min(at, send > slack_ps_ ? send - slack_ps_ : 0);
    at = h.notice ? 0 : at;
    if (!h.rx)
        return at;
    return h.rx->pause.after(std::max(std::min(at, h.rx->due()), w_.window_start()));
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
    if (at != stop)
        throw std::logic_error("a packet came to a rack and to none of its hosts");
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
            if (h.rx) {
                enqueue(h, *at++->p);
                continue;
            }
            receive(h, *at->p, at->p->t);
            at++;
        } else {
            now = std::max(now, own);
            wake(id, h, now);
            if (h.rx && h.rx->in_batch())
                continue;
        }
        pull(id, h, now);
    }
}

// To wait for the host's CPU.
void worker::enqueue(host &h, const packet &p)
{
    count.ringed++;
    if (!h.rx->put(p))
        lose(p, loss::ring);
}

void worker::wake(u32 id, host &h, u64 t)
{
    if (h.rx && h.rx->due() <= t) {
        packet p = h.rx->take(t);

        receive(h, p, t);
    }
    if (h.notice)
        take_notice(h, t);
    if (h.next_start <= t)
        start_flows(id, h, t);
    if (h.tcp_wake <= t)
        run_tcp(id, h, t);
    if (h.probe_wake <= t)
        run_probes(id, h, t);
    if (h.timer <= t)
        run_timers(h, t);
}

// Another QP to the same peer.
end *worker::sibling_of(u32 id) const
{
    u32 qps = static_cast<u32>(w_.s.host.qps), first = id - id / 2 % qps * 2;

    for (u32 i = first; qps > 1 && i < first + 2 * qps; i += 2)
        if (w_.ends[i])
            return w_.ends[i];
    return nullptr;
}

// As the kernel: who asks about EVs is not answered, so all that could have to look.
void worker::wake_siblings(host &h, end &e)
{
    if (w_.s.host.qps == 1 || !mrc_evset_take_wake(e.evs))
        return;
    for (end *x = h.ends; x; x = x->next_on_host)
        if (x->owner == e.owner)
            make_first(h, *x);
}

end &worker::end_of(host &h, u32 id, u64 t)
{
    end *&e = w_.ends[id];

    if (!e) {
        e = w_.maker.make(mem_, id, sibling_of(id), h.up, h.clock.ns(t));
        e->next_on_host = h.ends;
        h.ends = e;
        if (w_.work.end_host[id] == w_.s.foreign.host)
            make_foreign(*e);
    }
    return *e;
}

// ---- time ----

// All ends of the host: there are few, or their timers are far apart. What is due and
// cannot be sent for want of a free port is asked again a little later.
void worker::run_timers(host &h, u64 t)
{
    const u64 again_ps = std::max(200 * ps_per_ns, slack_ps_ / 2);
    u64 soonest = never;

    for (end *e = h.ends; e; e = e->next_on_host) {
        u64 at = deadline(h, *e);

        if (at <= t) {
            count.timers++;
            if (e->foreign) {
                e->foreign->tx.timer(h.clock.ns(t));
                e->foreign->rx.timer(h.clock.ns(t));
            }
            mrc_conn_timer(&e->conn, h.clock.ns(t));
            look(*e, t);
            make_first(h, *e);
            at = e->foreign ? deadline(h, *e) : h.clock.ps(mrc_conn_deadline_ns(&e->conn));
            at = std::max(at, t + again_ps);
        }
        soonest = std::min(soonest, with_slack(at));
    }
    h.timer = soonest;
}

// Ports went down or came up.
void worker::take_notice(host &h, u64 t)
{
    mrc_cc_cfg cc = {};
    u64 now_ns = h.clock.ns(t);

    h.notice = false;
    if (h.forged.host != none32)
        return take_forged(h, t);
    for (end *e = h.ends; e; e = e->next_on_host) {
        w_.maker.rate(cc, e->host, h.up);
        mrc_evset_local_planes(e->evs, h.up, now_ns);
        mrc_conn_plane_event(&e->conn, now_ns);
        if (e->cc->ops->set_cfg)
            e->cc->ops->set_cfg(e->cc, &cc, now_ns);
        if (e->port)
            mrc_port_set(e->port, h.up, now_ns);
        look(*e, t);
        make_first(h, *e);
        arm(h, *e);
    }
}

// The id of a forged one is a guess, and here far ahead of the host's own.
void worker::take_forged(host &h, u64 t)
{
    mrc_pkt p = {};

    p.opcode = MRC_OPC_EP_REQ;
    p.psn = 0x4000 + (t / ps_per_us & 0xfff);
    p.plane = MRC_PLANE_NONE;
    p.u.ep.op = MRC_EP_PORT_STATUS;
    p.u.ep.port_status_mask = h.up & ~(1u << h.forged.plane);
    for (end *e = h.ends; e; e = e->next_on_host)
        if (w_.work.end_host[e->id ^ 1] == h.forged.host)
            receive_port(h, *e, p, t);
    h.forged.host = none32;
}

// ---- flows ----

static void take_start(const world &w, host &h)
{
    h.next_flow = w.work.flows[h.next_flow].next_start;
    h.next_start = h.next_flow == none32 ? never : w.work.flows[h.next_flow].start;
}

// Time of a trace that has passed at a host.
void worker::pass(host &h, u32 f, u64 t)
{
    flow &x = w_.work.flows[f];

    take_start(w_, h);
    x.rx_done = x.tx_done = t;
    count.flows_received++;
    count.flows_sent++;
    release(f, moment::received, t);
}

// Of a trace: what waited for this starts, once nothing else is missing. All of it is at this host.
void worker::release(u32 f, moment when, u64 t)
{
    if (w_.work.calls())
        completions.push_back({t, f, when});
    for (u32 next : w_.work.after.of(f, when)) {
        flow &x = w_.work.flows[next];

        if (--x.waits)
            continue;
        x.start = w_.work.queue.take(next, t) + x.compute;
        w_.start_later(x.src, next);
    }
}

void worker::start_flows(u32 id, host &h, u64 t)
{
    while (h.next_start <= t) {
        u32 f = h.next_flow;
        flow &x = w_.work.flows[f];

        if (x.local()) {
            pass(h, f, t);
            continue;
        }
        end &e = end_of(h, x.conn, t);

        if (x.src != id)
            throw std::logic_error("a flow starts at a host that is not its source");
        if (e.post_head == none32)
            e.post_head = f;
        else
            w_.work.flows[e.post_tail].next_post = f;
        e.post_tail = f;
        take_start(w_, h);
        post_flows(h, e, t);
    }
}

void worker::post_flows(host &h, end &e, u64 t)
{
    if (e.foreign)
        return post_foreign(h, e);
    while (e.post_head != none32) {
        flow &x = w_.work.flows[e.post_head];
        mrc_wr wr = {};

        wr.op = MRC_OP_WRITE_IMM;
        wr.cookie = e.post_head;
        wr.len = x.bytes;
        wr.rkey = e.post_head;
        wr.imm = e.post_head;
        int rc = mrc_conn_post(&e.conn, &wr, h.clock.ns(t));
        if (rc == -EAGAIN)
            return;
        if (rc)
            throw std::runtime_error("mrc_conn_post");
        e.post_head = x.next_post;
        make_ready(h, e);
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
    mrc_todo does;

    while (mrc_conn_next(&e.conn, &does)) {
        const mrc_cpl &c = does.cpl;

        if (does.what != MRC_DO_COMPLETE)
            continue;
        if (c.status != MRC_ST_OK)
            throw std::runtime_error("a connection failed, status " + std::to_string(c.status));
        if (c.kind == MRC_CPL_SEND) {
            w_.work.flows[c.cookie].tx_done = t;
            count.flows_sent++;
            release(static_cast<u32>(c.cookie), moment::sent, t);
            if (e.last_done)
                e.gap_ps = std::max(e.gap_ps, t - e.last_done);
            e.last_done = t;
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
        release(c.imm, moment::received, t);
    }
    if (mrc_conn_failed(&e.conn) != MRC_ST_OK)
        throw std::runtime_error("a connection failed");
#ifdef MRC_DEBUG
    if (int line = mrc_conn_check(&e.conn))
        throw std::logic_error("mrc_conn_check: " + std::to_string(line));
    if (int line = mrc_evset_check(e.evs))
        throw std::logic_error("mrc_evset_check: " + std::to_string(line));
#endif
}

// ---- receiving ----

void worker::place(const mrc_rxop &op, u64 t)
{
    flow &x = w_.work.flows[op.rkey];

    if (op.place != MRC_PLACE_WRITE || op.va + op.len > x.bytes)
        throw std::logic_error("a packet would be placed outside its flow");
    x.placed += op.len;
    count.delivered += op.len;
    bucket(t).delivered += op.len;
    if (w_.s.host.nscc_host == x.src)
        bucket(t).nscc += op.len;
    if (w_.work.foreign(x) && x.placed == x.bytes)
        placed(x, t);
}

// Not the one that the last call was about.
void worker::turn_to_bucket(u64 t)
{
    size_t i = t / bucket_ps_;

    if (i >= series.size())
        series.resize(i + 1);
    bucket_ = &series[i];
    bucket_from_ = i * bucket_ps_;
}

// What has arrived whole and is not placed was there already.
void worker::note_data(end &e, const packet &p, bool placed, u64 t)
{
    if (p.flags & PKT_TRIMMED)
        return;
    count.marks_seen += p.flags & PKT_ECN ? 1 : 0;
    e.psn_plane[p.psn() % std::size(e.psn_plane)] = p.plane;
    if (placed)
        return;
    count.needless++;
    bucket(t).needless++;
}

void worker::look(end &e, u64 t)
{
    if (w_.watch.any())
        w_.watch.look(e.owner->id, *e.evs, t);
}

void worker::receive(host &h, const packet &p, u64 t)
{
    if (w_.probing.is(p.conn))
        return receive_probe(p, t);
    if (p.conn >= w_.work.first_tcp)
        return receive_tcp(h, p, t);
    u64 now_ns = h.clock.ns(t);
    end &e = end_of(h, p.conn, t);
    mrc_incast_note note;
    bool control;
    mrc_rxop op;
    mrc_pkt pkt;

    unpack(p, pkt);
    if (e.foreign)
        return receive_foreign(h, e, p, t);
    if (pkt.opcode == MRC_OPC_EP_REQ || pkt.opcode == MRC_OPC_EP_RSP)
        return receive_port(h, e, pkt, t);
    bool placed = mrc_conn_rx_begin(&e.conn, &pkt, now_ns, &op) == MRC_V_PLACE;
    if (placed) {
        place(op, t);
        mrc_conn_rx_commit(&e.conn, &op, now_ns);
    }
    if (p.is_data())
        note_data(e, p, placed, t);
    if (p.is_data() && mrc_conn_incast_note(&e.conn, &note)) {
        bool restore;
        u8 pen = mrc_incast_update(&h.incast, &e.incast, &note, now_ns, &restore);

        mrc_conn_set_penalty(&e.conn, pen, restore);
    }
    finish(h, e, t);
    while (mrc_conn_answers_full(&e.conn) &&
           pull_one(static_cast<u32>(&h - w_.hosts.data()), h, e, t, control)) // as the kernel does
        ;
    look(e, t);
    make_first(h, e);
    arm(h, e);
}

void worker::receive_port(host &h, end &e, const mrc_pkt &p, u64 t)
{
    if (!e.port)
        throw std::logic_error("port status where nobody sends it");
    u64 now_ns = h.clock.ns(t);

    if (mrc_port_rx(e.port, &p, now_ns)) {
        mrc_evset_remote_planes(e.evs, e.port->remote_up, now_ns);
        mrc_conn_plane_event(&e.conn, now_ns);
        look(e, t);
    }
    make_first(h, e);
    arm(h, e);
}

} // namespace sim
