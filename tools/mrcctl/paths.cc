// SPDX-License-Identifier: GPL-2.0
//
// paths.cc - see paths.h.
#include "paths.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/mrc.h>
#include <netinet/in.h>

#include "ev_values.h"

namespace mrcctl {

using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

namespace {

// Guesses the format of an EV from its bytes. Short values are the same as UDP and as STEV.
uint32_t fmt_of(const ev_value &v)
{
    auto zero = [](uint8_t b) { return !b; };

    if (!std::all_of(v.begin() + 4, v.end(), zero))
        return MRC_FMT_SRV6;
    return v[2] || v[3] ? MRC_FMT_STEV : MRC_FMT_UDP;
}

// The switch in the middle of an SRv6 path: the T1, or the T0 of two hosts below it. 0: there is none, or the packet of an
// IPv4 peer has no room to name it.
uint16_t middle_of(const gid &to, uint32_t fmt, const ev_value &v)
{
    constexpr std::array<uint8_t, 12> v4_mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::vector<uint16_t> usids;

    if (fmt != MRC_FMT_SRV6 || std::equal(v4_mapped.begin(), v4_mapped.end(), to.begin()))
        return 0;
    for (size_t address = 0; address < v.size(); address += 16)
        for (size_t i = address + 4; i < address + 16 && (v[i] || v[i + 1]); i += 2)
            usids.push_back(static_cast<uint16_t>(v[i] << 8 | v[i + 1]));
    return usids.size() < 2 ? uint16_t{0} : usids[(usids.size() - 1) / 2]; // the last one is the peer
}

} // namespace

path path_of(const gid &to, std::optional<uint8_t> tc, uint32_t fmt, const ev_value &value, uint8_t port)
{
    path p;

    p.q.gid = to;
    p.q.op = MRC_NL_EP_EV_PROBE;
    p.q.tc = tc;
    p.q.fmt = fmt;
    p.q.value = value;
    p.q.port = port;
    p.q.via = middle_of(to, fmt, value);
    return p;
}

error paths_of_peer(context &ctx, const std::string &dev, const gid &to, std::optional<uint8_t> tc,
                    std::vector<path> &all)
{
    const auto had = all.size();
    auto e = each_ev(ctx.nl, dev, to, [&](const peer_ev &ev) {
        auto same = [&](const path &p) { return p.q.port == ev.plane && p.q.value == ev.value; };
        if (std::none_of(all.begin() + static_cast<std::ptrdiff_t>(had), all.end(), same))
            all.push_back(path_of(to, tc, fmt_of(ev.value), ev.value, ev.plane));
    });
    if (!e && all.size() == had)
        return {ENOENT, fmt::format("{} has no peer {}: talk to it first", dev, format_address(to)), false};
    return e;
}

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

error one_device(context &ctx, const std::optional<std::string> &name, device &dev)
{
    std::vector<device> devs;

    if (auto e = devices_of(ctx, name, devs))
        return e;
    if (devs.empty())
        return {ENODEV, no_device, false};
    if (devs.size() > 1)
        return {EINVAL, fmt::format("there are several devices: dev {}?", devs.front().name), false};
    dev = devs.front();
    return {};
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

namespace {

error ask_some(context &ctx, uint32_t ifindex, uint16_t &next, std::span<path *> asked, std::chrono::nanoseconds limit)
{
    std::vector<mrcnl::question> qs;
    mrcnl::answers got;

    for (auto *p : asked)
        qs.push_back(p->q);
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
        asked[a.question]->both_ways = a.via;
    }
    return {};
}

} // namespace

error ask_once(context &ctx, uint32_t ifindex, uint16_t &next, std::vector<path> &all,
               std::chrono::nanoseconds limit)
{
    std::vector<path *> asked;

    for (auto &p : all)
        if (!p.answered)
            asked.push_back(&p);
    for (size_t i = 0; i < asked.size(); i += mrcnl::asks_max)
        if (auto e = ask_some(ctx, ifindex, next, std::span(asked).subspan(i, std::min(mrcnl::asks_max, asked.size() - i)), limit))
            return e;
    return {};
}

void return_by_any(std::vector<path> &all)
{
    for (auto &p : all)
        p.q.via = 0;
}

std::string why_of(const path &p, bool sure)
{
    switch (p.err) {
    case 0: return sure && p.q.via ? "no answer by this path" : "no answer";
    case ENETDOWN: return "plane is down";
    case EHOSTUNREACH: return "no route";
    case EBUSY: return "too many probes under way";
    default: return std::strerror(p.err);
    }
}

} // namespace mrcctl
