// SPDX-License-Identifier: GPL-2.0
// op_text.cc - prints operations as shell commands.
#include <fmt/format.h>

#include "../tools/lib/fabric/profile_text.h"
#include "plan.h"

namespace mrcd {

namespace {

std::string route_text(const char *verb, const RouteSpec &r)
{
    const bool v4 = is_mapped(r.dst);
    std::string hop;

    if (r.via)
        hop = fmt::format("via {}{} ", v4 ? "inet6 " : "", to_string(*r.via));
    else if (r.own_sid())
        hop = "encap seg6local action End flavors next-csid lblen 32 nflen 16 ";
    return fmt::format("ip {}route {} {} {}dev {} proto {} metric {}", v4 ? "" : "-6 ", verb,
                       net_text(r.dst), hop, r.link, kProtocol, r.metric);
}

struct Printer {
    std::string operator()(const SysctlSet &o) const
    {
        return fmt::format("sysctl -w net/ipv6/conf/{}={}", o.key, o.value);
    }
    std::string operator()(const LinkAdd &o) const
    {
        return fmt::format("ip link add {} type {}", o.name, o.kind);
    }
    std::string operator()(const LinkMtu &o) const
    {
        return fmt::format("ip link set {} mtu {}", o.name, o.mtu);
    }
    std::string operator()(const LinkUp &o) const { return fmt::format("ip link set {} up", o.name); }
    std::string operator()(const AddrAdd &o) const
    {
        return fmt::format("ip addr add {} dev {}{} proto {}", to_string(o.addr), o.link,
                           o.addr.addr.v4 ? "" : " nodad", kProtocol);
    }
    std::string operator()(const AddrDel &o) const
    {
        return fmt::format("ip addr del {} dev {}", to_string(o.addr), o.link);
    }
    std::string operator()(const PlaneAdd &o) const
    {
        return fmt::format("mrcctl plane set dev {0} plane {1} netdev {2} && "
                           "ip link set {2} master {0}", o.device, o.number, o.netdev);
    }
    std::string operator()(const PlaneRelease &o) const
    {
        return fmt::format("ip link set {} nomaster", o.netdev);
    }
    std::string operator()(const RouteAdd &o) const { return route_text("add", o.route); }
    std::string operator()(const RouteReplace &o) const { return route_text("replace", o.route); }
    std::string operator()(const RouteDel &o) const
    {
        return fmt::format("ip {}route del {} proto {} metric {}", is_mapped(o.dst) ? "" : "-6 ",
                           net_text(o.dst), kProtocol, o.metric);
    }
    std::string operator()(const SidSet &o) const
    {
        return fmt::format("mrcctl plane set dev {} plane {} sid {}", o.device, o.number,
                           to_string(o.sid));
    }
    std::string operator()(const DefaultProfileSet &o) const
    {
        return fmt::format("mrcctl dev set {} profile {}", o.device, o.id);
    }
    std::string operator()(const QosSet &o) const
    {
        const Dscps &d = o.qos.dscp;
        return fmt::format("mrcctl dev set {} dscp-data {} dscp-rtx {} dscp-control {} dscp-no-trim {} dscp-trimmed {} "
                           "dscp-trimmed-lasthop {} trim-nack {}", o.device, d.data, d.rtx, d.control, d.no_trim,
                           d.trimmed, d.trimmed_lasthop, o.qos.trim_nack ? "on" : "off");
    }
    std::string operator()(const ProfileSet &o) const
    {
        return fmt::format("mrcctl profile set dev {} {}", o.device, profile_text(o.profile));
    }
    std::string operator()(const ProfileDel &o) const
    {
        return fmt::format("mrcctl profile del dev {} id {} dst {}", o.device, o.key.id,
                           dst_text(o.key));
    }
};

}   // namespace

std::string to_string(const Op &op) { return std::visit(Printer(), op); }

}   // namespace mrcd
