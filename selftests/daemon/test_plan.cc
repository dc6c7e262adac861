// SPDX-License-Identifier: GPL-2.0
// From a fabric and a kernel's state to operations, with a kernel that is only
// a struct.
#include <gtest/gtest.h>

#include <numeric>

#include "fabrics.h"
#include "fake_kernel.h"
#include "rules.h"

namespace mrcd {

namespace {

std::vector<std::string> texts(const Plan &p)
{
    std::vector<std::string> list;

    for (const Op &op : p.ops)
        list.push_back(to_string(op));
    return list;
}

bool has(const Plan &p, const std::string &text)
{
    const auto list = texts(p);

    return std::find(list.begin(), list.end(), text) != list.end();
}

std::string all(const Plan &p)
{
    const auto list = texts(p);

    return std::accumulate(list.begin(), list.end(), std::string(),
                           [](const auto &a, const auto &b) { return a + b + "\n"; });
}

struct Node {
    Fabric fabric;
    Desired want;
    FakeKernel kernel;
    Policy policy;

    explicit Node(const std::string &name, const Size &z = {}) : fabric(make_fabric(z))
    {
        want = *desired_for(fabric, name);
        for (const WantedLink &w : want.links)
            if (w.physical)
                kernel.add_link(w.name);
    }

    Plan next()
    {
        Observed have;
        kernel.look(want, have);
        return plan(want, have, policy);
    }

    void carry_out(const Plan &p)
    {
        for (const Op &op : p.ops)
            if (const auto e = kernel.apply(op))
                ADD_FAILURE() << to_string(op) << ": " << e.text;
    }

    // Until nothing is left; the device's part needs a second look.
    void settle()
    {
        for (int i = 0; i < 3; i++)
            carry_out(next());
        const Plan p = next();
        EXPECT_TRUE(p.complete()) << all(p);
    }
};

// ------------------------------------------------------------------- switch

TEST(plan, t0)
{
    Node n("p1-t0-1");
    const Plan p = n.next();

    EXPECT_TRUE(has(p, "sysctl -w net/ipv6/conf/all/forwarding=1"));
    EXPECT_TRUE(has(p, "sysctl -w net/ipv6/conf/all/seg6_enabled=1"));
    EXPECT_TRUE(has(p, "sysctl -w net/ipv6/conf/t1-2/seg6_enabled=1"));
    EXPECT_TRUE(has(p, "sysctl -w net/ipv6/conf/h3/accept_dad=0"));
    EXPECT_FALSE(has(p, "sysctl -w net/ipv6/conf/default/seg6_enabled=1"));
    EXPECT_TRUE(has(p, "ip link set h1 mtu 9000"));
    EXPECT_TRUE(has(p, "ip link set t1-1 up"));
    EXPECT_TRUE(has(p, "ip addr add fe80::2/64 dev h1 nodad proto 217"));
    EXPECT_TRUE(has(p, "ip addr add fe80::1/64 dev t1-1 nodad proto 217"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:1001::/48 encap seg6local action End flavors "
                       "next-csid lblen 32 nflen 16 dev sr0 proto 217 metric 512"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:1102::/48 via fe80::2 dev t1-2 proto 217 metric 512"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:1203::/48 via fe80::1 dev h3 proto 217 metric 512"));
    EXPECT_EQ(all(p).find("h2"), std::string::npos) << "h2 is not at this switch";
}

TEST(plan, t1)
{
    Node n("p2-t1-2");
    const Plan p = n.next();

    EXPECT_TRUE(has(p, "ip addr add fe80::2/64 dev t0-2 nodad proto 217"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:2102::/48 encap seg6local action End flavors "
                       "next-csid lblen 32 nflen 16 dev sr0 proto 217 metric 512"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:2001::/48 via fe80::1 dev t0-1 proto 217 metric 512"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:2002::/48 via fe80::1 dev t0-2 proto 217 metric 512"));
    EXPECT_EQ(std::count_if(p.ops.begin(), p.ops.end(),
                            [](const Op &o) { return std::holds_alternative<RouteAdd>(o); }), 3);
}

TEST(plan, idempotent)
{
    for (const char *name : {"p1-t0-1", "p2-t1-2", "h1", "h3"}) {
        SCOPED_TRACE(name);
        Node n(name);
        n.settle();
        n.policy = {};   // a new process knows nothing
        EXPECT_TRUE(n.next().complete()) << all(n.next());
    }
}

TEST(plan, own_sid_without_dummies_goes_over_a_port_that_is_up)
{
    Node n("p1-t1-1");
    n.policy.missing_kinds = {"dummy"};
    n.settle();
    n.kernel.shut("t0-1");
    EXPECT_EQ(texts(n.next()), std::vector<std::string>{
        "ip -6 route add fcbb:bb00:1101::/48 encap seg6local action End flavors next-csid lblen 32 "
        "nflen 16 dev t0-2 proto 217 metric 512"});
}

TEST(plan, a_port_shut_by_hand_stays_shut_and_comes_back_complete)
{
    Node n("p1-t0-1");
    n.settle();
    n.kernel.shut("t1-1");
    EXPECT_TRUE(n.next().complete()) << all(n.next());
    n.kernel.open("t1-1");
    EXPECT_EQ(texts(n.next()), (std::vector<std::string>{
        "ip addr add fe80::1/64 dev t1-1 nodad proto 217",
        "ip -6 route add fcbb:bb00:1101::/48 via fe80::2 dev t1-1 proto 217 metric 512"}));
    n.settle();
}

TEST(plan, routes_of_others_are_left_alone)
{
    Node n("p1-t0-1");
    n.settle();
    const auto dst = *parse_prefix6("fcbb:bb00:1102::/48");
    n.kernel.state.routes.push_back({dst, kRouteMetric, 3, 9, {}});
    n.kernel.state.routes.push_back({*parse_prefix6("2001:db8::/32"), 1, 4, 9, {}});
    EXPECT_TRUE(n.next().complete()) << all(n.next());
}

TEST(plan, routes_of_ours_that_are_wrong_are_mended)
{
    Node n("p1-t0-1");
    n.settle();
    auto &routes = n.kernel.state.routes;
    const auto at = [&](const char *prefix) -> Route & {
        return *std::find_if(routes.begin(), routes.end(), [&](const Route &r) {
            return r.dst == *parse_prefix6(prefix);
        });
    };

    at("fcbb:bb00:1101::/48").via = parse_ip6("fe80::9");
    at("fcbb:bb00:1102::/48").strange = true;
    routes.push_back({*parse_prefix6("fcbb:bb00:77::/48"), kRouteMetric, kProtocol, 2, {}});
    const Plan p = n.next();
    EXPECT_EQ(texts(p), (std::vector<std::string>{
        "ip -6 route del fcbb:bb00:77::/48 proto 217 metric 512",
        "ip -6 route replace fcbb:bb00:1101::/48 via fe80::2 dev t1-1 proto 217 metric 512",
        "ip -6 route del fcbb:bb00:1102::/48 proto 217 metric 512",
        "ip -6 route add fcbb:bb00:1102::/48 via fe80::2 dev t1-2 proto 217 metric 512"}));
    n.settle();
}

TEST(plan, a_port_that_is_not_there_is_waited_for)
{
    Node n("p1-t0-1");
    std::erase_if(n.kernel.state.links, [](const Link &l) { return l.name == "t1-2"; });
    n.carry_out(n.next());
    const Plan p = n.next();
    EXPECT_TRUE(p.ops.empty()) << all(p);
    EXPECT_EQ(p.waiting, std::vector<std::string>{"there is no interface t1-2"});
    n.kernel.add_link("t1-2");
    n.settle();
}

// --------------------------------------------------------------------- host

TEST(plan, host_links_and_routes)
{
    Node n("h2");
    const Plan p = n.next();

    EXPECT_TRUE(has(p, "ip link add mrc0 type mrc"));
    EXPECT_TRUE(has(p, "ip link set eth2 mtu 9000"));
    EXPECT_TRUE(has(p, "ip addr add fe80::1/64 dev eth1 nodad proto 217"));
    EXPECT_TRUE(has(p, "ip -6 route add fcbb:bb00:2002::/48 via fe80::2 dev eth2 proto 217 metric 512"));
    EXPECT_TRUE(has(p, "ip addr add fd00:6d72:63::2/64 dev mrc0 nodad proto 217"));
    EXPECT_TRUE(has(p, "ip addr add 10.77.0.2/24 dev mrc0 proto 217"));
    const auto list = texts(p);
    const auto at = [&](const char *text) {
        return std::find(list.begin(), list.end(), text) - list.begin();
    };
    const auto *plane_1 = "mrcctl plane set dev mrc0 plane 1 netdev eth1 && "
                          "ip link set eth1 master mrc0";
    EXPECT_LT(at("ip link add mrc0 type mrc"), at("ip link set eth1 up"));
    EXPECT_LT(at("ip link set eth1 up"), at(plane_1)) << "what is a plane was up";
    EXPECT_LT(at(plane_1), at("mrcctl plane set dev mrc0 plane 2 netdev eth2 && "
                              "ip link set eth2 master mrc0"));
    EXPECT_EQ(p.waiting, std::vector<std::string>{"mrc0 is not known to the mrc module yet"});
}

TEST(plan, host_device)
{
    Node n("h1");
    n.carry_out(n.next());
    const Plan p = n.next();

    EXPECT_TRUE(has(p, "mrcctl plane set dev mrc0 plane 1 sid fcbb:bb00:1201::"));
    EXPECT_TRUE(has(p, "mrcctl plane set dev mrc0 plane 2 sid fcbb:bb00:2201::"));
    EXPECT_TRUE(has(p, "mrcctl dev set mrc0 profile 1"));
    EXPECT_TRUE(has(p, "mrcctl profile set dev mrc0 id 1 dst fd00:6d72:63::2 fmt srv6 mode exp "
                       "min-active 2 ev 1 fcbb:bb00:1001:1101:1002:1202:: "
                       "ev 1 fcbb:bb00:1001:1102:1002:1202:: "
                       "ev 1 fcbb:bb00:1001:1101:1002:1202:: "
                       "ev 1 fcbb:bb00:1001:1102:1002:1202:: "
                       "ev 2 fcbb:bb00:2001:2101:2002:2202:: "
                       "ev 2 fcbb:bb00:2001:2102:2002:2202:: "
                       "ev 2 fcbb:bb00:2001:2101:2002:2202:: "
                       "ev 2 fcbb:bb00:2001:2102:2002:2202::"));
    EXPECT_TRUE(has(p, "mrcctl profile set dev mrc0 id 1 dst ::ffff:10.77.0.3 fmt srv6 mode exp "
                       "min-active 2 ev 1 fcbb:bb00:1001:1203:: ev 1 fcbb:bb00:1001:1203:: "
                       "ev 1 fcbb:bb00:1001:1203:: ev 1 fcbb:bb00:1001:1203:: "
                       "ev 2 fcbb:bb00:2001:2203:: ev 2 fcbb:bb00:2001:2203:: "
                       "ev 2 fcbb:bb00:2001:2203:: ev 2 fcbb:bb00:2001:2203::"))
        << "hosts at one T0 need no T1";
    EXPECT_EQ(all(p).find("dst fd00:6d72:63::1 "), std::string::npos) << "no profile to itself";
    EXPECT_EQ(p.ops.size(), 2u + 1 + 4);
}

TEST(plan, everything_is_foreseen_in_a_dry_run)
{
    Node n("h1");
    n.policy.foresee = true;
    const Plan p = n.next();

    EXPECT_TRUE(has(p, "ip link add mrc0 type mrc"));
    EXPECT_TRUE(has(p, "mrcctl plane set dev mrc0 plane 2 sid fcbb:bb00:2201::"));
    EXPECT_TRUE(p.waiting.empty());
}

TEST(plan, every_t1_has_an_ev_when_there_are_enough)
{
    const Fabric f = make_fabric({.hosts = 2, .planes = 2, .t0s = 2, .t1s = 3,
                                  .evs_per_plane = 4});
    const auto d = desired_for(f, "h1")->device;
    const auto &evs = d->profiles.at(0).evs;

    ASSERT_EQ(evs.size(), 8u);
    EXPECT_EQ(d->profiles.at(0).min_active, 2u);
    for (unsigned plane = 1; plane <= 2; plane++) {
        std::set<Ip6> ways;
        for (const Ev &ev : evs)
            if (ev.port == plane)
                ways.insert(ev.outer_dst);
        EXPECT_EQ(ways.size(), 3u);
    }
}

TEST(plan, fewer_evs_than_t1s_are_spread_over_pairs_of_hosts)
{
    const Fabric f = make_fabric({.hosts = 9, .planes = 1, .t0s = 2, .t1s = 4,
                                  .evs_per_plane = 1});
    std::set<std::string> t1s;

    const auto want = *desired_for(f, "h1");
    for (const Profile &p : want.device->profiles)
        t1s.insert(to_string(p.evs.at(0).outer_dst).substr(15, 4));
    EXPECT_GE(t1s.size(), 2u);
}

TEST(plan, min_active_of_the_file)
{
    auto text = fabric_text();
    text.insert(text.find("evs_per_plane"), "min_active = 6\n");
    const auto d = desired_for(parse_fabric(text, "x"), "h1");

    EXPECT_EQ(d->device->profiles.at(0).min_active, 6u);
}

TEST(plan, a_host_that_is_removed_loses_its_profiles)
{
    Node n("h1");
    n.settle();
    Fabric f = n.fabric;
    f.hosts.pop_back();
    n.want = *desired_for(f, "h1");
    EXPECT_EQ(texts(n.next()), (std::vector<std::string>{
        "mrcctl profile del dev mrc0 id 1 dst fd00:6d72:63::3",
        "mrcctl profile del dev mrc0 id 1 dst ::ffff:10.77.0.3"}));
    n.settle();
}

TEST(plan, profiles_under_other_ids_are_left_alone_unless_retired)
{
    Node n("h1");
    n.settle();
    n.kernel.state.device->profiles.push_back({{{7, *parse_ip6("fd00:6d72:63::2")}, 1, {}}, false,
                                               MRC_FMT_UDP, MRC_MODE_EXP});
    n.kernel.state.device->profiles.push_back({{{1, {}}, 1, {}}, true, MRC_FMT_UDP,
                                               MRC_MODE_EXP});
    EXPECT_TRUE(n.next().complete()) << all(n.next());
    n.policy.retired_profiles = {7};
    EXPECT_EQ(texts(n.next()), std::vector<std::string>{
        "mrcctl profile del dev mrc0 id 7 dst fd00:6d72:63::2"});
}

// QPs go on meanwhile: paths before the default, the old ones last.
TEST(plan, another_profile_id_comes_before_the_old_one_goes)
{
    Node n("h1");
    n.settle();
    n.policy.retired_profiles = {1};
    n.want.device->profile_id = 2;
    for (Profile &p : n.want.device->profiles)
        p.key.id = 2;
    const auto list = texts(n.next());
    ASSERT_EQ(list.size(), 4u + 1 + 4);
    for (std::size_t i = 0; i < list.size(); i++)
        EXPECT_EQ(list[i].substr(0, 18), i < 4 ? "mrcctl profile set" :
                                         i == 4 ? "mrcctl dev set mrc" : "mrcctl profile del") << list[i];
    n.settle();
}

TEST(plan, a_default_set_by_hand_is_set_back)
{
    Node n("h1");
    n.settle();
    n.kernel.state.device->profile_id = 7;
    EXPECT_EQ(texts(n.next()), std::vector<std::string>{"mrcctl dev set mrc0 profile 1"});
}

TEST(plan, a_host_alone_needs_no_default_profile)
{
    Node n("h1", {.hosts = 1});
    n.settle();
    n.kernel.state.device->profile_id = 0;
    EXPECT_TRUE(n.next().complete()) << all(n.next());
}

TEST(plan, a_profile_that_was_changed_is_set_again)
{
    Node n("h1");
    n.settle();
    n.kernel.state.device->profiles[0].profile.evs.pop_back();
    n.kernel.state.device->profiles[1].mode = MRC_MODE_AUTO;
    const Plan p = n.next();
    EXPECT_EQ(p.ops.size(), 2u) << all(p);
    n.settle();
}

TEST(plan, an_address_dropped_from_the_file_goes_and_others_addresses_stay)
{
    Node n("h1");
    n.settle();
    n.kernel.state.addrs.push_back({n.kernel.link("mrc0").ifindex, *parse_ifaddr("10.9.9.9/24"),
                                    0});
    std::erase_if(n.want.addrs, [](const WantedAddr &a) { return a.addr.addr.v4; });
    EXPECT_EQ(texts(n.next()), std::vector<std::string>{"ip addr del 10.77.0.1/24 dev mrc0"});
}

TEST(plan, a_device_shut_by_hand_stays_shut_and_comes_back_complete)
{
    Node n("h1");
    n.settle();
    n.kernel.shut("mrc0");
    EXPECT_TRUE(n.next().complete()) << all(n.next());
    n.kernel.open("mrc0");
    EXPECT_TRUE(has(n.next(), "ip addr add fd00:6d72:63::1/64 dev mrc0 nodad proto 217")) << all(n.next());
    n.settle();
}

TEST(plan, planes_keep_their_numbers_when_a_port_comes_late)
{
    Node n("h1");
    std::erase_if(n.kernel.state.links, [](const Link &l) { return l.name == "eth1"; });
    n.carry_out(n.next());
    n.carry_out(n.next());
    ASSERT_EQ(n.kernel.state.device->planes.size(), 1u) << "eth2 waits for nobody";
    EXPECT_EQ(n.kernel.state.device->planes[0].number, 2);
    n.kernel.add_link("eth1");
    n.settle();
    for (const Plane &p : n.kernel.state.device->planes)
        EXPECT_EQ(p.ifindex, n.kernel.link(fmt::format("eth{}", p.number)).ifindex);
}

TEST(plan, planes_in_the_wrong_order_are_put_right)
{
    Node n("h1");
    n.settle();
    auto &planes = n.kernel.state.device->planes;
    std::swap(planes[0].ifindex, planes[1].ifindex);
    EXPECT_TRUE(has(n.next(), "ip link set eth1 nomaster"));
    n.settle();
    for (const Plane &p : planes)
        EXPECT_EQ(p.ifindex, n.kernel.link(fmt::format("eth{}", p.number)).ifindex);
}

TEST(plan, a_plane_that_is_off_by_hand_stays_off)
{
    Node n("h1");
    n.settle();
    n.kernel.state.device->planes[0].admin = false;   // mrcctl plane set ... admin off
    n.policy = {};
    EXPECT_TRUE(n.next().complete());
}

TEST(plan, a_port_no_longer_in_the_file_is_released)
{
    Node n("h1");
    n.settle();
    n.want.device->planes[0].link = "eth3";
    n.want.links[0].name = n.want.addrs[0].link = "eth3";
    n.want.routes[0].links = {"eth3"};
    n.kernel.add_link("eth3");
    const Plan p = n.next();
    EXPECT_TRUE(has(p, "ip link set eth1 nomaster")) << all(p);
    EXPECT_TRUE(has(p, "ip addr del fe80::1/64 dev eth1")) << all(p);
    EXPECT_TRUE(has(p, "mrcctl plane set dev mrc0 plane 1 netdev eth3 && "
                       "ip link set eth3 master mrc0")) << all(p);
    n.settle();
}

TEST(plan, an_interface_of_the_wrong_kind_is_left_alone)
{
    Node n("h1");
    n.kernel.add_link("mrc0", "bridge");
    n.carry_out(n.next());
    const Plan p = n.next();
    EXPECT_TRUE(p.ops.empty()) << all(p);
    EXPECT_EQ(p.waiting, std::vector<std::string>{
        "mrc0 is of kind bridge, expected mrc: delete or rename it; it is left alone"});
    EXPECT_TRUE(n.kernel.broken.empty());
}

TEST(plan, an_mtu_is_raised_as_far_as_it_goes_and_never_lowered)
{
    Node n("h1");
    n.kernel.link("eth1").max_mtu = 1600;
    n.kernel.link("eth2").mtu = 9216;
    EXPECT_TRUE(has(n.next(), "ip link set eth1 mtu 1600"));
    n.settle();
    EXPECT_EQ(n.kernel.link("eth2").mtu, 9216u);
    EXPECT_EQ(n.next().notes, std::vector<std::string>{"eth1: its largest MTU is 1600, not 9000"});
}

TEST(plan, an_address_with_another_length_is_named_not_fought_with)
{
    Node n("p1-t0-1");
    n.settle();
    for (Addr &a : n.kernel.state.addrs)
        if (a.ifindex == n.kernel.link("t1-1").ifindex)
            a.addr.len = 10, a.protocol = 0;
    const Plan p = n.next();
    EXPECT_TRUE(p.ops.empty()) << all(p);
    EXPECT_EQ(p.waiting, std::vector<std::string>{
        "t1-1 has fe80::1/10, expected fe80::1/64: ip addr del fe80::1/10 dev t1-1"});
}

TEST(plan, the_management_port_is_no_router)
{
    Node n("p1-t0-1");
    n.kernel.add_link("mgmt");
    n.settle();
    EXPECT_EQ(n.kernel.state.sysctls["all/forwarding"], "1");
    EXPECT_EQ(n.kernel.state.sysctls["h1/forwarding"], "1");
    EXPECT_EQ(n.kernel.state.sysctls["mgmt/forwarding"], "0");
    EXPECT_EQ(n.kernel.state.sysctls["default/forwarding"], "0");
}

// Forwarding of any port makes the kernel forget the routers that were advertised, but those of
// interfaces with accept_ra 2.
TEST(plan, the_management_port_keeps_its_default_router)
{
    Node n("p1-t0-1");
    for (const char *name : {"mgmt", "deaf", "router"})
        n.kernel.add_link(name);
    n.kernel.state.sysctls["deaf/accept_ra"] = "0";
    n.kernel.state.sysctls["router/forwarding"] = "1";
    n.kernel.default_routers.insert("mgmt");
    const auto list = texts(n.next());
    const auto at = [&](const char *text) {
        return std::find(list.begin(), list.end(), "sysctl -w net/ipv6/conf/" + std::string(text)) - list.begin();
    };
    EXPECT_LT(at("mgmt/accept_ra=2"), at("all/forwarding=1"));
    EXPECT_EQ(at("all/forwarding=1") + 1, at("deaf/forwarding=0")) << "they are routers for a moment";
    EXPECT_LT(at("mgmt/forwarding=0"), at("h1/forwarding=1"));
    EXPECT_LT(at("t1-2/forwarding=1"), at("mgmt/accept_ra=1"));
    n.settle();
    n.kernel.del_link("t1-1");
    n.kernel.add_link("t1-1");
    n.settle();
    EXPECT_EQ(n.kernel.default_routers.count("mgmt"), 1u) << "nor does a port that comes later cost it";
    for (const auto &[key, value] : {std::pair{"mgmt/accept_ra", "1"}, std::pair{"mgmt/forwarding", "0"},
                                     std::pair{"deaf/accept_ra", "0"}, std::pair{"deaf/forwarding", "0"},
                                     std::pair{"router/accept_ra", "1"}, std::pair{"router/forwarding", "1"},
                                     std::pair{"default/accept_ra", "1"}})
        EXPECT_EQ(n.kernel.state.sysctls[key], value) << key;
}

TEST(plan, a_file_that_removes_most_is_drastic)
{
    Node n("h1", {.hosts = 9});
    n.settle();
    EXPECT_FALSE(n.next().drastic());
    n.want.device->profiles.resize(6);
    EXPECT_FALSE(n.next().drastic()) << "an id or a few hosts are an edit";
    n.want.device->profiles.resize(1);
    EXPECT_TRUE(n.next().drastic());
}

TEST(plan, the_rdma_device_is_waited_for)
{
    Node n("h1");
    n.settle();
    n.kernel.state.device->registered = false;
    const Plan p = n.next();
    EXPECT_TRUE(p.ops.empty());
    EXPECT_EQ(p.waiting, std::vector<std::string>{
        "mrc0 is not registered as an RDMA device yet"});
}

TEST(plan, unknown_name)
{
    EXPECT_FALSE(desired_for(make_fabric(), "h77"));
}

// ---------------------------------------------------------------- templates

struct RuleHost {
    Desired want;
    FakeKernel kernel;

    explicit RuleHost(const RuleSize &z = {}) { file(z); }

    void file(const RuleSize &z)
    {
        want = *desired_for(make_rule(z), "h1-1");
        for (const WantedPlane &p : want.device->planes)
            if (!kernel.find(p.link))
                kernel.add_link(p.link);
    }

    Plan next()
    {
        Observed have;
        kernel.look(want, have);
        return plan(want, have, {});
    }

    void settle()
    {
        for (int pass = 0; pass < 4; pass++)
            for (const Op &op : next().ops)
                ASSERT_FALSE(kernel.apply(op)) << to_string(op);
    }
};

TEST(templates, are_set_once)
{
    RuleHost h;
    h.settle();
    EXPECT_TRUE(h.next().complete());
    EXPECT_EQ(h.kernel.state.device->profiles.size(), 4u);
    EXPECT_EQ(h.kernel.state.device->profiles[0].mode, std::uint32_t{MRC_MODE_GEN});
}

TEST(templates, what_is_changed_by_hand_is_set_again)
{
    for (const auto spoil : {+[](Profile &p) { p.gens[0].copies[0].at++; },
                             +[](Profile &p) { p.gens[0].fields[1].last++; },
                             +[](Profile &p) { p.gens.pop_back(); },
                             +[](Profile &p) { p.widths[0] = 31; }}) {
        RuleHost h;
        h.settle();
        spoil(h.kernel.state.device->profiles[0].profile);
        const Plan p = h.next();
        ASSERT_EQ(p.ops.size(), 1u);
        EXPECT_TRUE(std::holds_alternative<ProfileSet>(p.ops[0]));
    }
}

TEST(templates, can_be_pasted)
{
    RuleHost h({.planes = 1});
    h.settle();
    h.kernel.state.device->profiles.clear();
    h.kernel.state.device->profile_id = 1;
    EXPECT_EQ(texts(h.next())[1],
              "mrcctl profile set dev mrc0 id 1 dst fd00:6d72:63::1:0/112 fmt srv6 mode gen min-active 1 "
              "widths 32,32 gen 1 field 32,0xfcbbbb00 field 32,0x4001c000 copy dst:114:14:50");
}

// An exception that is mended: its own profile goes, and the template takes over.
TEST(templates, take_over_from_explicit_profiles)
{
    RuleHost h({.more = "[topology.missing]\nports = [\"h2-1:eth1\", \"p1-t0-3:t1-1\"]\n"});
    h.settle();
    EXPECT_EQ(h.kernel.state.device->profiles.size(), 8u);
    h.file({});
    const Plan p = h.next();
    EXPECT_EQ(p.removals, 0u) << "no destination is lost";
    EXPECT_EQ(p.ops.size(), 4u);
    h.settle();
    EXPECT_TRUE(h.next().complete());
    EXPECT_EQ(h.kernel.state.device->profiles.size(), 4u);
}

}   // namespace

}   // namespace mrcd
