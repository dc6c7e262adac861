// SPDX-License-Identifier: GPL-2.0
// selfprobe.cc - see selfprobe.h.
#include "selfprobe.h"

#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <linux/mrc.h>

#include "records.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::attr;
using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

// In the order of enum mrc_probe_kind.
constexpr const char *kinds[] = {"t0", "t1", "split", "host"};
static_assert(std::size(kinds) == MRC_PROBE_HOST + 1);

struct counter {
    uint16_t type;
    const char *name;
};

uint32_t parse_kind(const std::string &word)
{
    for (uint32_t i = 0; i < MRC_PROBE_HOST; i++)
        if (word == kinds[i])
            return i;
    throw bad_value(fmt::format("test: \"{}\" is none of t0, t1, split", word));
}

// Counts by duration: below 1024 ns, then each step is twice as long.
json histogram(const attr &a)
{
    json list = json::array();
    auto raw = a.bytes();
    for (size_t i = 0; i + sizeof(uint64_t) <= raw.size(); i += sizeof(uint64_t)) {
        uint64_t n;
        std::memcpy(&n, raw.data() + i, sizeof(n));
        list.push_back(n);
    }
    return list;
}

record all_record(const table &t)
{
    record r;
    table p(t[MRC_A_PROBES]);
    r.add("dev", std::string(dev_name(t)));
    r.add("tests", p[MRC_A_PROBES_COUNT].num());
    r.add("left_ms", p[MRC_A_PROBES_LEFT].num());
    r.add("paused", p[MRC_A_PROBES_PAUSED].num() != 0);
    r.add("stalls", p[MRC_A_PROBES_STALLS].num());
    r.add("forged", p[MRC_A_PROBES_FORGED].num());
    const counter details[] = {
        {MRC_A_PROBES_EXPIRY, "expiry_s"},     {MRC_A_PROBES_BUDGET, "budget"},
        {MRC_A_PROBES_TIMEOUT, "timeout_us"},  {MRC_A_PROBES_STALL, "stall_us"},
        {MRC_A_PROBES_FULL_EVERY, "full_every"}, {MRC_A_PROBES_LAG_HIGH, "lag_high_ns"},
    };
    for (auto &d : details)
        r.detail(d.name, p[d.type].num());
    r.detail("lag_hist", histogram(p[MRC_A_PROBES_LAG_HIST]));
    return r;
}

void add_test(record &r, const table &p)
{
    uint64_t kind = p[MRC_A_PROBE_KIND].num();
    r.add("id", p[MRC_A_PROBE_ID].num());
    r.add("kind", kind < std::size(kinds) ? kinds[kind] : "unknown");
    if (p[MRC_A_PROBE_PLANE])
        r.add("plane", p[MRC_A_PROBE_PLANE].num());
    if (p[MRC_A_PROBE_PATH])
        r.add("path", format_address(p[MRC_A_PROBE_PATH].bytes()));
    if (p[MRC_A_PROBE_DSCP])
        r.detail("dscp", p[MRC_A_PROBE_DSCP].num());
    r.detail("size", p[MRC_A_PROBE_SIZE].num());
    r.detail("interval_us", p[MRC_A_PROBE_INTERVAL].num());
}

// Adds the counters of @list. With @seldom, a counter that is 0 is a detail.
void add_counters(record &r, const table &p, std::span<const counter> list, bool seldom)
{
    for (auto &c : list) {
        uint64_t n = p[c.type].num();
        if (seldom && !n)
            r.detail(c.name, n);
        else
            r.add(c.name, n);
    }
}

record test_record(const table &t, const table &p)
{
    const counter always[] = {
        {MRC_A_PROBE_SENT, "sent"}, {MRC_A_PROBE_RECEIVED, "received"}, {MRC_A_PROBE_LOST, "lost"},
    };
    const counter seldom[] = {
        {MRC_A_PROBE_RUN, "run"},
        {MRC_A_PROBE_CORRUPT, "corrupt"},
        {MRC_A_PROBE_OTHER_PLANE, "other_plane"},
        {MRC_A_PROBE_VOID, "void"},
        {MRC_A_PROBE_LATE, "late"},
        {MRC_A_PROBE_DUPLICATE, "duplicate"},
        {MRC_A_PROBE_TRIMMED, "trimmed"},
        {MRC_A_PROBE_MARKED, "marked"},
        {MRC_A_PROBE_FULL_LOST, "full_lost"},
        {MRC_A_PROBE_UNSENT, "unsent"},
        {MRC_A_PROBE_OVER_BUDGET, "over_budget"},
    };
    record r;
    r.add("dev", std::string(dev_name(t)));
    add_test(r, p);
    add_counters(r, p, always, false);
    add_counters(r, p, seldom, true);
    r.detail("full_sent", p[MRC_A_PROBE_FULL_SENT].num());
    uint64_t timed = p[MRC_A_PROBE_RECEIVED].num() - p[MRC_A_PROBE_TRIMMED].num();
    if (timed)
        r.add("rtt_ns", p[MRC_A_PROBE_RTT_SUM].num() / timed);
    r.detail("rtt_low_ns", p[MRC_A_PROBE_RTT_LOW].num());
    r.detail("rtt_high_ns", p[MRC_A_PROBE_RTT_HIGH].num());
    r.detail("rtt_sum_ns", p[MRC_A_PROBE_RTT_SUM].num());
    r.detail("rtt_hist", histogram(p[MRC_A_PROBE_RTT_HIST]));
    for (auto &c : {counter{MRC_A_PROBE_LAST_LOST, "last_lost_ns"}, counter{MRC_A_PROBE_LAST_RECEIVED, "last_received_ns"}})
        if (p[c.type])
            r.detail(c.name, p[c.type].num());
    return r;
}

uint32_t micros(const std::string &word, const char *what)
{
    return static_cast<uint32_t>(parse_time(word, "us", 1000, UINT32_MAX, what, "ms"));
}

void put_common(request &n, const arguments &args)
{
    if (auto v = args.get("timeout"))
        n.u32(MRC_A_PROBES_TIMEOUT, micros(*v, "timeout"));
    if (auto v = args.get("stall"))
        n.u32(MRC_A_PROBES_STALL, micros(*v, "stall"));
    if (auto v = args.get("expiry"))
        n.u32(MRC_A_PROBES_EXPIRY, static_cast<uint32_t>(parse_time(*v, "s", 1, 3600, "expiry")));
    if (auto v = args.get("budget"))
        n.u64(MRC_A_PROBES_BUDGET, parse_size(*v, 1, UINT64_MAX, "budget"));
    if (auto v = args.get("full-every"))
        n.u32(MRC_A_PROBES_FULL_EVERY, static_cast<uint32_t>(parse_number(*v, 0, UINT32_MAX, "full-every")));
}

// Fills in the attributes that all tests of a command share.
void put_packet(request &n, const arguments &args)
{
    n.u32(MRC_A_PROBE_INTERVAL, micros(args.get("interval").value_or("100ms"), "interval"));
    if (auto v = args.get("dscp"))
        n.u8(MRC_A_PROBE_DSCP, parse_dscp(*v, "dscp"));
    if (auto v = args.get("size"))
        n.u32(MRC_A_PROBE_SIZE, static_cast<uint32_t>(parse_number(*v, 0, UINT16_MAX, "size")));
}

} // namespace

error selfprobe_show(context &ctx, const arguments &args)
{
    auto plane = args.get("plane");
    uint64_t only = plane ? parse_number(*plane, 1, 32, "plane") : 0;
    request rq(MRC_CMD_PROBE_GET);
    put_dev(rq, args);
    auto e = ctx.connect();
    return e ? e : ctx.nl.dump(rq, [&](const message &m) {
        table t(m.attrs), p(t[MRC_A_PROBE]);
        if (t[MRC_A_PROBES]) {
            if (!only)
                ctx.out.object(all_record(t));
        } else if (!only || p[MRC_A_PROBE_PLANE].num() == only) {
            ctx.out.object(test_record(t, p));
        }
    });
}

error selfprobe_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PROBE_SET);
    put_dev(rq, args);
    rq.nest(MRC_A_PROBES, [&](request &n) { put_common(n, args); });
    uint32_t id = 0;
    for (auto &item : args.items()) {
        std::string_view name = item.k->name;
        if (name != "test" && (name != "host" || !parse_on_off(item.values[0], "host")))
            continue;
        bool host = name == "host";
        rq.nest(MRC_A_PROBE, [&](request &n) {
            n.u32(MRC_A_PROBE_ID, ++id);
            n.u32(MRC_A_PROBE_KIND, host ? static_cast<uint32_t>(MRC_PROBE_HOST) : parse_kind(item.values[0]));
            put_packet(n, args);
            if (host)
                return;
            n.u8(MRC_A_PROBE_PLANE, static_cast<uint8_t>(parse_number(item.values[1], 1, 32, "plane")));
            n.put(MRC_A_PROBE_PATH, parse_sid(item.values[2]));
        });
    }
    if (!id)
        throw bad_value("selfprobe set: needs test or host on; selfprobe del stops all self-probes");
    return call(ctx, rq);
}

error selfprobe_del(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PROBE_SET);
    put_dev(rq, args);
    return call(ctx, rq);
}

} // namespace mrcctl
