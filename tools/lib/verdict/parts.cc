// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// parts.cc - see parts.h.
#include "parts.h"

#include <fmt/format.h>

namespace mrcver {

Crossings crossings(const Probe &p)
{
    using enum PartKind;
    Crossings list;

    list.add({kHostCable, p.plane, p.host, 0});
    list.add({kNic, 0, p.host, 0});
    list.add({kPlane, p.plane, 0, 0});
    list.add({kT0, p.plane, p.t0, 0}, p.kind == ProbeKind::kT0Loop ? 1 : 2);
    switch (p.kind) {
    case ProbeKind::kT0Loop:
        break;
    case ProbeKind::kT1Loop:
        list.add({kUp, p.plane, p.t0, p.up});
        list.add({kDown, p.plane, p.t0, p.up});
        list.add({kCable, p.plane, p.t0, p.up}, 2);
        list.add({kT1, p.plane, p.up, 0});
        break;
    case ProbeKind::kSplit:
        list.add({kUp, p.plane, p.t0, p.up});
        list.add({kDown, p.plane, p.via, p.up});
        list.add({kUp, p.plane, p.via, p.down});
        list.add({kDown, p.plane, p.t0, p.down});
        for (const unsigned t0 : {p.t0, p.via})
            for (const unsigned t1 : {p.up, p.down})
                list.add({kCable, p.plane, t0, t1});
        list.add({kT0, p.plane, p.via, 0});
        list.add({kT1, p.plane, p.up, 0});
        list.add({kT1, p.plane, p.down, 0});
        break;
    }
    return list;
}

std::string part_name(const Layout &l, const Part &p)
{
    switch (p.kind) {
    case PartKind::kHostCable: return fmt::format("{} to {}", l.host_name(p.a),
                                                  l.t0_name(p.plane, l.t0_of(p.plane, p.a)));
    case PartKind::kCable:
    case PartKind::kUp: return fmt::format("{} to {}", l.t0_name(p.plane, p.a), l.t1_name(p.plane, p.b));
    case PartKind::kDown: return fmt::format("{} to {}", l.t1_name(p.plane, p.b), l.t0_name(p.plane, p.a));
    case PartKind::kT0: return l.t0_name(p.plane, p.a);
    case PartKind::kT1: return l.t1_name(p.plane, p.a);
    case PartKind::kNic: return l.host_name(p.a);
    case PartKind::kPlane: break;
    }
    return fmt::format("plane {}", p.plane);
}

bool within(const Part &small, const Part &large)
{
    using enum PartKind;

    if (large.kind != kNic && small.plane != large.plane)
        return false;
    const bool link = small.kind == kUp || small.kind == kDown || small.kind == kCable;
    switch (large.kind) {
    case kCable: return (small.kind == kUp || small.kind == kDown) && small.a == large.a && small.b == large.b;
    case kT0: return link && small.a == large.a;
    case kT1: return link && small.b == large.a;
    case kNic: return small.kind == kHostCable && small.a == large.a;
    case kPlane: return small.kind != kPlane && small.kind != kNic;
    default: return false;
    }
}

bool shared(const Layout &l, const Part &p)
{
    switch (p.kind) {
    case PartKind::kHostCable:
    case PartKind::kNic: return false;
    case PartKind::kT1:
    case PartKind::kPlane: return l.hosts() > 1;
    default: return l.hosts_of(p.plane, p.a).size() > 1;
    }
}

}   // namespace mrcver
