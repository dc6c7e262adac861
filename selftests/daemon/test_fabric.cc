// SPDX-License-Identifier: GPL-2.0
// The fabric file: what is accepted, and what each refusal says.
#include <algorithm>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fabrics.h"

namespace mrcd {

namespace {

TEST(fabric, good)
{
    const Fabric f = make_fabric({.hosts = 3, .planes = 4, .t0s = 2, .t1s = 3});

    EXPECT_EQ(to_string(f.block), "fcbb:bb00::/32");
    EXPECT_EQ(to_string(f.prefix), "fd00:6d72:63::/64");
    EXPECT_EQ(f.planes, 4u);
    EXPECT_EQ(f.evs_per_plane, 4u);
    EXPECT_FALSE(f.min_active);
    ASSERT_EQ(f.switches.size(), 4u * 5);
    ASSERT_EQ(f.hosts.size(), 3u);
    EXPECT_EQ(f.find_host("h2")->ports[3].switch_name, "p4-t0-2");
    EXPECT_EQ(f.find_switch("p1-t0-1")->links.size(), 3u);
    EXPECT_EQ(f.find_host("h9"), nullptr);
}

TEST(fabric, usids)
{
    const Fabric f = make_fabric();

    EXPECT_EQ(f.usid(*f.find_switch("p1-t0-2")), 0x1002u);
    EXPECT_EQ(f.usid(*f.find_switch("p2-t1-1")), 0x2101u);
    EXPECT_EQ(f.usid(*f.find_host("h3"), 2), 0x2203u);
}

TEST(fabric, ports_in_any_order_are_kept_by_plane)
{
    auto text = fabric_text({.hosts = 1, .planes = 2, .t0s = 1, .t1s = 1});
    const auto first = text.find("[[host.port]]");
    const auto second = text.find("[[host.port]]", first + 1);
    text = text.substr(0, first) + text.substr(second) + text.substr(first, second - first);
    const Fabric f = parse_fabric(text, "x");

    EXPECT_EQ(f.hosts[0].ports[0].netdev, "eth1");
    EXPECT_EQ(f.hosts[0].ports[1].netdev, "eth2");
}

TEST(fabric, min_active)
{
    auto text = fabric_text();
    text.insert(text.find("evs_per_plane"), "min_active = 8\n");

    EXPECT_EQ(parse_fabric(text, "x").min_active, 8u);
}

// Replaces @from by @to once and expects a complaint with all of @says in it.
struct RefusedFabric {
    const char *name;
    const char *from;
    const char *to;
    std::vector<const char *> says;
};

class BadFabric : public testing::TestWithParam<RefusedFabric> {};

TEST_P(BadFabric, is_refused)
{
    const RefusedFabric &b = GetParam();
    auto text = fabric_text();
    const auto at = text.find(b.from);

    ASSERT_NE(at, text.npos);
    text.replace(at, strlen(b.from), b.to);
    try {
        parse_fabric(text, "fabric.toml");
        FAIL() << "accepted";
    } catch (const FabricError &e) {
        const std::string what = e.what();
        EXPECT_EQ(what.rfind("fabric.toml:", 0), 0u) << what;
        for (const char *part : b.says)
            EXPECT_NE(what.find(part), what.npos) << what << "\nlacks: " << part;
        if (std::string(b.name).rfind("usid_", 0)) {   // of these, each node that it hits
            EXPECT_EQ(what.find('\n'), what.npos) << "one mistake, several errors: " << what;
        }
    }
}

const RefusedFabric kRefusedFabrics[] = {
    {"syntax", "block = \"fcbb", "block = = \"fcbb", {":2:"}},
    {"unknown_key", "count = 2", "count = 2\ncolour = 3",
     {":11:1:", "unknown key \"colour\" in [planes]", "expected count"}},
    {"unknown_table", "[planes]", "[plains]\n[planes]", {":9:2:", "unknown key \"plains\" in the file", "did you mean \"planes\"?"}},
    {"mistyped_table", "[planes]", "[plains]", {":9:2:", "unknown key \"plains\" in the file, did you mean \"planes\"?"}},
    {"mistyped_key", "count = 2", "cuont = 2", {":10:1:", "key \"count\" in [planes] is missing: is it \"cuont\"?"}},
    {"two_unknown", "[planes]", "[planes]\ncolour = 7\nshape = 8", {"unknown key \"colour\"", "unknown, too: shape"}},
    {"bare_address", "[planes]", "[plan]\nblock = fcbb:bb00::/31\n[planes]", {"an address stands in quotes"}},
    {"bare_ipv4", "[planes]", "[plan]\nv4 = 10.0.0.1\n[planes]", {"an address stands in quotes"}},
    {"yaml", "[planes]", "planes: 2\n[planes]", {"looks like YAML"}},
    {"bits_beyond", "fcbb:bb00::/32", "fcbb:bb00:1::/32", {"has bits beyond its length: fcbb:bb00::/32?"}},
    {"missing_table", "[planes]\ncount = 2\n", "", {"[planes] is missing"}},
    {"missing_key", "id = 1\n", "", {"key \"id\" in [profile] is missing"}},
    {"no_integer", "count = 2", "count = \"2\"", {":10:9:", "planes.count: not an integer, expected 1 to 32"}},
    {"block_no_prefix", "fcbb:bb00::/32", "fcbb:bb00::", {":2:9:", "fabric.block", "\"fcbb:bb00::\"", "length 24 to 32"}},
    {"block_length", "fcbb:bb00::/32", "fcbb:bb00::/48", {"\"fcbb:bb00::/48\"", "length 24 to 32"}},
    {"block_host_bits", "fcbb:bb00::/32", "fcbb:bb00::1/32", {"\"fcbb:bb00::1/32\""}},
    {"prefix_v4", "fd00:6d72:63::/64", "10.0.0.0/24", {"fabric.prefix", "\"10.0.0.0/24\"", "IPv6 prefix"}},
    {"prefix_in_block", "fd00:6d72:63::/64", "fcbb:bb00:1::/64", {"fcbb:bb00:1::/64 and fabric.block fcbb:bb00::/32 overlap"}},
    {"block_in_prefix", "fd00:6d72:63::/64", "fcbb::/16", {"fcbb::/16 and fabric.block fcbb:bb00::/32 overlap"}},
    {"planes_zero", "count = 2", "count = 0", {"0 is out of range, expected 1 to 32"}},
    {"planes_many", "count = 2", "count = 33", {"33 is out of range, expected 1 to 32"}},
    {"profile_id_zero", "id = 1", "id = 0", {"profile.id: 0 is out of range"}},
    {"evs_negative", "evs_per_plane = 4", "evs_per_plane = -4", {"-4 is out of range"}},
    {"evs_many", "evs_per_plane = 4", "evs_per_plane = 2049", {"2049 is out of range, expected 1 to 2048"}},
    {"min_active_many", "evs_per_plane = 4", "evs_per_plane = 4\nmin_active = 9", {"9 is out of range, expected 1 to 8"}},
    {"tier", "tier = 0", "tier = 2", {"switch.tier: 2 is out of range, expected 0 to 1"}},
    {"switch_plane", "plane = 1", "plane = 3", {"switch.plane: 3 is out of range, expected 1 to 2"}},
    {"switch_name", "name = \"p1-t0-1\"", "name = \"p1 t0\"", {"\"p1 t0\" is no name"}},
    {"name_twice", "name = \"p1-t0-2\"", "name = \"p1-t0-1\"", {"\"p1-t0-1\" is used twice"}},
    {"usid_collision", "t1_base = 0x100", "t1_base = 0x000", {"switch.index", "0x1001 of p1-t1-1, which is already that of p1-t0-1"}},
    {"usid_too_big", "plane_stride = 0x1000", "plane_stride = 0xffff", {"makes uSID 0x10000 of p1-t0-1, expected 0x1 to 0xffff"}},
    {"peer_unknown", "peer = \"p1-t1-1\"", "peer = \"p1-t1-9\"", {"switch.link.peer: there is no switch \"p1-t1-9\""}},
    {"peer_other_plane", "peer = \"p1-t1-1\"", "peer = \"p2-t1-1\"", {"p2-t1-1 is of tier 1 and plane 2, expected a switch of tier 1 and plane 1"}},
    {"port_twice", "port = \"t1-2\"", "port = \"t1-1\"", {"port \"t1-1\" of p1-t0-1 is used twice"}},
    {"peer_port_twice", "peer_port = \"t0-2\"", "peer_port = \"t0-1\"", {"port \"t0-1\" of p1-t1-1 is used twice"}},
    {"cable_twice", "peer = \"p1-t1-2\"\npeer_port = \"t0-1\"", "peer = \"p1-t1-1\"\npeer_port = \"t0-1b\"",
     {"switch.link.peer: p1-t1-1 is at port \"t1-1\" of p1-t0-1 already", "cannot be at \"t1-2\"",
      "expected one cable between two switches"}},
    {"port_is_sr0", "port = \"t1-1\"", "port = \"sr0\"", {"switch.link.port: \"sr0\" is the interface of a switch's own SIDs, expected another name"}},
    {"peer_port_is_sr0", "peer_port = \"t0-1\"", "peer_port = \"sr0\"", {"switch.link.peer_port: \"sr0\" is the interface of a switch's own SIDs"}},
    {"switch_port_is_sr0", "switch_port = \"h1\"", "switch_port = \"sr0\"", {"host.port.switch_port: \"sr0\" is the interface of a switch's own SIDs"}},
    {"port_name_long", "port = \"t1-1\"", "port = \"a-very-long-port\"", {"\"a-very-long-port\" is no interface name, expected 1 to 15"}},
    {"port_name_percent", "port = \"t1-1\"", "port = \"t%d\"", {"\"t%d\" is no interface name", "and '%'"}},
    {"device_percent", "device = \"mrc0\"", "device = \"mrc%d\"", {"host.device", "\"mrc%d\" is no interface name"}},
    {"device_slash", "device = \"mrc0\"", "device = \"mrc/0\"", {"\"mrc/0\" is no interface name"}},
    {"mtu", "count = 2", "count = 2\nmtu = 1000", {"planes.mtu: 1000 is out of range, expected 1280 to 65535"}},
    {"link_at_t1", "name = \"p1-t1-1\"\ntier = 1\nplane = 1\nindex = 1\n",
     "name = \"p1-t1-1\"\ntier = 1\nplane = 1\nindex = 1\n[[switch.link]]\nport = \"x\"\npeer = \"p1-t1-2\"\npeer_port = \"y\"\n",
     {"p1-t1-1 is of tier 1: links are written at their tier 0 end"}},
    {"host_address", "fd00:6d72:63::1/64", "fd00:6d72:63::1", {"host.addresses", "\"fd00:6d72:63::1\" is no address with length"}},
    {"host_address_outside", "fd00:6d72:63::1/64", "fd01::1/64", {"fd01::1/64 is outside fabric.prefix fd00:6d72:63::/64"}},
    {"host_address_twice", "fd00:6d72:63::2/64", "fd00:6d72:63::1/64", {"fd00:6d72:63::1 is used twice"}},
    {"host_no_v6", "\"fd00:6d72:63::1/64\", ", "", {"h1 has no IPv6 address"}},
    {"host_v4_zero", "10.77.0.1/24", "0.0.0.0/24", {"host.addresses", "\"0.0.0.0/24\" is the unspecified address"}},
    {"host_v4_loopback", "10.77.0.1/24", "127.0.0.1/8", {"a loopback address"}},
    {"host_v4_multicast", "10.77.0.1/24", "224.0.0.1/4", {"a multicast address"}},
    {"host_v4_broadcast", "10.77.0.1/24", "255.255.255.255/24", {"a reserved address"}},
    {"host_v4_link_local", "10.77.0.1/24", "169.254.1.1/16", {"a link-local address"}},
    {"host_v4_mapped", "10.77.0.1/24", "::ffff:10.77.0.1/120", {"an IPv4 address written as IPv6"}},
    {"host_v6_multicast", "10.77.0.1/24", "ff02::1/64", {"a multicast address"}},
    {"host_index_collision", "name = \"h2\"\nindex = 2", "name = \"h2\"\nindex = 1", {"host.index", "0x1201 of h2 on plane 1, which is already that of h1 on plane 1"}},
    {"host_switch_unknown", "switch = \"p1-t0-1\"", "switch = \"p1-t0-7\"", {"host.port.switch: there is no switch \"p1-t0-7\""}},
    {"host_switch_tier", "switch = \"p1-t0-1\"", "switch = \"p1-t1-1\"", {"p1-t1-1 is of tier 1 and plane 1, expected a switch of tier 0 and plane 1"}},
    {"host_plane_twice", "plane = 2\nnetdev = \"eth2\"\nswitch = \"p2-t0-1\"\nswitch_port = \"h1\"",
     "plane = 1\nnetdev = \"eth2\"\nswitch = \"p1-t0-1\"\nswitch_port = \"h1x\"", {"already that of h1 on plane 1"}},
    {"host_plane_gap", "[[host.port]]\nplane = 1\nnetdev = \"eth1\"\nswitch = \"p1-t0-1\"\nswitch_port = \"h1\"\n", "",
     {"h1 is on plane 2 but not on plane 1"}},
    {"netdev_twice", "netdev = \"eth2\"", "netdev = \"eth1\"", {"port \"eth1\" of h1 is used twice"}},
    {"netdev_is_device", "netdev = \"eth1\"", "netdev = \"mrc0\"", {"\"mrc0\" is the host's device"}},
    {"switch_port_twice", "switch_port = \"h3\"", "switch_port = \"h1\"", {"port \"h1\" of p1-t0-1 is used twice"}},
};

INSTANTIATE_TEST_SUITE_P(fabric, BadFabric, testing::ValuesIn(kRefusedFabrics),
                         [](const auto &bad) { return bad.param.name; });

std::string changed(std::string text, std::initializer_list<std::pair<const char *, const char *>> changes)
{
    for (const auto &[from, to] : changes) {
        const auto at = text.find(from);
        EXPECT_NE(at, text.npos) << from;
        if (at != text.npos)
            text.replace(at, strlen(from), to);
    }
    return text;
}

std::string refusal(const std::string &text)
{
    try {
        parse_fabric(text, "f");
    } catch (const FabricError &e) {
        return e.what();
    }
    return "accepted";
}

// What is wrong in three places is corrected once.
TEST(fabric, each_part_tells_its_error)
{
    EXPECT_EQ(refusal(changed(fabric_text(), {{"fcbb:bb00::/32", "fcbb"}, {"count = 2", "count = 0"}, {"id = 1", "id = 0"}})),
              "f:10:9: planes.count: 0 is out of range, expected 1 to 32\n"
              "f:2:9: fabric.block: \"fcbb\" is wrong, expected an IPv6 prefix of length 24 to 32, such as fcbb:bb00::/32")
        << "the profile depends on the planes";
    EXPECT_EQ(refusal(changed(fabric_text(), {{"count = 2", "count = 2\nmut = 9000"}, {"id = 1", "id = 0"}})),
              "f:11:1: unknown key \"mut\" in [planes], did you mean \"mtu\"? expected count, mtu\n"
              "f:13:6: profile.id: 0 is out of range, expected 1 to 9223372036854775807");
}

// Nobody is sent after a switch that is there, though it is refused.
TEST(fabric, what_depends_on_a_refused_switch_is_no_error)
{
    const auto text = changed(fabric_text(), {{"tier = 0", "tier = 7"}, {"device = \"mrc0\"", "device = \"a/b\""}});
    const auto what = refusal(text);

    EXPECT_NE(what.find("switch.tier: 7 is out of range"), what.npos) << what;
    EXPECT_NE(what.find("host.device: \"a/b\" is no interface name"), what.npos) << what;
    EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 1) << what;
}

TEST(fabric, many_errors_are_counted)
{
    std::string text = fabric_text();

    for (int i = 0; i < 25; i++)
        text += "[[switch]]\nname = \"-\"\ntier = 9\n";
    const auto what = refusal(text);
    EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 20) << what;
    EXPECT_NE(what.find("\nand 5 more errors"), what.npos) << what;
}

// Bounded before it is read.
TEST(fabric, what_is_no_file_or_too_long_is_refused)
{
    const auto says = [](const char *path) -> std::string {
        try {
            load_fabric(path);
        } catch (const FabricError &e) {
            return e.what();
        }
        return "accepted";
    };
    char name[] = "/tmp/mrcd-test-XXXXXX";
    const int fd = mkstemp(name);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(ftruncate(fd, 200 << 20), 0);   // a hole: nobody reads it
    EXPECT_NE(says(name).find("209715200 bytes are no fabric file"), std::string::npos) << says(name);
    EXPECT_NE(says("/tmp").find("/tmp: cannot be read"), std::string::npos) << says("/tmp");
    close(fd);
    unlink(name);
}

TEST(fabric, missing_file_says_why)
{
    try {
        load_fabric("/nonexistent/fabric.toml");
        FAIL();
    } catch (const FabricError &e) {
        EXPECT_NE(std::string(e.what()).find("No such file"), std::string::npos) << e.what();
    }
}

}   // namespace

}   // namespace mrcd
