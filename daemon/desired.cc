// SPDX-License-Identifier: GPL-2.0
// desired.cc - from the fabric to what one node of it shall have.
//
// Every cable has the same two link-local addresses, fe80::1 at the end nearer
// to the hosts and fe80::2 at the upper end, so that next hops need no table.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "state.h"

namespace mrcd {

namespace {

const Ip6 kLower = *parse_ip6("fe80::1");
const Ip6 kUpper = *parse_ip6("fe80::2");
constexpr std::uint8_t kCableLen = 64;
constexpr std::uint8_t kLocatorLen = kUsidBlockLen + kUsidLen;

Prefix6 locator(const Fabric &f, unsigned usid)
{
    return {usid_address(f.block, {usid}), kLocatorLen};
}

// This end of a cable.
void add_port(Desired &d, const Fabric &f, const std::string &link, const Ip6 &own)
{
    d.links.push_back({.name = link, .kind = "", .mtu = f.mtu, .physical = true});
    d.addrs.push_back({link, {{false, own.bytes}, kCableLen}});
}

void add_next_hop(Desired &d, const Fabric &f, unsigned usid, const std::string &link,
                  const Ip6 &via)
{
    d.routes.push_back({locator(f, usid), via, {link}});
}

// ------------------------------------------------------------------ switch

void switch_cables(Desired &d, const Fabric &f, const Switch &sw)
{
    for (const Host &host : f.hosts)
        for (const HostPort &port : host.ports) {
            if (port.switch_name != sw.name)
                continue;
            add_port(d, f, port.switch_port, kUpper);
            add_next_hop(d, f, f.usid(host, port.plane), port.switch_port, kLower);
        }
    for (const SwitchLink &link : sw.links) {
        add_port(d, f, link.port, kLower);
        add_next_hop(d, f, f.usid(*f.find_switch(link.peer)), link.port, kUpper);
    }
    for (const Switch &t0 : f.switches)
        for (const SwitchLink &link : t0.links) {
            if (link.peer != sw.name)
                continue;
            add_port(d, f, link.peer_port, kUpper);
            add_next_hop(d, f, f.usid(t0), link.peer_port, kLower);
        }
}

Desired desired_switch(const Fabric &f, const Switch &sw)
{
    Desired d;

    switch_cables(d, f, sw);
    WantedRoute own{locator(f, f.usid(sw)), std::nullopt, {kSidDevice}};
    for (const WantedLink &link : d.links)
        own.links.push_back(link.name);
    d.routes.insert(d.routes.begin(), own);
    d.links.insert(d.links.begin(),
                   {.name = kSidDevice, .kind = "dummy", .mtu = 0, .optional = true});

    // Both switches of the kernel that need "all"; neither opens an interface by itself.
    d.sysctls = {{"all/forwarding", "1"}, {"all/seg6_enabled", "1"}};
    for (const WantedLink &link : d.links)
        for (const auto &[key, value] : {std::pair{"/forwarding", "1"},
                                         std::pair{"/seg6_enabled", "1"},
                                         std::pair{"/accept_dad", "0"}})
            d.sysctls.push_back({link.name + key, value});
    return d;
}

// -------------------------------------------------------------------- host

const SwitchLink *link_to(const Switch &t0, const Switch &t1)
{
    const auto it = std::find_if(t0.links.begin(), t0.links.end(),
                                 [&](const SwitchLink &l) { return l.peer == t1.name; });
    return it == t0.links.end() ? nullptr : &*it;
}

// The different ways from one host's T0 to the other's, as outer destinations.
std::vector<Ip6> paths(const Fabric &f, const Host &from, const Host &to, unsigned plane)
{
    const Switch &a = *f.find_switch(from.ports[plane - 1].switch_name);
    const Switch &b = *f.find_switch(to.ports[plane - 1].switch_name);
    const unsigned end = f.usid(to, plane);
    std::vector<Ip6> list;

    if (a.name == b.name)
        return {usid_address(f.block, {f.usid(a), end})};
    for (const Switch &t1 : f.switches)
        if (t1.tier == 1 && link_to(a, t1) && link_to(b, t1))
            list.push_back(usid_address(f.block, {f.usid(a), f.usid(t1), f.usid(b), end}));
    return list;
}

// Where the EVs do not go round evenly, different pairs of hosts start at
// different T1s, so that the remainder does not pile up on the first.
std::vector<Ev> evs_towards(const Fabric &f, const Host &from, const Host &to)
{
    const unsigned shared = std::min(from.ports.size(), to.ports.size());
    std::vector<Ev> evs;

    for (unsigned plane = 1; plane <= shared; plane++) {
        const auto way = paths(f, from, to, plane);
        if (way.empty())
            continue;
        const bool even = f.evs_per_plane % way.size() == 0;
        const unsigned start = even ? 0 : from.index + to.index;
        for (unsigned i = 0; i < f.evs_per_plane; i++)
            evs.push_back({way[(start + i) % way.size()], static_cast<std::uint8_t>(plane)});
    }
    return evs;
}

WantedDevice desired_device(const Fabric &f, const Host &host)
{
    WantedDevice dev;

    dev.name = host.device;
    dev.profile_id = f.profile_id;
    for (const HostPort &port : host.ports)
        dev.planes.push_back({static_cast<std::uint8_t>(port.plane), port.netdev,
                              usid_address(f.block, {f.usid(host, port.plane)})});
    for (const Host &to : f.hosts) {
        if (to.name == host.name)
            continue;
        const auto evs = evs_towards(f, host, to);
        if (evs.empty())
            continue;
        const unsigned n = evs.size();
        const unsigned min_active = std::min(n, f.min_active.value_or(std::max(1u, n / 4)));
        for (const IfAddr &a : to.addresses)
            dev.profiles.push_back({{f.profile_id, a.addr.gid()}, min_active, evs});
    }
    return dev;
}

Desired desired_host(const Fabric &f, const Host &host)
{
    Desired d;

    for (const HostPort &port : host.ports) {
        add_port(d, f, port.netdev, kLower);
        add_next_hop(d, f, f.usid(*f.find_switch(port.switch_name)), port.netdev, kUpper);
    }
    d.links.push_back({.name = host.device, .kind = "mrc"});
    for (const IfAddr &a : host.addresses)
        d.addrs.push_back({host.device, a});
    d.device = desired_device(f, host);
    return d;
}

}   // namespace

Ip6 usid_address(const Prefix6 &block, const std::vector<unsigned> &usids)
{
    Ip6 a = block.addr;
    std::size_t at = kUsidBlockLen / 8;

    for (const unsigned usid : usids) {
        assert(at + 2 <= a.bytes.size());
        a.bytes[at++] = usid >> 8;
        a.bytes[at++] = usid & 0xff;
    }
    return a;
}

std::optional<Desired> desired_for(const Fabric &fabric, std::string_view name)
{
    if (const Switch *sw = fabric.find_switch(name))
        return desired_switch(fabric, *sw);
    if (const Host *host = fabric.find_host(name))
        return desired_host(fabric, *host);
    return std::nullopt;
}

Desired load_desired(const std::string &file_name, const std::string &name)
{
    auto want = desired_for(load_fabric(file_name), name);

    if (!want)
        throw FabricError(fmt::format("{}: there is neither a switch nor a host \"{}\" in it, "
                                      "expected the name of one (--name)", file_name, name));
    return std::move(*want);
}

}   // namespace mrcd
