// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// parts.h - the parts of a fabric that can fail, and the parts that a probe crosses.
//
// The cable of a host is one part: every probe of the host crosses it in both directions, so the
// direction of a fault is unknown.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "probes.h"

namespace mrcver {

enum class PartKind {
    kHostCable,   // a: host
    kUp,          // a: T0, b: T1; from T0 to T1
    kDown,        // likewise, from T1 to T0
    kCable,       // likewise, both ways
    kT0,          // a: T0
    kT1,          // a: T1
    kNic,         // a: host; all its planes
    kPlane,
};

struct Part {
    PartKind kind = PartKind::kHostCable;
    unsigned plane = 0, a = 0, b = 0;

    auto operator<=>(const Part &) const = default;
};

struct PartHash {
    std::size_t operator()(const Part &p) const
    {
        const std::size_t n = (std::size_t{p.a} << 20 ^ p.b) << 12 ^ std::size_t{p.plane} << 4 ^
                              static_cast<std::size_t>(p.kind);
        return (n ^ n >> 29) * 0x9e3779b97f4a7c15u;
    }
};

struct Crossing {
    Part part;
    unsigned times = 1;
};

inline constexpr std::size_t kCrossingsMax = 15;

class Crossings {
public:
    const Crossing *begin() const { return list_.data(); }
    const Crossing *end() const { return list_.data() + n_; }
    void add(const Part &part, unsigned times = 1) { list_[n_++] = {part, times}; }

private:
    std::array<Crossing, kCrossingsMax> list_;
    std::size_t n_ = 0;
};

Crossings crossings(const Probe &probe);

// "s3-t0-17 to s3-t1-2"; of a plane or a NIC the plane's number or the host's name is in it.
std::string part_name(const Layout &layout, const Part &part);
// Is @small a piece of @large?
bool within(const Part &small, const Part &large);
// Can several hosts see it?
bool shared(const Layout &layout, const Part &part);

}   // namespace mrcver
