// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// traffic.cc - see traffic.h.
#include "traffic.h"

#include <algorithm>
#include <cmath>

namespace mrcver {

namespace {

constexpr std::uint64_t kLostWanted = 5, kBadWanted = 2;

// Of @bad among @n, against @bad_all among @n_all: the logarithm of the likelihood of its own share over that of the
// common one. 0 if its share is not larger.
double larger_share(std::uint64_t bad, std::uint64_t n, std::uint64_t bad_all, std::uint64_t n_all)
{
    const double x = static_cast<double>(bad), of = static_cast<double>(std::max(n, bad));
    const double share = x / of, common = static_cast<double>(bad_all) / static_cast<double>(std::max({n_all, bad_all, n}));

    if (common <= 0 || share <= common)
        return 0;
    return x * std::log(share / common) + (share < 1 ? (of - x) * std::log((1 - share) / (1 - common)) : 0);
}

}   // namespace

Traffic &Traffic::operator+=(const Traffic &m)
{
    sent += m.sent;
    lost += m.lost;
    evs += m.evs;
    bad += m.bad;
    return *this;
}

Traffic TrafficSeen::over(const Part &part) const
{
    Traffic sum;

    for (const auto &[link, t] : links)
        if (link == part || within(link, part))
            sum += t;
    return sum;
}

double TrafficSeen::support(const Part &part) const
{
    if (part.kind == PartKind::kCable) {   // both ways: losses of one way do not speak for it
        const Part up{PartKind::kUp, part.plane, part.a, part.b}, down{PartKind::kDown, part.plane, part.a, part.b};
        return std::min(support(up), support(down));
    }
    const Traffic t = over(part);
    double sum = 0;

    if (t.lost >= kLostWanted)
        sum += larger_share(t.lost, t.sent, all.lost, all.sent);
    if (t.bad >= kBadWanted)
        sum += larger_share(t.bad, t.evs, all.bad, all.evs);
    return std::min(sum, kSupportMost);
}

TrafficSeen &TrafficSeen::operator+=(const TrafficSeen &m)
{
    for (const auto &[link, t] : m.links)
        links[link] += t;
    all += m.all;
    return *this;
}

}   // namespace mrcver
