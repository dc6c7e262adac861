// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// eos.cc - for Arista EOS: addresses, routes, classes and ECN. The commands for uSIDs and trimming
// are in Arista's documents for customers: their values stand in comments.
#include <fmt/format.h>

#include <algorithm>

#include "export.h"

namespace mrcsw {

using namespace mrcfab;

namespace {

constexpr const char *kProfile = "MRC";

// The kernel of EOS says et3_1 for Ethernet3/1.
std::string port_name(const std::string &name)
{
    if (!name.starts_with("et") || name.find_first_not_of("0123456789_", 2) != name.npos || name.size() == 2)
        return name;
    std::string s = "Ethernet" + name.substr(2);
    std::replace(s.begin(), s.end(), '_', '/');
    return s;
}

std::vector<std::string> eos_traps(const SwitchConfig &c)
{
    auto list = common_traps(c);
    const Qos &q = c.qos;
    const auto strange = std::count_if(c.ports.begin(), c.ports.end(), [](const SwitchPort &p) {
        return !port_name(p.name).starts_with("Ethernet");
    });

    if (strange)
        list.push_back(fmt::format("{} of {} ports have names that EOS has not: the fabric file says et3_1, as its kernel does, "
                                   "for Ethernet3/1", strange, c.ports.size()));
    list.push_back(fmt::format("To be added by hand, by the document of your EOS release on SRv6: the uSID (uN, End with "
                               "NEXT-CSID) {}, block 32 bits, node 16 bits.", to_string(c.sid)));
    if (q.trim_size)
        list.push_back(fmt::format("Likewise, by that on SRv6 trimming: tx-queue {} trims to {} bytes; trimmed packets leave "
                                   "by tx-queue {}, with DSCP {} on ports towards hosts and {} on others.", q.classes.data,
                                   q.trim_size, q.classes.control, q.dscp.trimmed_lasthop, q.dscp.trimmed));
    list.push_back("Some ASICs want a zero uSID after the active one: no path may then use all six places of a carrier.");
    list.push_back("Platforms that tell unicast queues apart say uc-tx-queue in the place of tx-queue.");
    return list;
}

}   // namespace

Exported export_eos(const SwitchConfig &c)
{
    const Qos &q = c.qos;
    std::string s = fmt::format("! {}: by mrcctl fabric export\n", c.name) + as_comments(eos_traps(c), "!");

    s += fmt::format("!\nhostname {}\n!\nipv6 unicast-routing\n!\n", c.name);
    for (const ClassDscps &d : class_dscps(q))
        if (!d.dscps.empty())
            s += fmt::format("qos map dscp {} to traffic-class {}\n", fmt::join(d.dscps, " "), d.number);
    s += fmt::format("!\nqos profile {}\n   qos trust dscp\n", kProfile);
    for (const unsigned tc : {q.classes.data, q.classes.no_trim})
        s += fmt::format("   tx-queue {}\n      random-detect ecn minimum-threshold {} bytes maximum-threshold {} bytes "
                         "max-mark-probability {} weight 0\n", tc, q.ecn.min, q.ecn.max, q.ecn.percent);
    s += fmt::format("   tx-queue {}\n      priority strict\n!\n", q.classes.control);
    for (const SwitchPort &p : c.ports)
        s += fmt::format("interface {}\n   description {}\n   no switchport\n   mtu {}\n   ipv6 enable\n"
                         "   ipv6 address {} link-local\n   service-profile {}\n!\n", port_name(p.name),
                         p.far_end, c.mtu, to_string(p.addr), kProfile);
    for (const SwitchRoute &r : c.routes)
        s += fmt::format("ipv6 route {} {} {}\n", to_string(r.dst), port_name(r.port), to_string(r.via));
    s += "!\nend\n";
    return {s, eos_traps(c)};
}

}   // namespace mrcsw
