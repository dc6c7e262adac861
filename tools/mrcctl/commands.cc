// SPDX-License-Identifier: GPL-2.0
// commands.cc - see commands.h.
#include "commands.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>
#include <linux/mrc.h>

#include "avoid.h"
#include "doctor.h"
#include "explain.h"
#include "diagnose.h"
#include "drain.h"
#include "fabric.h"
#include "fabric_export.h"
#include "gather.h"
#include "log.h"
#include "metrics.h"
#include "names.h"
#include "precheck.h"
#include "probe.h"
#include "records.h"
#include "report.h"
#include "selfprobe.h"
#include "status/status.h"
#include "values.h"
#include "watch/watch.h"

namespace mrcctl {

namespace {

using mrcnl::attr;
using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

constexpr size_t name_max = 15; // IFNAMSIZ - 1

void put_peer(request &rq, const arguments &args)
{
    if (auto peer = args.get("peer"))
        rq.nest(MRC_A_PEER,
                [&](request &n) { n.put(MRC_A_PEER_GID, parse_address(*peer, "peer")); });
}

error dump(context &ctx, request &rq, const mrcnl::handler &on_reply)
{
    auto e = ctx.connect();
    return e ? e : ctx.nl.dump(rq, on_reply);
}

// Prints a record for each object of a dump.
error show(context &ctx, const arguments &args, uint8_t cmd, record (*make)(const table &))
{
    request rq(cmd);
    put_dev(rq, args);
    put_peer(rq, args);
    return dump(ctx, rq, [&](const message &m) { ctx.out.object(make(table(m.attrs))); });
}

// ---- dev ----

error dev_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_DEV_SET);
    put_dev(rq, args);
    if (args.items().size() < 2)
        throw bad_value("dev set: nothing to set");
    rq.nest(MRC_A_DEV, [&](request &n) {
        if (auto v = args.get("udp-port"))
            n.u16(MRC_A_DEV_UDP_PORT, static_cast<uint16_t>(parse_number(*v, 1, 65535, "udp-port")));
        if (auto v = args.get("cwnd"))
            n.u32(MRC_A_DEV_CWND, static_cast<uint32_t>(parse_size(*v, 4096, 1u << 30, "cwnd")));
        if (auto v = args.get("profile"))
            n.u64(MRC_A_DEV_PROFILE_ID, parse_number(*v, 0, UINT64_MAX, "profile"));
        if (auto v = args.get("cc-profile"))
            n.u64(MRC_A_DEV_CC_PROFILE_ID, parse_number(*v, 0, UINT64_MAX, "cc-profile"));
        if (auto v = args.get("active-evs"))
            n.u32(MRC_A_DEV_ACTIVE_EVS,
                  static_cast<uint32_t>(parse_number(*v, 1, 4096, "active-evs")));
        if (auto v = args.get("damp"))
            n.u32(MRC_A_DEV_DAMP, static_cast<uint32_t>(parse_time(*v, "ms", 0, 3600000, "damp")));
        struct {
            const char *name;
            uint16_t type;
            uint64_t min, max;
        } bytes[] = {
            {"mpr", MRC_A_DEV_MPR, 1, 32},
            {"hop-limit", MRC_A_DEV_HOP_LIMIT, 1, 255},
            {"exp-cnt", MRC_A_DEV_EXP_CNT, 0, 25},
            {"burst", MRC_A_DEV_BURST, 0, 16},
        };
        for (auto &b : bytes)
            if (auto v = args.get(b.name))
                n.u8(b.type, static_cast<uint8_t>(parse_number(*v, b.min, b.max, b.name)));
        struct {
            const char *name;
            uint16_t type;
        } dscps[] = {
            {"dscp-data", MRC_A_DEV_DSCP_DATA},
            {"dscp-rtx", MRC_A_DEV_DSCP_RTX},
            {"dscp-control", MRC_A_DEV_DSCP_CONTROL},
            {"dscp-no-trim", MRC_A_DEV_DSCP_NO_TRIM},
            {"dscp-trimmed", MRC_A_DEV_DSCP_TRIMMED},
            {"dscp-trimmed-lasthop", MRC_A_DEV_DSCP_TRIMMED_LASTHOP},
        };
        for (auto &d : dscps)
            if (auto v = args.get(d.name))
                n.u8(d.type, parse_dscp(*v, d.name));
        struct {
            const char *name;
            uint16_t type;
        } switches[] = {
            {"icrc", MRC_A_DEV_ICRC},         {"trim-nack", MRC_A_DEV_TRIM_NACK},
            {"timestamps", MRC_A_DEV_TIMESTAMPS}, {"dyn-mpr", MRC_A_DEV_DYN_MPR},
            {"strict", MRC_A_DEV_STRICT},     {"sleek", MRC_A_DEV_SLEEK},
            {"incast", MRC_A_DEV_INCAST},     {"oor-nack", MRC_A_DEV_OOR_NACK},
            {"ev-port-low", MRC_A_DEV_EV_PORT_LOW}, {"mrc-pad", MRC_A_DEV_MRC_PAD},
            {"ep-op-high", MRC_A_DEV_EP_OP_HIGH}, {"port-bit-1", MRC_A_DEV_PORT_BIT_1},
        };
        for (auto &b : switches)
            if (auto v = args.get(b.name))
                n.u8(b.type, parse_on_off(*v, b.name));
    });
    return call(ctx, rq);
}

// ---- plane ----

error plane_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PLANE_SET);
    put_dev(rq, args);
    if (args.items().size() < 3)
        throw bad_value("plane set: nothing to set");
    rq.nest(MRC_A_PLANE, [&](request &n) {
        n.u8(MRC_A_PLANE_NUMBER,
             static_cast<uint8_t>(parse_number(*args.get("plane"), 1, 32, "plane")));
        if (auto v = args.get("admin"))
            n.u8(MRC_A_PLANE_ADMIN, parse_on_off(*v, "admin"));
        if (auto v = args.get("sid"))
            n.put(MRC_A_PLANE_SID, parse_sid(*v));
        if (auto v = args.get("netdev"))
            n.str(MRC_A_PLANE_IFNAME, *v);
    });
    return call(ctx, rq);
}

// ---- profile ----

error profile_show(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PROFILE_GET);
    put_dev(rq, args);
    auto id = args.get("id");
    uint64_t want = id ? parse_number(*id, 1, UINT64_MAX, "id") : 0;
    profile_gatherer gather(ctx);
    auto e = dump(ctx, rq, [&](const message &m) {
        table t(m.attrs);
        if (!want || table(t[MRC_A_PROFILE])[MRC_A_PROFILE_ID].num() == want)
            gather.part(t);
    });
    if (!e)
        gather.flush();
    return e;
}

error peer_show(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PEER_GET);
    put_dev(rq, args);
    put_peer(rq, args);
    peer_gatherer gather(ctx);
    auto e = dump(ctx, rq, [&](const message &m) { gather.part(table(m.attrs)); });
    if (!e)
        gather.flush();
    return e;
}

void put_profile_key(request &n, const arguments &args)
{
    n.u64(MRC_A_PROFILE_ID, parse_number(*args.get("id"), 1, UINT64_MAX, "id"));
    auto dst = args.get("dst");
    if (!dst)
        return;
    prefix p = parse_prefix(*dst, "dst");
    n.put(MRC_A_PROFILE_DST, p.address);
    if (p.length != 128)
        n.u8(MRC_A_PROFILE_DST_LEN, p.length);
}

struct generator {
    uint8_t port = 0;
    std::vector<std::vector<uint64_t>> fields; // width, init, mask, min, max
    std::vector<copy_rule> copies;
};

// Each "gen PORT" starts a generator, which gets the fields and copies that follow.
std::vector<generator> generators(const arguments &args)
{
    std::vector<generator> gens;
    for (auto &item : args.items()) {
        std::string_view name = item.k->name;
        if (name == "gen") {
            gens.emplace_back();
            gens.back().port = static_cast<uint8_t>(parse_number(item.values[0], 0, 32, "gen"));
        } else if (name == "field") {
            if (gens.empty())
                gens.emplace_back();
            auto f = parse_list(item.values[0], 5, "field");
            if (f.size() != 2 && f.size() != 5)
                throw bad_value(fmt::format("field: \"{}\" is not WIDTH,INIT[,MASK,MIN,MAX]",
                                            item.values[0]));
            f.resize(5);
            gens.back().fields.push_back(std::move(f));
        } else if (name == "copy") {
            if (gens.empty())
                gens.emplace_back();
            gens.back().copies.push_back(parse_copy(item.values[0]));
        }
    }
    return gens;
}

void put_generators(request &n, const arguments &args, const std::vector<generator> &gens)
{
    std::vector<uint8_t> widths;
    auto add_width = [&](uint64_t w) {
        if (w > UINT8_MAX)
            throw bad_value(fmt::format("widths: {} is not in 0 ... 255", w));
        widths.push_back(static_cast<uint8_t>(w));
    };
    if (auto v = args.get("widths"))
        for (uint64_t w : parse_list(*v, 16, "widths"))
            add_width(w);
    else if (!gens.empty())
        for (auto &f : gens[0].fields)
            add_width(f[0]);
    if (!widths.empty())
        n.put(MRC_A_PROFILE_FMT_WIDTHS, widths);
    for (auto &g : gens)
        n.nest(MRC_A_PROFILE_GEN, [&](request &gn) {
            if (g.port)
                gn.u8(MRC_A_GEN_PORT, g.port);
            for (auto &f : g.fields)
                gn.nest(MRC_A_GEN_FIELD, [&](request &fn) {
                    const uint16_t types[] = {MRC_A_FIELD_WIDTH, MRC_A_FIELD_INIT,
                                              MRC_A_FIELD_MASK, MRC_A_FIELD_FIRST,
                                              MRC_A_FIELD_LAST};
                    for (size_t i = 0; i < f.size(); i++)
                        fn.u32(types[i], static_cast<uint32_t>(f[i]));
                });
            for (auto &c : g.copies)
                gn.nest(MRC_A_GEN_COPY, [&](request &cn) {
                    cn.u32(MRC_A_COPY_FROM, c.from).u32(MRC_A_COPY_BIT, c.bit);
                    cn.u32(MRC_A_COPY_WIDTH, c.width).u32(MRC_A_COPY_AT, c.at);
                });
        });
}

error profile_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PROFILE_SET);
    put_dev(rq, args);
    uint32_t mode = parse_mode(args.get("mode").value_or("exp"));
    auto fmt_word = args.get("fmt");
    if (!fmt_word && mode != MRC_MODE_AUTO)
        throw bad_value("fmt: the format of the EVs is missing: srv6, udp or stev");
    uint32_t fmt = fmt_word ? parse_fmt(*fmt_word) : static_cast<uint32_t>(MRC_FMT_UDP);
    auto gens = generators(args);
    rq.nest(MRC_A_PROFILE, [&](request &n) {
        put_profile_key(n, args);
        n.u32(MRC_A_PROFILE_FMT, fmt).u32(MRC_A_PROFILE_MODE, mode);
        if (auto v = args.get("min-active"))
            n.u32(MRC_A_PROFILE_MIN_ACTIVE,
                  static_cast<uint32_t>(parse_number(*v, 0, 4096, "min-active")));
        if (auto v = args.get("count"))
            n.u32(MRC_A_PROFILE_COUNT, static_cast<uint32_t>(parse_number(*v, 1, 4096, "count")));
        put_generators(n, args, gens);
    });
    // Next to the profile: inside, the limit of a nest is 64 KiB.
    for (auto &item : args.items()) {
        if (std::string_view(item.k->name) != "ev")
            continue;
        rq.nest(MRC_A_EV, [&](request &n) {
            n.put(MRC_A_EV_VALUE, parse_ev(fmt, item.values[1]));
            n.u8(MRC_A_EV_PORT,
                 static_cast<uint8_t>(parse_number(item.values[0], 1, 32, "ev port")));
        });
    }
    return call(ctx, rq);
}

error profile_del(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_PROFILE_DEL);
    put_dev(rq, args);
    rq.nest(MRC_A_PROFILE, [&](request &n) { put_profile_key(n, args); });
    return call(ctx, rq);
}

// ---- ev ----

error ev_show(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_EV_GET);
    put_dev(rq, args);
    put_peer(rq, args);
    auto word = args.get("state");
    uint32_t state = word ? parse_ev_state(*word) : 0;
    auto named = args.get("named");
    uint64_t only = named ? parse_number(*named, 0, UINT64_MAX, "named") : 0;
    fabric_names names;
    if (auto e = names.load(args.get("fabric")))
        return e;
    return dump(ctx, rq, [&](const message &m) {
        table t(m.attrs);
        if (named && table(t[MRC_A_PEER])[MRC_A_PEER_NAMED].num() != only)
            return;
        for (attr a : m.attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table ev(a);
            if (!word || ev[MRC_A_EV_STATE].num() == state)
                ctx.out.object(ev_record(
                    t, a,
                    {names.host(table(t[MRC_A_PEER])[MRC_A_PEER_GID].bytes()),
                     names.path(static_cast<unsigned>(ev[MRC_A_EV_PORT].num()), ev[MRC_A_EV_VALUE].bytes())}));
        }
    });
}

error ev_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_EV_SET);
    put_dev(rq, args);
    rq.nest(MRC_A_PEER, [&](request &n) {
        n.put(MRC_A_PEER_GID, parse_address(*args.get("peer"), "peer"));
        if (auto named = args.get("named"))
            n.u64(MRC_A_PEER_NAMED, parse_number(*named, 1, UINT64_MAX, "named"));
    });
    uint32_t state = parse_ev_order(*args.get("state"));
    for (auto &item : args.items()) {
        if (std::string_view(item.k->name) != "index")
            continue;
        rq.nest(MRC_A_EV, [&](request &n) {
            n.u32(MRC_A_EV_INDEX,
                  static_cast<uint32_t>(parse_number(item.values[0], 0, 4095, "index")));
            n.u32(MRC_A_EV_STATE, state);
        });
    }
    return call(ctx, rq);
}

// ---- cc ----

error cc_show(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_CC_GET);
    put_dev(rq, args);
    auto id = args.get("id");
    uint64_t want = id ? parse_number(*id, 1, UINT64_MAX, "id") : 0;
    return dump(ctx, rq, [&](const message &m) {
        table t(m.attrs);
        if (!want || table(t[MRC_A_CC])[MRC_A_CC_ID].num() == want)
            ctx.out.object(cc_record(t));
    });
}

std::string cc_algorithm(const std::string &word)
{
    return word == "nscc" ? "uet-1.0-nscc" : word;
}

void put_cc(request &n, const arguments &args)
{
    struct {
        const char *name;
        uint16_t type;
    } sizes[] = {
        {"window", MRC_A_CC_WINDOW},
        {"max-cwnd", MRC_A_CC_MAX_CWND},
        {"adjust-bytes", MRC_A_CC_ADJUST_BYTES},
    }, times[] = {
        {"target-delay", MRC_A_CC_TARGET_DELAY},
        {"base-rtt", MRC_A_CC_BASE_RTT},
        {"adjust-period", MRC_A_CC_ADJUST_PERIOD},
        {"qa-threshold", MRC_A_CC_QA_THRESHOLD},
    };
    for (auto &s : sizes)
        if (auto v = args.get(s.name))
            n.u32(s.type, static_cast<uint32_t>(parse_size(*v, 0, UINT32_MAX, s.name)));
    for (auto &t : times)
        if (auto v = args.get(t.name))
            n.u32(t.type, static_cast<uint32_t>(parse_time(*v, "ns", 0, UINT32_MAX, t.name)));
    struct {
        const char *name;
        uint16_t type;
        unsigned bits;
        uint64_t max;
    } fixed[] = {
        {"eta", MRC_A_CC_ETA, 8, UINT32_MAX},
        {"fi", MRC_A_CC_FI, 8, UINT32_MAX},
        {"fi-scale", MRC_A_CC_FI_SCALE, 16, UINT32_MAX},
        {"gamma", MRC_A_CC_GAMMA, 16, 1u << 16},
        {"max-md-jump", MRC_A_CC_MAX_MD_JUMP, 16, 1u << 16},
    };
    for (auto &p : fixed)
        if (auto v = args.get(p.name))
            n.u32(p.type, parse_fixed(*v, p.bits, p.max, p.name));
    if (auto v = args.get("quick-adapt"))
        n.u8(MRC_A_CC_DISABLE_QA, !parse_on_off(*v, "quick-adapt"));
    if (auto v = args.get("trimming"))
        n.u8(MRC_A_CC_TRIMMING, parse_on_off(*v, "trimming"));
    if (auto v = args.get("qa-gate"))
        n.u8(MRC_A_CC_QA_GATE, static_cast<uint8_t>(parse_number(*v, 0, 31, "qa-gate")));
}

error cc_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_CC_SET);
    put_dev(rq, args);
    rq.nest(MRC_A_CC, [&](request &n) {
        n.u64(MRC_A_CC_ID, parse_number(*args.get("id"), 1, UINT64_MAX, "id"));
        if (auto v = args.get("algorithm"))
            n.str(MRC_A_CC_ALGORITHM, cc_algorithm(*v));
        put_cc(n, args);
    });
    return call(ctx, rq);
}

error cc_del(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_CC_DEL);
    put_dev(rq, args);
    rq.nest(MRC_A_CC, [&](request &n) {
        n.u64(MRC_A_CC_ID, parse_number(*args.get("id"), 1, UINT64_MAX, "id"));
    });
    return call(ctx, rq);
}

// ---- qp, stats ----

error qp_show(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_QP_GET);
    put_dev(rq, args);
    if (auto v = args.get("qpn"))
        rq.nest(MRC_A_QP, [&](request &n) {
            n.u32(MRC_A_QP_NUM,
                  static_cast<uint32_t>(parse_number(*v, 0, (1u << 24) - 1, "qpn")));
        });
    counter_names names;
    bool withheld = false;
    error e = dump(ctx, rq, [&](const message &m) {
        table t(m.attrs);
        withheld |= !table(t[MRC_A_QP])[MRC_A_QP_PSN_NEXT];
        ctx.out.object(qp_record(t, names));
    });
    if (withheld)
        fmt::print(stderr, "mrcctl: PSNs and peers' QP numbers of other users' queue pairs are withheld: "
                           "they need CAP_NET_ADMIN\n");
    return e;
}

error stats_show(context &ctx, const arguments &args)
{
    if (ctx.opt.as_json)
        return show(ctx, args, MRC_CMD_STATS_GET, stats_record);
    request rq(MRC_CMD_STATS_GET);
    put_dev(rq, args);
    return dump(ctx, rq, [&](const message &m) {
        for (auto &line : stats_lines(table(m.attrs), ctx.opt.details))
            ctx.out.object(line);
    });
}

} // namespace

void put_dev(request &rq, const arguments &args)
{
    auto dev = args.get("dev");
    if (!dev)
        return;
    if (dev->empty() || dev->size() > name_max)
        throw bad_value(fmt::format("dev: \"{}\" is not the name of a network device", *dev));
    rq.str(MRC_A_DEV_NAME, *dev);
}

error call(context &ctx, request &rq)
{
    auto e = ctx.connect();
    return e ? e : ctx.nl.call(rq);
}

error run(const command &c, context &ctx)
{
    const arguments &a = c.args;
    switch (c.v->what) {
    case action::status: return status(ctx, a);
    case action::top: return top(ctx, a);
    case action::dev_show: return show(ctx, a, MRC_CMD_DEV_GET, dev_record);
    case action::dev_set: return dev_set(ctx, a);
    case action::plane_show: return show(ctx, a, MRC_CMD_PLANE_GET, plane_record);
    case action::plane_set: return plane_set(ctx, a);
    case action::profile_show: return profile_show(ctx, a);
    case action::profile_set: return profile_set(ctx, a);
    case action::profile_del: return profile_del(ctx, a);
    case action::peer_show: return peer_show(ctx, a);
    case action::ev_show: return ev_show(ctx, a);
    case action::ev_set: return ev_set(ctx, a);
    case action::cc_show: return cc_show(ctx, a);
    case action::cc_set: return cc_set(ctx, a);
    case action::cc_del: return cc_del(ctx, a);
    case action::qp_show: return qp_show(ctx, a);
    case action::stats_show: return stats_show(ctx, a);
    case action::monitor: return monitor(ctx, a);
    case action::avoid_show: return avoid_show(ctx, a);
    case action::avoid_set: return avoid_set(ctx, a);
    case action::avoid_clear: return avoid_clear(ctx, a);
    case action::selfprobe_show: return selfprobe_show(ctx, a);
    case action::selfprobe_set: return selfprobe_set(ctx, a);
    case action::selfprobe_del: return selfprobe_del(ctx, a);
    case action::log: return log_show(ctx, a);
    case action::probe: return probe(ctx, a);
    case action::latency: return watch_latency(ctx, a);
    case action::reorder: return watch_reorder(ctx, a);
    case action::recovery: return watch_recovery(ctx, a);
    case action::histograms: return watch_histograms(ctx, a);
    case action::metrics: return metrics(ctx, a);
    case action::explain: return explain(ctx, a);
    case action::fabric_show: return fabric_show(ctx, a);
    case action::fabric_check: return fabric_check(ctx, a);
    case action::fabric_diagnose: return fabric_diagnose(ctx, a);
    case action::fabric_export: return fabric_export(ctx, a);
    case action::fabric_drain: return fabric_drain(ctx, a);
    case action::fabric_undrain: return fabric_undrain(ctx, a);
    case action::fabric_precheck: return fabric_precheck(ctx, a);
    case action::fabric_generate: return fabric_generate(ctx, a);
    case action::doctor: return doctor(ctx);
    case action::report: return report(ctx, a);
    }
    return error::make(EINVAL, "command");
}

} // namespace mrcctl
