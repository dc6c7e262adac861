// SPDX-License-Identifier: GPL-2.0
// plan.h - computes the operations that turn Observed into Desired.
//
// Pure: no I/O, no clock, no state. Planning again after the operations were executed gives no
// operations.
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
struct LinkUp { std::string name; };
struct AddrAdd { std::string link; IfAddr addr; };
struct AddrDel { std::string link; IfAddr addr; };

// One operation of two requests: a port that is enslaved before the number is reserved for it gets
// another number.
struct PlaneAdd { std::string device; std::uint8_t number; std::string netdev; };
struct PlaneRelease { std::string netdev; };

struct RouteSpec {
    Prefix6 dst;
    std::uint32_t metric = kRouteMetric;
    std::string link;
    std::optional<Ip6> via;   // nullopt: seg6local End next-csid,
    bool on_link = false;     // or directly on the link

    bool own_sid() const { return !via && !on_link; }
};

struct RouteAdd { RouteSpec route; };
struct RouteReplace { RouteSpec route; };
struct RouteDel { Prefix6 dst; std::uint32_t metric; int oif; };

struct SidSet { std::string device; std::uint8_t number; Ip6 sid; };
struct DefaultProfileSet { std::string device; std::uint64_t id; };
struct QosSet { std::string device; DeviceQos qos; };
struct ProfileSet { std::string device; Profile profile; };
struct ProfileDel { std::string device; ProfileKey key; };

using Op = std::variant<SysctlSet, LinkAdd, LinkMtu, LinkUp, AddrAdd, AddrDel, PlaneAdd,
                        PlaneRelease, RouteAdd, RouteReplace, RouteDel, SidSet,
                        DefaultProfileSet, QosSet, ProfileSet, ProfileDel>;

// The equivalent command of ip(8), mrcctl(8) or sysctl(8); PlaneAdd is two commands.
std::string to_string(const Op &op);

// The interfaces that @op marks as prepared by us. They must not be marked if their LinkUp, which
// precedes @op in the plan, failed.
std::vector<std::string> marks(const Op &op);

// Does @op protect an interface of others from the operations that follow it?
bool guards(const Op &op);

// State that the daemon keeps from one plan to the next.
struct Policy {
    // Profile ids of an earlier version of the file, as long as there are such profiles.
    std::set<std::uint64_t> retired_profiles;
    // Kinds of interface that this kernel does not support.
    std::set<std::string> missing_kinds;
    // Indices of interfaces that were up before: if one is down now, somebody has decided so.
    std::set<int> seen_up;
    // Indices of interfaces that refused the MTU of the file.
    std::set<int> mtu_refused;
    // Interfaces of others, by index (0: "default"), that got forwarding with "all", or another
    // accept_ra meanwhile, and were not set back yet. The value is their previous accept_ra.
    std::map<int, std::string> set_back;
    // Plan as if all earlier operations had succeeded (--dry-run).
    bool foresee = false;
};

struct Plan {
    std::vector<Op> ops;
    std::vector<std::string> waiting;   // things that others have to provide
    std::vector<std::string> notes;     // differences from the file that remain
    std::set<int> left_shut;            // indices of interfaces that count as seen up
    std::map<int, std::string> set_back;   // for the next Policy, once this plan is started
    unsigned removals = 0;              // removals of things that are ours and in use,
    unsigned present = 0;               // out of this number

    bool complete() const { return ops.empty() && waiting.empty(); }
    // More like a truncated file than like an edit.
    bool drastic() const { return removals >= 4 && removals * 2 > present; }
};

Plan plan(const Desired &want, const Observed &have, const Policy &policy);

}   // namespace mrcd
