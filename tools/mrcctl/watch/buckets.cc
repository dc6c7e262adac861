// SPDX-License-Identifier: GPL-2.0
// buckets.cc - see buckets.h.
#include "buckets.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace mrcctl {

namespace {

// Upper ends in powers of two of nanoseconds: each is an end of a slot, so nothing is estimated. 1 us to 1 s; a step of
// two where round trips of a data center are.
constexpr unsigned ends[] = {10, 12, 13, 14, 15, 16, 17, 18, 20, 22, 25, 30};
static_assert((buckets_planes_max + 3) * (std::size(ends) + 3) <= buckets_series_max);

double seconds(uint64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

void family(std::string &out, const char *name, const char *help)
{
    fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
}

// @label: 'plane="1"', or empty.
void row(std::string &out, const char *name, const std::string &label, const histogram &h)
{
    const auto steps = h.steps();
    const std::string more = label.empty() ? "" : label + ",", all = label.empty() ? "" : "{" + label + "}";
    auto next = steps.begin();
    uint64_t below = 0;

    for (unsigned power : ends) {
        for (; next != steps.end() && next->to <= 1ull << power; ++next)
            below += next->count;
        fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"{}\"}} {}\n", name, more, seconds(1ull << power), below);
    }
    fmt::format_to(std::back_inserter(out), "{0}_bucket{{{1}le=\"+Inf\"}} {2}\n{0}_sum{3} {4}\n{0}_count{3} {2}\n", name, more,
                   h.count(), all, seconds(h.sum()));
}

} // namespace

std::string buckets(const std::vector<histogram> &rtt, const std::vector<histogram> &recovery)
{
    std::string out;
    histogram more, all;

    family(out, "mrc_rtt_seconds", "round trip times by plane of the packet; plane 0 is unknown");
    for (size_t plane = 0; plane < rtt.size(); plane++)
        if (plane > buckets_planes_max)
            more.add(rtt[plane]);
        else if (rtt[plane].count())
            row(out, "mrc_rtt_seconds", fmt::format("plane=\"{}\"", plane), rtt[plane]);
    if (more.count())
        row(out, "mrc_rtt_seconds", "plane=\"more\"", more);
    family(out, "mrc_recovery_seconds", "time from the first sending of a lost packet to its arrival");
    for (const auto &h : recovery)
        all.add(h);
    row(out, "mrc_recovery_seconds", "", all);
    return out;
}

} // namespace mrcctl
