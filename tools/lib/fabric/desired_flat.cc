// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// desired_flat.cc - the desired state of a host of [flat].
//
// For each address of another host: one route by each plane, which MRC uses, and before them one by
// the device, which programs use.
#include <algorithm>

#include "desired_nodes.h"

namespace mrcfab {

namespace {

void add_routes(Desired &d, const Flat &flat, const std::vector<std::string> &ports,
                const std::string &other, unsigned n)
{
    const auto shared = std::min(ports.size(), flat.ports_of(other).size());

    for (const IfAddr &a : flat.addresses(n)) {
        const Prefix6 dst{a.addr.gid(), 128};
        d.routes.push_back({dst, {}, {flat.device}, true});
        for (unsigned i = 0; i < shared; i++)
            d.routes.push_back({dst, flat.on_plane(i + 1, n), {ports[i]}, false, kRouteMetric + i + 1});
    }
}

}   // namespace

std::optional<Desired> desired_flat(const Flat &flat, std::string_view name)
{
    const unsigned own = flat.number(name);
    const auto &ports = flat.ports_of(name);
    Desired d;

    if (!own)
        return std::nullopt;
    d.device.emplace().name = flat.device;
    for (unsigned i = 0; i < ports.size(); i++) {
        d.links.push_back({.name = ports[i], .kind = "", .mtu = flat.mtu, .physical = true});
        d.addrs.push_back({ports[i], {{false, flat.on_plane(i + 1, own).bytes}, kCableLen}});
        d.device->planes.push_back({static_cast<std::uint8_t>(i + 1), ports[i], {}});
    }
    d.links.push_back({.name = flat.device, .kind = "mrc"});
    for (const IfAddr &a : flat.addresses(own))
        d.addrs.push_back({flat.device, a});
    for (unsigned n = 1; n <= flat.hosts.size(); n++)
        if (n != own)
            add_routes(d, flat, ports, flat.hosts[n - 1], n);
    return d;
}

}   // namespace mrcfab
