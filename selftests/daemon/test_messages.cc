// SPDX-License-Identifier: GPL-2.0
// Netlink messages, byte by byte where iproute2 sends the same, and read back
// as the kernel would answer.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>

#include "../../tools/lib/fabric/profile.h"
#include "mrc_genl.h"
#include "rtnl.h"

namespace mrcd {

namespace {

std::string hex(nl::Bytes bytes)
{
    std::string s;

    for (std::size_t i = 0; i < bytes.size(); i++)
        s += fmt::format("{:02x}{}", bytes[i], i % 4 == 3 ? "\n" : " ");
    return s;
}

nl::Bytes payload(nl::Bytes message) { return message.subspan(NLMSG_HDRLEN); }

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST(messages, seg6local_end_next_csid_route)
{
    const RouteSpec spec{*parse_prefix6("fcbb:bb00:1001::/48"), kRouteMetric, "sr0", {}};
    auto m = nl::route_new(spec, 7, nl::RouteMode::kAdd);
    const char *expected =
        "70 00 00 00\n18 00 05 06\n01 00 00 00\n00 00 00 00\n"   // NEWROUTE, REQUEST ACK CREATE EXCL
        "0a 30 00 00\nfe d9 00 01\n00 00 00 00\n"                // inet6 /48 main, proto 217, unicast
        "14 00 01 00\nfc bb bb 00\n10 01 00 00\n00 00 00 00\n00 00 00 00\n"   // RTA_DST
        "28 00 16 80\n"                                          // RTA_ENCAP, nested
        "08 00 01 00\n01 00 00 00\n"                             //   ACTION End
        "1c 00 0b 80\n"                                          //   FLAVORS, nested
        "08 00 01 00\n10 00 00 00\n"                             //     OPERATION 1 << NEXT_CSID
        "05 00 02 00\n20 00 00 00\n"                             //     LCBLOCK_BITS 32
        "05 00 03 00\n10 00 00 00\n"                             //     LCNODE_FN_BITS 16
        "06 00 15 00\n07 00 00 00\n"                             // RTA_ENCAP_TYPE seg6local
        "08 00 04 00\n07 00 00 00\n"                             // RTA_OIF
        "08 00 06 00\n00 02 00 00\n";                            // RTA_PRIORITY 512

    EXPECT_EQ(hex(m.set_seq(1).bytes()), expected);
}

TEST(messages, next_hop_route)
{
    const RouteSpec spec{*parse_prefix6("fcbb:bb00:1101::/48"), kRouteMetric, "t1-1",
                         parse_ip6("fe80::2")};
    auto m = nl::route_new(spec, 3, nl::RouteMode::kReplace);
    const char *expected =
        "54 00 00 00\n18 00 05 05\n02 00 00 00\n00 00 00 00\n"
        "0a 30 00 00\nfe d9 00 01\n00 00 00 00\n"
        "14 00 01 00\nfc bb bb 00\n11 01 00 00\n00 00 00 00\n00 00 00 00\n"
        "14 00 05 00\nfe 80 00 00\n00 00 00 00\n00 00 00 00\n00 00 00 02\n"
        "08 00 04 00\n03 00 00 00\n"
        "08 00 06 00\n00 02 00 00\n";

    EXPECT_EQ(hex(m.set_seq(2).bytes()), expected);
}
#endif

TEST(messages, routes_are_read_back)
{
    for (const auto &via : {std::optional<Ip6>{}, parse_ip6("fe80::2")}) {
        const RouteSpec spec{*parse_prefix6("fcbb:bb00:1001::/48"), kRouteMetric, "x", via};
        auto m = nl::route_new(spec, 7, nl::RouteMode::kAdd);
        const auto r = nl::parse_route(payload(m.bytes()));

        ASSERT_TRUE(r);
        EXPECT_EQ(r->dst, spec.dst);
        EXPECT_EQ(r->via, via);
        EXPECT_EQ(r->usid_end, !via);
        EXPECT_EQ(r->oif, 7);
        EXPECT_EQ(r->metric, kRouteMetric);
        EXPECT_EQ(r->protocol, kProtocol);
        EXPECT_FALSE(r->strange);
    }
}

TEST(messages, ipv4_and_neighbours_routes_are_read_back)
{
    for (const auto &[dst, via] : {std::pair{"10.77.0.2/32", "fe80::1:2"}, std::pair{"10.77.0.2/32", ""},
                                   std::pair{"fd00:6d72:63::2/128", ""}}) {
        const RouteSpec spec{mapped(*parse_ifaddr(dst)), 513, "x", parse_ip6(via), !*via};
        auto m = nl::route_new(spec, 7, nl::RouteMode::kAdd);
        const auto r = nl::parse_route(payload(m.bytes()));

        ASSERT_TRUE(r);
        EXPECT_EQ(net_text(r->dst), dst);
        EXPECT_EQ(r->via, spec.via);
        EXPECT_FALSE(r->usid_end);
        EXPECT_FALSE(r->strange);
        EXPECT_EQ(r->metric, 513u);
    }
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST(messages, ipv4_over_an_ipv6_next_hop)
{
    const RouteSpec spec{mapped(*parse_ifaddr("10.77.0.2/32")), 513, "eth1", parse_ip6("fe80::1:2")};
    auto m = nl::route_new(spec, 3, nl::RouteMode::kAdd);
    const char *expected =
        "4c 00 00 00\n18 00 05 06\n01 00 00 00\n00 00 00 00\n"
        "02 20 00 00\nfe d9 00 01\n00 00 00 00\n"                // inet /32
        "08 00 01 00\n0a 4d 00 02\n"                              // RTA_DST
        "16 00 12 00\n0a 00 fe 80\n00 00 00 00\n00 00 00 00\n00 00 00 01\n00 02 00 00\n"   // RTA_VIA inet6
        "08 00 04 00\n03 00 00 00\n"
        "08 00 06 00\n01 02 00 00\n";

    EXPECT_EQ(hex(m.set_seq(1).bytes()), expected);
}
#endif

TEST(messages, addresses_are_read_back)
{
    for (const char *text : {"fe80::1/64", "10.77.0.1/24"}) {
        auto m = nl::addr_add(5, *parse_ifaddr(text));
        const Addr a = nl::parse_addr(payload(m.bytes()));

        EXPECT_EQ(to_string(a.addr), text);
        EXPECT_EQ(a.ifindex, 5);
        EXPECT_EQ(a.protocol, kProtocol);
    }
}

TEST(messages, profiles_are_read_back)
{
    const Profile want{{5, *parse_ip6("fd00:6d72:63::2")}, 2,
                       {{*parse_ip6("fcbb:bb00:1001:1101:1002:1202::"), 1},
                        {*parse_ip6("fcbb:bb00:2001:2101:2002:2202::"), 2}}};
    auto m = nl::profile_set(30, 9, want);
    const auto bytes = payload(m.bytes());
    const auto have = nl::parse_profile(bytes);

    EXPECT_EQ(mrcnl::fixed_header<genlmsghdr>(bytes).cmd, MRC_CMD_PROFILE_SET);
    EXPECT_EQ(nl::reply_ifindex(bytes), 9u);
    ASSERT_TRUE(have);
    EXPECT_EQ(have->profile, want);
    EXPECT_FALSE(have->any_dst);
    EXPECT_EQ(have->fmt, std::uint32_t{MRC_FMT_SRV6});
    EXPECT_EQ(have->mode, std::uint32_t{MRC_MODE_EXP});
}

Profile a_template()
{
    Profile p{{5, *parse_ip6("fd00:6d72:63::"), 64}, 2};

    p.widths = {32, 32};
    p.gens = {{1, {{32, 0xfcbbbb00, 0, 0, 0}, {32, 0x40058000, 0x3fff, 1, 2}}, {{MRC_COPY_DST, 114, 14, 82}}},
              {2, {{32, 0xfcbbbb01, 0, 0, 0}, {32, 0x40058000, 0x3fff, 3, 4}}, {{MRC_COPY_SRC, 98, 14, 66}}}};
    return p;
}

TEST(messages, templates_are_read_back)
{
    auto m = nl::profile_set(30, 9, a_template());
    const auto have = nl::parse_profile(payload(m.bytes()));

    ASSERT_TRUE(have);
    EXPECT_EQ(have->profile, a_template());
    EXPECT_EQ(have->mode, std::uint32_t{MRC_MODE_GEN});
}

// The kernel shows the EVs of a template's fields beside it: they are not the file's.
TEST(messages, evs_that_follow_from_fields_are_not_read)
{
    auto m = nl::profile_set(30, 9, a_template());
    m.nest(MRC_A_EV, [](auto &n) { n.u8(MRC_A_EV_PORT, 1); });

    EXPECT_EQ(nl::parse_profile(payload(m.bytes()))->profile, a_template());
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST(messages, a_template_byte_by_byte)
{
    Profile p = a_template();
    p.gens.resize(1);
    p.gens[0].fields.resize(1);
    p.widths = {32};
    auto m = nl::profile_set(30, 9, p);
    const char *expected =
        "06 01 00 00\n"                                           // PROFILE_SET
        "08 00 01 00\n09 00 00 00\n"                              // DEV_IFINDEX
        "a8 00 06 80\n"                                           // PROFILE, nested
        "0c 00 01 00\n05 00 00 00\n00 00 00 00\n"                 //   ID
        "14 00 02 00\nfd 00 6d 72\n00 63 00 00\n00 00 00 00\n00 00 00 00\n"   //   DST
        "05 00 0b 00\n40 00 00 00\n"                              //   DST_LEN
        "08 00 03 00\n02 00 00 00\n08 00 04 00\n04 00 00 00\n"    //   FMT, MODE GEN
        "08 00 05 00\n02 00 00 00\n"                              //   MIN_ACTIVE
        "05 00 08 00\n20 00 00 00\n"                              //   FMT_WIDTHS
        "5c 00 09 80\n05 00 01 00\n01 00 00 00\n"                 //   GEN, nested: PORT
        "2c 00 02 80\n08 00 01 00\n20 00 00 00\n08 00 02 00\n00 bb bb fc\n"   //     FIELD: WIDTH, INIT
        "08 00 03 00\n00 00 00 00\n08 00 04 00\n00 00 00 00\n"    //       FIRST, LAST
        "08 00 05 00\n00 00 00 00\n"                              //       MASK
        "24 00 03 80\n08 00 01 00\n00 00 00 00\n08 00 02 00\n72 00 00 00\n"   //     COPY: FROM, BIT
        "08 00 03 00\n0e 00 00 00\n08 00 04 00\n52 00 00 00\n";   //       WIDTH, AT

    EXPECT_EQ(hex(payload(m.bytes())), expected);
}
#endif

TEST(messages, a_template_is_deleted_with_its_length)
{
    auto m = nl::profile_del(30, 9, a_template().key);

    EXPECT_EQ(nl::parse_profile(payload(m.bytes()))->profile.key, a_template().key);
    EXPECT_EQ(nl::parse_profile(payload(nl::profile_del(30, 9, {5, {}, 128}).bytes()))->profile.key.len, 128);
}

// The module's limit, not that of a nest's 16 bits of length.
TEST(messages, the_largest_profile_is_sent_whole)
{
    const Profile want{{5, {}}, 1, std::vector<Ev>(kEvsMax, Ev{*parse_ip6("fc00::1"), 1})};
    auto m = nl::profile_set(30, 9, want);

    EXPECT_EQ(kEvsMax, 4096u);
    EXPECT_FALSE(m.too_long());
    EXPECT_EQ(nl::parse_profile(payload(m.bytes()))->profile, want);
}

TEST(messages, a_length_that_does_not_fit_is_an_error)
{
    mrcnl::request nest(MRC_CMD_PROFILE_SET), flat(MRC_CMD_PROFILE_SET), fits(MRC_CMD_PROFILE_SET);
    const std::vector<std::uint8_t> big(65536);

    nest.nest(MRC_A_PROFILE, [](auto &n) {
        for (int i = 0; i < 20000; i++)
            n.u32(MRC_A_PROFILE_FMT, 1);
    });
    EXPECT_TRUE(nest.too_long());
    flat.put(MRC_A_EV_VALUE, big);
    EXPECT_TRUE(flat.too_long());
    fits.put(MRC_A_EV_VALUE, nl::Bytes(big).first(65531));
    EXPECT_FALSE(fits.too_long());
    EXPECT_EQ(mrcnl::table(mrcnl::attrs_after<genlmsghdr>(payload(fits.bytes())))[MRC_A_EV_VALUE]
                  .bytes().size(), 65531u);
}

TEST(messages, planes_are_read_back)
{
    auto m = nl::sid_set(30, 9, {"mrc0", 3, *parse_ip6("fcbb:bb00:1201::")});
    const auto plane = nl::parse_plane(payload(m.bytes()));

    ASSERT_TRUE(plane);
    EXPECT_EQ(plane->number, 3);
    EXPECT_EQ(plane->sid, parse_ip6("fcbb:bb00:1201::"));
}

// No length and no cut makes a reader leave the message (run under ASan).
TEST(messages, truncated_ones_are_harmless)
{
    auto m = nl::route_new({*parse_prefix6("fcbb::/48"), 1, "x", {}}, 7, nl::RouteMode::kAdd);
    const auto whole = m.bytes();

    for (std::size_t n = 0; n <= whole.size(); n++) {
        const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + n);
        if (n < NLMSG_HDRLEN)
            continue;
        const auto p = nl::Bytes(cut).subspan(NLMSG_HDRLEN);
        (void)nl::parse_route(p);
        (void)nl::parse_link(p);
        (void)nl::parse_addr(p);
        (void)nl::parse_profile(p);
        (void)nl::parse_plane(p);
    }
}

}   // namespace

}   // namespace mrcd
