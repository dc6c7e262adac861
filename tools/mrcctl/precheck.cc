// SPDX-License-Identifier: GPL-2.0
// precheck.cc - see precheck.h.
//
// A host without traffic so far has no path set: an ordinary datagram creates one. All paths of all
// hosts are then probed at once, so that dead hosts cost one timeout, and not one each.
#include "precheck.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/fabric/desired.h"
#include "../lib/words/nearest.h"
#include "names.h"
#include "paths.h"

namespace mrcctl {

namespace {

using mrcfab::Fabric;
using mrcnl::error;

constexpr uint16_t discard_port = 9;
constexpr std::chrono::seconds path_set_wait{1}; // until the first datagram has created a path set
constexpr size_t dead_shown = 8;

struct checked_host {
    std::string name;
    gid address = {};
    std::vector<const path *> paths;
    error why; // why it has no paths
};

std::vector<std::string> all_hosts(const Fabric &f)
{
    std::vector<std::string> names;

    if (f.flat)
        return f.flat->hosts;
    if (const auto &t = f.topology) {
        for (unsigned t0 = 1; t0 <= t->t0s; t0++)
            for (unsigned n = 1; n <= t->hosts_per_t0; n++)
                names.push_back(t->name(mrcfab::HostId{t0, n}));
        return names;
    }
    for (auto &h : f.hosts)
        names.push_back(h.name);
    return names;
}

// A host by the first address of its device.
checked_host host_of(const Fabric &f, const std::string &name)
{
    const auto node = mrcfab::desired_for(f, name);

    if (node && !node->device)
        throw bad_value(fmt::format("{} is a switch: precheck is for hosts", name));
    if (node)
        for (auto &a : node->addrs)
            if (a.link == node->device->name)
                return {name, parse_address(to_string(a.addr.addr), name), {}, {}};
    const auto names = all_hosts(f);
    const auto near = words::nearest(name, std::set<std::string>(names.begin(), names.end()));
    throw bad_value(fmt::format("there is no host \"{}\" in the fabric{}", name,
                                near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near)));
}

// The named hosts, without this one: so every host of a job can use the same list.
std::vector<checked_host> hosts_of(const arguments &args, fabric_names &switches)
{
    const auto fabric = mrcfab::load_fabric(args.get("file").value_or(default_fabric));
    std::vector<std::string> names;
    std::vector<checked_host> hosts;

    switches = fabric_names(fabric);
    for (auto &item : args.items())
        if (std::string_view(item.k->name) == "host")
            names.push_back(item.values[0]);
    if (names.size() == 1 && names.front() == "all")
        names = all_hosts(fabric);
    std::set<std::string> once;
    for (auto &name : names)
        if (!once.insert(name).second)
            continue;
        else if (auto h = host_of(fabric, name); !is_ours(h.address))
            hosts.push_back(std::move(h));
    if (hosts.empty())
        throw bad_value("nothing to check: the only host that is named is this one");
    return hosts;
}

void greet(const gid &to)
{
    sockaddr_in6 at = {};
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return;
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(discard_port);
    std::copy(to.begin(), to.end(), at.sin6_addr.s6_addr);
    // The datagram may be lost or refused: the path set exists, or its absence is reported later.
    [[maybe_unused]] auto sent = sendto(fd, "", 1, MSG_DONTWAIT, reinterpret_cast<sockaddr *>(&at), sizeof(at));
    close(fd);
}

// Adds the paths of each host. A host without paths gets the reason in why.
error gather(context &ctx, const std::string &dev, std::vector<checked_host> &hosts, std::vector<path> &all)
{
    const auto end = std::chrono::steady_clock::now() + path_set_wait;

    for (auto &h : hosts)
        greet(h.address);
    for (auto &h : hosts)
        for (;;) {
            h.why = paths_of_peer(ctx, dev, h.address, {}, all);
            if (h.why.code != ENOENT)
                break;
            if (std::chrono::steady_clock::now() >= end) {
                h.why.text = fmt::format("no path set: does a route of {} lead to {}?", dev, format_address(h.address));
                break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    for (auto &h : hosts)
        if (h.why && h.why.code != ENOENT)
            return h.why;
    return {};
}

json dead_json(const checked_host &h, const fabric_names &switches)
{
    json dead = json::array();

    for (auto *p : h.paths)
        if (!p->answered)
            dead.push_back({{"plane", p->q.port}, {"value", format_ev(p->q.fmt, p->q.value)}, {"by", switches.path(p->q.port, p->q.value)}, {"why", why_of(*p, both_ways(h.paths))}});
    return dead;
}

std::string dead_text(const checked_host &h, const fabric_names &switches)
{
    std::string text;
    size_t n = 0;

    for (auto *p : h.paths)
        if (!p->answered && n++ < dead_shown)
            text += fmt::format("\n    plane {} {} by {}: {}", p->q.port, format_ev(p->q.fmt, p->q.value),
                                fmt::join(switches.path(p->q.port, p->q.value), ","), why_of(*p, both_ways(h.paths)));
    return n > dead_shown ? text + fmt::format("\n    and {} more", n - dead_shown) : text;
}

// True: every path answered.
bool tell(context &ctx, const checked_host &h, const fabric_names &switches)
{
    std::set<uint8_t> planes, up;
    uint64_t least = UINT64_MAX, most = 0;
    size_t answered = 0;
    record r;

    for (auto *p : h.paths) {
        planes.insert(p->q.port);
        if (!p->answered)
            continue;
        answered++;
        up.insert(p->q.port);
        least = std::min(least, p->rtt_ns);
        most = std::max(most, p->rtt_ns);
    }
    const bool well = answered && answered == h.paths.size();
    r.add("host", h.name).add("address", format_address(h.address)).add("verdict", well ? "well" : answered ? "paths missing" : "unreachable");
    r.as_text("verdict", well ? "well" : answered ? "PATHS MISSING" : "UNREACHABLE");
    r.add("planes", up.size()).add("of_planes", planes.size()).add("paths", answered).add("of_paths", h.paths.size());
    if (answered)
        r.add("rtt_min_ns", least).add("rtt_max_ns", most);
    if (h.why)
        r.add("why", h.why.text);
    if (!well)
        r.add("dead", dead_json(h, switches)).as_text("dead", dead_text(h, switches));
    ctx.out.object(r);
    return well;
}

} // namespace

error fabric_precheck(context &ctx, const arguments &args)
{
    auto limit = std::chrono::milliseconds(parse_time(args.get("timeout").value_or("1000"), "ms", 1, 60000, "timeout"));
    uint64_t tries = parse_number(args.get("tries").value_or("3"), 1, 100, "tries");
    std::map<gid, checked_host *> by_address;
    fabric_names switches;
    std::vector<checked_host> hosts;
    std::vector<path> all;
    uint16_t next = 0;
    device dev;

    if (auto e = ctx.connect()) // first: enters the network namespace of -n
        return e;
    try {
        hosts = hosts_of(args, switches);
    } catch (const mrcfab::FabricError &e) {
        return {EINVAL, e.what(), false};
    }
    if (auto e = one_device(ctx, args.get("dev"), dev))
        return e;
    if (auto e = gather(ctx, dev.name, hosts, all))
        return e;
    for (; tries; tries--)
        if (auto e = ask_once(ctx, dev.ifindex, next, all, limit))
            return e;
    for (auto &h : hosts)
        by_address[h.address] = &h;
    for (auto &p : all)
        by_address[p.q.gid]->paths.push_back(&p);
    for (auto &h : hosts)
        if (!tell(ctx, h, switches))
            ctx.status = 1;
    return {};
}

} // namespace mrcctl
