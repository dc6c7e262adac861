// SPDX-License-Identifier: GPL-2.0
// [topology] that cannot be: refused with the place, what is wrong and what would be right.
#include <gtest/gtest.h>

#include "rules.h"

namespace mrcd {

namespace {

// Replaces @from by @to once; at the file's end, if there is no @from.
struct RefusedRule {
    const char *name;
    const char *from;
    const char *to;
    std::vector<const char *> says;
};

class BadRule : public testing::TestWithParam<RefusedRule> {};

TEST_P(BadRule, is_refused)
{
    const RefusedRule &b = GetParam();
    auto text = rule_text({.block_len = 31});
    const auto at = *b.from ? text.find(b.from) : text.size();

    ASSERT_NE(at, text.npos);
    text.replace(at, strlen(b.from), b.to);
    try {
        parse_fabric(text, "rule.toml");
        FAIL() << "accepted";
    } catch (const FabricError &e) {
        const std::string what = e.what();
        EXPECT_EQ(what.rfind("rule.toml:", 0), 0u) << what;
        for (const char *part : b.says)
            EXPECT_NE(what.find(part), what.npos) << what << "\nlacks: " << part;
        EXPECT_EQ(what.find('\n'), what.npos) << "one mistake, several errors: " << what;
    }
}

const RefusedRule kRefusedRules[] = {
    {"no_t0s", "t0s = 3", "t0s = 0", {":10:7:", "topology.t0s: 0 is out of range, expected 1 to 16383"}},
    {"many_t0s", "t0s = 3", "t0s = 16384", {"topology.t0s: 16384 is out of range, expected 1 to 16383"}},
    {"absurd_t1s", "t1s = 2", "t1s = 9223372036854775807", {"expected 1 to 16383"}},
    {"negative_hosts", "hosts_per_t0 = 2", "hosts_per_t0 = -1", {"-1 is out of range"}},
    {"float_hosts", "hosts_per_t0 = 2", "hosts_per_t0 = 2.5", {"topology.hosts_per_t0: not an integer"}},
    {"missing_t1s", "t1s = 2\n", "", {"key \"t1s\" in [topology] is missing"}},
    {"unknown_key", "t1s = 2", "t1s = 2\nt2s = 1", {":12:1:", "unknown key \"t2s\" in [topology]"}},
    {"mistyped_key", "t1s = 2", "t1z = 2", {":11:1:", "unknown key \"t1z\" in [topology], did you mean \"t1s\"?"}},
    {"unknown_before_wrong", "t1s = 2", "t1s = 0\nipv5 = 1", {":12:1:", "did you mean \"ipv4\"?"}},
    {"beside_lists", "", "[usid]\nplane_stride = 1\n", {"usid", "expected either that or [topology]"}},
    {"one_block", "fcbb:bb00::/31", "fcbb:bb00::/32", {":2:9:", "fabric.block: fcbb:bb00::/32 is one block", "2 planes", "length 31"}},
    {"few_blocks", "count = 2", "count = 3", {"fabric.block: fcbb:bb00::/31 holds 2 blocks", "3 planes"}},
    {"block_in_prefix", "fd00:6d72:63::/64", "fcbb::/16", {"fabric.prefix", "overlap"}},
    {"prefix_in_block", "fd00:6d72:63::/64", "fcbb:bb01:1::/64", {"fabric.prefix", "overlap"}},
    {"long_prefix", "fd00:6d72:63::/64", "fd00:6d72:63::/112", {"leaves 16 bits for the numbers of T0 and host, expected 32"}},
    {"multicast_prefix", "fd00:6d72:63::/64", "ff05::/64", {"fabric.prefix", "a multicast address"}},
    {"link_local_prefix", "fd00:6d72:63::/64", "fe80::/64", {"a link-local address"}},
    {"ipv4_v6", "10.0.0.0/8", "fd00::/64", {"topology.ipv4: \"fd00::/64\" is wrong, expected an IPv4 network"}},
    {"ipv4_host_bits", "10.0.0.0/8", "10.0.0.1/8", {"\"10.0.0.1/8\" is wrong"}},
    {"ipv4_everything", "10.0.0.0/8", "0.0.0.0/0", {"addresses of 0.0.0.0/8, which no host can have"}},
    {"ipv4_loopback", "10.0.0.0/8", "127.1.0.0/16", {"addresses of 127.0.0.0/8"}},
    {"ipv4_multicast", "10.0.0.0/8", "230.0.0.0/8", {"addresses of 224.0.0.0/3"}},
    {"ipv4_reserved", "10.0.0.0/8", "240.0.0.0/8", {"addresses of 224.0.0.0/3"}},
    {"ipv4_link_local", "10.0.0.0/8", "169.254.0.0/16", {"addresses of 169.254.0.0/16"}},
    {"ipv4_small", "10.0.0.0/8", "10.0.0.0/30", {"too few addresses: 2 bits are the T0's number and 2 the host's", "length 28 at most"}},
    {"device_percent", "t1s = 2", "t1s = 2\ndevice = \"mrc%d\"", {"topology.device: \"mrc%d\" is no interface name"}},
    {"device_all", "t1s = 2", "t1s = 2\ndevice = \"all\"", {"\"all\" is no interface name"}},
    {"device_is_port", "t1s = 2", "t1s = 2\ndevice = \"eth3\"", {"topology.device: \"eth3\" could be a port of the host"}},
    {"name_slash", "", "[topology.names]\nhost = \"a/{t0}-{host}\"", {"topology.names.host: \"a/{t0}-{host}\" makes no names"}},
    {"name_percent", "", "[topology.names]\nt0 = \"a%{plane}-{t0}\"", {"topology.names.t0", "makes no names"}},
    {"name_lacks", "", "[topology.names]\nhost = \"a{host}\"", {"expected {t0} and {host}, each once"}},
    {"name_twice", "", "[topology.names]\nhost = \"a{host}-{host}-{t0}\"", {"each once"}},
    {"name_unknown", "", "[topology.names]\nhost = \"a{host}-{rack}\"", {"{rack} is no number of a name"}},
    {"name_together", "", "[topology.names]\nhost = \"a{host}{t0}\"", {"two numbers with nothing between them"}},
    {"name_digit", "", "[topology.names]\nhost = \"a{host}0b{t0}\"", {"a digit right behind a number"}},
    {"name_open", "", "[topology.names]\nhost = \"a{host\"", {"'{' without its other end"}},
    {"name_close", "", "[topology.names]\nhost = \"a}\"", {"'}' without its other end"}},
    {"name_digits", "", "[topology.names]\nhost = \"a{host:9}-{t0}\"", {"\"9\" is no number of digits, 1 to 6"}},
    {"name_long", "", "[topology.names]\nhost = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{host:6}-{t0}\"", {"expected 1 to 63 letters"}},
    {"names_alike", "", "[topology.names]\nt0 = \"s{plane}-{t0}\"\nt1 = \"s{plane}-{t1}\"", {"topology.names.t1", "could make the same name"}},
    {"names_alike_by_digits", "", "[topology.names]\nt0 = \"s1{plane}-{t0}\"\nt1 = \"s{plane}-1{t1}\"", {"could make the same name"}},
    {"name_host_switch", "", "[topology.names]\nhost = \"p{t0}-t1-{host}\"", {"could make the same name"}},
    {"port_long", "", "[topology.ports]\nhost = \"interface-very{plane:2}\"", {"topology.ports.host: \"interface-very{plane:2}\" makes no interface names"}},
    {"port_colon", "", "[topology.ports]\nt0_host = \"a:{host}\"", {"topology.ports.t0_host"}},
    {"port_percent", "", "[topology.ports]\nt0_host = \"a%d{host}\"", {"topology.ports.t0_host"}},
    {"ports_alike", "", "[topology.ports]\nt0_host = \"swp{host}\"\nt0_t1 = \"swp{t1}\"", {"topology.ports.t0_t1", "could make the same name"}},
    {"port_sr0", "", "[topology.ports]\nt0_host = \"sr{host}\"", {"could make the name sr0"}},
    {"missing_unknown", "", "[topology.missing]\nnodes = [\"h9-1\"]", {"topology.missing.nodes: there is no node \"h9-1\", expected a name such as h1-1, p1-t0-1 or p1-t1-1"}},
    {"missing_twice", "", "[topology.missing]\nnodes = [\"h1-1\", \"h1-1\"]", {"\"h1-1\" is there twice"}},
    {"missing_number", "", "[topology.missing]\nnodes = [1]", {"an item is not a string"}},
    {"missing_port", "", "[topology.missing]\nports = [\"h1-1\"]", {"\"h1-1\" is no port, expected node:port"}},
    {"missing_port_unknown", "", "[topology.missing]\nports = [\"h1-1:eth7\"]", {"h1-1 has no port \"eth7\"", "such as eth1"}},
    {"differs_unknown", "", "[[topology.differs]]\nnode = \"x\"", {"topology.differs.node: there is no node \"x\""}},
    {"differs_missing", "", "[topology.missing]\nnodes = [\"h1-1\"]\n[[topology.differs]]\nnode = \"h1-1\"", {"is missing (topology.missing)"}},
    {"differs_twice", "", "[[topology.differs]]\nnode = \"h1-1\"\n[[topology.differs]]\nnode = \"h1-1\"", {"\"h1-1\" is there twice"}},
    {"differs_switch_device", "", "[[topology.differs]]\nnode = \"p1-t0-1\"\ndevice = \"x\"", {"p1-t0-1 is a switch, expected ports only"}},
    {"differs_port", "", "[[topology.differs]]\nnode = \"h1-1\"\nports = {eth9 = \"x\"}", {"h1-1 has no port \"eth9\" by the rule"}},
    {"differs_port_taken", "", "[[topology.differs]]\nnode = \"h1-1\"\nports = {eth1 = \"eth2\"}", {"\"eth2\" is another port of h1-1"}},
    {"differs_port_twice", "", "[[topology.differs]]\nnode = \"h1-1\"\nports = {eth1 = \"a\", eth2 = \"a\"}", {"\"a\" is there twice"}},
    {"differs_port_device", "", "[[topology.differs]]\nnode = \"h1-1\"\nports = {eth1 = \"mrc0\"}", {"\"mrc0\" is the host's device"}},
    {"differs_port_slash", "", "[[topology.differs]]\nnode = \"h1-1\"\nports = {eth1 = \"a/b\"}", {"\"a/b\" is no interface name"}},
    {"differs_device_port", "", "[[topology.differs]]\nnode = \"h1-1\"\ndevice = \"eth1\"", {"\"eth1\" is a port of h1-1"}},
    {"differs_address_taken", "", "[[topology.differs]]\nnode = \"h1-1\"\naddresses = [\"fd00:6d72:63::2:1/64\"]", {"fd00:6d72:63::2:1 is that of h2-1 by the rule"}},
    {"differs_address_outside", "", "[[topology.differs]]\nnode = \"h1-1\"\naddresses = [\"fd01::1/64\"]", {"outside fabric.prefix"}},
    {"differs_address_v4_only", "", "[[topology.differs]]\nnode = \"h1-1\"\naddresses = [\"192.168.0.1/24\"]", {"h1-1 has no IPv6 address"}},
    {"differs_address_broadcast", "", "[[topology.differs]]\nnode = \"h1-1\"\naddresses = [\"192.168.0.255/24\"]", {"the network's broadcast address"}},
    {"differs_address_network", "", "[[topology.differs]]\nnode = \"h1-1\"\naddresses = [\"192.168.0.0/24\"]", {"the address of the network itself"}},
    {"no_table", "[topology]\n", "[topology.ports]\nhost = \"eth{plane}\"\n[[topology]]\n", {"rule.toml:"}},
    {"letters_of_others", "t1s = 2", "t1s = 2\n\xd7\x9e = 1", {":12:1:", "'?'"}},
};

INSTANTIATE_TEST_SUITE_P(rule, BadRule, testing::ValuesIn(kRefusedRules),
                         [](const auto &bad) { return bad.param.name; });

TEST(bad_rule, more_exceptions_than_profiles)
{
    std::string nodes;
    for (unsigned i = 1; i <= 9000; i++)
        nodes += fmt::format("\"p1-t0-{}\",", i);

    try {
        make_rule({.t0s = 16383, .more = "[topology.missing]\nnodes = [" + nodes + "]\n"});
        FAIL();
    } catch (const FabricError &e) {
        EXPECT_NE(std::string(e.what()).find("the exceptions are 18004 profiles in every host, "
                                             "expected 16384 at most"), std::string::npos) << e.what();
    }
}

// What is told is fit for a terminal, however long or odd the file's words are.
TEST(bad_rule, odd_words_are_told_in_short)
{
    try {
        parse_fabric("[fabric]\n\"" + std::string(100'000, 'x') + "\\u001b[31m\" = 1\n" +
                     rule_text().substr(9), "x");
        FAIL();
    } catch (const FabricError &e) {
        EXPECT_LT(std::string(e.what()).size(), 600u);
        EXPECT_EQ(std::string(e.what()).find('\x1b'), std::string::npos);
    }
}

}   // namespace

}   // namespace mrcd
