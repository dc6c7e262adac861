// SPDX-License-Identifier: GPL-2.0
// workload_trace.cc - workload "trace": flows with dependencies, and the duration of each alone
// (workload.h, trace.h).
#include "workload.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <queue>

namespace sim {

namespace {

// Times of a graph's end that no sum of computations takes round the clock.
u64 later(u64 t, u64 by)
{
    constexpr u64 most = never >> 2;

    return std::min(most, t + std::min(most, by));
}

// When the last of all is done. They come in the order in which they are ready.
template <class Took>
u64 last_end(const std::vector<flow> &flows, const followers &after, turns queue, Took took)
{
    using when_ready = std::pair<u64, u32>;
    std::priority_queue<when_ready, std::vector<when_ready>, std::greater<>> ready;
    std::vector<u32> waits;
    std::vector<u64> at(flows.size());
    u64 last = 0;

    for (u32 i = 0; i < flows.size(); i++) {
        waits.push_back(flows[i].waits);
        if (!waits[i])
            ready.push({0, i});
    }
    while (!ready.empty()) {
        u32 f = ready.top().second;
        u64 begin = queue.take(f, at[f]);

        ready.pop();
        for (moment when : {moment::sent, moment::received}) {
            u64 done = later(later(begin, flows[f].compute), took(flows[f], when));

            last = when == moment::received ? std::max(last, done) : last;
            for (u32 next : after.of(f, when)) {
                at[next] = std::max(at[next], done);
                if (!--waits[next])
                    ready.push({at[next], next});
            }
        }
    }
    return last;
}

} // namespace

turns::turns(const trace &t, const scenario &s) : free_(t.places)
{
    for (const trace_turn &x : t.turns) {
        u64 packets = (x.bytes + s.fabric.mtu - 1) / s.fabric.mtu;

        of_.push_back({x.cpu, x.nic, x.cpu_ps, s.ser_ps(x.bytes + packets * s.fabric.header) / s.fabric.planes});
    }
}

void workload::outside()
{
    namespace fs = std::filesystem;
    fs::path file = fs::path(s_.path).parent_path() / s_.workload.file;
    const trace t = load_trace(file, topo_.hosts);

    for (const trace_op &op : t.ops) {
        u32 f = add(op.src, op.dst, op.bytes, never);

        flows[f].compute = op.compute_ps;
        step_of.push_back(op.step);
    }
    for (const trace_edge &e : t.edges)
        flows[e.after].waits++;
    after = followers(flows.size(), t.edges);
    queue = turns(t, s_);
    const turns at_first = queue;
    for (u32 f = 0; f < flows.size(); f++)
        flows[f].start = flows[f].waits ? never : later(queue.take(f, 0), flows[f].compute);
    auto back = [&](const flow &f) {
        u64 links = topo_.rack_node(f.src) == topo_.rack_node(f.dst) ? 2 : 4;

        return links * (s_.fabric.delay_ns * ps_per_ns + s_.ser_ps(s_.fabric.control));
    };
    compute_ps = last_end(flows, after, at_first, [](const flow &, moment) { return u64(0); });
    ideal_ps = std::max<u64>(last_end(flows, after, at_first, [&](const flow &f, moment when) {
        return f.local() ? 0 : lone_ps(f) + (when == moment::sent ? back(f) : 0);
    }), 1);
}

} // namespace sim
