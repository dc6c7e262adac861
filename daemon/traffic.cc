// SPDX-License-Identifier: GPL-2.0
// traffic.cc - see traffic.h.
#include "traffic.h"

#include <algorithm>
#include <chrono>

namespace mrcd {

using mrcver::Part;
using mrcver::PartKind;
using mrcver::Traffic;
using mrcver::TrafficSeen;
using mrcver::UsidLink;

std::optional<Part> TrafficReader::part(const UsidLink &link)
{
    const auto [it, fresh] = numbers_.try_emplace(link.plane);
    Numbers &n = it->second;

    if (fresh && link.plane <= layout_.planes()) {
        for (unsigned t = 1; t <= layout_.t0s(); t++)
            n.t0.emplace(usid_links(layout_, {PartKind::kT0, link.plane, t, 0}).front().from, t);
        for (unsigned t = 1; t <= layout_.t1s(); t++)
            n.t1.emplace(usid_links(layout_, {PartKind::kT1, link.plane, t, 0}).front().from, t);
    }
    const auto find = [](const auto &map, unsigned usid) {
        const auto at = map.find(usid);
        return at == map.end() ? 0 : at->second;
    };
    if (const unsigned t0 = find(n.t0, link.from), t1 = find(n.t1, link.to);
        t0 && t1 && layout_.joined(link.plane, t0, t1))
        return Part{PartKind::kUp, link.plane, t0, t1};
    if (const unsigned t1 = find(n.t1, link.from), t0 = find(n.t0, link.to);
        t0 && t1 && layout_.joined(link.plane, t0, t1))
        return Part{PartKind::kDown, link.plane, t0, t1};
    return std::nullopt;
}

// A path set that went took its counters along: then less is seen than before, and nothing is said of that link.
TrafficSeen TrafficReader::difference(const LinkTraffic &now)
{
    TrafficSeen d;

    for (const auto &[link, n] : now) {
        const auto old = seen_.find(link);
        const Traffic was = old == seen_.end() ? Traffic{} : old->second;
        const auto p = part(link);
        if (!p || n.sent < was.sent || n.lost < was.lost)
            continue;
        Traffic t{n.sent - was.sent, n.lost - was.lost, n.evs, n.bad};
        t.sent = std::max(t.sent, t.lost);   // sent before, lost now
        if (p->kind == PartKind::kUp)
            d.all += t;                      // each EV goes up once
        if (t.lost || t.bad)
            d.links[*p] += t;
    }
    return d;
}

void TrafficReader::add(const std::string &dev, double now, mrcver::Evidence &slice)
{
    LinkTraffic counts;

    if (now < last_) {   // the clock was set back
        until_ = next_ = 0;
        known_ = false;
    }
    last_ = now;
    if (!slice.failed.empty())
        until_ = now + kAfter;
    if (now >= until_) {
        known_ = false;
        return;
    }
    if (now < next_)
        return;
    const auto begin = std::chrono::steady_clock::now();
    const auto e = kernel_.traffic(dev, counts);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    next_ = now + std::max(kEach, took.count() / kShare);
    if (!e && known_)
        slice.traffic += difference(counts);
    known_ = !e;
    seen_ = std::move(counts);
}

}   // namespace mrcd
