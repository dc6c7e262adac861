// SPDX-License-Identifier: GPL-2.0
#include "flap.h"

#include <algorithm>

namespace mrcd {

bool FlapDamper::carrier(std::uint8_t plane, bool running, Time now)
{
    State &s = planes_[plane];
    const bool lost = s.running.value_or(false) && !running;

    s.running = running;
    if (!lost)
        return false;
    s.downs.push_back(now);
    while (now - s.downs.front() > kFlapWindow)
        s.downs.pop_front();
    if (s.held_until) {
        s.held_until = now + kFlapHold;
        return false;
    }
    if (s.downs.size() < kFlapDowns)
        return false;
    s.held_until = now + kFlapHold;
    return true;
}

std::vector<std::uint8_t> FlapDamper::release(Time now)
{
    std::vector<std::uint8_t> released;

    for (auto &[plane, s] : planes_) {
        if (!s.held_until || *s.held_until > now)
            continue;
        s.held_until.reset();
        s.downs.clear();
        released.push_back(plane);
    }
    return released;
}

bool FlapDamper::damped(std::uint8_t plane) const
{
    const auto it = planes_.find(plane);

    return it != planes_.end() && it->second.held_until;
}

std::optional<FlapDamper::Time> FlapDamper::deadline() const
{
    std::optional<Time> first;

    for (const auto &[plane, s] : planes_)
        if (s.held_until && (!first || *s.held_until < *first))
            first = s.held_until;
    return first;
}

}   // namespace mrcd
