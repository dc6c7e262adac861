// SPDX-License-Identifier: GPL-2.0
// status.cc - see status.h.
#include "status.h"

#include <cerrno>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "../values.h"
#include "screen.h"
#include "terminal.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using std::chrono::milliseconds;

constexpr milliseconds sample{200}; // time for rates; counters are at most 10 ms old

error no_device()
{
    return {ENODEV, "there is no MRC device here: rdma link add NAME type mrc netdev PORT", false};
}

json json_of(const problem &p)
{
    json j = {{"dev", p.dev}};
    if (p.plane)
        j["plane"] = p.plane;
    if (!p.peer.empty())
        j["peer"] = p.peer;
    j["text"] = p.text;
    j["action"] = p.action;
    return j;
}

json json_of(const snapshot &before, const snapshot &now, const device_now &dev)
{
    json planes = json::array();
    for (auto &p : dev.planes) {
        auto rate = [&](uint64_t plane_now::*c) { return 8 * plane_rate(before, now, dev.name, p, c); };
        planes.push_back({{"plane", p.number}, {"port", p.port}, {"state", plane_state(p)}, {"speed_mbps", p.speed_mbps},
                          {"tx_bits_per_second", rate(&plane_now::tx_bytes)},
                          {"rx_bits_per_second", rate(&plane_now::rx_bytes)}});
    }
    return {{"dev", dev.name}, {"qps", dev.qps}, {"planes", planes}};
}

record record_of(const snapshot &before, const snapshot &now, const std::vector<problem> &problems)
{
    json devices = json::array(), peers = json::array(), found = json::array();
    for (auto &d : now.devices)
        devices.push_back(json_of(before, now, d));
    for (auto &p : now.peers)
        peers.push_back({{"dev", p.dev}, {"peer", p.gid}, {"qps", p.qps}, {"evs", p.evs}, {"good", p.good}, {"skip", p.skip},
                         {"assumed_bad", p.assumed_bad}, {"denied", p.denied}, {"hints", p.hints}});
    for (auto &p : problems)
        found.push_back(json_of(p));
    record r;
    r.add("verdict", problems.empty() ? "well" : "problem").add("text", verdict_of(now, problems));
    r.add("problems", found).add("devices", devices).add("peers", peers);
    return r;
}

bool wants_colour()
{
    return isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
}

} // namespace

error status(context &ctx, const arguments &args)
{
    snapshot before, now;
    auto dev = args.get("dev");
    if (auto e = ctx.connect())
        return e;
    if (auto e = take_snapshot(ctx.nl, dev, before))
        return e;
    std::this_thread::sleep_for(sample);
    if (auto e = take_snapshot(ctx.nl, dev, now))
        return e;
    if (now.devices.empty())
        return no_device();
    auto problems = problems_of(now);
    ctx.status = problems.empty() ? 0 : 1;
    if (ctx.opt.as_json) {
        ctx.out.object(record_of(before, now, problems));
        return {};
    }
    screen_options opt{.colour = wants_colour()};
    if (ctx.opt.details)
        opt.peers = SIZE_MAX;
    fmt::print("{}", draw_screen(before, now, problems, opt));
    return {};
}

error top(context &ctx, const arguments &args)
{
    auto dev = args.get("dev");
    milliseconds interval(parse_time(args.get("interval").value_or("1"), "ms", 100, 3600000, "interval", "s"));
    uint64_t left = UINT64_MAX;
    if (auto v = args.get("count"))
        left = parse_number(*v, 1, UINT64_MAX, "count");
    if (ctx.opt.as_json)
        throw bad_value("top has no JSON: use mrcctl -j status");
    snapshot before, now;
    if (auto e = ctx.connect())
        return e;
    if (auto e = take_snapshot(ctx.nl, dev, before))
        return e;
    terminal term;
    screen_options opt{.colour = wants_colour()};
    for (bool paused = false; left; ) {
        if (!paused) {
            if (auto e = take_snapshot(ctx.nl, dev, now))
                return e;
            if (now.devices.empty())
                return no_device();
        }
        opt.peers = term.rows() > 24 ? term.rows() - 16 : 8;
        auto problems = problems_of(now);
        term.show(draw_screen(before, now, problems, opt),
                  paused ? "paused: space resumes, q quits" : "q quits, space pauses, sort peers by: p problems, n QPs, a address");
        ctx.status = problems.empty() ? 0 : 1;
        if (--left == 0)
            break;
        switch (term.wait(interval)) {
        case 'q': return {};
        case ' ': paused = !paused; break;
        case 'p': opt.order = peer_order::problems; break;
        case 'n': opt.order = peer_order::qps; break;
        case 'a': opt.order = peer_order::address; break;
        case 0:
            if (!paused)
                before = now;
            break;
        }
    }
    return {};
}

} // namespace mrcctl
