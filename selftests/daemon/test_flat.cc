// SPDX-License-Identifier: GPL-2.0
// [flat]: from five lines to what a host shall have, to operations, and what is refused.
#include <gtest/gtest.h>

#include <set>

#include "fabrics.h"
#include "fake_kernel.h"

namespace mrcd {

namespace {

constexpr const char *kFive = "[flat]\n"
                              "hosts = [\"alpha\", \"beta\"]\n"
                              "ports = [\"eth1\", \"eth2\"]\n"
                              "prefix = \"fd00:6d72:63::/64\"\n"
                              "ipv4 = \"10.77.0.0/24\"\n";

struct FlatHost {
    Desired want;
    FakeKernel kernel;
    Policy policy;

    explicit FlatHost(const std::string &name, const std::string &text = kFive)
        : want(*desired_for(parse_fabric(text, "flat.toml"), name))
    {
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

    std::set<std::string> ops()
    {
        std::set<std::string> all;
        for (const Op &op : next().ops)
            all.insert(to_string(op));
        return all;
    }

    void settle()
    {
        for (int i = 0; i < 3; i++)
            for (const Op &op : next().ops)
                if (const auto e = kernel.apply(op))
                    ADD_FAILURE() << to_string(op) << ": " << e.text;
        EXPECT_TRUE(next().complete());
        EXPECT_TRUE(kernel.broken.empty());
    }
};

using Lines = std::set<std::string>;

TEST(flat, five_lines)
{
    FlatHost alpha("alpha");
    alpha.policy.foresee = true;

    EXPECT_EQ(alpha.ops(), (Lines{
        "ip link add mrc0 type mrc",
        "ip link set eth1 mtu 9000",
        "ip link set eth2 mtu 9000",
        "ip link set eth1 up",
        "ip link set eth2 up",
        "ip link set mrc0 up",
        "mrcctl plane set dev mrc0 plane 1 netdev eth1 && ip link set eth1 master mrc0",
        "mrcctl plane set dev mrc0 plane 2 netdev eth2 && ip link set eth2 master mrc0",
        "ip addr add fe80::1:1/64 dev eth1 nodad proto 217",
        "ip addr add fe80::2:1/64 dev eth2 nodad proto 217",
        "ip addr add fd00:6d72:63::1/64 dev mrc0 nodad proto 217",
        "ip addr add 10.77.0.1/24 dev mrc0 proto 217",
        "ip -6 route add fd00:6d72:63::2/128 dev mrc0 proto 217 metric 512",
        "ip -6 route add fd00:6d72:63::2/128 via fe80::1:2 dev eth1 proto 217 metric 513",
        "ip -6 route add fd00:6d72:63::2/128 via fe80::2:2 dev eth2 proto 217 metric 514",
        "ip route add 10.77.0.2/32 dev mrc0 proto 217 metric 512",
        "ip route add 10.77.0.2/32 via inet6 fe80::1:2 dev eth1 proto 217 metric 513",
        "ip route add 10.77.0.2/32 via inet6 fe80::2:2 dev eth2 proto 217 metric 514",
    }));
}

TEST(flat, the_other_end_of_the_same_file)
{
    FlatHost beta("beta");
    beta.policy.foresee = true;
    const auto ops = beta.ops();

    EXPECT_TRUE(ops.count("ip addr add fe80::2:2/64 dev eth2 nodad proto 217"));
    EXPECT_TRUE(ops.count("ip addr add fd00:6d72:63::2/64 dev mrc0 nodad proto 217"));
    EXPECT_TRUE(ops.count("ip -6 route add fd00:6d72:63::1/128 via fe80::2:1 dev eth2 proto 217 metric 514"));
    EXPECT_EQ(ops.size(), 18u);
}

TEST(flat, settles)
{
    FlatHost alpha("alpha");
    alpha.settle();
    EXPECT_EQ(alpha.kernel.state.device->profile_id, 0u);
}

TEST(flat, nothing_of_srv6)
{
    const FlatHost alpha("alpha");

    EXPECT_TRUE(alpha.want.sysctls.empty());
    EXPECT_TRUE(alpha.want.device->profiles.empty());
    for (const WantedPlane &p : alpha.want.device->planes)
        EXPECT_EQ(p.sid, Ip6{});
}

TEST(flat, routes_that_went_come_back)
{
    FlatHost alpha("alpha");
    alpha.settle();
    alpha.kernel.shut("eth2");
    alpha.kernel.open("eth2");
    const auto ops = alpha.ops();

    EXPECT_EQ(ops, (Lines{
        "ip addr add fe80::2:1/64 dev eth2 nodad proto 217",
        "ip -6 route add fd00:6d72:63::2/128 via fe80::2:2 dev eth2 proto 217 metric 514",
        "ip route add 10.77.0.2/32 via inet6 fe80::2:2 dev eth2 proto 217 metric 514",
    }));
    alpha.settle();
}

TEST(flat, a_port_that_is_shut_costs_its_routes_only)
{
    FlatHost alpha("alpha");
    alpha.settle();
    alpha.kernel.shut("eth2");

    const Plan p = alpha.next();
    EXPECT_TRUE(p.ops.empty());
    EXPECT_EQ(p.notes, std::vector<std::string>{"eth2 was set down by others and stays down: ip link set eth2 up"});
}

TEST(flat, a_route_of_another_metric_goes)
{
    FlatHost alpha("alpha");
    alpha.settle();
    alpha.kernel.state.routes.push_back({*parse_prefix6("fd00:6d72:63::2/128"), 600, kProtocol, 2, {}, false, false});

    const Plan p = alpha.next();
    ASSERT_EQ(p.ops.size(), 1u);
    EXPECT_EQ(to_string(p.ops[0]), "ip -6 route del fd00:6d72:63::2/128 proto 217 metric 600");
    EXPECT_EQ(p.removals, 0u);
}

TEST(flat, what_is_waited_for)
{
    FlatHost alpha("alpha");
    alpha.settle();
    alpha.kernel.link("eth1").running = false;
    alpha.kernel.rename("eth2", "ens5f1");
    alpha.kernel.link("ens5f1").kind.clear();

    const Plan p = alpha.next();
    EXPECT_EQ(p.notes, std::vector<std::string>{"eth1 has no carrier: check the cable and the other end"});
    EXPECT_EQ(p.waiting, std::vector<std::string>{"there is no interface eth2 (yet, or it has another name: here "
                                                  "are ens5f1)"});
}

// A default of SRv6 leads nowhere here; one of UDP ports is somebody's choice.
TEST(flat, the_default_profile)
{
    FlatHost alpha("alpha");
    alpha.settle();
    auto &dev = *alpha.kernel.state.device;
    dev.profiles.push_back({{{5, *parse_ip6("fd00:6d72:63::2")}, 1, {}, {}, {}}, false, MRC_FMT_UDP, 1});
    dev.profile_id = 5;
    EXPECT_TRUE(alpha.next().complete());
    dev.profiles.back().fmt = MRC_FMT_SRV6;
    EXPECT_EQ(alpha.ops(), Lines{"mrcctl dev set mrc0 profile 0"});
    alpha.settle();
}

TEST(flat, a_file_of_switches_before)
{
    FakeKernel kernel;
    Policy policy;
    const auto lists = *desired_for(make_fabric({}), "h1");
    const auto text = std::string(kFive).replace(std::string(kFive).find("alpha"), 5, "h1");
    const auto flat = *desired_for(parse_fabric(text, "flat.toml"), "h1");
    Observed have;

    for (const char *port : {"eth1", "eth2"})
        kernel.add_link(port);
    for (const Desired *want : {&lists, &flat}) {
        for (int i = 0; i < 4; i++) {
            kernel.look(*want, have);
            for (const Op &op : plan(*want, have, policy).ops)
                EXPECT_FALSE(kernel.apply(op)) << to_string(op);
        }
        EXPECT_TRUE(plan(*want, (kernel.look(*want, have), have), policy).complete());
        policy.retired_profiles.insert(want->device->profile_id);
    }
    for (const Plane &p : kernel.state.device->planes)
        EXPECT_EQ(p.sid.value_or(Ip6{}), Ip6{});
    EXPECT_EQ(kernel.state.device->profile_id, 0u);
    EXPECT_TRUE(kernel.state.device->profiles.empty());
}

TEST(flat, hosts_that_differ)
{
    const std::string text = std::string(kFive) + "[[flat.differs]]\nhost = \"beta\"\nports = [\"ens5\"]\n";
    FlatHost beta("beta", text), alpha("alpha", text);
    beta.policy.foresee = alpha.policy.foresee = true;

    EXPECT_TRUE(beta.ops().count("ip -6 route add fd00:6d72:63::1/128 via fe80::1:1 dev ens5 proto 217 metric 513"));
    EXPECT_FALSE(alpha.ops().count("ip -6 route add fd00:6d72:63::2/128 via fe80::2:2 dev eth2 proto 217 metric 514"))
        << "beta is not on plane 2";
}

TEST(flat, nobody_of_that_name)
{
    EXPECT_FALSE(desired_for(parse_fabric(kFive, "flat.toml"), "gamma"));
}

// ------------------------------------------------------------------ refused

struct RefusedFlat {
    const char *name, *from, *to;
    std::vector<const char *> says;
};

class BadFlat : public testing::TestWithParam<RefusedFlat> {};

TEST_P(BadFlat, is_refused)
{
    const RefusedFlat &b = GetParam();
    std::string text = kFive;
    const auto at = *b.from ? text.find(b.from) : text.size();

    ASSERT_NE(at, text.npos);
    text.replace(at, std::string(b.from).size(), b.to);
    try {
        parse_fabric(text, "flat.toml");
        FAIL() << "accepted";
    } catch (const FabricError &e) {
        const std::string what = e.what();
        EXPECT_EQ(what.rfind("flat.toml:", 0), 0u) << what;
        for (const char *part : b.says)
            EXPECT_NE(what.find(part), what.npos) << what << "\nlacks: " << part;
        EXPECT_EQ(what.find('\n'), what.npos) << "one mistake, several errors: " << what;
    }
}

const RefusedFlat kRefusedFlats[] = {
    {"no_hosts", "hosts = [\"alpha\", \"beta\"]\n", "", {"key \"hosts\" in [flat] is missing"}},
    {"one_host", "\"alpha\", \"beta\"", "\"alpha\"", {":2:9:", "flat.hosts: 1 names, expected 2 to 1024 host names"}},
    {"same_host", "\"beta\"", "\"alpha\"", {"flat.hosts: \"alpha\" is there twice"}},
    {"no_name", "\"beta\"", "\"be ta\"", {"\"be ta\" is no name"}},
    {"no_list", "[\"alpha\", \"beta\"]", "\"alpha\"", {"flat.hosts: not a list, expected 2 to 1024 host names"}},
    {"no_ports", "[\"eth1\", \"eth2\"]", "[]", {":3:9:", "flat.ports: 0 interfaces, expected 1 to 32 interfaces"}},
    {"same_port", "\"eth2\"", "\"eth1\"", {"flat.ports: \"eth1\" is there twice, expected each port on one plane"}},
    {"own_device", "\"eth2\"", "\"mrc0\"", {"\"mrc0\" is the MRC device itself"}},
    {"bad_port", "\"eth2\"", "\"eth/2\"", {"\"eth/2\" is no interface name"}},
    {"long_prefix", "::/64", "::/120", {"flat.prefix", "length 16 to 112, such as fd00:6d72:63::/64"}},
    {"multicast", "fd00:6d72:63::/64", "ff05::/64", {"flat.prefix: ff05::/64 holds a multicast address"}},
    {"link_local", "fd00:6d72:63::/64", "fe80::/64", {"a link-local address"}},
    {"ipv4_v6", "10.77.0.0/24", "fd00::/64", {"flat.ipv4: \"fd00::/64\" is wrong, expected an IPv4 network, such as 10.77.0.0/24"}},
    {"ipv4_host", "10.77.0.0/24", "10.77.0.1/24", {"\"10.77.0.1/24\" is wrong"}},
    {"ipv4_small", "10.77.0.0/24", "10.77.0.0/31", {"too few addresses for 2 hosts, expected a shorter prefix"}},
    {"mtu", "", "mtu = 500\n", {"flat.mtu: 500 is out of range, expected 1280 to 65535"}},
    {"unknown", "", "port = \"eth3\"\n", {":6:1:", "unknown key \"port\" in [flat]", "ports"}},
    {"srv6_beside", "", "[planes]\ncount = 2\n", {"planes: is for fabrics of SRv6 switches, expected either that or [flat]"}},
    {"differs_who", "", "[[flat.differs]]\nhost = \"gamma\"\nports = [\"x\"]\n", {"\"gamma\" is not in flat.hosts"}},
    {"differs_more", "", "[[flat.differs]]\nhost = \"beta\"\nports = [\"a\", \"b\", \"c\"]\n",
     {"3 interfaces, expected as many as flat.ports has, 2, or fewer"}},
    {"differs_twice", "", "[[flat.differs]]\nhost = \"beta\"\nports = [\"a\"]\n[[flat.differs]]\nhost = \"beta\"\nports = [\"b\"]\n",
     {"\"beta\" differs twice"}},
};

INSTANTIATE_TEST_SUITE_P(flat, BadFlat, testing::ValuesIn(kRefusedFlats),
                         [](const auto &tested) { return std::string(tested.param.name); });

TEST(flat, defaults)
{
    const auto f = parse_fabric("[flat]\nhosts = [\"a\", \"b\"]\nports = [\"eth1\"]\n", "flat.toml");

    EXPECT_EQ(f.flat->device, "mrc0");
    EXPECT_EQ(to_string(f.flat->prefix), "fd00:6d72:63::/64");
    EXPECT_EQ(f.flat->mtu, 9000u);
    EXPECT_FALSE(f.flat->ipv4);
}

}   // namespace

}   // namespace mrcd
