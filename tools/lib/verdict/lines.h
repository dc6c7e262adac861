// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lines.h - results of a host as one line of JSON: written by mrcd, read by mrcctl fabric diagnose.
//
// The reader trusts nothing: names must exist in the fabric and match each other, numbers must add
// up and be no more than a host may send. A line that comes twice counts once. A host can still lie
// about itself. For observations of others, two hosts must agree (infer.h).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evidence.h"
#include "layout.h"

namespace mrcver {

inline constexpr std::size_t kLineMax = 256 * 1024;
inline constexpr std::size_t kFailedMax = 1024;   // probes of a line: as many as a host has
inline constexpr std::size_t kTrafficMax = 64;    // links of a line; of more those that lost most

// Of evidence of one host.
std::string to_line(const Layout &layout, unsigned host, const Evidence &evidence);

enum class Refusal { kMalformed, kStranger, kImpossible, kDuplicate, kLate };
inline constexpr std::size_t kRefusals = 5;
const char *refusal_word(Refusal refusal);

class Lines {
public:
    // Nothing is believed that a host found after @now.
    Lines(const Layout &layout, double now) : layout_(layout), now_(now) {}

    // False: it was refused, and counted.
    bool add(std::string_view line);

    std::size_t taken() const { return taken_; }
    std::size_t refused(Refusal why) const { return refused_[static_cast<std::size_t>(why)]; }
    std::size_t refused() const;
    std::size_t hosts() const;
    // Calls @take in order of time, for slices of that many seconds. A slice has the losses of lines that end in it, and the
    // share of what hosts sent: one without losses reports ten seconds at once, and its probes speak for a part in each. What
    // is older than the longest window is left out.
    void each_slice(double seconds, const std::function<void(const Evidence &)> &take) const;

private:
    // What lines of one tenth of a second tell of losses. Results are packed: a dead T1 makes some millions.
    struct Lossy {
        std::string failed;
        TrafficSeen traffic;
    };

    bool refuse(Refusal why);

    const Layout &layout_;
    SentLog sent_;
    std::map<long, Lossy> lossy_;      // of the lines' ends, in tenths of a second
    std::vector<bool> seen_;           // hosts
    std::size_t taken_ = 0;
    std::array<std::size_t, kRefusals> refused_{};
    double now_, newest_ = 0, kept_ = 0;   // kept_: from then on
};

}   // namespace mrcver
