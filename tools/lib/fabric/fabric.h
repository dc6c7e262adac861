// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// fabric.h - the fabric file (fabric.toml(5)): describes the whole fabric, identical on every node.
//
// A Fabric object is always valid: names resolve, planes and indices are in range, uSIDs are
// unique, no port is used twice. Its users do not check again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "flat.h"
#include "ip.h"
#include "probing.h"
#include "qos.h"
#include "topology.h"

namespace mrcfab {

// A cable between a T0 (the owner) and a T1.
struct SwitchLink {
    std::string port;
    std::string peer;
    std::string peer_port;
};

struct Switch {
    std::string name;
    unsigned tier = 0;
    unsigned plane = 0;
    unsigned index = 0;
    std::vector<SwitchLink> links;   // T0 only
};

// A cable between a host (the owner) and a T0.
struct HostPort {
    unsigned plane = 0;
    std::string netdev;
    std::string switch_name;
    std::string switch_port;
};

struct Host {
    std::string name;
    unsigned index = 0;
    std::string device;
    std::vector<IfAddr> addresses;
    std::vector<HostPort> ports;   // by plane: 1, 2, ...
};

struct Fabric {
    Prefix6 block;
    Prefix6 prefix;
    unsigned planes = 0;
    unsigned mtu = 9000;   // of the planes' ports, at least
    std::uint64_t profile_id = 0;
    unsigned evs_per_plane = 0;
    std::optional<unsigned> min_active;
    std::optional<Qos> qos;
    std::optional<Probing> probing;

    // Without switches that anybody here knows, by rule, or as lists.
    std::optional<Flat> flat;
    std::optional<Topology> topology;

    unsigned plane_stride = 0;
    unsigned t0_base = 0;
    unsigned t1_base = 0;
    unsigned host_base = 0;
    std::vector<Switch> switches;
    std::vector<Host> hosts;

    void add(Switch sw);
    void add(Host host);
    const Switch *find_switch(std::string_view name) const;
    const Host *find_host(std::string_view name) const;

    unsigned usid(const Switch &sw) const;
    unsigned usid(const Host &host, unsigned plane) const;

private:
    using Index = std::map<std::string, std::size_t, std::less<>>;

    Index switch_index_, host_index_;
};

// "FILE:LINE:COLUMN: what is wrong, and what would be right".
struct FabricError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Fabric parse_fabric(std::string_view text, const std::string &file_name);
Fabric load_fabric(const std::string &file_name);

}   // namespace mrcfab
