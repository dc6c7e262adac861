// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// evidence.cc - see evidence.h.
#include "evidence.h"

#include <algorithm>

namespace mrcver {

namespace {

// Of two, those that are known.
template <typename T> T least(T a, T b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

}   // namespace

Counts &Counts::operator+=(const Counts &m)
{
    sent += m.sent;
    lost += m.lost;
    corrupt += m.corrupt;
    other_plane += m.other_plane;
    full_sent += m.full_sent;
    full_lost += m.full_lost;
    control_sent += m.control_sent;
    control_lost += m.control_lost;
    late += m.late;
    queued += m.queued;
    rtt_sum += m.rtt_sum;
    rtt_low = least(rtt_low, m.rtt_low);
    return *this;
}

Result &Result::operator+=(const Result &m)
{
    n += m.n;
    first = least(first, m.first);
    last = std::max(last, m.last);
    return *this;
}

void Evidence::add(const Evidence &m)
{
    from = least(from, m.from);
    to = std::max(to, m.to);
    for (const auto &[host, sent] : m.hosts)
        hosts[host] += sent;
    for (const auto &[probe, result] : m.failed)
        failed[probe] += result;
    traffic += m.traffic;
}

}   // namespace mrcver
