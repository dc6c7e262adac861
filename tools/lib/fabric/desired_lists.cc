// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// desired_lists.cc - the desired state of a node, from lists of switches and hosts.
#include <algorithm>
#include <map>

#include "desired_nodes.h"
#include "ports.h"
#include "usid.h"

namespace mrcfab {

namespace {

// ------------------------------------------------------------------ switch

void switch_cables(Desired &d, const Fabric &f, const Switch &sw)
{
    const Prefix6 block = plane_block(f.block, sw.plane);

    for (const Host &host : f.hosts)
        for (const HostPort &port : host.ports) {
            if (port.switch_name != sw.name)
                continue;
            add_port(d, f.mtu, port.switch_port, End::kUpper);
            add_next_hop(d, block, f.usid(host, port.plane), port.switch_port, End::kUpper);
        }
    for (const SwitchLink &link : sw.links) {
        add_port(d, f.mtu, link.port, End::kLower);
        add_next_hop(d, block, f.usid(*f.find_switch(link.peer)), link.port, End::kLower);
    }
    for (const Switch &t0 : f.switches)
        for (const SwitchLink &link : t0.links) {
            if (link.peer != sw.name)
                continue;
            add_port(d, f.mtu, link.peer_port, End::kUpper);
            add_next_hop(d, block, f.usid(t0), link.peer_port, End::kUpper);
        }
}

// -------------------------------------------------------------------- host

// The EVs of one host towards all others. What lies between two T0s is looked up once for all
// hosts of the other.
class Paths {
public:
    Paths(const Fabric &f, const Host &from) : f_(f), from_(from) {}

    // Where the EVs do not go round evenly, different pairs of hosts start at
    // different T1s, so that the remainder does not pile up on the first.
    std::vector<Ev> towards(const Host &to)
    {
        const auto shared = static_cast<unsigned>(std::min(from_.ports.size(), to.ports.size()));
        std::vector<Ev> evs;

        for (unsigned plane = 1; plane <= shared; plane++) {
            const auto way = ways(to, plane);
            if (way.empty())
                continue;
            const bool even = f_.evs_per_plane % way.size() == 0;
            const unsigned start = even ? 0 : from_.index + to.index;
            for (unsigned i = 0; i < f_.evs_per_plane; i++)
                evs.push_back({way[(start + i) % way.size()], static_cast<std::uint8_t>(plane)});
        }
        return evs;
    }

private:
    // The different ways, as outer destinations.
    std::vector<Ip6> ways(const Host &to, unsigned plane)
    {
        const Switch &a = *f_.find_switch(from_.ports[plane - 1].switch_name);
        const Switch &b = *f_.find_switch(to.ports[plane - 1].switch_name);
        const Prefix6 block = plane_block(f_.block, plane);
        const unsigned end = f_.usid(to, plane);
        std::vector<Ip6> list;

        if (&a == &b)
            return {usid_address(block, {f_.usid(a), end})};
        for (const Switch *t1 : joining(a, b))
            list.push_back(usid_address(block, {f_.usid(a), f_.usid(*t1), f_.usid(b), end}));
        return list;
    }

    // In the order of the file.
    const std::vector<const Switch *> &joining(const Switch &a, const Switch &b)
    {
        const auto [it, fresh] = joining_.try_emplace(&b);

        if (!fresh)
            return it->second;
        for (const SwitchLink &up : a.links)
            for (const SwitchLink &down : b.links)
                if (up.peer == down.peer)
                    it->second.push_back(f_.find_switch(up.peer));
        std::sort(it->second.begin(), it->second.end());
        it->second.erase(std::unique(it->second.begin(), it->second.end()), it->second.end());
        return it->second;
    }

    const Fabric &f_;
    const Host &from_;
    std::map<const Switch *, std::vector<const Switch *>> joining_;   // with from_'s, by the other T0
};

WantedDevice desired_device(const Fabric &f, const Host &host)
{
    WantedDevice dev;
    Paths paths(f, host);

    dev.name = host.device;
    dev.profile_id = f.profile_id;
    for (const HostPort &port : host.ports)
        dev.planes.push_back({static_cast<std::uint8_t>(port.plane), port.netdev,
                              usid_address(plane_block(f.block, port.plane),
                                           {f.usid(host, port.plane)})});
    for (const Host &to : f.hosts) {
        if (to.name == host.name)
            continue;
        const auto evs = paths.towards(to);
        if (evs.empty())
            continue;
        for (const IfAddr &a : to.addresses)
            dev.profiles.push_back({{f.profile_id, a.addr.gid()}, min_active_of(f, evs.size()), evs,
                                    {}, {}});
    }
    return dev;
}

}   // namespace

Desired desired_switch(const Fabric &f, const Switch &sw)
{
    Desired d;

    switch_cables(d, f, sw);
    finish_switch(d, plane_block(f.block, sw.plane), f.usid(sw));
    return d;
}

Desired desired_host(const Fabric &f, const Host &host)
{
    Desired d;

    for (const HostPort &port : host.ports) {
        add_port(d, f.mtu, port.netdev, End::kLower);
        add_next_hop(d, plane_block(f.block, port.plane), f.usid(*f.find_switch(port.switch_name)),
                     port.netdev, End::kLower);
    }
    d.links.push_back({.name = host.device, .kind = "mrc"});
    for (const IfAddr &a : host.addresses)
        d.addrs.push_back({host.device, a});
    d.device = desired_device(f, host);
    return d;
}

}   // namespace mrcfab
