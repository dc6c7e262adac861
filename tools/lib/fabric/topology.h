// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// topology.h - a regular fabric as a rule.
//
// Each plane has T0 and T1 switches, each T0 has a cable to each T1 of its plane, and each host is
// at the same T0 number of every plane. Only exceptions are stored; every query is computed from
// numbers.
//
// A plane has its own uSID block. In it a T0 is 0x4000 + its number, a T1 0x8000 + its number, and
// a host 0xc000 + its number at its T0: each T0 knows only its own hosts.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ip.h"
#include "pattern.h"

namespace mrcfab {

inline constexpr unsigned kNumberBits = 14;                      // of a uSID: which of its kind
inline constexpr unsigned kNumberMax = (1u << kNumberBits) - 1;
inline constexpr unsigned kT0Usids = 0x4000, kT1Usids = 0x8000, kHostUsids = 0xc000;

struct T0Id { unsigned plane = 0, t0 = 0; auto operator<=>(const T0Id &) const = default; };
struct T1Id { unsigned plane = 0, t1 = 0; auto operator<=>(const T1Id &) const = default; };
struct HostId { unsigned t0 = 0, host = 0; auto operator<=>(const HostId &) const = default; };
using NodeId = std::variant<HostId, T0Id, T1Id>;

// From a T0 down to a host, or up to a T1.
struct Cable {
    unsigned plane = 0, t0 = 0;
    bool up = false;
    unsigned number = 0;   // of the host at this T0, or of the T1

    auto operator<=>(const Cable &) const = default;
};

// Where hosts' addresses hold the numbers: T0 before host, host up to the last bit.
struct AddressRule {
    bool v4 = false;
    Prefix6 net;                 // of all hosts' GIDs
    std::uint8_t len = 0;        // of the network, as an interface has it
    unsigned t0_at = 0, host_at = 0;   // first bits

    IfAddr address(HostId host) const;
    Prefix6 at_t0(unsigned t0) const;
    std::optional<HostId> host(const Ip6 &gid) const;
};

// What one node has otherwise.
struct Difference {
    std::string device;                          // empty: as the rule says
    std::vector<IfAddr> addresses;               // likewise
    std::map<std::string, std::string> ports;    // by the rule: here
};

struct Topology {
    unsigned planes = 0, t0s = 0, t1s = 0, hosts_per_t0 = 0;
    Prefix6 blocks;
    std::vector<AddressRule> addressing;
    std::string device;
    Pattern host_name, t0_name, t1_name;
    Pattern host_port, t0_host_port, t0_t1_port, t1_t0_port;
    // Exceptions
    std::set<NodeId> missing;
    std::set<Cable> cut;
    std::map<NodeId, Difference> differs;

    // ----------------------------------------------------------------- names
    std::string name(const NodeId &node) const;
    std::optional<NodeId> find(std::string_view name) const;   // null: not of the rule, or missing
    std::optional<NodeId> named(std::string_view name) const;  // missing or not
    std::string port(const NodeId &node, const Cable &cable) const;
    std::string port_by_rule(const NodeId &node, const Cable &cable) const;
    // Of a port by its name here; null: there is none.
    std::optional<Cable> cable_at(const NodeId &node, std::string_view port) const;

    // ----------------------------------------------------------------- facts
    bool has(const NodeId &node) const;
    bool has(const Cable &cable) const;
    NodeId lower(const Cable &cable) const;
    NodeId upper(const Cable &cable) const;
    std::vector<Cable> cables(const NodeId &node) const;   // those that are there, in order
    const std::string &device_of(HostId host) const;
    std::vector<IfAddr> addresses(HostId host) const;
    Prefix6 block(unsigned plane) const;
    static unsigned usid(const NodeId &node);
    std::uint64_t hosts() const { return std::uint64_t{t0s} * hosts_per_t0; }

    // T1s that join two T0s of a plane, in order.
    std::vector<unsigned> joining(unsigned plane, unsigned t0, unsigned other_t0) const;
    // Is it there, and cabled to every T1 there is?
    bool whole(T0Id t0) const;

private:
    std::optional<NodeId> number(std::string_view name) const;
    const Difference *difference(const NodeId &node) const;
};

// What is not reached as the rule says: by every other host by a profile of its own.
struct Irregular {
    std::set<unsigned> t0s;      // in some plane missing, or a cable up is
    std::set<HostId> hosts;      // a cable is missing, or addresses are others
};
Irregular irregular(const Topology &topology);

}   // namespace mrcfab
