// SPDX-License-Identifier: GPL-2.0
// workload.cc - traffic patterns, and their duration in an ideal fabric (workload.h).
#include "workload.h"

#include <algorithm>
#include <stdexcept>

namespace sim {

// A link sends without a pause, and each of the others takes a packet's time more.
u64 workload::alone_ps(u64 messages, u64 bytes, bool same_rack) const
{
    u64 n = packets(bytes), all = messages * n, planes = topo_.planes;
    u64 full = s_.ser_ps(s_.fabric.mtu + s_.fabric.header);
    u64 last = s_.ser_ps(bytes - (n - 1) * s_.fabric.mtu + s_.fabric.header);
    u64 links = same_rack ? 2 : 4;
    u64 busy = (all + planes - 1) / planes * full; // the fullest plane's link

    if (planes == 1)
        busy -= messages * (full - last);
    else if (messages == 1 && n % planes == 1)
        busy -= full - last;
    return busy + (links - 1) * (n > planes ? full : last) + links * s_.fabric.delay_ns * ps_per_ns;
}

u64 workload::lone_ps(const flow &f) const
{
    return alone_ps(1, f.bytes, topo_.rack_node(f.src) == topo_.rack_node(f.dst));
}

u32 workload::add(u32 src, u32 dst, u64 bytes, u64 start)
{
    flow f;

    f.src = src;
    f.dst = dst;
    f.bytes = static_cast<u32>(bytes);
    f.start = start;
    flows.push_back(f);
    return static_cast<u32>(flows.size() - 1);
}

std::vector<u32> workload::shuffled_hosts() const
{
    std::vector<u32> v(topo_.hosts);

    for (u32 i = 0; i < topo_.hosts; i++)
        v[i] = i;
    for (u32 i = topo_.hosts; i-- > 1;)
        std::swap(v[i], v[mix64(s_.workload.seed << 32 | i) % (i + 1)]);
    return v;
}

// Sattolo's shuffle: one cycle, so nobody sends to itself.
void workload::permutation()
{
    std::vector<u32> to(topo_.hosts);

    if (topo_.hosts < 2)
        throw std::runtime_error("a permutation needs two hosts");
    for (u32 i = 0; i < topo_.hosts; i++)
        to[i] = i;
    for (u32 i = topo_.hosts; i-- > 1;)
        std::swap(to[i], to[mix64(s_.workload.seed << 32 | i) % i]);
    for (u32 i = 0; i < topo_.hosts; i++) {
        add(i, to[i], s_.workload.bytes, 0);
        ideal_ps = std::max(ideal_ps, lone_ps(flows.back()));
    }
}

void workload::incast()
{
    std::vector<u32> host = shuffled_hosts();
    u64 n = s_.workload.fan_in;

    if (n + 1 + s_.workload.victim > topo_.hosts)
        throw std::runtime_error("incast: fan_in needs more hosts");
    for (u32 i = 1; i <= n; i++)
        add(host[i], host[0], s_.workload.bytes, 0);
    ideal_ps = alone_ps(n, s_.workload.bytes, false);
    if (!s_.workload.victim)
        return;
    // From a host that does nothing else to a neighbour of the receiver.
    u32 rack = topo_.rack_node(host[0]), dst = none32;
    std::vector<bool> busy(topo_.hosts);
    for (u32 i = 0; i <= n; i++)
        busy[host[i]] = true;
    for (u32 h = rack * topo_.per_t0; h < std::min((rack + 1) * topo_.per_t0, topo_.hosts); h++)
        if (!busy[h])
            dst = h;
    for (u32 i = static_cast<u32>(n) + 1; i < topo_.hosts && dst != none32; i++)
        if (topo_.rack_node(host[i]) != rack) {
            victim = add(host[i], dst, s_.workload.bytes, 0);
            return;
        }
    throw std::runtime_error("incast: no room for a victim flow");
}

// Ring all-reduce: in each of 2 (n - 1) steps a rank passes on what it got in the last.
void workload::ring()
{
    std::vector<u32> host = shuffled_hosts();
    u32 n = static_cast<u32>(s_.workload.group), groups = topo_.hosts / std::max(n, 1u);

    if (n < 2 || !groups)
        throw std::runtime_error("ring: group does not fit the hosts");
    u32 steps = 2 * (n - 1);
    for (u32 g = 0; g < groups; g++) {
        u32 first = static_cast<u32>(flows.size());

        for (u32 step = 0; step < steps; step++)
            for (u32 r = 0; r < n; r++) {
                u32 f = add(host[g * n + r], host[g * n + (r + 1) % n], s_.workload.bytes,
                            step ? never : 0);
                if (step)
                    flows[first + (step - 1) * n + (r + n - 1) % n].then = f;
            }
    }
    ideal_ps = steps * lone_ps(flows[0]);
}

void workload::alltoall()
{
    std::vector<u32> host = shuffled_hosts();
    u32 n = static_cast<u32>(s_.workload.group), groups = topo_.hosts / std::max(n, 1u);

    if (n < 2 || !groups)
        throw std::runtime_error("alltoall: group does not fit the hosts");
    for (u32 g = 0; g < groups; g++)
        for (u32 r = 0; r < n; r++)
            for (u32 k = 1; k < n; k++)
                add(host[g * n + r], host[g * n + (r + k) % n], s_.workload.bytes, 0);
    ideal_ps = alone_ps(n - 1, s_.workload.bytes, false);
}

void workload::list()
{
    for (const flow_spec &x : s_.flow)
        for (u64 i = 0; i < x.count; i++) {
            add(static_cast<u32>(x.src), static_cast<u32>(x.dst),
                x.bytes ? x.bytes : s_.workload.bytes, (x.start_us + i * x.every_us) * ps_per_us);
            ideal_ps = std::max(ideal_ps, flows.back().start + lone_ps(flows.back()));
        }
}

// host.qps connections for each pair of hosts that talk.
void workload::connect()
{
    auto key = [](const flow &f) {
        return static_cast<u64>(std::min(f.src, f.dst)) << 32 | std::max(f.src, f.dst);
    };
    const size_t qps = s_.host.qps;
    std::vector<u64> pairs;
    std::vector<size_t> turn;

    for (const flow &f : flows)
        if (!f.local())
            pairs.push_back(key(f));
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    turn.resize(2 * pairs.size());
    end_host.resize(2 * qps * pairs.size());
    end_flows.resize(end_host.size());
    end_bytes.resize(end_host.size());
    for (size_t i = 0; i < qps * pairs.size(); i++) {
        end_host[2 * i] = static_cast<u32>(pairs[i / qps] >> 32);
        end_host[2 * i + 1] = static_cast<u32>(pairs[i / qps]);
    }
    for (flow &f : flows) {
        if (f.local())
            continue;
        size_t pair = static_cast<size_t>(
            std::lower_bound(pairs.begin(), pairs.end(), key(f)) - pairs.begin());

        size_t way = f.src > f.dst;

        f.conn = static_cast<u32>(2 * (qps * pair + turn[2 * pair + way]++ % qps) + way);
        end_flows[f.conn]++;
        end_bytes[f.conn] = std::max<u64>(end_bytes[f.conn], f.bytes);
    }
}

// Ends of their own, the lower host's first as well.
void workload::add_tcp()
{
    first_tcp = calls() ? none32 : static_cast<u32>(end_host.size());
    for (const tcp_spec &x : s_.tcp) {
        end_host.push_back(static_cast<u32>(std::min(x.src, x.dst)));
        end_host.push_back(static_cast<u32>(std::max(x.src, x.dst)));
    }
    end_flows.resize(end_host.size());
    end_bytes.resize(end_host.size());
}

// Prepending from the last to the first leaves each host's in order of (start, number).
void workload::order_starts()
{
    std::vector<u32> order;

    for (u32 i = 0; i < flows.size(); i++)
        if (flows[i].start != never)
            order.push_back(i);
    std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
        return flows[a].start != flows[b].start ? flows[a].start > flows[b].start : a > b;
    });
    first_start.assign(topo_.hosts, none32);
    for (u32 i : order) {
        flows[i].next_start = first_start[flows[i].src];
        first_start[flows[i].src] = i;
    }
}

workload::workload(const scenario &s, const topology &t) : s_(s), topo_(t)
{
    const std::string &k = s.workload.kind;

    if (k == "permutation")
        permutation();
    else if (k == "incast")
        incast();
    else if (k == "ring")
        ring();
    else if (k == "alltoall")
        alltoall();
    else if (k == "list")
        list();
    else if (k == "trace")
        outside();
    else if (k != "calls")
        throw std::runtime_error("workload.kind is permutation, incast, ring, alltoall, list, trace or calls");
    if (flows.empty() && !calls())
        throw std::runtime_error("workload: no flows");
    connect();
    add_tcp();
    order_starts();
    std::vector<bool> from(t.hosts), to(t.hosts);
    for (const flow &f : flows) {
        if (f.local())
            continue;
        from[f.src] = true;
        to[f.dst] = true;
    }
    sources = static_cast<u32>(std::count(from.begin(), from.end(), true));
    sinks = static_cast<u32>(std::count(to.begin(), to.end(), true));
}

} // namespace sim
