// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// probes.cc - see probes.h.
#include "probes.h"

#include <algorithm>
#include <array>

namespace mrcver {

namespace {

constexpr std::array kWords{"t0-loop", "t1-loop", "split-loop"};
constexpr std::array kRates{"off", "slow", "normal", "fast"};

template <typename E, std::size_t N>
std::optional<E> word_of(const std::array<const char *, N> &words, std::string_view word)
{
    const auto it = std::find(words.begin(), words.end(), word);

    return it == words.end() ? std::nullopt : std::optional(static_cast<E>(it - words.begin()));
}

// The uplinks that the host of that rank watches: neighbours on the circle.
Ids watched(const Ids &uplinks, std::size_t rank, std::size_t hosts)
{
    const std::size_t n = uplinks.size();
    Ids list;

    if (!n || !hosts)
        return list;
    // Of few uplinks each host has one at least.
    const std::size_t times =
        std::min(hosts, std::max<std::size_t>(kObserversWanted, (hosts + n - 1) / n));
    for (std::size_t at = rank * n * times / hosts; at < (rank + 1) * n * times / hosts; at++)
        list.push_back(uplinks[at % n]);
    return list;
}

// A T0 that both uplinks lead to: others for other hosts, so that these share the load.
unsigned turning(const Layout &l, unsigned plane, unsigned t0, unsigned up, unsigned down, std::size_t from)
{
    const Ids &t0s = l.downlinks(plane, up);

    for (std::size_t i = 0; i < t0s.size(); i++) {
        const unsigned other = t0s[(from + i) % t0s.size()];
        if (other != t0 && l.joined(plane, other, down))
            return other;
    }
    return 0;
}

std::vector<Probe> fabric_loops(const Layout &l, unsigned plane, unsigned host, unsigned t0)
{
    const Ids &uplinks = l.uplinks(plane, t0), &hosts = l.hosts_of(plane, t0);
    const auto rank =
        static_cast<std::size_t>(std::lower_bound(hosts.begin(), hosts.end(), host) - hosts.begin());
    Ids ring = watched(uplinks, rank, hosts.size());
    std::vector<Probe> loops;

    for (const unsigned up : ring)
        loops.push_back({ProbeKind::kT1Loop, plane, host, t0, up, 0, 0});
    // One uplink alone needs another to come back by.
    if (ring.size() == 1 && uplinks.size() > 1) {
        const auto at = std::find(uplinks.begin(), uplinks.end(), ring[0]) - uplinks.begin();
        ring.push_back(uplinks[(static_cast<std::size_t>(at) + 1) % uplinks.size()]);
    }
    for (std::size_t i = 0; ring.size() > 1 && i < ring.size(); i++) {
        const unsigned up = ring[i], down = ring[(i + 1) % ring.size()];
        if (const unsigned via = turning(l, plane, t0, up, down, t0 + rank + i))
            loops.push_back({ProbeKind::kSplit, plane, host, t0, up, via, down});
    }
    return loops;
}

void plan_plane(std::vector<Planned> &list, const Layout &l, unsigned plane, unsigned host, double each)
{
    const unsigned t0 = l.t0_of(plane, host);

    if (!t0)
        return;
    list.push_back({{ProbeKind::kT0Loop, plane, host, t0, 0, 0, 0}, each});
    const auto loops = fabric_loops(l, plane, host, t0);
    for (const Probe &p : loops)
        list.push_back({p, each / static_cast<double>(loops.size())});
}

// Both kinds leave by the link of the host.
double within_budget(double each, unsigned mbps, unsigned mtu)
{
    const double bits = 8 * (kProbeBytes * (1 - 1.0 / kFullOne) + mtu / double{kFullOne});

    return mbps ? std::min(each, mbps * 1e6 / kBudget / bits / 2) : each;
}

}   // namespace

const char *probe_word(ProbeKind kind) { return kWords[static_cast<std::size_t>(kind)]; }
std::optional<ProbeKind> probe_kind(std::string_view word) { return word_of<ProbeKind>(kWords, word); }
const char *rate_word(Rate rate) { return kRates[static_cast<std::size_t>(rate)]; }
std::optional<Rate> probe_rate(std::string_view word) { return word_of<Rate>(kRates, word); }

unsigned per_kind(Rate rate)
{
    constexpr std::array<unsigned, 4> kPerSecond{0, 10, 100, 1000};

    return kPerSecond[static_cast<std::size_t>(rate)];
}

Ids switches_of(const Probe &p)
{
    switch (p.kind) {
    case ProbeKind::kT0Loop: return {p.t0};
    case ProbeKind::kT1Loop: return {p.t0, p.up, p.t0};
    case ProbeKind::kSplit: break;
    }
    return {p.t0, p.up, p.via, p.down, p.t0};
}

std::vector<Planned> plan_probes(const Layout &l, unsigned host, Rate rate, unsigned mbps, unsigned mtu)
{
    std::vector<Planned> list;

    if (rate != Rate::kOff)
        for (unsigned plane = 1; plane <= l.planes(); plane++)
            plan_plane(list, l, plane, host, within_budget(per_kind(rate), mbps, mtu));
    return list;
}

const std::vector<Planned> &Plans::of(unsigned host, unsigned plane)
{
    const std::uint64_t key = std::uint64_t{host} << 32 | plane;
    const auto it = plans_.find(key);

    if (it != plans_.end())
        return it->second;
    std::vector<Planned> plan;
    plan_plane(plan, layout_, plane, host, per_kind(Rate::kNormal));
    if (plans_.size() < kKept)
        return plans_.emplace(key, std::move(plan)).first->second;
    other_ = std::move(plan);
    return other_;
}

}   // namespace mrcver
