// SPDX-License-Identifier: GPL-2.0
// rtnl.h - the rtnetlink messages that mrcd sends, and the attributes that it reads.
//
// Built from attributes, because libnl-route-3 3.7 knows neither seg6local with next-csid nor
// IFA_PROTO.
#pragma once

#include <optional>

#include "../tools/lib/nl/request.h"
#include "plan.h"

namespace mrcd::nl {

using Bytes = mrcnl::bytes;
using Message = mrcnl::request;

Message link_add(const LinkAdd &op);
Message link_mtu(int ifindex, std::uint32_t mtu);
Message link_master(int ifindex, int master);   // 0: no master
Message link_up(int ifindex);
Message addr_add(int ifindex, const IfAddr &addr);
Message addr_del(int ifindex, const IfAddr &addr);
enum class RouteMode { kAdd, kReplace };
Message route_new(const RouteSpec &route, int ifindex, RouteMode mode);
Message route_del(const Prefix6 &dst, std::uint32_t metric, int ifindex);

Message links_dump();
Message addrs_dump();
Message routes_dump(int family);   // our routes of the main table

Link parse_link(Bytes payload);
Addr parse_addr(Bytes payload);
// nullopt: not a unicast route of the main table.
std::optional<Route> parse_route(Bytes payload);

}   // namespace mrcd::nl
