// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "switch_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "../fabric/desired.h"

namespace mrcsw {

using namespace mrcfab;

namespace {

bool is_host(const Fabric &f, const std::string &name)
{
    if (!f.topology)
        return f.find_host(name);
    const auto node = f.topology->find(name);
    return node && std::holds_alternative<HostId>(*node);
}

// Texts may be scripts: a name of a port is a word there, whatever Linux takes for one.
void judge_name(const std::string &node, const std::string &port)
{
    const bool word = std::all_of(port.begin(), port.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '.' || c == '-';
    });
    if (!word)
        throw FabricError(fmt::format("port \"{}\" of {} cannot be exported: expected letters, digits, '-', '_', '.'", port,
                                      node));
}

std::vector<SwitchPort> ports(const Fabric &f, const Cabling &cabling, const Desired &d, const std::string &name)
{
    std::vector<SwitchPort> list;

    for (const WantedAddr &a : d.addrs) {
        judge_name(name, a.link);
        const auto far = cabling.far_end({name, a.link});
        list.push_back({a.link, a.addr, far ? far->node + " " + far->port : "", far && is_host(f, far->node)});
    }
    return list;
}

}   // namespace

std::optional<SwitchConfig> switch_config(const Fabric &f, const Cabling &cabling, std::string_view name)
{
    const auto d = f.flat ? std::nullopt : desired_for(f, name);
    SwitchConfig c;

    if (!d || d->device)
        return std::nullopt;
    c.name = name;
    c.mtu = f.mtu;
    c.qos = f.qos.value_or(Qos{});
    c.ports = ports(f, cabling, *d, c.name);
    for (const WantedRoute &r : d->routes)
        if (r.via)
            c.routes.push_back({r.dst, *r.via, r.links.front()});
        else
            c.sid = r.dst;
    return c;
}

std::vector<std::string> switch_names(const Fabric &f)
{
    std::vector<std::string> list;

    for (const Switch &sw : f.switches)
        list.push_back(sw.name);
    if (!f.topology)
        return list;
    const Topology &t = *f.topology;
    const auto add = [&](const NodeId &id) {
        if (t.has(id))
            list.push_back(t.name(id));
    };
    for (unsigned p = 1; p <= t.planes; p++) {
        for (unsigned i = 1; i <= t.t0s; i++)
            add(T0Id{p, i});
        for (unsigned i = 1; i <= t.t1s; i++)
            add(T1Id{p, i});
    }
    return list;
}

}   // namespace mrcsw
