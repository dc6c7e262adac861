// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// plane_view.cc - see plane_view.h.
#include "plane_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "usid.h"

namespace mrcfab {

namespace {

// The first ones, and the last in place of the others.
template <typename T> std::vector<T> some(const std::vector<T> &all)
{
    const auto n = static_cast<std::ptrdiff_t>(std::min(all.size(), kViewMax));
    std::vector<T> list(all.begin(), all.begin() + n);

    if (all.size() > kViewMax)
        list.back() = all.back();
    return list;
}

void see_rule(PlaneView &v, const Topology &t)
{
    std::vector<T0Id> t0s;
    std::vector<T1Id> t1s;

    for (unsigned i = 1; i <= t.t0s; i++)
        if (t.has(NodeId(T0Id{v.plane, i})))
            t0s.push_back({v.plane, i});
    for (unsigned i = 1; i <= t.t1s; i++)
        if (t.has(NodeId(T1Id{v.plane, i})))
            t1s.push_back({v.plane, i});
    v.t0s = t0s.size();
    v.t1s = t1s.size();
    for (const T1Id id : some(t1s))
        v.t1.push_back({t.name(id), Topology::usid(id), 0, "", "", {}});
    for (const T0Id id : some(t0s)) {
        PlaneView::Switch s{t.name(id), Topology::usid(id), 0, "", "", {}};
        for (const Cable &c : t.cables(id)) {
            if (c.up)
                continue;
            s.last_host = t.name(t.lower(c));
            if (s.hosts++ == 0)
                s.first_host = s.last_host;
        }
        for (const T1Id up : some(t1s))
            s.cabled.push_back(t.has(Cable{id.plane, id.t0, true, up.t1}));
        v.t0.push_back(std::move(s));
    }
    for (const NodeId &node : t.missing)
        v.exceptions.push_back(t.name(node) + " is missing");
    for (const Cable &c : t.cut)
        v.exceptions.push_back(fmt::format("{}:{} is missing", t.name(t.lower(c)),
                                           t.port_by_rule(t.lower(c), c)));
    for (const auto &[node, d] : t.differs)
        v.exceptions.push_back(t.name(node) + " differs");
}

void see_lists(PlaneView &v, const Fabric &f)
{
    std::vector<const Switch *> t0s, t1s;

    for (const Switch &sw : f.switches)
        if (sw.plane == v.plane)
            (sw.tier == 0 ? t0s : t1s).push_back(&sw);
    v.t0s = t0s.size();
    v.t1s = t1s.size();
    const auto t1 = some(t1s);
    for (const Switch *sw : t1)
        v.t1.push_back({sw->name, f.usid(*sw), 0, "", "", {}});
    for (const Switch *sw : some(t0s)) {
        PlaneView::Switch s{sw->name, f.usid(*sw), 0, "", "", {}};
        for (const Host &host : f.hosts)
            for (const HostPort &p : host.ports)
                if (p.switch_name == sw->name) {
                    s.last_host = host.name;
                    if (s.hosts++ == 0)
                        s.first_host = host.name;
                }
        for (const Switch *up : t1)
            s.cabled.push_back(std::any_of(sw->links.begin(), sw->links.end(),
                                           [&](const SwitchLink &l) { return l.peer == up->name; }));
        v.t0.push_back(std::move(s));
    }
}

}   // namespace

PlaneView plane_view(const Fabric &f, unsigned plane)
{
    PlaneView v;

    v.plane = plane;
    v.planes = f.planes;
    v.block = plane_block(f.block, plane);
    if (f.topology)
        see_rule(v, *f.topology);
    else
        see_lists(v, f);
    return v;
}

}   // namespace mrcfab
