// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// usid_links.cc - see usid_links.h.
#include "usid_links.h"

#include <utility>

namespace mrcver {

namespace {

// A T0 and a T1 that the part touches; 0, 0: none.
std::pair<unsigned, unsigned> ends_of(const Layout &layout, const Part &part)
{
    const auto first = [](const Ids &ids) { return ids.empty() ? 0 : ids.front(); };

    switch (part.kind) {
    case PartKind::kUp:
    case PartKind::kDown:
    case PartKind::kCable: return {part.a, part.b};
    case PartKind::kT0: return {part.a, first(layout.uplinks(part.plane, part.a))};
    case PartKind::kT1: return {first(layout.downlinks(part.plane, part.a)), part.a};
    default: return {0, 0};
    }
}

}   // namespace

std::vector<UsidLink> usid_links(const Layout &layout, const Part &part)
{
    const auto [a, b] = ends_of(layout, part);

    if (!a || !b)
        return {};
    // The uSIDs of switches are in the carrier of a packet over them, whosever it is.
    const auto carrier = layout.carrier(part.plane, 1, {a, b});
    const auto t0 = static_cast<unsigned>(mrcfab::get_bits(carrier, 32, 16));
    const auto t1 = static_cast<unsigned>(mrcfab::get_bits(carrier, 48, 16));
    switch (part.kind) {
    case PartKind::kUp: return {{part.plane, t0, t1}};
    case PartKind::kDown: return {{part.plane, t1, t0}};
    case PartKind::kCable: return {{part.plane, t0, t1}, {part.plane, t1, t0}};
    case PartKind::kT0: return {{part.plane, t0, 0}};
    default: return {{part.plane, t1, 0}};
    }
}

}   // namespace mrcver
