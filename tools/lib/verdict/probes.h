// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// probes.h - which probes a host sends to itself, by rule from the fabric file.
//
//	T0 loop      T0, me                        the cable of the host
//	T1 loop      T0, T1, T0, me                an uplink, both ways
//	split loop   T0, T1, T0', T1', T0, me      up one uplink, down another: tells the direction
//
// The uplinks of a T0 are laid out in a circle, as many times as each is to be watched; each host
// takes its part of it by its rank at this T0. So every uplink has four hosts that watch it (as many
// as there are, when fewer), all hosts send equally much, and nobody asks anybody.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "layout.h"

namespace mrcver {

enum class ProbeKind { kT0Loop, kT1Loop, kSplit };
inline constexpr unsigned kProbeKinds = 3;

const char *probe_word(ProbeKind kind);
std::optional<ProbeKind> probe_kind(std::string_view word);

struct Probe {
    ProbeKind kind = ProbeKind::kT0Loop;
    unsigned plane = 0, host = 0, t0 = 0;   // whose, and its T0
    unsigned up = 0;                        // T1 of a T1 loop; of a split loop the first one
    unsigned via = 0, down = 0;             // split loop: T0', and the second T1

    auto operator<=>(const Probe &) const = default;
};

// T0s and T1s in turn, as Layout::carrier() takes them.
Ids switches_of(const Probe &probe);

enum class Rate { kOff, kSlow, kNormal, kFast };
std::optional<Rate> probe_rate(std::string_view word);
const char *rate_word(Rate rate);
// Packets a second, of a host on a plane: T0 loops; T1 and split loops together.
unsigned per_kind(Rate rate);

inline constexpr unsigned kObserversWanted = 4;

struct Planned {
    Probe probe;
    double per_second = 0;
};

// Of a link's rate probes take at most 0.01 %.
inline constexpr unsigned kBudget = 10000;
inline constexpr unsigned kProbeBytes = 158;     // on the wire; one in kFullOne has the full MTU
inline constexpr unsigned kFullOne = 100;

// In order of planes and kinds. Slower than @rate where a link of @mbps has not that much in its
// budget; 0: nobody knows.
std::vector<Planned> plan_probes(const Layout &layout, unsigned host, Rate rate, unsigned mbps = 0,
                                 unsigned mtu = 9000);

// Plans at the normal rate of a host on a plane, worked out once, of so many as somebody asks for.
class Plans {
public:
    explicit Plans(const Layout &layout) : layout_(layout) {}

    const std::vector<Planned> &of(unsigned host, unsigned plane);

private:
    static constexpr std::size_t kKept = 1 << 17;

    const Layout &layout_;
    std::unordered_map<std::uint64_t, std::vector<Planned>> plans_;
    std::vector<Planned> other_;
};

}   // namespace mrcver
