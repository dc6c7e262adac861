// SPDX-License-Identifier: GPL-2.0
// probe.cc - see probe.h. The peer chooses the path of the answer, which may be dead. So an
// unanswered probe is repeated.
#include "probe.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/mrc.h>
#include <netinet/in.h>

#include "../lib/nl/ask.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

struct path {
    mrcnl::question q;
    bool answered = false;
    uint64_t rtt_ns = 0, tries = 0;
    uint8_t came_by = 0;
    int err = 0; // of the last try
};

// Of an EV whose format nobody said: what its bytes can be. Short ones are the same as UDP and as STEV.
uint32_t fmt_of(const ev_value &v)
{
    auto zero = [](uint8_t b) { return !b; };

    if (!std::all_of(v.begin() + 4, v.end(), zero))
        return MRC_FMT_SRV6;
    return v[2] || v[3] ? MRC_FMT_STEV : MRC_FMT_UDP;
}

path path_of(const gid &to, const arguments &args, uint32_t fmt, const ev_value &value, uint8_t port)
{
    path p;

    p.q.gid = to;
    p.q.op = MRC_NL_EP_EV_PROBE;
    if (auto tc = args.get("tc"))
        p.q.tc = static_cast<uint8_t>(parse_number(*tc, 0, 255, "tc"));
    p.q.fmt = fmt;
    p.q.value = value;
    p.q.port = port;
    return p;
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
        all.push_back(path_of(to, args, fmt, parse_ev(fmt, item.values[1]), port));
    }
    return all;
}

// Those of its path set, each once.
error paths_of_peer(context &ctx, const std::string &dev, const gid &to, const arguments &args,
                    std::vector<path> &all)
{
    request rq(MRC_CMD_EV_GET);

    rq.str(MRC_A_DEV_NAME, dev);
    rq.nest(MRC_A_PEER, [&](request &n) { n.put(MRC_A_PEER_GID, to); });
    auto e = ctx.nl.dump(rq, [&](const message &m) {
        for (auto a : m.attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table ev(a);
            auto bytes = ev[MRC_A_EV_VALUE].bytes();
            ev_value value = {};
            std::copy_n(bytes.begin(), std::min(bytes.size(), value.size()), value.begin());
            auto port = static_cast<uint8_t>(ev[MRC_A_EV_PORT].num());
            auto same = [&](const path &p) { return p.q.port == port && p.q.value == value; };
            if (std::none_of(all.begin(), all.end(), same))
                all.push_back(path_of(to, args, fmt_of(value), value, port));
        }
    });
    if (!e && all.empty())
        return {ENOENT, fmt::format("{} has no peer {}: talk to it first", dev, format_address(to)), false};
    return e;
}

struct device {
    std::string name;
    uint32_t ifindex = 0;
};

// The one that is named, or all.
error devices_of(context &ctx, const std::optional<std::string> &name, std::vector<device> &devs)
{
    request rq(MRC_CMD_DEV_GET);
    auto take = [&](const message &m) {
        table t(m.attrs);
        devs.push_back({std::string(t[MRC_A_DEV_NAME].str()), static_cast<uint32_t>(t[MRC_A_DEV_IFINDEX].num())});
    };

    if (!name)
        return ctx.nl.dump(rq, take);
    rq.str(MRC_A_DEV_NAME, *name);
    return ctx.nl.call(rq, take);
}

bool is_ours(const gid &to)
{
    ifaddrs *list = nullptr;
    bool found = false;

    if (getifaddrs(&list))
        return false;
    for (auto *i = list; i && !found; i = i->ifa_next) {
        gid own = {};
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET6) {
            auto *bytes = reinterpret_cast<const sockaddr_in6 *>(i->ifa_addr)->sin6_addr.s6_addr;
            std::copy_n(bytes, own.size(), own.begin());
        } else if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET) {
            own[10] = own[11] = 0xff;
            std::memcpy(own.data() + 12, &reinterpret_cast<const sockaddr_in *>(i->ifa_addr)->sin_addr, 4);
        }
        found = own == to;
    }
    freeifaddrs(list);
    return found;
}

// By which device: the one that is named, the only one, or the only one that knows the peer.
error choose_device(context &ctx, const arguments &args, const gid &to, device &chosen)
{
    std::vector<device> devs;
    std::set<std::string> know;

    if (auto e = devices_of(ctx, args.get("dev"), devs))
        return e;
    if (devs.empty())
        return {ENODEV, "there is no MRC device here: rdma link add NAME type mrc netdev PORT", false};
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

// Once more all that were not answered.
error ask_once(context &ctx, uint32_t ifindex, uint16_t &next, std::vector<path> &all,
               std::chrono::nanoseconds limit)
{
    std::vector<mrcnl::question> qs;
    std::vector<path *> asked;
    mrcnl::answers got;

    for (auto &p : all)
        if (!p.answered) {
            qs.push_back(p.q);
            asked.push_back(&p);
        }
    if (qs.empty())
        return {};
    if (auto e = mrcnl::ask(ctx.nl, ifindex, next, qs, limit, got))
        return e;
    for (size_t i = 0; i < asked.size(); i++) {
        asked[i]->tries++;
        asked[i]->err = got.errors[i];
    }
    for (auto &a : got.came) {
        asked[a.question]->answered = true;
        asked[a.question]->rtt_ns = a.rtt_ns;
        asked[a.question]->came_by = a.port;
    }
    return {};
}

std::string why_of(int err)
{
    switch (err) {
    case 0: return "no answer";
    case ENETDOWN: return "plane is down";
    case EHOSTUNREACH: return "no route";
    case EBUSY: return "too many probes under way";
    default: return std::strerror(err);
    }
}

json json_of(const path &p)
{
    json j = {{"value", format_ev(p.q.fmt, p.q.value)}, {"answered", p.answered}, {"tries", p.tries}};

    if (p.answered) {
        j["rtt_ns"] = p.rtt_ns;
        j["answer_port"] = p.came_by;
    } else {
        j["why"] = why_of(p.err);
    }
    return j;
}

// One plane: a "+" for each path that answered, a "-" for one that did not, "!" for one by which nothing left.
record record_of(const std::string &dev, const gid &to, uint8_t port, const std::vector<const path *> &paths)
{
    uint64_t n = 0, least = UINT64_MAX, most = 0;
    std::string drawn, list;
    json evs = json::array();
    record r;

    for (auto *p : paths) {
        n += p->answered;
        drawn += p->answered ? '+' : p->err ? '!' : '-';
        evs.push_back(json_of(*p));
        list += fmt::format("\n    {} {}", format_ev(p->q.fmt, p->q.value),
                            p->answered ? fmt::format("{} us", p->rtt_ns / 1000) : why_of(p->err));
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

// What no path is to blame for.
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
    uint16_t next = 0;

    if (auto e = ctx.connect())
        return e;
    if (is_ours(to))
        return {EINVAL, fmt::format("{} is this host", format_address(to)), false};
    if (auto e = choose_device(ctx, args, to, dev))
        return e;
    if (all.empty())
        if (auto e = paths_of_peer(ctx, dev.name, to, args, all))
            return e;
    for (; tries; tries--)
        if (auto e = ask_once(ctx, dev.ifindex, next, all, limit))
            return e;
    if (auto e = judge(all, dev.name, to))
        return e;
    for (auto &p : all) {
        planes[p.q.port].push_back(&p);
        if (!p.answered)
            ctx.status = 1;
    }
    for (auto &[port, paths] : planes)
        ctx.out.object(record_of(dev.name, to, port, paths));
    return {};
}

} // namespace mrcctl
