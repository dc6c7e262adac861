// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// usid_links.cc - see usid_links.h.
#include "usid_links.h"

namespace mrcver {

std::vector<UsidLink> usid_links(const Layout &layout, const Part &part)
{
    // The uSIDs of switches are in the carrier of a packet over them, cabled or not, whosever it is.
    const auto usid = [&](const Ids &switches) {
        const auto carrier = layout.carrier(part.plane, 1, switches);
        return static_cast<unsigned>(mrcfab::get_bits(carrier, 32 + 16 * (static_cast<unsigned>(switches.size()) - 1), 16));
    };
    const auto t0 = [&](unsigned n) { return usid({n}); };
    const auto t1 = [&](unsigned n) { return usid({1, n}); };

    switch (part.kind) {
    case PartKind::kUp: return {{part.plane, t0(part.a), t1(part.b)}};
    case PartKind::kDown: return {{part.plane, t1(part.b), t0(part.a)}};
    case PartKind::kCable: return {{part.plane, t0(part.a), t1(part.b)}, {part.plane, t1(part.b), t0(part.a)}};
    case PartKind::kT0: return {{part.plane, t0(part.a), 0}};
    case PartKind::kT1: return {{part.plane, t1(part.a), 0}};
    default: return {};
    }
}

}   // namespace mrcver
