// SPDX-License-Identifier: GPL-2.0
// world.cc - sets a simulation up, runs its main loop, and ends it (world.h).
#include "world.h"

#include "economy.h"

#include <algorithm>

namespace sim {

world::world(const options &o, u64 seed_in, bool text)
    : opt(o), seed(seed_in), tr(text), flt(opt, seed_in), net(*this, opt, seed_in), tcp(*this, seed_in),
      judged_(!(opt.economy & ECONOMY_HEAL))
{
    for (u32 h = 0; h < o.hosts; h++)
        hosts.push_back(std::make_unique<host>(*this, h));
    for (u32 i = 0; i < o.qps; i++)
        make_pair(i);
    schedule_faults();
    tcp.start();
    if (!judged_)
        at_ns(flt.end_ns(), event_kind::verdict, 0);
    if (o.fatal == FATAL_CALLER) {
        u64 at = prng(seed, "caller").below(o.fault_ns);

        at_ns(at, event_kind::kill, 0);
    }
}

// Queue pair @index: its two ends and what they send.
void world::make_pair(u32 index)
{
    prng r(seed, "pair", index);
    u32 a = static_cast<u32>(opt.fan_in ? 1 + index % (opt.hosts - 1) : r.below(opt.hosts));
    u32 b = opt.fan_in ? 0 : static_cast<u32>((a + r.range(1, opt.hosts - 1)) % opt.hosts);

    for (u32 end = 0; end < 2; end++) {
        bool bad = index == 0 && end == 0 && opt.fatal && opt.fatal != FATAL_CALLER;

        streams.push_back(
            std::make_unique<stream>(draw_stream(opt, seed, index * 2 + end, bad)));
        if (end == 1 && opt.one_way) {
            // Nothing to send; the memory stays.
            stream &s = *streams.back();

            s.msg.clear();
            s.recv_msg.clear();
            s.exec_msg.clear();
            s.by_va.clear();
            s.recv_buf.clear();
        }
    }
    stream &ab = *streams[index * 2], &ba = *streams[index * 2 + 1];
    qps.push_back(std::make_unique<qp>(*this, *hosts[a], b, index * 2, ab, ba));
    qps.push_back(std::make_unique<qp>(*this, *hosts[b], a, index * 2 + 1, ba, ab));
}

void world::schedule_faults()
{
    for (u32 i = 0; i < flt.list().size(); i++) {
        const fault &f = flt.list()[i];

        tr.say(0, "fault: %s", faults::describe(f).c_str());
        at_ns(f.begin_ns, event_kind::fault_begin, i);
        at_ns(f.end_ns, event_kind::fault_end, i);
        for (u32 h : f.seen_by) {
            u64 down = f.begin_ns + f.down_delay_ns;

            at_ns(down, event_kind::carrier, h, f.plane << 1);
            at_ns(std::max(down + 1, f.end_ns + f.up_delay_ns), event_kind::carrier, h,
                  f.plane << 1 | 1);
        }
    }
}

u64 world::bound_ns() const
{
    u64 bytes = 0, pkts = 0, kbps = net.ports().slowest_kbps();

    for (const auto &s : streams)
        for (const message &m : s->msg) {
            bytes += m.wr.len + 100;
            pkts += m.wr.len / opt.mtu + 1;
        }
    // Hosts' time for a packet and its answer, and long round trips: with a small window
    // each packet may take one.
    u64 host = 2 * (opt.rx_cost_ns + opt.tx_cost_ns);
    u64 trip = 2 * (net.ports().longest_ns() + opt.coalesce_ns) + opt.slack_ns;
    trip = trip > 300000 ? trip : 0;
    // Who met a pause takes round trips to be long for a while after.
    u64 grace = opt.pauses ? opt.grace_ns : 0;
    // A window that losses may bring down to one packet in 16 round trips.
    u64 paced = !opt.nscc && !opt.trim ? pkts * 16 * 2 * (net.ports().longest_ns() + opt.jitter_ns) : 0;
    // A stranger takes the timeouts that chance needs as well, and has its own pace.
    u64 foreign = opt.strangers ? 200 * opt.peer_timeout_ns + opt.msgs * 40000 + pkts * trip : 0;
    // Whoever waited through the faults waits as long again, doubled; then the
    // retries that chance needs, a pause for every receive that was not posted, and
    // the transfer at a tenth of the slowest port.
    return opt.msgs * mrc_rnr_timer_ns(static_cast<u8>(opt.min_rnr_timer)) + 4 * flt.end_ns() +
           50 * (opt.timeout_ns + trip) + 200000000 + 8 * opt.damp_ns +
           bytes * 80000000 / kbps + opt.msgs * opt.post_gap_ns +
           opt.lone_msgs * opt.lone_gap_ns + grace + foreign + paced + pkts * (10 * host + 2 * trip);
}

void world::begin_or_end(const event &e)
{
    bool begin = e.kind == event_kind::fault_begin;

    tr.say(now_ps_, "%s: %s", begin ? "begins" : "ends",
           faults::describe(flt.list()[e.target]).c_str());
    flt.apply(e.target, begin);
    const fault &f = flt.list()[e.target];
    if (begin && f.kind == fault::pause)
        hosts[f.host]->pause(f.end_ns);
}

void world::handle(const event &e)
{
    switch (e.kind) {
    case event_kind::inject: net.send(static_cast<u32>(e.arg)); break;
    case event_kind::hop: net.hop(static_cast<u32>(e.arg)); break;
    case event_kind::arrive:
        if (packets[static_cast<u32>(e.arg)].tcp)
            tcp.arrive(static_cast<u32>(e.arg));
        else
            hosts[e.target]->arrive(static_cast<u32>(e.arg));
        break;
    case event_kind::host_run: hosts[e.target]->run(); break;
    case event_kind::qp_timer: by_id(e.target).on_timer(e.arg); break;
    case event_kind::qp_run: by_id(e.target).run(); break;
    case event_kind::port_timer:
        hosts[e.target]->on_port_timer(static_cast<u32>(e.arg >> 32), static_cast<u32>(e.arg));
        break;
    case event_kind::damp_timer: hosts[e.target]->on_damp_timer(); break;
    case event_kind::app_post: by_id(e.target).on_app_post(); break;
    case event_kind::recv_post: by_id(e.target).on_recv_post(static_cast<u32>(e.arg)); break;
    case event_kind::fault_begin:
    case event_kind::fault_end: begin_or_end(e); break;
    case event_kind::carrier:
        hosts[e.target]->carrier(static_cast<u32>(e.arg >> 1), e.arg & 1);
        break;
    case event_kind::kill: by_id(e.target).fail(MRC_ST_FLUSHED); break;
    case event_kind::tcp: tcp.run(e.target, e.arg); break;
    case event_kind::verdict: verdict(); break;
    }
}

// The host whose CPU this event needs, the only one whose state it can have changed; or none.
host *world::where(const event &e) const
{
    switch (e.kind) {
    case event_kind::qp_timer:
    case event_kind::qp_run:
    case event_kind::app_post:
    case event_kind::recv_post:
    case event_kind::kill: return &qps[e.target]->home();
    case event_kind::host_run:
    case event_kind::port_timer:
    case event_kind::damp_timer:
    case event_kind::carrier: return hosts[e.target].get();
    default: return nullptr;
    }
}

// True: the host has no time for this event, which comes again.
bool world::put_off(const event &e)
{
    host *h = where(e);

    if (!h || h->ready_ps() <= now_ps_)
        return false;
    events.push(h->wake_ps(), e.kind, e.target, e.arg);
    return true;
}

// So long after the last loss, be it one of the queues after all faults.
void world::verdict()
{
    u64 at = std::max(flt.end_ns(), harm_ns_) + opt.heal_ns, look = at - opt.heal_ns / 4;

    if (now_ns() < at) {
        if (now_ns() >= look)
            note_unusable(*this);
        at_ns(now_ns() < look ? look : at, event_kind::verdict, 0);
        return;
    }
    check_healed(*this);
    judged_ = true;
}

bool world::all_done() const
{
    for (const auto &q : qps)
        if (!q->done() || (!q->failed() && !mrc_conn_idle(&q->conn())))
            return false;
    return true;
}

void world::stuck(const char *what) const
{
    std::string s = what;

    for (const auto &q : qps)
        if (!q->done() || (!q->failed() && !mrc_conn_idle(&q->conn())))
            s += "; " + q->progress();
    throw failure(s.substr(0, 900));
}

result world::run()
{
    result r;
    u64 bound = bound_ns();
    u64 same = 0;
    bool done = false, in_time = false;
    // Once all is done, what is judged later may find a probe or its answer under way.
    const u64 spare = 10000000000;

    while (!done || !judged_) {
        if (events.empty())
            stuck("nothing left to happen");
        event e = events.pop();

        same = e.t_ps == now_ps_ ? same + 1 : 0;
        now_ps_ = e.t_ps;
        if (same > 50000)
            stuck("time stands still");
        if (now_ns() > bound + (in_time ? spare : 0) && !done)
            stuck("not done in time");
        tr.add(e.t_ps);
        tr.add(static_cast<u64>(e.kind) << 32 | e.target);
        r.events++;
        if (put_off(e))
            continue;
        handle(e);
        host *h = where(e);
        if (!h)
            continue;
        h->settle();
        h->check();
        check_trips(*this, *h);
        if (!done)
            r.end_ns = now_ns();
        done = all_done();
        in_time |= done;
    }
    finish(r);
    return r;
}

void world::finish(result &r)
{
    for (const auto &s : streams) {
        s->check_guards();
        for (const message &m : s->msg)
            r.bytes += m.wr.len;
    }
    for (const auto &h : hosts)
        h->check();
    for (const auto &q : qps) {
        r.failed_qps += q->failed();
#define X(name, help) r.stats.name += q->conn().stats.name;
        MRC_STATS(X)
#undef X
    }
    r.hash = tr.hash();
    r.ties = events.ties();
    r.net = net.stats();
    r.seen = seen;
    check_resends(*this, r);
    check_tails(*this, r);
}

} // namespace sim
