// SPDX-License-Identifier: GPL-2.0
//
// fabric.cc - see fabric.h.
#include "fabric.h"

#include <cerrno>

#include <fmt/format.h>

#include "../lib/fabric/check.h"
#include "../lib/fabric/desired.h"
#include "../lib/fabric/draw.h"
#include "../lib/fabric/lists_text.h"
#include "../lib/fabric/profile_text.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::error;

// Calls @what with the named fabric file. A bad file is an error, as those of the kernel.
template <class F>
error with_fabric(const arguments &args, F what)
{
    try {
        return what(mrcfab::load_fabric(*args.get("file")));
    } catch (const mrcfab::FabricError &e) {
        return {EINVAL, e.what(), false};
    }
}

json strings(const std::vector<std::string> &list)
{
    json j = json::array();
    for (auto &s : list)
        j.push_back(s);
    return j;
}

void print_links(printer &out, const mrcfab::Desired &d)
{
    for (auto &l : d.links) {
        record r;
        r.add("link", l.name);
        if (!l.kind.empty())
            r.add("kind", l.kind);
        if (l.mtu)
            r.add("mtu", l.mtu);
        out.object(r);
    }
    for (auto &a : d.addrs)
        out.object(record().add("address", to_string(a.addr)).add("link", a.link));
    for (auto &s : d.sysctls)
        out.object(record().add("sysctl", "net/ipv6/conf/" + s.key).add("value", s.value));
}

void print_routes(printer &out, const mrcfab::Desired &d)
{
    for (auto &route : d.routes) {
        record r;
        r.add("route", net_text(route.dst));
        if (route.on_link)
            r.add("link", route.links.front());
        else if (route.via)
            r.add("via", to_string(*route.via)).add("link", route.links.front());
        else
            r.add("action", "End").add("flavor", "next-csid").add("link", route.links.front());
        out.object(r);
    }
}

void print_device(printer &out, const mrcfab::WantedDevice &dev)
{
    for (auto &p : dev.planes) {
        record r;
        r.add("dev", dev.name).add("plane", p.number).add("link", p.link);
        if (p.sid != mrcfab::Ip6{})
            r.add("sid", to_string(p.sid));
        out.object(r);
    }
    for (auto &p : dev.profiles)
        out.object(record().add("dev", dev.name).add("profile", profile_text(p)));
}

// Prints hosts, their addresses and ports. A flat fabric has no more.
void print_flat(printer &out, const mrcfab::Flat &flat)
{
    for (unsigned n = 1; n <= flat.hosts.size(); n++) {
        const auto &name = flat.hosts[n - 1];
        std::vector<std::string> addresses;
        for (auto &a : flat.addresses(n))
            addresses.push_back(to_string(a));
        out.object(record()
                       .add("host", name)
                       .add("dev", flat.device)
                       .add("addresses", strings(addresses))
                       .add("ports", strings(flat.ports_of(name))));
    }
}

error no_switches(const char *what)
{
    return {EINVAL, fmt::format("[flat] has no switches: {}", what), false};
}

error generate_node(context &ctx, const mrcfab::Fabric &f, const std::string &name)
{
    auto d = mrcfab::desired_for(f, name);
    if (!d)
        return {ENOENT, fmt::format("there is neither a switch nor a host \"{}\" in the fabric", name),
                false};
    print_links(ctx.out, *d);
    print_routes(ctx.out, *d);
    if (d->device)
        print_device(ctx.out, *d->device);
    return {};
}

} // namespace

error fabric_show(context &ctx, const arguments &args)
{
    auto as = args.get("as").value_or("text");
    auto plane_word = args.get("plane").value_or("1");
    if (as != "text" && as != "svg")
        throw bad_value(fmt::format("as: \"{}\" is none of text, svg", as));
    return with_fabric(args, [&](const mrcfab::Fabric &f) -> error {
        auto plane = static_cast<unsigned>(parse_number(plane_word, 1, f.planes, "plane"));
        if (f.flat) {
            if (as == "svg")
                return no_switches("nothing to draw");
            print_flat(ctx.out, *f.flat);
            return {};
        }
        auto picture = as == "svg" ? draw_svg(f, plane) : draw_text(f, plane);
        if (ctx.opt.as_json)
            ctx.out.object(record().add("plane", plane).add(as, picture));
        else
            fmt::print("{}", picture);
        return {};
    });
}

error fabric_check(context &ctx, const arguments &args)
{
    auto pairs = static_cast<unsigned>(
        parse_number(args.get("pairs").value_or("200"), 1, 1000000, "pairs"));
    auto seed = static_cast<uint32_t>(parse_number(args.get("seed").value_or("1"), 0, UINT32_MAX, "seed"));
    return with_fabric(args, [&](const mrcfab::Fabric &f) -> error {
        if (f.flat) {   // its content was checked when it was read
            ctx.out.object(record().add("hosts", f.flat->hosts.size()).add("planes", f.planes));
            return {};
        }
        auto c = check_fabric(f, pairs, seed);
        record r;
        r.add("pairs", c.pairs).add("evs", c.evs).add("hops", c.hops);
        r.add("astray", c.astray).add("unreached", c.unreached);
        r.add("problems", strings(c.problems)).as_text("problems", "");
        ctx.out.object(r);
        if (!c.pairs) {
            ctx.out.finish();
            return {ENODATA, "nothing was checked: a pair needs two hosts", false};
        }
        if (c.good())
            return {};
        ctx.out.finish();
        auto first = c.problems.empty() ? std::string() : ": " + c.problems.front();
        return {ENETUNREACH, fmt::format("{} EVs lead to a wrong place, {} paths do not exist{}", c.astray,
                                         c.unreached, first), false};
    });
}

error fabric_generate(context &ctx, const arguments &args)
{
    return with_fabric(args, [&](const mrcfab::Fabric &f) -> error {
        if (auto node = args.get("node"))
            return generate_node(ctx, f, *node);
        if (f.flat)
            return no_switches("name a node");
        auto text = as_lists(f);
        if (ctx.opt.as_json)
            ctx.out.object(record().add("toml", text));
        else
            fmt::print("{}", text);
        return {};
    });
}

} // namespace mrcctl
