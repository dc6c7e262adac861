// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// layout.cc - see layout.h.
#include "layout.h"

#include <algorithm>

#include "../fabric/usid.h"

namespace mrcver {

using mrcfab::Cable;
using mrcfab::Fabric;
using mrcfab::Host;
using mrcfab::HostId;
using mrcfab::HostPort;
using mrcfab::Ip6;
using mrcfab::Switch;
using mrcfab::SwitchLink;
using mrcfab::T0Id;
using mrcfab::T1Id;
using mrcfab::Topology;

namespace {

enum { kUplinks, kDownlinks, kHosts };

}   // namespace

Layout::Layout(const Fabric &fabric) : fabric_(fabric) {}

unsigned Layout::hosts() const
{
    return static_cast<unsigned>(fabric_.topology ? fabric_.topology->hosts() : fabric_.hosts.size());
}

// Of lists, switches of both tiers share one row of numbers.
unsigned Layout::t0s() const
{
    return fabric_.topology ? fabric_.topology->t0s : static_cast<unsigned>(fabric_.switches.size());
}

unsigned Layout::t1s() const
{
    return fabric_.topology ? fabric_.topology->t1s : static_cast<unsigned>(fabric_.switches.size());
}

unsigned Layout::host(std::string_view name) const
{
    if (const auto &t = fabric_.topology) {
        const auto node = t->find(name);
        const auto *h = node ? std::get_if<HostId>(&*node) : nullptr;
        return h ? (h->t0 - 1) * t->hosts_per_t0 + h->host : 0;
    }
    const Host *h = fabric_.find_host(name);
    return h ? static_cast<unsigned>(h - fabric_.hosts.data()) + 1 : 0;
}

unsigned Layout::switch_of(std::string_view name, unsigned plane, unsigned tier) const
{
    if (const auto &t = fabric_.topology) {
        const auto node = t->find(name);
        const auto *t0 = node ? std::get_if<T0Id>(&*node) : nullptr;
        const auto *t1 = node ? std::get_if<T1Id>(&*node) : nullptr;
        if (tier == 0)
            return t0 && t0->plane == plane ? t0->t0 : 0;
        return t1 && t1->plane == plane ? t1->t1 : 0;
    }
    const Switch *sw = fabric_.find_switch(name);
    if (!sw || sw->tier != tier || sw->plane != plane)
        return 0;
    return static_cast<unsigned>(sw - fabric_.switches.data()) + 1;
}

std::string Layout::host_name(unsigned host) const
{
    if (const auto &t = fabric_.topology)
        return t->name(HostId{(host - 1) / t->hosts_per_t0 + 1, (host - 1) % t->hosts_per_t0 + 1});
    return fabric_.hosts[host - 1].name;
}

std::string Layout::t0_name(unsigned plane, unsigned t0) const
{
    return fabric_.topology ? fabric_.topology->name(T0Id{plane, t0}) : fabric_.switches[t0 - 1].name;
}

std::string Layout::t1_name(unsigned plane, unsigned t1) const
{
    return fabric_.topology ? fabric_.topology->name(T1Id{plane, t1}) : fabric_.switches[t1 - 1].name;
}

unsigned Layout::t0_of(unsigned plane, unsigned host) const
{
    if (const auto &t = fabric_.topology) {
        const Cable c{plane, (host - 1) / t->hosts_per_t0 + 1, false, (host - 1) % t->hosts_per_t0 + 1};
        return t->has(c) ? c.t0 : 0;
    }
    for (const HostPort &p : fabric_.hosts[host - 1].ports)
        if (p.plane == plane)
            return t0(p.switch_name, plane);
    return 0;
}

const Ids &Layout::known(int what, unsigned plane, unsigned number) const
{
    const unsigned long key = (static_cast<unsigned long>(what) << 16 | plane) << 32 | number;
    const auto it = known_.find(key);

    return it != known_.end() ? it->second : known_.emplace(key, find(what, plane, number)).first->second;
}

Ids Layout::find(int what, unsigned plane, unsigned number) const
{
    Ids list;

    if (!number)
        return list;
    if (const auto &t = fabric_.topology) {
        const unsigned n = what == kUplinks ? t->t1s : what == kDownlinks ? t->t0s : t->hosts_per_t0;
        for (unsigned i = 1; i <= n; i++) {
            const Cable c = what == kDownlinks ? Cable{plane, i, true, number}
                                               : Cable{plane, number, what == kUplinks, i};
            if (t->has(c))
                list.push_back(what == kHosts ? (number - 1) * t->hosts_per_t0 + i : i);
        }
        return list;
    }
    const Switch &sw = fabric_.switches[number - 1];
    if (what == kUplinks)
        for (const SwitchLink &l : sw.links)
            list.push_back(t1(l.peer, plane));
    else if (what == kDownlinks)
        for (std::size_t i = 0; i < fabric_.switches.size(); i++)
            for (const SwitchLink &l : fabric_.switches[i].links)
                if (l.peer == sw.name)
                    list.push_back(static_cast<unsigned>(i) + 1);
    if (what == kHosts)
        for (std::size_t i = 0; i < fabric_.hosts.size(); i++)
            for (const HostPort &p : fabric_.hosts[i].ports)
                if (p.switch_name == sw.name)
                    list.push_back(static_cast<unsigned>(i) + 1);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
}

const Ids &Layout::uplinks(unsigned plane, unsigned t0) const { return known(kUplinks, plane, t0); }
const Ids &Layout::downlinks(unsigned plane, unsigned t1) const { return known(kDownlinks, plane, t1); }
const Ids &Layout::hosts_of(unsigned plane, unsigned t0) const { return known(kHosts, plane, t0); }

bool Layout::joined(unsigned plane, unsigned t0, unsigned t1) const
{
    const Ids &up = uplinks(plane, t0);

    return std::binary_search(up.begin(), up.end(), t1);
}

Ip6 Layout::carrier(unsigned plane, unsigned host, const Ids &switches) const
{
    std::vector<unsigned> usids;

    for (std::size_t i = 0; i < switches.size(); i++)
        if (!fabric_.topology)
            usids.push_back(fabric_.usid(fabric_.switches[switches[i] - 1]));
        else
            usids.push_back(i % 2 ? Topology::usid(T1Id{plane, switches[i]})
                                  : Topology::usid(T0Id{plane, switches[i]}));
    if (const auto &t = fabric_.topology)
        usids.push_back(Topology::usid(HostId{1, (host - 1) % t->hosts_per_t0 + 1}));
    else
        usids.push_back(fabric_.usid(fabric_.hosts[host - 1], plane));
    return usid_address(plane_block(fabric_.block, plane), usids);
}

}   // namespace mrcver
