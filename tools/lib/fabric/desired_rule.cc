// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// desired_rule.cc - the desired state of a node, from a rule. Its cost depends on the node's own
// cables only.
#include "desired_nodes.h"
#include "ports.h"
#include "usid.h"

namespace mrcfab {

namespace {

void add_cables(Desired &d, const Fabric &f, const Topology &t, const NodeId &node)
{
    for (const Cable &c : t.cables(node)) {
        const bool lower = t.lower(c) == node;
        const End own = lower ? End::kLower : End::kUpper;
        const auto port = t.port(node, c);

        add_port(d, f.mtu, port, own);
        add_next_hop(d, t.block(c.plane), Topology::usid(lower ? t.upper(c) : t.lower(c)), port, own);
    }
}

WantedDevice device(const Fabric &f, const Topology &t, HostId host)
{
    WantedDevice dev;

    dev.name = t.device_of(host);
    dev.profile_id = f.profile_id;
    for (const Cable &c : t.cables(host))
        dev.planes.push_back({static_cast<std::uint8_t>(c.plane), t.port(host, c),
                              usid_address(t.block(c.plane), {Topology::usid(host)})});
    dev.profiles = templates(f, t, host);
    return dev;
}

unsigned plane_of(const NodeId &sw)
{
    const auto *t0 = std::get_if<T0Id>(&sw);

    return t0 ? t0->plane : std::get<T1Id>(sw).plane;
}

}   // namespace

Desired desired_node(const Fabric &f, const Topology &t, const NodeId &node)
{
    const auto *host = std::get_if<HostId>(&node);
    Desired d;

    add_cables(d, f, t, node);
    if (!host) {
        finish_switch(d, t.block(plane_of(node)), Topology::usid(node));
        return d;
    }
    d.links.push_back({.name = t.device_of(*host), .kind = "mrc"});
    for (const IfAddr &a : t.addresses(*host))
        d.addrs.push_back({t.device_of(*host), a});
    d.device = device(f, t, *host);
    return d;
}

}   // namespace mrcfab
