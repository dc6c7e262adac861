// SPDX-License-Identifier: GPL-2.0
// plan.h - what has to be done so that Observed becomes Desired. Pure: no I/O,
// no clock, no state; planning again after a plan was carried out gives nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "state.h"

namespace mrcd {

struct SysctlSet { std::string key, value; };
struct LinkAdd { std::string name, kind; };
struct LinkMtu { std::string name; std::uint32_t mtu; };
struct LinkMaster { std::string name, master; };   // master empty: none
// The number is that netdev's when it comes, whatever was there before it.
struct PlaneKeep { std::string device; std::uint8_t number; std::string netdev; };
struct LinkUp { std::string name; };
struct AddrAdd { std::string link; IfAddr addr; };
struct AddrDel { std::string link; IfAddr addr; };

struct RouteSpec {
    Prefix6 dst;
    std::uint32_t metric = kRouteMetric;
    std::string link;
    std::optional<Ip6> via;   // without: seg6local End next-csid
};

struct RouteAdd { RouteSpec route; };
struct RouteReplace { RouteSpec route; };
struct RouteDel { Prefix6 dst; std::uint32_t metric; int oif; };

struct PlaneSet {
    std::string device;
    std::uint8_t number;
    std::optional<bool> admin;
    std::optional<Ip6> sid;
};

struct DefaultProfileSet { std::string device; std::uint64_t id; };
struct ProfileSet { std::string device; Profile profile; };
struct ProfileDel { std::string device; ProfileKey key; };

using Op = std::variant<SysctlSet, LinkAdd, LinkMtu, LinkMaster, LinkUp, AddrAdd, AddrDel,
                        RouteAdd, RouteReplace, RouteDel, PlaneSet, DefaultProfileSet,
                        ProfileSet, ProfileDel, PlaneKeep>;

// One line, in the words of ip(8) and mrcctl(8) where they have them.
std::string to_string(const Op &op);

// What is remembered between plans, by the daemon.
struct Policy {
    // Ports found up once, by name: "down" since then is somebody's decision.
    std::set<std::string> leave_down;
    // Planes whose admin state is ours to say now; of the others it is left alone.
    std::map<std::uint8_t, bool> plane_admin;
    // Profile ids of an earlier version of the file.
    std::set<std::uint64_t> retired_profiles;
    // Kinds of interface this kernel does not have.
    std::set<std::string> missing_kinds;
    // Plan as if everything planned so far were there already (--dry-run).
    bool foresee = false;
};

struct Plan {
    std::vector<Op> ops;
    std::vector<std::string> waiting;   // for what others have to provide

    bool complete() const { return ops.empty() && waiting.empty(); }
};

Plan plan(const Desired &want, const Observed &have, const Policy &policy);

}   // namespace mrcd
