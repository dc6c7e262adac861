// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// desired.h - the desired state of one node of a fabric. Values only; interfaces are identified by
// name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric.h"
#include "ip.h"
#include "profile.h"

namespace mrcfab {

// An interface of a switch that never loses its link: a seg6local route has to
// name a device, and goes when that device goes down.
inline constexpr const char *kSidDevice = "sr0";

// Ahead of the kernel's default 1024, so that a route by hand neither collides
// with ours nor is replaced by it.
inline constexpr std::uint32_t kRouteMetric = 512;
// Of an address at an end of a cable.
inline constexpr std::uint8_t kCableLen = 64;

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
    Prefix6 dst;                     // IPv4 as mapped()
    std::optional<Ip6> via;          // without: our own SID, seg6local End next-csid
    std::vector<std::string> links;  // the first one usable
    bool on_link = false;            // no next hop, and no SID: what is there is a neighbour
    std::uint32_t metric = kRouteMetric;
};

struct WantedPlane {
    std::uint8_t number = 0;
    std::string link;
    Ip6 sid;   // ::, without SRv6
};

struct WantedDevice {
    std::string name;
    std::vector<WantedPlane> planes;   // by number
    std::uint64_t profile_id = 0;   // 0: EVs are UDP ports, and profiles are not ours
    std::vector<Profile> profiles;
    std::optional<DeviceQos> qos;   // none: settings are not ours
    Probing probing;
};

struct Desired {
    std::vector<WantedSysctl> sysctls;   // of a port: forwarding, seg6_enabled, accept_dad last
    std::vector<WantedLink> links;
    std::vector<WantedAddr> addrs;
    std::vector<WantedRoute> routes;
    std::optional<WantedDevice> device;   // hosts
};

// What the fabric asks of the node of this name; nothing if there is none. Of a fabric by rule
// no other node is worked out for it.
std::optional<Desired> desired_for(const Fabric &fabric, std::string_view name);

// The same, of a file; throws FabricError.
Desired load_desired(const std::string &file_name, const std::string &name);

}   // namespace mrcfab
