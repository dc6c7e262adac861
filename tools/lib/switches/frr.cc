// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// frr.cc - for FRR 10 on a Linux switch: /etc/frr/frr.conf. What FRR does not set is a shell line
// in a comment: sed -n 's/^! before: //p' makes a script for the time before FRR starts.
#include <fmt/format.h>

#include <algorithm>

#include "../fabric/desired.h"
#include "export.h"

namespace mrcsw {

using namespace mrcfab;

namespace {

constexpr unsigned kControlBand = 1, kDataBand = 2;
constexpr unsigned kPacket = 1500;   // RED counts in packets

std::string before(const std::string &line) { return "! before: " + line + "\n"; }
std::string after(const std::string &line) { return "! after: " + line + "\n"; }

std::string links(const SwitchConfig &c)
{
    std::string s = as_comments({"Before FRR starts: FRR attaches a uSID to the interface sr0, and makes none. A packet "
                                 "of MRC is as long as the MTU."}, "!");
    s += before(fmt::format("ip link show {0} >/dev/null 2>&1 || ip link add {0} type dummy", kSidDevice));
    s += before(fmt::format("ip link set {} up", kSidDevice));
    for (const SwitchPort &p : c.ports)
        s += before(fmt::format("ip link set {} mtu {} up", p.name, c.mtu));
    return s;
}

// RED wants a packet below both thresholds, and one between them.
std::string queue(const SwitchConfig &c, const SwitchPort &p)
{
    const Ecn &e = c.qos.ecn;
    const unsigned min = std::max(e.min, kPacket), max = std::max(e.max, min + kPacket);
    const auto control = class_dscps(c.qos).back().dscps;
    std::string s;

    s += before(fmt::format("tc qdisc replace dev {} root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
                           p.name));
    for (const unsigned dscp : control)
        s += before(fmt::format("tc filter replace dev {} parent 1: protocol ipv6 pref {} handle 1 flower ip_tos {:#x}/0xfc "
                                "classid 1:{}", p.name, dscp + 1, dscp << 2, kControlBand));
    s += before(fmt::format("tc qdisc replace dev {} parent 1:{} red limit {} min {} max {} avpkt {} probability {:.2f} ecn",
                           p.name, kDataBand, std::uint64_t{max} * 4, min, max, kPacket, e.percent / 100.0));
    return s;
}

std::string queues(const SwitchConfig &c)
{
    std::string s = as_comments({"Queues are tc's: control packets first, data marked by RED. Linux does not trim. A switch "
                                 "ASIC below Linux (switchdev) takes what it can offload."}, "!");
    for (const SwitchPort &p : c.ports)
        s += queue(c, p);
    return s;
}

std::vector<std::string> frr_traps(const SwitchConfig &c)
{
    auto list = common_traps(c);

    list.push_back("FRR 8 and 9 have no static SIDs. FRR 10.3 installs the uN below. FRR 10.5.4 was seen to accept it and "
                   "to install nothing. Look, and add the route by hand where it is missing:");
    return list;
}

std::string check(const SwitchConfig &c)
{
    const auto sid = to_string(c.sid);

    return after(fmt::format("ip -6 route show {0} | grep -q seg6local || ip -6 route replace {0} encap seg6local action End "
                             "flavors next-csid lblen 32 nflen 16 dev {1}", sid, kSidDevice));
}

}   // namespace

Exported export_frr(const SwitchConfig &c)
{
    const auto sid = to_string(c.sid);
    std::string s = fmt::format("! {}: frr.conf, by mrcctl fabric export\n", c.name);

    s += links(c) + queues(c) + as_comments(frr_traps(c), "!") + check(c);
    s += fmt::format("!\nfrr defaults datacenter\nhostname {}\nipv6 forwarding\n", c.name);
    for (const SwitchPort &p : c.ports)
        s += fmt::format("!\ninterface {}\n description {}\n ipv6 address {}\nexit\n", p.name, p.far_end, to_string(p.addr));
    s += "!\n";
    for (const SwitchRoute &r : c.routes)
        s += fmt::format("ipv6 route {} {} {}\n", to_string(r.dst), to_string(r.via), r.port);
    s += fmt::format("!\nsegment-routing\n srv6\n  static-sids\n   sid {0} locator {1} behavior uN\n  exit\n exit\n"
                     " srv6\n  locators\n   locator {1}\n    prefix {0} block-len 32 node-len 16 func-bits 16\n"
                     "    behavior usid\n   exit\n  exit\n exit\nexit\n!\nend\n", sid, kLocator);
    return {s, frr_traps(c)};
}

}   // namespace mrcsw
