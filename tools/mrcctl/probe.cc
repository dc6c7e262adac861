// SPDX-License-Identifier: GPL-2.0
// probe.cc - see probe.h.
#include "probe.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>

#include <fmt/format.h>
#include <linux/mrc.h>

#include "paths.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

std::optional<uint8_t> class_of(const arguments &args)
{
    auto tc = args.get("tc");
    return tc ? std::optional(static_cast<uint8_t>(parse_number(*tc, 0, 255, "tc"))) : std::nullopt;
}

std::vector<path> paths_given(const gid &to, const arguments &args)
{
    std::vector<path> all;

    for (auto &item : args.items()) {
        if (std::string_view(item.k->name) != "ev")
            continue;
        auto port = static_cast<uint8_t>(parse_number(item.values[0], 1, 32, "ev: port"));
        auto given = args.get("fmt");
        uint32_t fmt = given ? parse_fmt(*given) :
                       static_cast<uint32_t>(item.values[1].find(':') != std::string::npos ? MRC_FMT_SRV6 :
                                                                                             MRC_FMT_UDP);
        all.push_back(path_of(to, class_of(args), fmt, parse_ev(fmt, item.values[1]), port));
    }
    return all;
}

// Chooses the device: the named one, the only one, or the only one that knows the peer.
error choose_device(context &ctx, const arguments &args, const gid &to, device &chosen)
{
    std::vector<device> devs;
    std::set<std::string> know;

    if (auto e = devices_of(ctx, args.get("dev"), devs))
        return e;
    if (devs.empty())
        return {ENODEV, no_device, false};
    if (devs.size() > 1) {
        request rq(MRC_CMD_PEER_GET);
        rq.nest(MRC_A_PEER, [&](request &n) { n.put(MRC_A_PEER_GID, to); });
        if (auto e = ctx.nl.dump(rq, [&](const message &m) {
                know.insert(std::string(table(m.attrs)[MRC_A_DEV_NAME].str()));
            }))
            return e;
        std::erase_if(devs, [&](const device &d) { return !know.contains(d.name); });
    }
    if (devs.size() != 1)
        return {EINVAL,
                know.empty() ? fmt::format("no device has a peer {}: talk to it first, or name the device: dev DEV",
                                           format_address(to))
                             : fmt::format("several devices have the peer {}: dev {}?", format_address(to),
                                           fmt::join(know, ", dev ")),
                false};
    chosen = devs.front();
    return {};
}

json json_of(const path &p, bool sure)
{
    json j = {{"value", format_ev(p.q.fmt, p.q.value)}, {"answered", p.answered}, {"tries", p.tries}};

    if (p.answered) {
        j["rtt_ns"] = p.rtt_ns;
        j["answer_port"] = p.came_by;
        j["both_ways"] = p.both_ways;
    } else {
        j["why"] = why_of(p, sure);
    }
    return j;
}

// A record of one plane: "+" for each path that answered, "-" for one that did not, "!" for one on
// which nothing could be sent.
record record_of(const std::string &dev, const gid &to, uint8_t port, const std::vector<const path *> &paths, bool sure)
{
    uint64_t n = 0, least = UINT64_MAX, most = 0;
    std::string drawn, list;
    json evs = json::array();
    record r;

    for (auto *p : paths) {
        n += p->answered;
        drawn += p->answered ? '+' : p->err ? '!' : '-';
        evs.push_back(json_of(*p, sure));
        list += fmt::format("\n    {} {}", format_ev(p->q.fmt, p->q.value),
                            p->answered ? fmt::format("{} us", p->rtt_ns / 1000) : why_of(*p, sure));
        if (p->answered) {
            least = std::min(least, p->rtt_ns);
            most = std::max(most, p->rtt_ns);
        }
    }
    r.add("dev", dev).add("peer", format_address(to)).add("plane", port).add("paths", drawn);
    r.add("asked", paths.size()).add("answered", n);
    if (n)
        r.add("rtt_min_ns", least).add("rtt_max_ns", most);
    r.detail("evs", std::move(evs)).as_text("evs", list);
    return r;
}

// An error that is not the fault of a path.
error judge(const std::vector<path> &all, const std::string &dev, const gid &to)
{
    switch (all.front().err) {
    case ENOENT:
        return {ENOENT, fmt::format("{} has no peer {}: talk to it first", dev, format_address(to)), true};
    case EINVAL:
        return {EINVAL, fmt::format("{} is a multicast address, or this host", format_address(to)), true};
    case EADDRNOTAVAIL:
        return {EADDRNOTAVAIL, fmt::format("{} has no address from which to probe {}", dev, format_address(to)), true};
    }
    return {};
}

} // namespace

error probe(context &ctx, const arguments &args)
{
    gid to = parse_address(*args.get("peer"), "peer");
    auto limit =
        std::chrono::milliseconds(parse_time(args.get("timeout").value_or("1000"), "ms", 1, 60000, "timeout"));
    uint64_t tries = parse_number(args.get("tries").value_or("3"), 1, 100, "tries");
    std::vector<path> all = paths_given(to, args);
    std::map<uint8_t, std::vector<const path *>> planes;
    device dev;
    const bool any = args.get("return").value_or("path") == "any";
    uint16_t next = 0;
    bool sure = false;

    if (auto e = ctx.connect())
        return e;
    if (is_ours(to))
        return {EINVAL, fmt::format("{} is this host", format_address(to)), false};
    if (auto e = choose_device(ctx, args, to, dev))
        return e;
    if (all.empty())
        if (auto e = paths_of_peer(ctx, dev.name, to, class_of(args), all))
            return e;
    if (any)
        return_by_any(all);
    for (; tries; tries--)
        if (auto e = ask_once(ctx, dev.ifindex, next, all, limit))
            return e;
    if (auto e = judge(all, dev.name, to))
        return e;
    for (auto &p : all) {
        planes[p.q.port].push_back(&p);
        sure = sure || p.both_ways;
        if (!p.answered)
            ctx.status = 1;
    }
    for (auto &[port, paths] : planes)
        ctx.out.object(record_of(dev.name, to, port, paths, sure));
    return {};
}

} // namespace mrcctl
