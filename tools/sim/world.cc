// SPDX-License-Identifier: GPL-2.0
// world.cc - setting a simulation up, its main loop, its end.
#include "world.h"

#include <algorithm>

namespace sim {

world::world(const options &o, u64 seed_in, bool text)
    : opt(o), seed(seed_in), tr(text), flt(o, seed_in), net(*this, opt, seed_in)
{
    hosts[0] = std::make_unique<host>(*this, 0);
    hosts[1] = std::make_unique<host>(*this, 1);
    for (u32 i = 0; i < o.qps; i++) {
        for (u32 h = 0; h < 2; h++) {
            bool bad = i == 0 && h == 0 && o.fatal && o.fatal != FATAL_CALLER;

            streams.push_back(std::make_unique<stream>(draw_stream(o, seed, i * 2 + h, bad)));
            if (h == 1 && o.one_way) {
                // Nothing to send; the memory stays.
                stream &s = *streams.back();

                s.msg.clear();
                s.recv_msg.clear();
                s.exec_msg.clear();
                s.by_va.clear();
                s.recv_buf.clear();
            }
        }
        stream &ab = *streams[i * 2], &ba = *streams[i * 2 + 1];
        hosts[0]->add_qp(std::make_unique<qp>(*this, *hosts[0], i, ab, ba));
        hosts[1]->add_qp(std::make_unique<qp>(*this, *hosts[1], i, ba, ab));
    }
    for (u32 i = 0; i < flt.list().size(); i++) {
        const fault &f = flt.list()[i];

        tr.say(0, "fault: %s", faults::describe(f).c_str());
        at_ns(f.begin_ns, event_kind::fault_begin, i);
        at_ns(f.end_ns, event_kind::fault_end, i);
        for (u32 h = 0; h < 2; h++) {
            u64 down = f.begin_ns + f.down_delay_ns[h];

            if (f.kind != fault::plane_dead || !(f.notify >> h & 1))
                continue;
            at_ns(down, event_kind::carrier, h, f.plane << 1);
            at_ns(std::max(down + 1, f.end_ns + f.up_delay_ns[h]), event_kind::carrier, h,
                  f.plane << 1 | 1);
        }
    }
    if (o.fatal == FATAL_CALLER) {
        u64 at = prng(seed, "caller").below(o.fault_ns);

        at_ns(at, event_kind::kill, 0);
    }
}

u64 world::bound_ns() const
{
    u64 bytes = 0;

    for (const auto &s : streams)
        for (const message &m : s->msg)
            bytes += m.wr.len + 100;
    // Whoever waited through the faults waits as long again, doubled; then the
    // retries that chance needs, and the transfer at a tenth of the slowest port.
    return 4 * opt.fault_ns + 50 * opt.timeout_ns + 200000000 + bytes * 8000000 / (opt.rate_mbps * opt.down_pct) +
           opt.msgs * opt.post_gap_ns;
}

void world::handle(const event &e)
{
    switch (e.kind) {
    case event_kind::arrive: {
        const packet &p = packets[static_cast<u32>(e.arg)];

        if (flt.plane_dead(p.src, p.plane))
            packets.put(static_cast<u32>(e.arg));
        else
            hosts[e.target]->arrive(static_cast<u32>(e.arg));
        break;
    }
    case event_kind::host_run: hosts[e.target]->run(); break;
    case event_kind::qp_timer: by_id(e.target).on_timer(e.arg); break;
    case event_kind::qp_run: by_id(e.target).run(); break;
    case event_kind::port_timer: hosts[e.target]->on_port_timer(e.arg); break;
    case event_kind::app_post: by_id(e.target).on_app_post(); break;
    case event_kind::recv_post: by_id(e.target).on_recv_post(static_cast<u32>(e.arg)); break;
    case event_kind::fault_begin:
    case event_kind::fault_end:
        tr.say(now_ps_, "%s: %s", e.kind == event_kind::fault_begin ? "begins" : "ends",
               faults::describe(flt.list()[e.target]).c_str());
        flt.apply(e.target, e.kind == event_kind::fault_begin);
        break;
    case event_kind::carrier: {
        u32 plane = static_cast<u32>(e.arg >> 1), up = 0;

        down_[e.target][plane] += e.arg & 1 ? ~0u : 1u;
        for (u32 p = 0; p < opt.planes; p++)
            up |= down_[e.target][p] ? 0 : 1u << p;
        hosts[e.target]->carrier(up);
        break;
    }
    case event_kind::kill: by_id(e.target).fail(MRC_ST_FLUSHED); break;
    }
}

bool world::all_done() const
{
    for (const auto &h : hosts)
        for (const auto &q : h->qps())
            if (!q->done() || (!q->failed() && !mrc_conn_idle(&q->conn())))
                return false;
    return true;
}

void world::stuck(const char *what) const
{
    std::string s = what;

    for (u64 i = 0; i < opt.qps; i++)
        for (const auto &h : hosts) {
            const qp &q = *h->qps()[i];

            if (!q.done() || (!q.failed() && !mrc_conn_idle(&q.conn())))
                s += "; " + q.progress();
        }
    throw failure(s.substr(0, 900));
}

result world::run()
{
    result r;
    u64 bound = bound_ns();
    u64 same = 0;
    bool done = false;

    while (!done) {
        if (events.empty())
            stuck("nothing left to happen");
        event e = events.pop();

        same = e.t_ps == now_ps_ ? same + 1 : 0;
        now_ps_ = e.t_ps;
        if (same > 50000)
            stuck("time stands still");
        if (now_ns() > bound)
            stuck("not done in time");
        tr.add(e.t_ps);
        tr.add(static_cast<u64>(e.kind) << 32 | e.target);
        r.events++;
        handle(e);
        if (e.kind == event_kind::arrive)
            continue;
        hosts[0]->check();
        hosts[1]->check();
        done = all_done();
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
        for (const auto &q : h->qps()) {
            r.failed_qps += q->failed();
#define X(name, help) r.stats.name += q->conn().stats.name;
            MRC_STATS(X)
#undef X
        }
    r.hash = tr.hash();
    r.ties = events.ties();
    r.end_ns = now_ns();
    r.net = net.stats();
}

} // namespace sim
