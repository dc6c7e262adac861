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

// One operation, though two requests: a port that is enslaved before the number is kept for it
// gets another one.
struct PlaneAdd { std::string device; std::uint8_t number; std::string netdev; };
struct PlaneRelease { std::string netdev; };

struct RouteSpec {
    Prefix6 dst;
    std::uint32_t metric = kRouteMetric;
    std::string link;
    std::optional<Ip6> via;   // without: seg6local End next-csid,
    bool on_link = false;     // or this

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

// A command of ip(8), mrcctl(8) or sysctl(8) that does the same; PlaneAdd is two.
std::string to_string(const Op &op);

// The interfaces that @op marks as ones that we had up: not to be done when their LinkUp, which
// comes before it in the plan, failed.
std::vector<std::string> marks(const Op &op);

// Does @op keep an interface of others from what the operations behind it would do to it?
bool guards(const Op &op);

// What is remembered between plans, by the daemon.
struct Policy {
    // Profile ids of an earlier version of the file, while there are profiles of them.
    std::set<std::uint64_t> retired_profiles;
    // Kinds of interface this kernel does not have.
    std::set<std::string> missing_kinds;
    // Interfaces, by index, that were up once: "down" since then is somebody's decision.
    std::set<int> seen_up;
    // Interfaces, by index, that refused the MTU of the file.
    std::set<int> mtu_refused;
    // Interfaces that are none of ours, by index (0: "default"), to which forwarding was given with
    // that of all, or another accept_ra meanwhile, and not yet set back: the accept_ra they had.
    std::map<int, std::string> set_back;
    // Plan as if everything planned so far were there already (--dry-run).
    bool foresee = false;
};

struct Plan {
    std::vector<Op> ops;
    std::vector<std::string> waiting;   // for what others have to provide
    std::vector<std::string> notes;     // what is not as in the file, and stays so
    std::set<int> left_shut;            // interfaces, by index: they count as seen up
    std::map<int, std::string> set_back;   // for the next Policy, once this is begun
    unsigned removals = 0;              // of what is ours and in use,
    unsigned present = 0;               // out of so many

    bool complete() const { return ops.empty() && waiting.empty(); }
    // Not what an edit looks like, but what a file cut short does.
    bool drastic() const { return removals >= 4 && removals * 2 > present; }
};

Plan plan(const Desired &want, const Observed &have, const Policy &policy);

}   // namespace mrcd
