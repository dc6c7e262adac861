// SPDX-License-Identifier: GPL-2.0
// avoid.cc - see avoid.h.
#include "avoid.h"

#include <cerrno>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <linux/mrc.h>

#include "names.h"
#include "records.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::attr;
using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

// Parses a uSID as in an address: 1 to 4 hexadecimal digits.
uint16_t parse_usid(const std::string &word, const char *what)
{
    uint16_t n = 0;
    auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), n, 16);
    if (ec != std::errc() || end != word.data() + word.size() || !n)
        throw bad_value(fmt::format("{}: \"{}\" is not a uSID, 1 ... ffff", what, word));
    return n;
}

// Fills in the head of a request about the list of mrcctl.
void put_head(request &rq, uint32_t expiry_s)
{
    rq.nest(MRC_A_AVOIDS, [&](request &n) {
        n.u32(MRC_A_AVOIDS_BY, MRC_AVOID_PERSON);
        if (expiry_s)
            n.u32(MRC_A_AVOIDS_EXPIRY, expiry_s);
    });
}

void put_link(request &rq, const mrcver::UsidLink &l)
{
    rq.nest(MRC_A_AVOID, [&](request &n) {
        n.u8(MRC_A_AVOID_PLANE, static_cast<uint8_t>(l.plane));
        n.u16(MRC_A_AVOID_FROM, static_cast<uint16_t>(l.from));
        if (l.to)
            n.u16(MRC_A_AVOID_TO, static_cast<uint16_t>(l.to));
    });
}

const char *by_word(uint64_t by)
{
    return by == MRC_AVOID_DAEMON ? "mrcd" : "person";
}

record link_record(const table &t, const table &link, const fabric_names &switches)
{
    record r;
    table list(t[MRC_A_AVOIDS]);
    r.add("dev", std::string(dev_name(t)));
    r.add("by", by_word(list[MRC_A_AVOIDS_BY].num()));
    r.add("plane", link[MRC_A_AVOID_PLANE].num());
    if (link[MRC_A_AVOID_FROM])
        r.add(link[MRC_A_AVOID_TO] ? "from" : "switch", fmt::format("{:x}", link[MRC_A_AVOID_FROM].num()));
    if (link[MRC_A_AVOID_TO])
        r.add("to", fmt::format("{:x}", link[MRC_A_AVOID_TO].num()));
    const auto plane = static_cast<unsigned>(link[MRC_A_AVOID_PLANE].num());
    const auto name = [&](const attr &usid) { return usid ? switches.of(plane, static_cast<unsigned>(usid.num())) : ""; };
    const auto from = name(link[MRC_A_AVOID_FROM]), to = name(link[MRC_A_AVOID_TO]);
    if (!from.empty())
        r.add("name", to.empty() ? from : fmt::format("{} to {}", from, to));
    if (list[MRC_A_AVOIDS_LEFT])
        r.add("left_ms", list[MRC_A_AVOIDS_LEFT].num());
    return r;
}

} // namespace

error avoid_show(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_AVOID_GET);
    put_dev(rq, args);
    fabric_names switches;
    auto e = switches.load(args.get("fabric"));
    if (!e)
        e = ctx.connect();
    return e ? e : ctx.nl.dump(rq, [&](const message &m) {
        for (attr a : m.attrs)
            if (a.type() == MRC_A_AVOID)
                ctx.out.object(link_record(table(m.attrs), table(a), switches));
    });
}

error read_list(context &ctx, const std::string &dev, avoid_list &list)
{
    request rq(MRC_CMD_AVOID_GET);
    rq.str(MRC_A_DEV_NAME, dev);
    bool hidden = false;
    auto e = ctx.nl.dump(rq, [&](const message &m) {
        table t(m.attrs), head(t[MRC_A_AVOIDS]);
        if (head[MRC_A_AVOIDS_BY].num() != MRC_AVOID_PERSON)
            return;
        if (head[MRC_A_AVOIDS_EXPIRY])
            list.expiry_s = static_cast<uint32_t>(head[MRC_A_AVOIDS_EXPIRY].num());
        for (attr a : m.attrs) {
            if (a.type() != MRC_A_AVOID)
                continue;
            table link(a);
            hidden = hidden || !link[MRC_A_AVOID_FROM];
            list.links.insert({static_cast<unsigned>(link[MRC_A_AVOID_PLANE].num()),
                               static_cast<unsigned>(link[MRC_A_AVOID_FROM].num()),
                               link[MRC_A_AVOID_TO] ? static_cast<unsigned>(link[MRC_A_AVOID_TO].num()) : 0});
        }
    });
    if (!e && hidden)
        return {EPERM, "the links are shown to CAP_NET_ADMIN only", false};
    return e;
}

error write_list(context &ctx, const std::string &dev, const avoid_list &list)
{
    request rq(MRC_CMD_AVOID_SET);
    rq.str(MRC_A_DEV_NAME, dev);
    put_head(rq, list.expiry_s);
    for (auto &l : list.links)
        put_link(rq, l);
    return ctx.nl.call(rq);
}

error avoid_set(context &ctx, const arguments &args)
{
    request rq(MRC_CMD_AVOID_SET);
    put_dev(rq, args);
    auto expiry = args.get("expiry");
    put_head(rq, expiry ? static_cast<uint32_t>(parse_time(*expiry, "s", 1, 86400, "expiry")) : 0);
    bool any = false;
    for (auto &item : args.items()) {
        std::string_view name = item.k->name;
        if (name != "link" && name != "switch")
            continue;
        any = true;
        auto plane = static_cast<unsigned>(parse_number(item.values[0], 1, 32, "plane"));
        auto from = parse_usid(item.values[1], name == "link" ? "link" : "switch");
        put_link(rq, {plane, from, name == "link" ? parse_usid(item.values[2], "link") : 0u});
    }
    if (!any)
        throw bad_value("avoid set: no link and no switch; avoid clear ends all");
    return call(ctx, rq);
}

error avoid_clear(context &ctx, const arguments &args)
{
    std::string by = args.get("by").value_or("person");
    if (by != "person" && by != "mrcd")
        throw bad_value(fmt::format("by: \"{}\" is neither person nor mrcd", by));
    request rq(MRC_CMD_AVOID_SET);
    put_dev(rq, args);
    rq.nest(MRC_A_AVOIDS, [&](request &n) {
        n.u32(MRC_A_AVOIDS_BY, by == "mrcd" ? MRC_AVOID_DAEMON : MRC_AVOID_PERSON);
    });
    return call(ctx, rq);
}

} // namespace mrcctl
