// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// layout.h - the topology by numbers: the T0 of a host, the T1s of a T0, the hosts of a T0.
//
// Numbers begin with 1; 0 is none. The interface is the same for fabrics by rule and by lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../fabric/fabric.h"

namespace mrcver {

using Ids = std::vector<unsigned>;

class Layout {
public:
    // @fabric outlives it. A flat one has no switches: nothing is found in it.
    explicit Layout(const mrcfab::Fabric &fabric);

    unsigned planes() const { return fabric_.planes; }
    unsigned hosts() const;
    unsigned t0s() const;
    unsigned t1s() const;

    unsigned host(std::string_view name) const;
    // A switch of @plane and that tier.
    unsigned t0(std::string_view name, unsigned plane) const { return switch_of(name, plane, 0); }
    unsigned t1(std::string_view name, unsigned plane) const { return switch_of(name, plane, 1); }
    std::string host_name(unsigned host) const;
    std::string t0_name(unsigned plane, unsigned t0) const;
    std::string t1_name(unsigned plane, unsigned t1) const;

    unsigned t0_of(unsigned plane, unsigned host) const;
    const Ids &uplinks(unsigned plane, unsigned t0) const;     // T1s, sorted
    const Ids &downlinks(unsigned plane, unsigned t1) const;   // T0s, sorted
    const Ids &hosts_of(unsigned plane, unsigned t0) const;    // sorted
    bool joined(unsigned plane, unsigned t0, unsigned t1) const;

    // The carrier of a packet of @host over these switches (T0, T1, T0, ...), back to itself.
    mrcfab::Ip6 carrier(unsigned plane, unsigned host, const Ids &switches) const;

private:
    unsigned switch_of(std::string_view name, unsigned plane, unsigned tier) const;
    const Ids &known(int what, unsigned plane, unsigned number) const;
    Ids find(int what, unsigned plane, unsigned number) const;

    const mrcfab::Fabric &fabric_;
    mutable std::unordered_map<unsigned long, Ids> known_;   // worked out once
};

}   // namespace mrcver
