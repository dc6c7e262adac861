// SPDX-License-Identifier: GPL-2.0
// A fabric by rule: names, addresses and uSIDs from numbers; and every EV goes where it says,
// over the whole of a large one, whatever is missing.
#include <gtest/gtest.h>

#include <random>

#include "../../tools/lib/fabric/check.h"
#include "../../tools/lib/fabric/desired.h"
#include "../../tools/lib/fabric/forward.h"
#include "../../tools/lib/fabric/usid.h"
#include "rules.h"

namespace mrcd {

namespace {

std::string first_problem(const Checked &c) { return c.problems.empty() ? "" : c.problems.front(); }

const Profile *towards(const Desired &d, const char *address)
{
    return profile_for(d.device->profiles, *parse_ip6(address));
}

std::vector<std::string> outer(const Desired &d, const char *address)
{
    std::vector<std::string> list;
    const Profile *p = towards(d, address);

    if (p)
        for (const Ev &ev : expand(*p, *parse_ip6(address), {}))
            list.push_back(fmt::format("{} {}", ev.port, to_string(ev.outer_dst)));
    return list;
}

using Strings = std::vector<std::string>;

TEST(rule, names_are_numbers)
{
    const Fabric f = make_rule();
    const Topology &t = *f.topology;

    EXPECT_EQ(t.name(HostId{2, 1}), "h2-1");
    EXPECT_EQ(t.find("h2-1"), NodeId(HostId{2, 1}));
    EXPECT_EQ(t.find("p2-t0-3"), NodeId(T0Id{2, 3}));
    EXPECT_EQ(t.find("p1-t1-2"), NodeId(T1Id{1, 2}));
    for (const char *name : {"h4-1", "h0-1", "h2-3", "h02-1", "p3-t0-1", "p1-t1-3", "h2", "h2-1x", "",
                             "p1-t0-", "h2-99999999999999999999"})
        EXPECT_FALSE(t.find(name)) << name;
}

TEST(rule, names_by_pattern)
{
    const Fabric f = make_rule({.more = "[topology.names]\nhost = \"gpu{t0:3}x{host:2}\"\n"
                                        "t0 = \"leaf-{plane}.{t0}\"\nt1 = \"spine-{plane}.{t1}\"\n"
                                        "[topology.ports]\nhost = \"ens{plane}f0\"\n"});

    EXPECT_EQ(f.topology->name(HostId{2, 1}), "gpu002x01");
    EXPECT_TRUE(f.topology->find("gpu002x01"));
    EXPECT_FALSE(f.topology->find("gpu2x1"));
    EXPECT_FALSE(f.topology->find("gpu0002x01"));
    EXPECT_TRUE(f.topology->find("leaf-2.3"));
    EXPECT_EQ(first_problem(check_fabric(f, 200, 1)), "");
    EXPECT_EQ(desired_for(f, "gpu001x01")->links[1].name, "ens2f0");
}

std::string refusal_of(const std::string &ports)
{
    try {
        make_rule({.more = "[topology.ports]\n" + ports});
    } catch (const FabricError &e) {
        return e.what();
    }
    return "";
}

// As switches count their ports: through, in steps, and from 0.
TEST(rule, ports_counted_through)
{
    const Fabric f = make_rule({.more = "[topology.ports]\nt0_host = \"Ethernet{host*8-8}\"\n"
                                        "t0_t1 = \"Ethernet{t1*8+8}\"\nt1_t0 = \"Ethernet{t0+9:3}\"\n"});
    const Topology &t = *f.topology;
    const auto links = [&](const char *node) {
        Strings names;
        const auto d = desired_for(f, node);
        for (const WantedLink &l : d->links)
            names.push_back(l.name);
        return names;
    };

    EXPECT_EQ(links("p1-t0-2"), (Strings{"sr0", "Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24"}));
    EXPECT_EQ(links("p2-t1-1"), (Strings{"sr0", "Ethernet010", "Ethernet011", "Ethernet012"}));
    EXPECT_EQ(t.cable_at(T0Id{1, 2}, "Ethernet8"), (Cable{1, 2, false, 2}));
    EXPECT_EQ(t.cable_at(T0Id{1, 2}, "Ethernet16"), (Cable{1, 2, true, 1}));
    for (const char *none : {"Ethernet4", "Ethernet32", "Ethernet", "Ethernet00"})
        EXPECT_FALSE(t.cable_at(T0Id{1, 2}, none)) << none;
    EXPECT_EQ(first_problem(check_fabric(f, 200, 1)), "");
    EXPECT_NE(refusal_of("t0_host = \"Ethernet{host*8-8}\"\nt0_t1 = \"Ethernet{t1*8}\"\n").find("could make the same name"),
              std::string::npos);
    EXPECT_NE(refusal_of("t0_host = \"e{host-2}\"\n").find("makes the number -1 of 1, expected 0 or more"), std::string::npos);
    for (const char *sum : {"*0", "*33", "+100001", "+", "*", "**2", "+1*2", "*2+1x", "-0", "+ 1", "+-1"})
        EXPECT_NE(refusal_of(fmt::format("t0_host = \"e{{host{}}}\"\n", sum)).find("is no sum such as *8-8"), std::string::npos)
            << sum;
}

TEST(rule, what_a_host_has)
{
    const Fabric f = make_rule();
    const Desired d = *desired_for(f, "h2-1");

    ASSERT_TRUE(d.device);
    EXPECT_EQ(d.device->planes.size(), 2u);
    EXPECT_EQ(to_string(d.device->planes[0].sid), "fcbb:bb00:c001::");
    EXPECT_EQ(to_string(d.device->planes[1].sid), "fcbb:bb01:c001::");
    ASSERT_EQ(d.addrs.size(), 4u);
    EXPECT_EQ(to_string(d.addrs[2].addr), "fd00:6d72:63::2:1/64");
    EXPECT_EQ(to_string(d.addrs[3].addr), "10.0.0.9/8");   // T0 2, host 1 of two bits
    EXPECT_EQ(d.routes.size(), 2u);
    EXPECT_EQ(to_string(d.routes[1].dst), "fcbb:bb01:4002::/48");
    // Two families, near and far; as many as that for any number of hosts.
    EXPECT_EQ(d.device->profiles.size(), 4u);
    EXPECT_EQ(outer(d, "fd00:6d72:63::3:2"),
              (Strings{"1 fcbb:bb00:4002:8001:4003:c002::", "1 fcbb:bb00:4002:8002:4003:c002::",
                       "2 fcbb:bb01:4002:8001:4003:c002::", "2 fcbb:bb01:4002:8002:4003:c002::"}));
    EXPECT_EQ(outer(d, "fd00:6d72:63::2:2"),
              (Strings{"1 fcbb:bb00:4002:c002::", "2 fcbb:bb01:4002:c002::"}));
    EXPECT_EQ(outer(d, "::ffff:10.0.0.14"), outer(d, "fd00:6d72:63::3:2"));
    EXPECT_EQ(outer(d, "::ffff:10.0.0.10"), outer(d, "fd00:6d72:63::2:2"));
    EXPECT_EQ(towards(d, "fd01::1"), nullptr);
}

TEST(rule, what_switches_have)
{
    const Fabric f = make_rule();
    const Desired t0 = *desired_for(f, "p2-t0-3"), t1 = *desired_for(f, "p2-t1-1");

    ASSERT_EQ(t0.routes.size(), 5u);   // itself, two hosts, two T1s
    EXPECT_EQ(to_string(t0.routes[0].dst), "fcbb:bb01:4003::/48");
    EXPECT_FALSE(t0.routes[0].via);
    EXPECT_EQ(to_string(t0.routes[2].dst), "fcbb:bb01:c002::/48");
    EXPECT_EQ(t0.routes[2].links, Strings{"h2"});
    EXPECT_EQ(to_string(*t0.routes[4].via), "fe80::2");
    ASSERT_EQ(t1.routes.size(), 4u);
    EXPECT_EQ(to_string(t1.routes[3].dst), "fcbb:bb01:4003::/48");
    EXPECT_EQ(t1.routes[3].links, Strings{"t0-3"});
    EXPECT_FALSE(t0.device || t1.device);
}

TEST(rule, every_ev_of_a_small_fabric_arrives)
{
    const auto c = check_fabric(make_rule(), 500, 1);

    EXPECT_EQ(first_problem(c), "");
    EXPECT_GT(c.pairs, 300u);
    EXPECT_GT(c.evs, 2 * c.pairs);
}

// 131,072 hosts x 8 planes, 40 pairs and the exceptions: all their EVs, hop by hop.
TEST(rule, every_ev_of_the_whole_fabric_arrives)
{
    const auto c = check_fabric(make_rule(whole_size("[topology.missing]\n"
                                                     "nodes = [\"h3-7\", \"p2-t1-9\", \"p5-t0-100\"]\n"
                                                     "ports = [\"p1-t0-3:t1-2\", \"h9-9:eth4\"]\n"
                                                     "[[topology.differs]]\nnode = \"h512-256\"\n"
                                                     "addresses = [\"fd00:6d72:63:0:1::5/64\"]\n")),
                                40, 1);

    EXPECT_EQ(first_problem(c), "");
    EXPECT_TRUE(c.good());
    EXPECT_GT(c.evs, 40u * 16);
    EXPECT_GT(c.hops, 2 * c.evs);
}

// Exceptions at random: what there is works, and nothing is sent into what is not.
TEST(rule, whatever_is_missing)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        std::mt19937 random(seed);
        const auto to = [&](unsigned n) { return 1 + unsigned(random() % n); };
        std::string nodes, ports;
        for (unsigned i = to(4); i > 0; i--)
            nodes += i % 2 ? fmt::format("\"h{}-{}\",", to(4) * 2, i)
                           : fmt::format("\"p{}-t{}-{}\",", to(3), i / 2 % 2, to(2) + 2 * (i / 2 % 2));
        for (unsigned i = to(4); i > 0; i--)
            ports += i % 2 ? fmt::format("\"h{}-{}:eth{}\",", to(4) * 2 - 1, i, to(3))
                           : fmt::format("\"p{}-t0-{}:t1-{}\",", i, to(4) + 4, to(2));
        const auto text = rule_text({.planes = 5, .t0s = 8, .t1s = 5, .hosts_per_t0 = 4,
                                     .evs_per_plane = to(6),
                                     .more = fmt::format("[topology.missing]\nnodes = [{}]\nports = [{}]\n",
                                                         nodes, ports)});
        std::optional<Fabric> f;
        try {
            f = parse_fabric(text, "x");
        } catch (const FabricError &e) {   // the same one twice
            ASSERT_NE(std::string(e.what()).find("missing"), std::string::npos) << e.what();
            continue;
        }
        ASSERT_EQ(first_problem(check_fabric(*f, 60, seed)), "") << "seed " << seed << "\n" << text;
    }
}

// The check is no ornament: a switch that routes wrongly is found.
TEST(rule, a_wrong_route_is_found)
{
    Fabric f = make_rule({.more = "[[topology.differs]]\nnode = \"p1-t1-1\"\n"
                                  "ports = {t0-1 = \"x\"}\n"});
    ASSERT_EQ(first_problem(check_fabric(f, 100, 1)), "");
    // Cables end elsewhere than the switch believes: two hosts of a T0 exchanged.
    f.topology->differs[T0Id{1, 2}].ports = {{"h1", "h2"}, {"h2", "h1"}};
    Forwarding net(f);
    EXPECT_EQ(net.send("h1-1", {*parse_ip6("fcbb:bb00:4001:8001:4002:c001::"), 1}).host, "h2-1");
    EXPECT_NE(net.send("h1-1", {*parse_ip6("fcbb:bb00:4001:8001:4003:c003::"), 1}).lost, "");
    EXPECT_NE(net.send("h1-1", {*parse_ip6("fcbb:bb00:4001:8009:4003:c001::"), 1}).lost, "");
    EXPECT_NE(net.send("h1-1", {*parse_ip6("fcbb:bb00:4001:8001:4003:c001::"), 2}).lost, "");
    EXPECT_NE(net.send("h1-1", {*parse_ip6("fcbb:bb00:4001::"), 1}).lost, "");
    EXPECT_NE(net.send("h1-1", {*parse_ip6("fcbb:bb00:4001:4001:4001:4001:4001:4001"), 1}).lost, "");
    const auto j = net.send("h1-1", {*parse_ip6("fcbb:bb00:4001:8001:4003:c001::"), 1});
    EXPECT_EQ(j.host, "h3-1");
    EXPECT_EQ(j.switches, (Strings{"p1-t0-1", "p1-t1-1", "p1-t0-3"}));
    EXPECT_EQ(j.named, j.switches);
}

TEST(rule, exceptions)
{
    const Fabric f = make_rule({.more = "[topology.missing]\nnodes = [\"h2-2\", \"p2-t0-3\"]\n"
                                        "ports = [\"p1-t0-1:t1-2\", \"h1-2:eth1\"]\n"
                                        "[[topology.differs]]\nnode = \"h3-1\"\ndevice = \"mrc7\"\n"
                                        "addresses = [\"fd00:6d72:63::77:1/64\"]\n"
                                        "ports = {eth1 = \"ens9\"}\n"
                                        "[[topology.differs]]\nnode = \"p1-t0-3\"\n"
                                        "ports = {h1 = \"swp4\"}\n"});
    EXPECT_FALSE(desired_for(f, "h2-2"));
    EXPECT_FALSE(desired_for(f, "p2-t0-3"));
    const Desired h11 = *desired_for(f, "h1-1"), h31 = *desired_for(f, "h3-1");
    EXPECT_EQ(h31.device->name, "mrc7");
    ASSERT_EQ(h31.device->planes.size(), 1u);   // its T0 of plane 2 is missing
    EXPECT_EQ(h31.device->planes[0].link, "ens9");
    EXPECT_EQ(desired_for(f, "p1-t0-3")->routes[1].links, Strings{"swp4"});
    // Its own address, only the T1 that both have, only the plane that both have.
    EXPECT_EQ(outer(h11, "fd00:6d72:63::77:1"), Strings{"1 fcbb:bb00:4001:8001:4003:c001::"});
    EXPECT_TRUE(towards(h11, "fd00:6d72:63::77:1")->gens.empty());
    EXPECT_EQ(outer(h11, "fd00:6d72:63::1:2"), Strings{"2 fcbb:bb01:4001:c002::"});
    EXPECT_EQ(outer(h11, "fd00:6d72:63::3:2"), Strings{"1 fcbb:bb00:4001:8001:4003:c002::"});
    EXPECT_EQ(outer(h11, "fd00:6d72:63::2:1").size(), 3u);
}

// Each host begins at another T1: all carry the same.
TEST(rule, few_evs_are_spread_over_many_t1s)
{
    const Fabric f = make_rule({.planes = 1, .t0s = 4, .t1s = 6, .hosts_per_t0 = 6, .evs_per_plane = 4});
    std::map<std::string, unsigned> used;

    for (unsigned i = 1; i <= 6; i++) {
        const auto evs = outer(*desired_for(f, fmt::format("h1-{}", i)), "fd00:6d72:63::2:1");
        EXPECT_EQ(evs.size(), 4u);
        for (const auto &ev : evs)
            used[ev]++;
    }
    EXPECT_EQ(used.size(), 6u);
    for (const auto &[ev, n] : used)
        EXPECT_EQ(n, 4u) << ev;
}

TEST(rule, templates_stay_within_the_modules_limits)
{
    std::string gaps;
    for (unsigned i = 2; i <= 64; i += 2)
        for (unsigned p = 1; p <= 32; p++)
            gaps += fmt::format("\"p{}-t1-{}\",", p, i);
    const Fabric f = make_rule({.planes = 32, .t0s = 4, .t1s = 64, .hosts_per_t0 = 2, .evs_per_plane = 64,
                                .block_len = 27, .more = "[topology.missing]\nnodes = [" + gaps + "]\n"});
    const Desired d = *desired_for(f, "h1-1");

    for (const Profile &p : d.device->profiles) {
        std::size_t fields = 0;
        for (const Generator &g : p.gens)
            fields += g.fields.size();
        EXPECT_LE(p.gens.size(), 32u);
        EXPECT_LE(fields, 128u);   // MRC_GEN_FIELDS
    }
    EXPECT_EQ(first_problem(check_fabric(f, 10, 1)), "");
}

TEST(usid, blocks_of_planes)
{
    EXPECT_EQ(to_string(plane_block(*parse_prefix6("fcbb:bb00::/32"), 7)), "fcbb:bb00::/32");
    EXPECT_EQ(to_string(plane_block(*parse_prefix6("fcbb:bb00::/29"), 1)), "fcbb:bb00::/32");
    EXPECT_EQ(to_string(plane_block(*parse_prefix6("fcbb:bb00::/29"), 8)), "fcbb:bb07::/32");
    EXPECT_EQ(to_string(usid_shift(*parse_ip6("fcbb:bb00:1:2:3:4:5:6"))), "fcbb:bb00:2:3:4:5:6:0");
}

}   // namespace

}   // namespace mrcd
