// SPDX-License-Identifier: GPL-2.0
// probe.cc - see probe.h.
#include "probe.h"

#include "worker.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sim {

namespace {

constexpr u64 timeout_ps = 10'000 * ps_per_us, stall_ps = 1'000 * ps_per_us;
constexpr u32 full_one = 100, short_bytes = 24;
constexpr u8 probe_opcode = 2; // TCP's are 0 and 1, MRC's begin at 0xc0

probe read_probe(const std::string &line, const std::string &where, const topology &topo)
{
    std::istringstream in(line);
    u64 plane = 0, n = 0;
    double per_second = 0;
    probe x;

    auto want = [&](bool good, const char *what) {
        if (!good)
            refuse_scenario(where + ": " + what + ": " + line);
    };
    want(!!(in >> x.host >> plane >> per_second), "HOST PLANE PER_SECOND and switches are wanted");
    want(x.host < topo.hosts, "no such host");
    want(plane < topo.planes, "no such plane");
    want(per_second >= 0.001 && per_second <= 1e6, "0.001 to 1,000,000 a second");
    x.plane = static_cast<u8>(plane);
    x.every = static_cast<u64>(1e12 / per_second);
    while (in >> n) {
        want(x.hops < probe::longest, "at most five switches");
        want(n < (x.hops % 2 ? topo.t1s : topo.t0s), "no such switch");
        x.way[x.hops++] = static_cast<u16>(n);
    }
    want(in.eof(), "not a number");
    want(x.hops % 2, "it ends at a T0");
    want(x.way[0] == topo.rack_node(x.host) && x.way[x.hops - 1] == x.way[0], "it begins and ends at another T0 than its host");
    return x;
}

} // namespace

probes::probes(const scenario &s, const topology &topo, workload &work)
    : of_host(topo.hosts), bucket_ps_(s.run.bucket_us * ps_per_us)
{
    if (s.run.probes.empty())
        return;
    std::string file = std::filesystem::path(s.path).parent_path() / s.run.probes, line;
    std::ifstream in(file);

    if (!in)
        refuse_scenario(file + ": " + std::strerror(errno));
    for (u64 n = 1; std::getline(in, line); n++) {
        if (line.empty() || line[0] == '#')
            continue;
        probe x = read_probe(line, file + ":" + std::to_string(n), topo);
        x.next = mix64(s.run.seed << 32 | all.size()) % x.every;
        of_host[x.host].push_back(static_cast<u32>(all.size()));
        all.push_back(std::move(x));
    }
    first = static_cast<u32>(work.end_host.size());
    for (const probe &x : all)
        work.end_host.insert(work.end_host.end(), 2, x.host);
    work.end_flows.resize(work.end_host.size());
    work.end_bytes.resize(work.end_host.size());
}

probe_count &probes::count_of(probe &x, u64 sent_ps)
{
    size_t i = sent_ps / bucket_ps_;

    if (i >= x.counts.size())
        x.counts.resize(i + 1);
    return x.counts[i];
}

void probes::write(const std::string &path) const
{
    std::ofstream out(path);

    for (size_t n = 0; n < all.size(); n++)
        for (size_t b = 0; b < all[n].counts.size(); b++) {
            const probe_count &c = all[n].counts[b];

            out << b << ' ' << n << ' ' << c.sent << ' ' << c.full_sent << ' ' << c.control_sent << ' ' << c.lost << ' '
                << c.full_lost << ' ' << c.control_lost << ' ' << c.late << ' ' << c.queued << ' ' << c.rtt_sum << ' '
                << c.rtt_low << ' ' << c.first_lost << ' ' << c.last_lost << '\n';
        }
    if (!out.flush())
        refuse_scenario(path + ": " + std::strerror(errno));
}

// ---- what a packet carries ----

static u64 sent_at(const packet &p)
{
    return static_cast<u64>(p.data.va) << 32 | p.data.dmalen;
}

static bool is_full(const packet &p)
{
    return p.psn() % full_one == full_one - 1;
}

static bool is_control(const packet &p)
{
    return p.psn() % 2 == 0;
}

static void count_lost(probe_count &c, const packet &p)
{
    u64 sent = sent_at(p);

    c.first_lost = c.lost++ ? std::min(c.first_lost, sent) : sent;
    c.last_lost = std::max(c.last_lost, sent);
    c.full_lost += is_full(p);
    c.control_lost += is_control(p);
}

// ---- at hosts ----

void worker::send_probe(u32 id, host &h, u32 n, u64 t)
{
    probe &x = w_.probing.all[n];
    port &nic = w_.topo.nic_port(x.plane, id);
    const link_class &k = w_.topo.classes[nic.cls];
    probe_count &c = w_.probing.count_of(x, t);
    packet p = {};

    p.conn = w_.probing.first + 2 * n;
    p.psn_op = (x.number++ & 0xffffff) << 8 | probe_opcode;
    p.ev = x.way[0];
    p.plane = x.plane;
    p.len = static_cast<u16>(is_full(p) ? w_.s.fabric.mtu : short_bytes);
    p.flags = is_control(p) ? PKT_CONTROL : 0;
    p.data.va = static_cast<u32>(t >> 32);
    p.data.dmalen = static_cast<u32>(t);
    c.sent++;
    c.full_sent += is_full(p);
    c.control_sent += is_control(p);
    u32 bytes = static_cast<u32>(p.len + w_.s.fabric.header);
    p.t = (is_control(p) ? nic.send_ctl(k, t, bytes) : nic.send_data(k, t, bytes)) + k.delay_ps;
    set_tx_free(id, h);
    count.hops++;
    if (nic.dead)
        return lose(p, loss::dead);
    if (nic.gray && drawn(p, nic))
        return lose(p, loss::random);
    post(w_.topo.t0_node(x.plane, x.way[0]), p);
}

// Each a little earlier or later than the last one by its rate: they must not meet for ever.
void worker::run_probes(u32 id, host &h, u64 t)
{
    h.probe_wake = never;
    for (u32 n : w_.probing.of_host[id]) {
        probe &x = w_.probing.all[n];

        if (x.next <= t) {
            send_probe(id, h, n, t);
            x.next = t + x.every * (768 + mix64(t ^ static_cast<u64>(n) << 40) % 513) / 1024;
        }
        h.probe_wake = std::min(h.probe_wake, x.next);
    }
}

void worker::receive_probe(const packet &p, u64 t)
{
    probe_count &c = w_.probing.count_of(w_.probing.of(p.conn), sent_at(p));
    u64 rtt = t - sent_at(p);

    if (t - p.t >= stall_ps) { // it waited here
        c.sent--;
        c.full_sent -= is_full(p);
        c.control_sent -= is_control(p);
        return;
    }
    if (rtt >= timeout_ps) {
        c.late++;
        return count_lost(c, p);
    }
    c.queued += (p.flags & (PKT_ECN | PKT_TRIMMED)) != 0;
    c.rtt_sum += rtt / ps_per_ns;
    c.rtt_low = c.rtt_low ? std::min(c.rtt_low, rtt / ps_per_ns) : rtt / ps_per_ns;
}

// ---- at switches ----

void worker::forward_probe(u32 node, packet p, u32 plane, u32 index, bool is_t0)
{
    const probe &x = w_.probing.of(p.conn);
    u32 at = p.data.key++, next = at + 1u < x.hops ? x.way[at + 1] : none32;
    topology &topo = w_.topo;

    if (x.way[at] != index || is_t0 == (at % 2 != 0))
        throw std::logic_error("a probe came to another switch than its next one");
    if (next == none32)
        output(node, topo.last_port(plane, x.host), p, true, topo.rack_node(x.host));
    else if (is_t0)
        output(node, topo.up_port(plane, index, next), p, false, topo.t1_node(plane, next));
    else
        output(node, topo.down_port(plane, index, next), p, false, topo.t0_node(plane, next));
}

void worker::lose_probe(const packet &p)
{
    count_lost(w_.probing.count_of(w_.probing.of(p.conn), sent_at(p)), p);
}

} // namespace sim
