// SPDX-License-Identifier: GPL-2.0
// state.h - the two sides a plan is made of: what this node shall have (Desired)
// and what its kernel has (Observed). Values only.
//
// Interfaces are known by name here: an index exists only once the interface
// does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric.h"
#include "ip.h"

namespace mrcd {

// Routes and addresses with this protocol number are ours, and only those.
inline constexpr std::uint8_t kProtocol = 217;
// Ahead of the kernel's default 1024, so that a route by hand neither collides
// with ours nor is replaced by it.
inline constexpr std::uint32_t kRouteMetric = 512;

// An interface of a switch that never loses its link: a seg6local route has to
// name a device, and goes when that device goes down.
inline constexpr const char *kSidDevice = "sr0";

struct Ev {
    Ip6 outer_dst;
    std::uint8_t port = 0;   // plane number

    auto operator<=>(const Ev &) const = default;
};

struct ProfileKey {
    std::uint64_t id = 0;
    Ip6 dst;   // GID

    auto operator<=>(const ProfileKey &) const = default;
};

struct Profile {
    ProfileKey key;
    std::uint32_t min_active = 0;
    std::vector<Ev> evs;

    bool operator==(const Profile &) const = default;
};

// ----------------------------------------------------------------- desired

struct WantedSysctl {
    std::string key;   // below net/ipv6/conf: "all/forwarding"
    std::string value;
};

struct WantedLink {
    std::string name;
    std::string kind;          // made when absent; empty: somebody else's to make
    std::uint32_t mtu = 0;     // at least; 0: as it is, the device's follows its planes
    bool physical = false;
    bool optional = false;     // nothing waits for it

    // Somebody's "down" is respected: of ports, and of the device, which is down then.
    bool may_be_shut() const { return physical || kind == "mrc"; }
};

struct WantedAddr {
    std::string link;
    IfAddr addr;
};

struct WantedRoute {
    Prefix6 dst;
    std::optional<Ip6> via;          // without: our own SID, seg6local End next-csid
    std::vector<std::string> links;  // the first one usable
};

struct WantedPlane {
    std::uint8_t number = 0;
    std::string link;
    Ip6 sid;
};

struct WantedDevice {
    std::string name;
    std::vector<WantedPlane> planes;   // by number: 1, 2, ...
    std::uint64_t profile_id = 0;
    std::vector<Profile> profiles;
};

struct Desired {
    std::vector<WantedSysctl> sysctls;   // of a port: forwarding, seg6_enabled, accept_dad last
    std::vector<WantedLink> links;
    std::vector<WantedAddr> addrs;
    std::vector<WantedRoute> routes;
    std::optional<WantedDevice> device;   // hosts
};

// What the fabric asks of the node of this name; nothing if there is none.
std::optional<Desired> desired_for(const Fabric &fabric, std::string_view name);

// The same, of a file; throws FabricError.
Desired load_desired(const std::string &file_name, const std::string &name);

// block:<usid>:<usid>...::
Ip6 usid_address(const Prefix6 &block, const std::vector<unsigned> &usids);

// ---------------------------------------------------------------- observed

struct Link {
    int ifindex = 0;
    std::string name;
    std::string kind;
    bool up = false;        // administratively
    bool running = false;   // and with a carrier
    std::uint32_t mtu = 0;
    std::uint32_t max_mtu = 0;   // 0: not known
    int master = 0;
    bool loopback = false;
};

struct Addr {
    int ifindex = 0;
    IfAddr addr;
    std::uint8_t protocol = 0;
};

// An IPv6 route of the main table.
struct Route {
    Prefix6 dst;
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
    std::uint32_t mode = 0;
};

// The device as the module's netlink family shows it.
struct MrcDevice {
    int ifindex = 0;
    std::string ibdev;
    bool registered = false;   // with ib_core
    std::uint64_t profile_id = 0;
    std::vector<Plane> planes;
    std::vector<ObservedProfile> profiles;
};

struct Observed {
    std::map<std::string, std::string> sysctls;   // those that exist of the wanted ones
    std::map<std::string, std::string> forwarding;   // of each interface and "default", on switches
    std::vector<Link> links;
    std::vector<Addr> addrs;
    std::vector<Route> routes;
    std::optional<MrcDevice> device;

    const Link *link(std::string_view name) const;
    const Link *link(int ifindex) const;
};

}   // namespace mrcd
