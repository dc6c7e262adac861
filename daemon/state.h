// SPDX-License-Identifier: GPL-2.0
// state.h - the two inputs of a plan: the state that this node should have (Desired), and the state
// of its kernel (Observed). Values only.
//
// Interfaces are identified by name, because an index exists only while the interface exists.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../tools/lib/fabric/desired.h"

namespace mrcd {

using namespace mrcfab;   // types of a fabric and its nodes

// Routes and addresses with this protocol number are ours, and no others.
inline constexpr std::uint8_t kProtocol = 217;

// ---------------------------------------------------------------- observed

struct Link {
    int ifindex = 0;
    std::string name;
    std::string kind;
    bool up = false;        // administratively
    bool running = false;   // up and with a carrier
    std::uint32_t mtu = 0;
    std::uint32_t max_mtu = 0;   // 0: unknown
    int master = 0;
    bool loopback = false;
};

struct Addr {
    int ifindex = 0;
    IfAddr addr;
    std::uint8_t protocol = 0;
};

// A route of the main table.
struct Route {
    Prefix6 dst;   // IPv4 as mapped()
    std::uint32_t metric = 0;
    std::uint8_t protocol = 0;
    int oif = 0;
    std::optional<Ip6> via;
    bool usid_end = false;   // seg6local End, next-csid 32+16
    bool strange = false;    // several next hops, another encapsulation, ...
};

struct Plane {
    std::uint8_t number = 0;
    int ifindex = 0;
    bool admin = true;
    std::optional<Ip6> sid;
};

struct ObservedProfile {
    Profile profile;
    bool any_dst = false;
    std::uint32_t fmt = 0;
    std::uint32_t mode = 0;   // GEN: evs is empty
};

// MRC_MODE_*
std::uint32_t mode_of(const Profile &profile);

// The device as the module's netlink family shows it.
struct MrcDevice {
    int ifindex = 0;
    std::string ibdev;
    bool registered = false;   // with ib_core
    std::uint64_t profile_id = 0;
    DeviceQos qos;
    std::vector<Plane> planes;
    std::vector<ObservedProfile> profiles;
};

// Sysctls that decide whether an interface accepts router advertisements.
struct Hearing {
    std::string forwarding, accept_ra;
};

struct Observed {
    std::map<std::string, std::string> sysctls;   // the wanted ones that exist
    std::map<std::string, Hearing> hearing;   // of each interface and "default", on switches
    std::vector<Link> links;
    std::vector<Addr> addrs;
    std::vector<Route> routes;
    std::optional<MrcDevice> device;

    const Link *link(std::string_view name) const;
    const Link *link(int ifindex) const;
};

}   // namespace mrcd
