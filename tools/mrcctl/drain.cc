// SPDX-License-Identifier: GPL-2.0
// drain.cc - see drain.h.
//
// The links are added to mrcctl's list (mrcctl avoid). A link is quiet if each EV that crosses it
// is denied and has sent nothing for a while.
#include "drain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <linux/mrc.h>

#include "../lib/fabric/usid.h"
#include "../lib/verdict/usid_links.h"
#include "../lib/words/nearest.h"
#include "avoid.h"
#include "names.h"
#include "paths.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;
using mrcver::Layout;
using mrcver::Part;
using mrcver::PartKind;
using mrcver::UsidLink;

constexpr std::chrono::seconds quiet_for{1}; // longer than a packet waits in the host's own queues
constexpr std::chrono::milliseconds look_again{200};

std::optional<Part> find_switch(const Layout &l, const std::string &name)
{
    for (unsigned plane = 1; plane <= l.planes(); plane++) {
        if (unsigned n = l.t0(name, plane))
            return Part{PartKind::kT0, plane, n, 0};
        if (unsigned n = l.t1(name, plane))
            return Part{PartKind::kT1, plane, n, 0};
    }
    return {};
}

Part need_switch(const Layout &l, const std::string &name)
{
    if (auto part = find_switch(l, name))
        return *part;
    if (l.host(name))
        throw bad_value(fmt::format("{} is a host: drain is for switches and for cables between them", name));
    std::set<std::string> names;
    for (unsigned plane = 1; plane <= l.planes(); plane++) {
        for (unsigned n = 1; n <= l.t0s(); n++)
            names.insert(l.t0_name(plane, n));
        for (unsigned n = 1; n <= l.t1s(); n++)
            names.insert(l.t1_name(plane, n));
    }
    auto near = words::nearest(name, names);
    throw bad_value(fmt::format("there is no switch \"{}\" in the fabric{}", name,
                                near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near)));
}

// The part that is named: a switch, or the cable between two switches, in either order.
Part part_of(const Layout &l, const arguments &args)
{
    Part a = need_switch(l, *args.get("node"));

    if (!args.has("to"))
        return a;
    Part b = need_switch(l, *args.get("to"));
    if (a.kind == PartKind::kT1)
        std::swap(a, b);
    if (a.kind != PartKind::kT0 || b.kind != PartKind::kT1 || a.plane != b.plane || !l.joined(a.plane, a.a, b.a))
        throw bad_value(fmt::format("no cable joins {} and {}", *args.get("node"), *args.get("to")));
    return {PartKind::kCable, a.plane, a.a, b.a};
}

std::string name_of(const arguments &args)
{
    auto to = args.get("to");
    return to ? fmt::format("{} to {}", *args.get("node"), *to) : *args.get("node");
}

std::vector<UsidLink> links_of(const arguments &args)
{
    const auto fabric = mrcfab::load_fabric(args.get("file").value_or(default_fabric));

    if (fabric.flat)
        throw bad_value("[flat] has no switches: mrcctl plane set DEV plane N admin off takes traffic off a plane");
    const Layout layout(fabric);
    return usid_links(layout, part_of(layout, args));
}

// The state of an EV that crosses one of the links.
struct crossing {
    bool denied = false, unnamed = false; // unnamed: without uSIDs, so its path is unknown
    uint64_t sent = 0;
};
using crossings = std::map<std::string, crossing>;

bool crosses(const std::vector<UsidLink> &links, unsigned plane, std::span<const uint8_t> value)
{
    std::array<unsigned, mrcfab::kUsidsOfAddress + 1> usids{};

    if (value.size() < 16)
        return false;
    for (std::size_t i = 0; i < mrcfab::kUsidsOfAddress; i++)
        usids[i] = unsigned{value[4 + 2 * i]} << 8 | value[5 + 2 * i];
    return std::any_of(links.begin(), links.end(), [&](const UsidLink &l) {
        for (std::size_t i = 0; i < mrcfab::kUsidsOfAddress; i++)
            if (l.plane == plane && usids[i] == l.from && (!l.to || usids[i + 1] == l.to))
                return true;
        return false;
    });
}

// Is it an EV of format SRv6? Only these use the bytes behind the fourth.
bool has_usids(std::span<const uint8_t> value)
{
    return value.size() >= 16 && std::any_of(value.begin() + 4, value.end(), [](uint8_t b) { return b; });
}

error look(context &ctx, const std::string &dev, const std::vector<UsidLink> &links, crossings &seen)
{
    request rq(MRC_CMD_EV_GET);

    rq.str(MRC_A_DEV_NAME, dev);
    return ctx.nl.dump(rq, [&](const message &m) {
        table t(m.attrs), peer(t[MRC_A_PEER]);
        for (auto a : m.attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table ev(a);
            const auto plane = static_cast<unsigned>(ev[MRC_A_EV_PORT].num());
            const auto value = ev[MRC_A_EV_VALUE].bytes();
            const bool unnamed = plane == links.front().plane && !has_usids(value);
            if (!unnamed && !crosses(links, plane, value))
                continue;
            auto key = fmt::format("{} {} {} {}", format_address(peer[MRC_A_PEER_GID].bytes()),
                                   peer[MRC_A_PEER_PROFILE_ID] ? peer[MRC_A_PEER_PROFILE_ID].num() : 0,
                                   peer[MRC_A_PEER_NAMED] ? peer[MRC_A_PEER_NAMED].num() : 0, ev[MRC_A_EV_INDEX].num());
            seen[key] = {ev[MRC_A_EV_STATE].num() == MRC_NL_EV_DENIED, unnamed, ev[MRC_A_EV_TX_PKTS].num()};
        }
    });
}

// Has one of the EVs sent since then? Path sets are created and removed meanwhile.
bool sent_since(const crossings &before, const crossings &now)
{
    return std::any_of(now.begin(), now.end(), [&](auto &c) {
        auto at = before.find(c.first);
        return c.second.sent != (at == before.end() ? 0 : at->second.sent);
    });
}

size_t in_use(const crossings &seen)
{
    return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [](auto &c) { return !c.second.denied; }));
}

size_t unnamed_in(const crossings &seen)
{
    return static_cast<size_t>(
        std::count_if(seen.begin(), seen.end(), [](auto &c) { return c.second.unnamed && !c.second.denied; }));
}

// Waits until the links are quiet. If @limit is over, @seen has EVs that are still used.
error wait_quiet(context &ctx, const std::string &dev, const std::vector<UsidLink> &links,
                 std::chrono::milliseconds limit, crossings &seen, bool &quiet)
{
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + limit;
    auto since = clock::now();

    for (quiet = false;;) {
        crossings now;
        if (auto e = look(ctx, dev, links, now))
            return e;
        if (sent_since(seen, now) || in_use(now))
            since = clock::now();
        seen = std::move(now);
        if (unnamed_in(seen))
            return {};
        quiet = clock::now() - since >= quiet_for;
        if (quiet || clock::now() >= end)
            return {};
        std::this_thread::sleep_for(look_again);
    }
}

error drain(context &ctx, const arguments &args, const std::string &dev, const std::vector<UsidLink> &links)
{
    auto limit = std::chrono::milliseconds(parse_time(args.get("timeout").value_or("30s"), "ms", 1, 3600000, "timeout", "s"));
    avoid_list list;
    crossings seen;
    bool quiet;

    if (auto e = read_list(ctx, dev, list))
        return e;
    list.links.insert(links.begin(), links.end());
    if (auto v = args.get("expiry"))
        list.expiry_s = static_cast<uint32_t>(parse_time(*v, "s", 1, 86400, "expiry"));
    if (auto e = write_list(ctx, dev, list))
        return e;
    if (auto e = wait_quiet(ctx, dev, links, limit, seen, quiet))
        return e;
    if (auto n = unnamed_in(seen))
        return {EOPNOTSUPP,
                fmt::format("{} EVs of {} on plane {} are not of format SRv6: nobody can tell whether they cross {}", n, dev,
                            links.front().plane, name_of(args)),
                false};
    if (!quiet)
        return {EBUSY,
                fmt::format("{} still sends over {}: {} of {} EVs that cross it are in use, as too few other paths are "
                            "usable. mrcctl fabric undrain ends this",
                            dev, name_of(args), in_use(seen), seen.size()),
                false};
    if (ctx.opt.as_json)
        ctx.out.object(record().add("dev", dev).add("drained", name_of(args)).add("evs", seen.size()));
    else
        fmt::print("{} sends nothing over {} ({} EVs are denied). It is safe to reboot when every host says so.\n", dev,
                   name_of(args), seen.size());
    return {};
}

// Calls @what with the device and the links of the part that is named.
template <class F>
error with_links(context &ctx, const arguments &args, F what)
{
    device dev;

    try {
        auto links = links_of(args);
        if (auto e = ctx.connect())
            return e;
        if (auto e = one_device(ctx, args.get("dev"), dev))
            return e;
        return what(dev.name, links);
    } catch (const mrcfab::FabricError &e) {
        return {EINVAL, e.what(), false};
    }
}

} // namespace

error fabric_drain(context &ctx, const arguments &args)
{
    return with_links(ctx, args, [&](const std::string &dev, const std::vector<UsidLink> &links) {
        return drain(ctx, args, dev, links);
    });
}

error fabric_undrain(context &ctx, const arguments &args)
{
    return with_links(ctx, args, [&](const std::string &dev, const std::vector<UsidLink> &links) -> error {
        avoid_list list;
        if (auto e = read_list(ctx, dev, list))
            return e;
        size_t gone = 0;
        for (auto &l : links)
            gone += list.links.erase(l);
        if (!gone)
            return {ENOENT, fmt::format("{} is not drained: see mrcctl avoid show", name_of(args)), false};
        return write_list(ctx, dev, list);
    });
}

} // namespace mrcctl
