// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// topology.cc - see topology.h.
#include "topology.h"

#include "usid.h"

namespace mrcfab {

namespace {

template <typename... F> struct Overloaded : F... { using F::operator()...; };
template <typename... F> Overloaded(F...) -> Overloaded<F...>;

Numbers numbers(unsigned plane, unsigned t0, unsigned t1, unsigned host)
{
    return {{plane, t0, t1, host}};
}

bool in(unsigned n, unsigned max) { return n >= 1 && n <= max; }

}   // namespace

// ------------------------------------------------------------------ addresses

IfAddr AddressRule::address(HostId h) const
{
    Ip6 gid = net.addr;

    put_bits(gid, t0_at, host_at - t0_at, h.t0);
    put_bits(gid, host_at, 128 - host_at, h.host);
    IfAddr a{{v4, gid.bytes}, len};
    if (v4) {
        a.addr.bytes = {};
        std::copy(gid.bytes.begin() + 12, gid.bytes.end(), a.addr.bytes.begin());
    }
    return a;
}

Prefix6 AddressRule::at_t0(unsigned t0) const
{
    Prefix6 p{net.addr, static_cast<std::uint8_t>(host_at)};

    put_bits(p.addr, t0_at, host_at - t0_at, t0);
    return p;
}

std::optional<HostId> AddressRule::host(const Ip6 &gid) const
{
    const HostId h{get_bits(gid, t0_at, host_at - t0_at), get_bits(gid, host_at, 128 - host_at)};

    if (address(h).addr.gid() != gid)
        return std::nullopt;
    return h;
}

// ---------------------------------------------------------------------- names

std::string Topology::name(const NodeId &node) const
{
    return std::visit(Overloaded{
        [&](HostId h) { return host_name.format(numbers(0, h.t0, 0, h.host)); },
        [&](T0Id s) { return t0_name.format(numbers(s.plane, s.t0, 0, 0)); },
        [&](T1Id s) { return t1_name.format(numbers(s.plane, 0, s.t1, 0)); }}, node);
}

std::optional<NodeId> Topology::named(std::string_view text) const
{
    if (const auto n = host_name.match(text))
        if (in((*n)[Var::kT0], t0s) && in((*n)[Var::kHost], hosts_per_t0))
            return HostId{(*n)[Var::kT0], (*n)[Var::kHost]};
    if (const auto n = t0_name.match(text))
        if (in((*n)[Var::kPlane], planes) && in((*n)[Var::kT0], t0s))
            return T0Id{(*n)[Var::kPlane], (*n)[Var::kT0]};
    if (const auto n = t1_name.match(text))
        if (in((*n)[Var::kPlane], planes) && in((*n)[Var::kT1], t1s))
            return T1Id{(*n)[Var::kPlane], (*n)[Var::kT1]};
    return std::nullopt;
}

std::optional<NodeId> Topology::find(std::string_view text) const
{
    const auto node = named(text);

    return node && has(*node) ? node : std::nullopt;
}

std::string Topology::port_by_rule(const NodeId &node, const Cable &c) const
{
    return std::visit(Overloaded{
        [&](HostId) { return host_port.format(numbers(c.plane, 0, 0, 0)); },
        [&](T0Id) {
            return c.up ? t0_t1_port.format(numbers(0, 0, c.number, 0))
                        : t0_host_port.format(numbers(0, 0, 0, c.number));
        },
        [&](T1Id) { return t1_t0_port.format(numbers(0, c.t0, 0, 0)); }}, node);
}

std::string Topology::port(const NodeId &node, const Cable &c) const
{
    const auto name = port_by_rule(node, c);
    const Difference *d = difference(node);

    if (!d)
        return name;
    const auto it = d->ports.find(name);
    return it == d->ports.end() ? name : it->second;
}

std::optional<Cable> Topology::cable_at(const NodeId &node, std::string_view port) const
{
    std::string name(port);

    if (const Difference *d = difference(node)) {
        for (const auto &[by_rule, here] : d->ports)
            if (here == port)
                name = by_rule;
        if (name == port && d->ports.count(name))
            return std::nullopt;   // the rule's name for a port that has another one
    }
    const auto cable = std::visit(Overloaded{
        [&](HostId h) -> std::optional<Cable> {
            const auto n = host_port.match(name);
            return n ? std::optional(Cable{(*n)[Var::kPlane], h.t0, false, h.host}) : std::nullopt;
        },
        [&](T0Id s) -> std::optional<Cable> {
            // Both kinds of ports may be counted through: hosts first.
            if (const auto n = t0_host_port.match(name); n && in((*n)[Var::kHost], hosts_per_t0))
                return Cable{s.plane, s.t0, false, (*n)[Var::kHost]};
            const auto n = t0_t1_port.match(name);
            return n ? std::optional(Cable{s.plane, s.t0, true, (*n)[Var::kT1]}) : std::nullopt;
        },
        [&](T1Id s) -> std::optional<Cable> {
            const auto n = t1_t0_port.match(name);
            return n ? std::optional(Cable{s.plane, (*n)[Var::kT0], true, s.t1}) : std::nullopt;
        }}, node);
    return cable && has(*cable) ? cable : std::nullopt;
}

// ---------------------------------------------------------------------- facts

bool Topology::has(const NodeId &node) const
{
    const bool numbered = std::visit(Overloaded{
        [&](HostId h) { return in(h.t0, t0s) && in(h.host, hosts_per_t0); },
        [&](T0Id s) { return in(s.plane, planes) && in(s.t0, t0s); },
        [&](T1Id s) { return in(s.plane, planes) && in(s.t1, t1s); }}, node);

    return numbered && !missing.count(node);
}

NodeId Topology::lower(const Cable &c) const
{
    return c.up ? NodeId(T0Id{c.plane, c.t0}) : NodeId(HostId{c.t0, c.number});
}

NodeId Topology::upper(const Cable &c) const
{
    return c.up ? NodeId(T1Id{c.plane, c.number}) : NodeId(T0Id{c.plane, c.t0});
}

bool Topology::has(const Cable &c) const
{
    return has(lower(c)) && has(upper(c)) && in(c.plane, planes) && !cut.count(c);
}

std::vector<Cable> Topology::cables(const NodeId &node) const
{
    std::vector<Cable> list;
    const auto add = [&](const Cable &c) {
        if (has(c))
            list.push_back(c);
    };

    std::visit(Overloaded{
        [&](HostId h) {
            for (unsigned p = 1; p <= planes; p++)
                add({p, h.t0, false, h.host});
        },
        [&](T0Id s) {
            for (unsigned i = 1; i <= hosts_per_t0; i++)
                add({s.plane, s.t0, false, i});
            for (unsigned i = 1; i <= t1s; i++)
                add({s.plane, s.t0, true, i});
        },
        [&](T1Id s) {
            for (unsigned i = 1; i <= t0s; i++)
                add({s.plane, i, true, s.t1});
        }}, node);
    return list;
}

const Difference *Topology::difference(const NodeId &node) const
{
    const auto it = differs.find(node);

    return it == differs.end() ? nullptr : &it->second;
}

const std::string &Topology::device_of(HostId host) const
{
    const Difference *d = difference(host);

    return d && !d->device.empty() ? d->device : device;
}

std::vector<IfAddr> Topology::addresses(HostId host) const
{
    const Difference *d = difference(host);
    std::vector<IfAddr> list;

    if (d && !d->addresses.empty())
        return d->addresses;
    for (const AddressRule &rule : addressing)
        list.push_back(rule.address(host));
    return list;
}

Prefix6 Topology::block(unsigned plane) const { return plane_block(blocks, plane); }

unsigned Topology::usid(const NodeId &node)
{
    return std::visit(Overloaded{[](HostId h) { return kHostUsids | h.host; },
                                 [](T0Id s) { return kT0Usids | s.t0; },
                                 [](T1Id s) { return kT1Usids | s.t1; }}, node);
}

std::vector<unsigned> Topology::joining(unsigned plane, unsigned t0, unsigned other_t0) const
{
    std::vector<unsigned> list;

    for (unsigned i = 1; i <= t1s; i++)
        if (has(Cable{plane, t0, true, i}) && has(Cable{plane, other_t0, true, i}))
            list.push_back(i);
    return list;
}

bool Topology::whole(T0Id s) const
{
    const auto first = cut.lower_bound({s.plane, s.t0, true, 0});

    return has(NodeId(s)) && (first == cut.end() || first->plane != s.plane || first->t0 != s.t0);
}

Irregular irregular(const Topology &t)
{
    Irregular r;

    for (const NodeId &node : t.missing)
        if (const auto *s = std::get_if<T0Id>(&node))
            r.t0s.insert(s->t0);
    for (const Cable &c : t.cut) {
        if (c.up)
            r.t0s.insert(c.t0);
        else if (!t.missing.count(HostId{c.t0, c.number}))
            r.hosts.insert({c.t0, c.number});
    }
    for (const auto &[node, d] : t.differs)
        if (const auto *h = std::get_if<HostId>(&node); h && !d.addresses.empty())
            r.hosts.insert(*h);
    return r;
}

}   // namespace mrcfab
