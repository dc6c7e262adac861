// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// symptom.cc - see symptom.h.
#include "symptom.h"

#include <algorithm>

namespace mrcver {

namespace {

constexpr double kFew = 0.1;         // of another ratio: next to nothing
constexpr double kLongQueue = 2;     // mean round trip, of the shortest
constexpr double kVeryLongQueue = 3; // likewise: a queue, whether or not its switch marks packets

double ratio(std::uint64_t part, std::uint64_t of)
{
    return of ? static_cast<double>(part) / static_cast<double>(of) : 0;
}

bool full_size(const Counts &n)
{
    return n.full_lost >= 4 &&
           ratio(n.lost - n.full_lost, n.sent - n.full_sent) < kFew / 2 * ratio(n.full_lost, n.full_sent);
}

// At least @wanted packets of the data class, and next to none of control. Late packets were not
// lost; how many of them are of control is not known.
bool data_only(const Counts &n, double wanted)
{
    const std::uint64_t data = n.lost - n.control_lost;
    const std::uint64_t control = n.control_lost - std::min(n.control_lost, n.late);

    return static_cast<double>(data) >= wanted && n.control_sent >= data &&
           ratio(control, n.control_sent) < kFew * ratio(data, n.sent - n.control_sent);
}

bool queues(const Counts &n)
{
    const double mean = ratio(n.rtt_sum, n.back()), low = static_cast<double>(n.rtt_low);

    return low > 0 && mean > (n.queued * 4 > n.lost ? kLongQueue : kVeryLongQueue) * low;
}

// Most probes came late, or the module saw that the host paused. The few probes that a short pause
// delays may be of one plane, but it is the host that is slow.
bool stalled(Finding &f, const Counts &n, const Evidence &e)
{
    const bool late = n.late * 2 > n.lost;

    if (f.part.kind == PartKind::kHostCable && late)
        f.part = {PartKind::kNic, 0, f.part.a, 0};
    if (f.part.kind != PartKind::kNic)
        return false;
    if (const auto it = e.hosts.find(f.part.a); it != e.hosts.end())
        f.stalls = it->second.stalls;
    return f.stalls > 0 || late;
}

// Has the host received as many packets of others as were lost?
bool strays_enough(const Evidence &e, unsigned host, const Counts &n)
{
    const auto it = e.hosts.find(host);

    return it != e.hosts.end() && it->second.strays >= n.lost / 2 + 5;
}

// One other host of the T0 that receives what is for this one.
unsigned receiver(const Finding &f, const Counts &n, const Layout &l, const Evidence &e)
{
    unsigned found = 0;

    if (f.part.kind != PartKind::kHostCable)
        return 0;
    for (const unsigned host : l.hosts_of(f.part.plane, l.t0_of(f.part.plane, f.part.a))) {
        if (host == f.part.a || !strays_enough(e, host, n))
            continue;
        if (found)
            return 0;
        found = host;
    }
    return found;
}

}   // namespace

Symptom symptom_of(Finding &f, const Counts &n, const Layout &l, const Evidence &e)
{
    if (stalled(f, n, e))
        return Symptom::kStalled;
    if (n.other_plane * 2 > n.failed())
        return Symptom::kMisCabled;
    if (n.corrupt * 2 > n.failed())
        return Symptom::kCorruption;
    f.gets_it = receiver(f, n, l, e);
    if (f.gets_it)
        return strays_enough(e, f.part.a, n) ? Symptom::kMisCabled : Symptom::kMisConfigured;
    // A few losses prove no fault where queues are long.
    if (queues(n) && data_only(n, 1))
        return Symptom::kCongestion;
    if (data_only(n, kLossesWanted))
        return Symptom::kDataClass;
    if (full_size(n))
        return Symptom::kFullSize;
    return Symptom::kLoss;
}

}   // namespace mrcver
