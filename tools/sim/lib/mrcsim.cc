// SPDX-License-Identifier: GPL-2.0
// mrcsim.cc - see mrcsim.h.
//
// Windows of the simulation and callbacks alternate in order of time. Completions of a window
// become events. Events before the next window are called before it runs.
#include "mrcsim.h"

#include "../cluster/scheduler.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace {

using namespace sim;

struct callback {
    mrcsim_fn fn = nullptr;
    void *arg = nullptr;
};

scenario checked(const char *path)
{
    scenario s = load_scenario(path);

    check_scenario(s);
    if (s.workload.kind != "calls")
        throw std::runtime_error(std::string(path) + ": workload.kind is not \"calls\"");
    return s;
}

} // namespace

struct mrcsim {
    explicit mrcsim(const char *path) : s(checked(path)), w(s, 1), sch(w) {}

    struct event {
        u64 at, number;
        callback call;

        bool operator<(const event &o) const // of a heap whose top is the first
        {
            return std::tie(at, number) > std::tie(o.at, o.number);
        }
    };
    struct message {
        callback sent;
        u64 tag;
    };
    using box = std::tuple<u32, u32, u64>; // to, from, tag

    void at(u64 t, callback c)
    {
        if (c.fn)
            events.push({t, events_made++, c});
    }
    u32 connection(u32 src, u32 dst);
    void send(u32 src, u32 dst, u32 bytes, message m);
    void completed(const completion &c);
    int run();

    const scenario s;
    world w;
    scheduler sch;
    u64 now = 0, events_made = 0;
    size_t open = 0; // messages not yet acknowledged or received
    bool finished = false;
    std::string error;
    std::priority_queue<event> events;
    std::vector<message> messages; // by flow
    std::map<box, std::deque<callback>> wanted;
    std::map<box, u64> arrived; // and not yet wanted
    std::unordered_map<u64, u32> connections;
};

u32 mrcsim::connection(u32 src, u32 dst)
{
    u64 key = static_cast<u64>(std::min(src, dst)) << 32 | std::max(src, dst);
    auto [it, is_new] = connections.try_emplace(key, static_cast<u32>(w.ends.size()));

    if (is_new)
        w.add_connection(std::min(src, dst), std::max(src, dst));
    return it->second + (src > dst);
}

void mrcsim::send(u32 src, u32 dst, u32 bytes, message m)
{
    messages.push_back(m);
    open += 2;
    w.add_flow(src, dst, bytes, connection(src, dst), std::max(now, w.window_end()));
}

void mrcsim::completed(const completion &c)
{
    const message &m = messages[c.flow];

    open--;
    if (c.when == moment::sent)
        return at(c.t, m.sent);
    const flow &f = w.work.flows[c.flow];
    auto it = wanted.find({f.dst, f.src, m.tag});
    if (it == wanted.end()) {
        arrived[{f.dst, f.src, m.tag}]++;
        return;
    }
    at(c.t, it->second.front());
    it->second.pop_front();
    if (it->second.empty())
        wanted.erase(it);
}

int mrcsim::run()
{
    finished = false;
    while (!finished) {
        u64 next = open ? sch.next() : never;

        if (!events.empty() && (next == never || events.top().at < next * w.window_ps)) {
            event e = events.top();

            events.pop();
            now = std::max(now, e.at);
            e.call.fn(e.call.arg);
        } else if (next == never) {
            return 0;
        } else if (next * w.window_ps >= s.run.limit_us * ps_per_us) {
            return 1;
        } else {
            sch.step(next);
            for (const completion &c : sch.take_completions())
                completed(c);
        }
    }
    return 0;
}

struct mrcsim *mrcsim_open(const char *scenario, char *error, size_t room)
{
    try {
        return new mrcsim(scenario);
    } catch (const std::exception &e) {
        if (room)
            std::snprintf(error, room, "%s", e.what());
        return nullptr;
    }
}

void mrcsim_close(struct mrcsim *s)
{
    delete s;
}

int mrcsim_send(struct mrcsim *s, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag,
                mrcsim_fn done, void *arg)
{
    if (src >= s->w.topo.hosts || dst >= s->w.topo.hosts || src == dst || !bytes || bytes > trace::bytes_max)
        return -EINVAL;
    s->send(src, dst, static_cast<u32>(bytes), {{done, arg}, tag});
    return 0;
}

int mrcsim_recv(struct mrcsim *s, uint32_t dst, uint32_t src, uint64_t tag, mrcsim_fn done, void *arg)
{
    if (src >= s->w.topo.hosts || dst >= s->w.topo.hosts || src == dst || !done)
        return -EINVAL;
    auto it = s->arrived.find({dst, src, tag});
    if (it == s->arrived.end()) {
        s->wanted[{dst, src, tag}].push_back({done, arg});
        return 0;
    }
    s->at(s->now, {done, arg});
    if (!--it->second)
        s->arrived.erase(it);
    return 0;
}

int mrcsim_schedule(struct mrcsim *s, uint64_t delay_ns, mrcsim_fn done, void *arg)
{
    if (delay_ns > trace::time_max_us * 1000 || !done)
        return -EINVAL;
    s->at(s->now + delay_ns * ps_per_ns, {done, arg});
    return 0;
}

uint64_t mrcsim_time_ns(const struct mrcsim *s)
{
    return s->now / ps_per_ns;
}

void mrcsim_finished(struct mrcsim *s)
{
    s->finished = true;
}

int mrcsim_run(struct mrcsim *s)
{
    try {
        return s->run();
    } catch (const std::exception &e) {
        s->error = e.what();
        return -1;
    }
}

const char *mrcsim_error(const struct mrcsim *s)
{
    return s->error.c_str();
}
