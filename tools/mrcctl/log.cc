// SPDX-License-Identifier: GPL-2.0
// log.cc - see log.h.
#include "log.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <linux/mrc.h>
#include <poll.h>

#include "ev_values.h"
#include "names.h"
#include "records.h"
#include "since.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;
using clock = std::chrono::steady_clock;

// Milliseconds until @end for poll(); -1: no end.
int wait_ms(const std::optional<clock::time_point> &end)
{
    if (!end)
        return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT32_MAX));
}

bool of_evs(uint64_t kind)
{
    return kind == MRC_LOG_EV_BAD || kind == MRC_LOG_EV_GOOD || kind == MRC_LOG_EV_DENIED;
}

void say_withheld()
{
    fmt::print(stderr, "mrcctl: peers and EVs are withheld: they need CAP_NET_ADMIN\n");
}

// Names of what a record is about.
class namer {
  public:
    error load(const arguments &args) { return names_.load(args.get("fabric")); }

    peer_names of_log(const table &t)
    {
        table l(t[MRC_A_LOG]);
        auto bytes = l[MRC_A_LOG_GID].bytes();
        peer_names names{names_.host(bytes), {}};
        gid peer;

        if (!l[MRC_A_LOG_EV] || !names_.has_switches() || bytes.size() != peer.size())
            return names;
        std::copy(bytes.begin(), bytes.end(), peer.begin());
        auto plane = static_cast<unsigned>(l[MRC_A_LOG_PLANE].num());
        auto value = values_.find(std::string(dev_name(t)), peer, plane, static_cast<uint32_t>(l[MRC_A_LOG_EV].num()),
                                  static_cast<uint32_t>(l[MRC_A_LOG_ENTROPY].num()));
        if (value)
            names.by = names_.path(plane, *value);
        return names;
    }

    peer_names of_event(const table &t) const { return {names_.host(table(t[MRC_A_PEER])[MRC_A_PEER_GID].bytes()), {}}; }

  private:
    fabric_names names_;
    ev_values values_;
};

// Does the log have a record of this event, with its time and cause?
bool is_in_log(uint64_t event)
{
    return event == MRC_EVENT_PLANE || event == MRC_EVENT_PEER_PORTS || event == MRC_EVENT_EV;
}

} // namespace

error log_show(context &ctx, const arguments &args)
{
    auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    auto since = args.get("since"), plane = args.get("plane"), peer = args.get("peer"), dev = args.get("dev");
    uint64_t from = since ? parse_since(*since, static_cast<uint64_t>(now.count())) : 0;
    uint64_t of_plane = plane ? parse_number(*plane, 1, 32, "plane") : 0;
    std::string of_peer = peer ? format_address(parse_address(*peer, "peer")) : "";
    uint64_t lost = 0;
    bool withheld = false;
    namer names;

    request rq(MRC_CMD_LOG_GET);
    if (dev)
        rq.str(MRC_A_DEV_NAME, *dev);
    auto e = names.load(args);
    e = e ? e : ctx.connect();
    e = e ? e : ctx.nl.dump(rq, [&](const message &m) {
        table t(m.attrs), l(t[MRC_A_LOG]);
        lost = std::max(lost, l[MRC_A_LOG_LOST].num());
        withheld |= of_evs(l[MRC_A_LOG_KIND].num()) && !l[MRC_A_LOG_EV];
        if (l[MRC_A_LOG_REAL].num() < from || (of_plane && l[MRC_A_LOG_PLANE].num() != of_plane))
            return;
        if (!of_peer.empty() && (!l[MRC_A_LOG_GID] || format_address(l[MRC_A_LOG_GID].bytes()) != of_peer))
            return;
        ctx.out.object(log_record(t, names.of_log(t)));
    });
    if (e)
        return e;
    if (withheld)
        say_withheld();
    if (lost)
        fmt::print(stderr, "mrcctl: {} more records were dropped: too many at once\n", lost);
    return {};
}

error monitor(context &ctx, const arguments &args)
{
    auto dev = args.get("dev"), count = args.get("count"), timeout = args.get("timeout");
    uint64_t left = count ? parse_number(*count, 1, UINT64_MAX, "count") : UINT64_MAX;
    std::optional<clock::time_point> end;
    if (timeout)
        end = clock::now() + std::chrono::milliseconds(parse_time(*timeout, "ms", 0, UINT32_MAX, "timeout", "s"));

    namer names;
    if (auto e = names.load(args))
        return e;
    if (auto e = ctx.connect())
        return e;
    if (dev) {
        request rq(MRC_CMD_DEV_GET);
        rq.str(MRC_A_DEV_NAME, *dev);
        if (auto e = ctx.nl.call(rq, [](const message &) {}))
            return e;
    }
    if (auto e = ctx.nl.join(MRC_GENL_MCGRP_EVENTS))
        return e;
    // Records need a privilege, and a module that has them. Otherwise events for everybody are
    // shown.
    mrcnl::genl_socket records;
    auto without = records.open(MRC_GENL_NAME);
    without = without ? without : records.join(MRC_GENL_MCGRP_LOG);
    if (without.code == EPERM || without.code == EACCES)
        say_withheld();
    auto on_event = [&](const message &m) {
        table t(m.attrs);
        if (!left || (dev && dev_name(t) != *dev))
            return;
        if (m.cmd == MRC_CMD_LOG)
            ctx.out.object(log_record(t, names.of_log(t)));
        else if (m.cmd == MRC_CMD_EVENT && (without || !is_in_log(t[MRC_A_EVENT_TYPE].num())))
            ctx.out.object(event_record(t, names.of_event(t)));
        else
            return;
        left--;
    };
    while (left) {
        pollfd p[] = {{ctx.nl.fd(), POLLIN, 0}, {without ? -1 : records.fd(), POLLIN, 0}};
        int n = poll(p, 2, wait_ms(end));
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return error::make(errno, "poll");
        for (size_t i = 0; n > 0 && i < 2; i++) {
            if (!p[i].revents)
                continue;
            auto e = (i ? records : ctx.nl).receive(on_event);
            if (e.code == ENOBUFS)
                ctx.out.error("events were lost: too many at once", ENOBUFS);
            else if (e && e.code != EAGAIN)
                return e;
        }
    }
    return {};
}

} // namespace mrcctl
