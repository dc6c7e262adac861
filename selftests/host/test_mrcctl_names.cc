// SPDX-License-Identifier: GPL-2.0
// test_mrcctl_names.cc - names from fabric files in lines of the log: of a rule, of lists, of hosts
// without switches.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <linux/genetlink.h>
#include <linux/mrc.h>

#include "../../tools/mrcctl/ev_values.h"
#include "../../tools/mrcctl/names.h"
#include "../../tools/mrcctl/records.h"
#include "test_mrcctl.h"

using namespace mrcctl;

namespace {

const char *const by_rule = R"(
[fabric]
block = "fcbb:bb00::/31"
prefix = "fd00:6d72:63::/64"
[planes]
count = 2
[profile]
id = 1
evs_per_plane = 2
[topology]
t0s = 3
t1s = 2
hosts_per_t0 = 4
ipv4 = "10.77.0.0/24"
[topology.missing]
nodes = ["h3-1"]
[[topology.differs]]
node = "h2-2"
addresses = ["fd00:6d72:63::77/64"]
)";

const char *const as_lists = R"(
[fabric]
block = "fcbb:bb00::/32"
prefix = "fd00:6d72:63::/64"
[planes]
count = 1
[profile]
id = 1
evs_per_plane = 1
[usid]
plane_stride = 0x1000
t0_base = 0x000
t1_base = 0x100
host_base = 0x200
[[switch]]
name = "leaf"
tier = 0
plane = 1
index = 1
[[host]]
name = "alice"
index = 7
device = "mrc0"
addresses = ["fd00:6d72:63::7/64", "10.77.0.7/24"]
[[host.port]]
plane = 1
netdev = "eth1"
switch = "leaf"
switch_port = "swp7"
)";

const char *const as_flat = R"(
[flat]
hosts = ["left", "right"]
ports = ["eth1", "eth2"]
prefix = "fd00:6d72:63::/64"
)";

fabric_names names_of(const char *name, const char *text)
{
    try {
        return fabric_names(mrcfab::parse_fabric(text, name));
    } catch (const std::exception &e) {
        check(fmt::format("{} is a fabric", name), false, e.what());
        return {};
    }
}

std::string host_at(const fabric_names &names, const char *address)
{
    return names.host(parse_address(address, "peer"));
}

std::string joined(const std::vector<std::string> &list) { return fmt::format("{}", fmt::join(list, ",")); }

void test_host_names()
{
    auto rule = names_of("rule", by_rule), lists = names_of("lists", as_lists), two = names_of("flat", as_flat);
    mrcfab::Fabric f = mrcfab::parse_fabric(by_rule, "rule");
    auto &t = *f.topology;

    for (mrcfab::HostId h : {mrcfab::HostId{1, 1}, {1, 4}, {3, 2}})
        for (auto &a : t.addresses(h)) {
            auto bytes = a.addr.gid().bytes;
            equal(fmt::format("host of {}", to_string(a.addr)), rule.host(bytes), t.name(h));
        }
    auto by_the_rule = [&](mrcfab::HostId h) { return rule.host(t.addressing[0].address(h).addr.gid().bytes); };
    equal("an address of its own", host_at(rule, "fd00:6d72:63::77"), "h2-2");
    equal("no longer that of the rule", by_the_rule({2, 2}), "");
    equal("a host that is missing", by_the_rule({3, 1}), "");
    equal("a host beyond the last", by_the_rule({1, 5}), "");
    equal("an address of elsewhere", host_at(rule, "fd00::1"), "");
    equal("no address", rule.host({}), "");
    equal("of lists", host_at(lists, "fd00:6d72:63::7"), "alice");
    equal("by IPv4", host_at(lists, "10.77.0.7"), "alice");
    equal("of none", host_at(lists, "10.77.0.8"), "");
    for (unsigned n = 1; n <= 2; n++)
        for (auto &a : mrcfab::parse_fabric(as_flat, "flat").flat->addresses(n))
            equal(fmt::format("flat host of {}", to_string(a.addr)), two.host(a.addr.gid().bytes), std::string(n == 1 ? "left" : "right"));
    check("a flat fabric has no switches", !two.has_switches() && rule.has_switches() && lists.has_switches());
    equal("a path by names", joined(rule.path(2, parse_ev(MRC_FMT_SRV6, "fcbb:bb01:4001:8002:4003:c001::"))),
          "p2-t0-1,p2-t1-2,p2-t0-3");
    equal("an EV that is no SRv6 path", joined(rule.path(2, parse_ev(MRC_FMT_UDP, "17"))), "");
}

void test_loading_names()
{
    char dir[] = "/tmp/mrcctl.XXXXXX";
    const std::string file = std::string(mkdtemp(dir)) + "/fabric.toml";
    fabric_names names;

    check("a file that is not there is refused", names.load(file).code == EINVAL);
    std::ofstream(file) << by_rule << "t0z = 3\n";
    auto e = names.load(file);
    check("a bad file is refused, with the place", e.code == EINVAL && e.text.find("fabric.toml:") != std::string::npos, e.text);
    std::ofstream(file) << by_rule;
    check("a good one is read", !names.load(file) && names.has_switches());
    std::filesystem::remove_all(dir);
}

void test_ev_values()
{
    ev_list list;
    const ev_value one = parse_ev(MRC_FMT_SRV6, "fcbb:bb01:4001:8002:4003:c001::");
    const ev_value other = parse_ev(MRC_FMT_SRV6, "fcbb:bb01:4001:8001:4003:c001::");

    list.add(2, 3, 0x4711, one);
    list.add(2, 3, 0x4711, one);
    check("the value of an EV, in two path sets", list.find(2, 3, 0x4711) == one);
    check("another EV by now", !list.find(2, 3, 0x4712) && !list.find(1, 3, 0x4711) && !list.find(2, 4, 0x4711));
    list.add(2, 3, 0x4711, other);
    list.add(2, 3, 0x4711, one);
    check("path sets that disagree", !list.find(2, 3, 0x4711));
}

mrcnl::request log_message()
{
    mrcnl::request rq(MRC_CMD_LOG);

    rq.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_LOG, [](auto &n) {
        n.u64(MRC_A_LOG_ID, 9).u32(MRC_A_LOG_KIND, MRC_LOG_EV_BAD).u32(MRC_A_LOG_CAUSE, MRC_WHY_LOST);
        n.u64(MRC_A_LOG_REAL, 1795953600000000000).u8(MRC_A_LOG_PLANE, 2);
        n.put(MRC_A_LOG_GID, parse_address("fd00:6d72:63::2", "peer")).u32(MRC_A_LOG_EV, 3);
        n.u32(MRC_A_LOG_ENTROPY, 0x4711).u32(MRC_A_LOG_COUNT, 1);
    });
    return rq;
}

std::string log_line(const record &r, bool as_json)
{
    std::FILE *f = std::tmpfile();
    std::string s(4096, '\0');

    auto out = make_printer({.as_json = as_json, .lines = true}, f, f);
    out->object(r);
    out->finish();
    std::rewind(f);
    s.resize(std::fread(s.data(), 1, s.size(), f));
    std::fclose(f);
    return s.substr(s.find(as_json ? "\"event\"" : "event "));
}

void test_named_lines()
{
    auto rq = log_message();
    auto attrs = mrcnl::attr_range(rq.bytes().subspan(NLMSG_HDRLEN + GENL_HDRLEN));
    record named = log_record(mrcnl::table(attrs), {"h2-1", {"p2-t0-1", "p2-t1-2", "p2-t0-3"}});

    equal("a line of the log by names", log_line(named, false),
          "event ev-bad dev mrc0 plane 2 peer fd00:6d72:63::2 host h2-1 ev 3 by p2-t0-1,p2-t1-2,p2-t0-3 cause lost\n");
    std::string json = log_line(named, true);
    check("as JSON", json.find(R"("host":"h2-1","ev":3,"by":["p2-t0-1","p2-t1-2","p2-t0-3"])") != std::string::npos, json);
    equal("without names as before", log_line(log_record(mrcnl::table(attrs)), false),
          "event ev-bad dev mrc0 plane 2 peer fd00:6d72:63::2 ev 3 cause lost\n");
}

} // namespace

void test_names()
{
    test_host_names();
    test_loading_names();
    test_ev_values();
    test_named_lines();
}
