// SPDX-License-Identifier: GPL-2.0
// A fabric by rule and the same fabric written out as lists: every node shall have the same, and
// templates make the EVs that the lists name. Pictures of either.
#include <gtest/gtest.h>

#include <set>

#include "../../tools/lib/fabric/check.h"
#include "../../tools/lib/fabric/desired.h"
#include "../../tools/lib/fabric/draw.h"
#include "../../tools/lib/fabric/lists_text.h"
#include "fabrics.h"
#include "rules.h"

namespace mrcd {

namespace {

// Without an order, which the file's is.
std::multiset<std::string> summary(const Desired &d)
{
    std::multiset<std::string> all;

    for (const WantedLink &l : d.links)
        all.insert(fmt::format("link {} {} {} {} {}", l.name, l.kind, l.mtu, l.physical, l.optional));
    for (const WantedAddr &a : d.addrs)
        all.insert(fmt::format("addr {} {}", a.link, to_string(a.addr)));
    for (const WantedSysctl &s : d.sysctls)
        all.insert(s.key + "=" + s.value);
    for (const WantedRoute &r : d.routes)
        all.insert(fmt::format("route {} {} {}", to_string(r.dst), r.via ? to_string(*r.via) : "End",
                               r.via ? r.links.front() : "any"));
    if (!d.device)
        return all;
    for (const WantedPlane &p : d.device->planes)
        all.insert(fmt::format("{} plane {} {} {}", d.device->name, p.number, p.link, to_string(p.sid)));
    return all;
}

std::set<Ev> evs(const Desired &d, const Ip6 &dst)
{
    const Profile *p = profile_for(d.device->profiles, dst);
    const auto list = p ? expand(*p, dst, {}) : std::vector<Ev>();

    return {list.begin(), list.end()};
}

void same(const RuleSize &z)
{
    const Fabric rule = make_rule(z);
    const Fabric lists = parse_fabric(as_lists(rule), "lists.toml");

    ASSERT_FALSE(lists.hosts.empty());
    for (const Switch &sw : lists.switches)
        EXPECT_EQ(summary(*desired_for(rule, sw.name)), summary(*desired_for(lists, sw.name))) << sw.name;
    for (const Host &from : lists.hosts) {
        const Desired a = *desired_for(rule, from.name), b = *desired_for(lists, from.name);
        EXPECT_EQ(summary(a), summary(b)) << from.name;
        for (const Host &to : lists.hosts)
            for (const IfAddr &dst : to.addresses) {
                if (to.name == from.name)
                    continue;
                EXPECT_EQ(evs(a, dst.addr.gid()), evs(b, dst.addr.gid())) << from.name << " " << to.name;
            }
    }
    EXPECT_TRUE(check_fabric(lists, 200, 1).good());
}

TEST(generate, lists_are_the_same_fabric) { same({}); }

TEST(generate, with_exceptions)
{
    same({.t0s = 4, .t1s = 3, .evs_per_plane = 3,
          .more = "[topology.missing]\nnodes = [\"h2-2\", \"p2-t1-3\"]\n"
                  "ports = [\"p1-t0-1:t1-2\", \"p2-t0-3:t1-1\"]\n"
                  "[[topology.differs]]\nnode = \"h3-1\"\ndevice = \"mrc7\"\n"
                  "addresses = [\"fd00:6d72:63::77:1/64\"]\nports = {eth1 = \"ens9\"}\n"});
}

std::string as_lists_refusal(const Fabric &f)
{
    try {
        as_lists(f);
    } catch (const FabricError &e) {
        return e.what();
    }
    return "";
}

TEST(generate, what_lists_cannot_say)
{
    EXPECT_NE(as_lists_refusal(make_rule(whole_size())).find("cables, expected 20000 at most"), std::string::npos);
    EXPECT_NE(as_lists_refusal(make_fabric()).find("is lists already"), std::string::npos);
    EXPECT_NE(as_lists_refusal(make_rule({.more = "[topology.missing]\nports = [\"h1-1:eth1\"]\n"}))
                  .find("h1-1 lacks plane 1"), std::string::npos);
    EXPECT_NE(as_lists_refusal(make_rule({.planes = 1, .block_len = 32})).find("is one block"), std::string::npos);
}

TEST(generate, pictures)
{
    const auto text = draw_text(make_rule({.more = "[topology.missing]\nports = [\"p1-t0-2:t1-1\"]\n"}), 1);
    EXPECT_NE(text.find("plane 1 of 2: 2 T1, 3 T0, block fcbb:bb00::/32"), std::string::npos) << text;
    EXPECT_NE(text.find("p1-t0-1 4001 ---+--- ---+---  h1-1 ... h1-2 (2)"), std::string::npos) << text;
    EXPECT_NE(text.find("p1-t0-2 4002         ---+---  h2-1 ... h2-2 (2)"), std::string::npos) << text;
    EXPECT_NE(text.find("p1-t0-2:t1-1 is missing"), std::string::npos) << text;
    const auto lists = draw_text(make_fabric(), 2);
    EXPECT_NE(lists.find("p2-t0-1 2001 ---+--- ---+---  h1 ... h3 (2)"), std::string::npos) << lists;
    const auto svg = draw_svg(make_rule(whole_size()), 8);
    EXPECT_NE(svg.find("... p8-t0-512"), std::string::npos);
    EXPECT_LT(svg.size(), 30'000u) << "no more than fits a picture";
}

}   // namespace

}   // namespace mrcd
