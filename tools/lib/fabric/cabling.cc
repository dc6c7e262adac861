// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// cabling.cc - see cabling.h.
#include "cabling.h"

namespace mrcfab {

Cabling::Cabling(const Fabric &fabric) : fabric_(fabric)
{
    const auto join = [&](const PortAt &a, const PortAt &b) {
        ends_.emplace(a, b);
        ends_.emplace(b, a);
    };

    for (const Switch &sw : fabric.switches)
        for (const SwitchLink &l : sw.links)
            join({sw.name, l.port}, {l.peer, l.peer_port});
    for (const Host &host : fabric.hosts)
        for (const HostPort &p : host.ports)
            join({host.name, p.netdev}, {p.switch_name, p.switch_port});
}

std::optional<PortAt> Cabling::far_end(const PortAt &here) const
{
    if (!fabric_.topology) {
        const auto it = ends_.find(here);
        return it == ends_.end() ? std::nullopt : std::optional(it->second);
    }
    const Topology &t = *fabric_.topology;
    const auto node = t.find(here.node);
    const auto cable = node ? t.cable_at(*node, here.port) : std::nullopt;
    if (!cable)
        return std::nullopt;
    const NodeId other = t.lower(*cable) == *node ? t.upper(*cable) : t.lower(*cable);
    return PortAt{t.name(other), t.port(other, *cable)};
}

}   // namespace mrcfab
