// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// rule.cc - reads the rule of a fabric and its exceptions.
//
// The patterns show whether names, ports and addresses are unique; nothing is enumerated.
#include "rule.h"

#include <bit>

#include "desired.h"
#include "errors.h"
#include "usid.h"

namespace mrcfab {

namespace {

constexpr unsigned kAddressBits = 32;   // of an address: for the numbers of T0 and host
constexpr const char *kAddresses = "addresses with length, such as [\"fd00:6d72:63::1:1/64\"]";

class Rule {
public:
    Rule(Reader &root, const Fabric &f) : root_(root), f_(f), r_(root.table("topology")) {}

    Topology read()
    {
        for (const char *key : {"usid", "switch", "host"})
            if (root_.has(key))
                root_.bad(key, "is for fabrics as lists, expected either that or [topology]");
        // Before a key that is missing: it may be this one, mistyped.
        r_.only({"t0s", "t1s", "hosts_per_t0", "device", "ipv4", "names", "ports", "missing", "differs"});
        numbers();
        errors_.of([&] { addressing(); });
        errors_.of([&] { names(); });
        errors_.of([&] { ports(); });
        errors_.raise();
        errors_.of([&] { missing(); });
        for (Reader &d : r_.tables("differs", "topology.differs"))
            errors_.of([&] { differs(d); });
        errors_.raise();
        check_profiles();
        return std::move(t_);
    }

private:
    unsigned number(const char *key) { return static_cast<unsigned>(r_.number(key, 1, kNumberMax)); }

    void numbers()
    {
        t_.planes = f_.planes;
        t_.blocks = f_.block;
        t_.t0s = number("t0s");
        t_.t1s = number("t1s");
        t_.hosts_per_t0 = number("hosts_per_t0");
        t_.device = r_.optional("device") ? r_.netdev("device") : "mrc0";
        if (t_.planes > blocks_of(f_.block.len))
            root_.table("fabric").bad("block", "{} is one block, expected one for each of {} planes: "
                                               "a prefix of length {}", to_string(f_.block),
                                      t_.planes, kUsidBlockLen - std::bit_width(t_.planes - 1));
    }

    // ------------------------------------------------------------- addresses

    void addressing()
    {
        if (f_.prefix.len > 128 - kAddressBits)
            root_.table("fabric").bad("prefix", "{} leaves {} bits for the numbers of T0 and host, "
                                                "expected {}: a prefix of length {} at most",
                                      to_string(f_.prefix), 128 - f_.prefix.len, kAddressBits,
                                      128 - kAddressBits);
        t_.addressing.push_back({false, f_.prefix, f_.prefix.len, 128 - kAddressBits,
                                 128 - kAddressBits / 2});
        if (const auto what = not_for_hosts(t_.addressing[0].address({1, 1})); !what.empty())
            root_.table("fabric").bad("prefix", "{} holds {}, expected one for hosts, such as "
                                                "fd00:6d72:63::/64", to_string(f_.prefix), what);
        if (r_.optional("ipv4"))
            ipv4(r_.network4("ipv4", "10.0.0.0/8"));
    }

    void ipv4(const IfAddr &net)
    {
        // Number 0 and the last one are the network's own.
        const unsigned host_width = std::bit_width(t_.hosts_per_t0 + 1);
        const unsigned t0_width = std::bit_width(t_.t0s);

        if (net.len + t0_width + host_width > 32)
            r_.bad("ipv4", "{} has too few addresses: {} bits are the T0's number and {} the host's, "
                           "expected a prefix of length {} at most", to_string(net), t0_width, host_width,
                   32 - std::min(32u, t0_width + host_width));
        t_.addressing.push_back({true, mapped(net), net.len, 128 - host_width - t0_width,
                                 128 - host_width});
    }

    // ----------------------------------------------------------------- names

    Numbers largest() const { return {{t_.planes, t_.t0s, t_.t1s, t_.hosts_per_t0}}; }

    void names()
    {
        Reader n = r_.table_or_empty("names");
        t_.host_name = n.node_pattern("host", "h{t0}-{host}", {Var::kT0, Var::kHost});
        t_.t0_name = n.node_pattern("t0", "p{plane}-t0-{t0}", {Var::kPlane, Var::kT0});
        t_.t1_name = n.node_pattern("t1", "p{plane}-t1-{t1}", {Var::kPlane, Var::kT1});
        n.finish();
        for (const auto &[key, p] : {std::pair{"host", &t_.host_name}, std::pair{"t0", &t_.t0_name},
                                     std::pair{"t1", &t_.t1_name}})
            if (const auto last = p->format(largest()); !is_node_name(last))
                n.bad(key, "makes the name \"{}\", expected 63 characters at most", last);
        apart(n, "t0", t_.t0_name, "host", t_.host_name);
        apart(n, "t1", t_.t1_name, "host", t_.host_name);
        apart(n, "t1", t_.t1_name, "t0", t_.t0_name);
    }

    void apart(const Reader &r, const char *key, const Pattern &a, const char *other,
               const Pattern &b) const
    {
        if (a.overlaps(b))
            r.bad(key, "\"{}\" and {} \"{}\" could make the same name, expected different words in "
                       "them", a.text(), other, b.text());
    }

    void ports()
    {
        Reader p = r_.table_or_empty("ports");
        t_.host_port = p.netdev_pattern("host", "eth{plane}", {Var::kPlane});
        t_.t0_host_port = p.netdev_pattern("t0_host", "h{host}", {Var::kHost});
        t_.t0_t1_port = p.netdev_pattern("t0_t1", "t1-{t1}", {Var::kT1});
        t_.t1_t0_port = p.netdev_pattern("t1_t0", "t0-{t0}", {Var::kT0});
        p.finish();
        for (const auto &[key, q] : {std::pair{"host", &t_.host_port},
                                     std::pair{"t0_host", &t_.t0_host_port},
                                     std::pair{"t0_t1", &t_.t0_t1_port},
                                     std::pair{"t1_t0", &t_.t1_t0_port}}) {
            if (const auto last = q->format(largest()); !is_netdev(last))
                p.bad(key, "makes the interface name \"{}\", expected {} characters at most", last,
                      kIfNameMax);
            if (q->match(kSidDevice))
                p.bad(key, "could make the name {}, which is that of a switch's own SIDs: expected "
                           "another word", kSidDevice);
        }
        if (!t_.t0_t1_port.apart_by_numbers(t_.t1s, t_.t0_host_port, t_.hosts_per_t0))
            apart(p, "t0_t1", t_.t0_t1_port, "t0_host", t_.t0_host_port);
        if (t_.host_port.match(t_.device))
            r_.bad("device", "\"{}\" could be a port of the host ({}), expected another name",
                   t_.device, t_.host_port.text());
    }

    // ------------------------------------------------------------ exceptions

    NodeId node(const Reader &r, std::string_view key, std::string_view name) const
    {
        const auto id = t_.named(name);

        if (!id)
            r.bad(key, "there is no node \"{}\", expected a name such as {}, {} or {}", name,
                  t_.host_name.format({{1, 1, 1, 1}}), t_.t0_name.format({{1, 1, 1, 1}}),
                  t_.t1_name.format({{1, 1, 1, 1}}));
        return *id;
    }

    void missing()
    {
        Reader m = r_.table_or_empty("missing");

        if (m.optional("nodes"))
            for (const auto &name : m.strings("nodes", "names, such as [\"h1-1\"]"))
                if (!t_.missing.insert(node(m, "nodes", name)).second)
                    m.bad("nodes", "\"{}\" is there twice", name);
        if (m.optional("ports"))
            for (const auto &text : m.strings("ports", kPort))
                cut(m, text);
        m.finish();
    }

    void cut(const Reader &m, const std::string &text)
    {
        const auto colon = text.find(':');

        if (colon == text.npos)
            m.bad("ports", "\"{}\" is no port, expected {}", text, kPort);
        const NodeId id = node(m, "ports", text.substr(0, colon));
        const auto cable = t_.cable_at(id, text.substr(colon + 1));
        if (!cable)
            m.bad("ports", "{} has no port \"{}\" that could be missing (or it is already), expected "
                           "one such as {}", t_.name(id), text.substr(colon + 1), sample_port(id));
        t_.cut.insert(*cable);
    }

    std::string sample_port(const NodeId &id) const
    {
        if (const auto *t0 = std::get_if<T0Id>(&id))
            return t_.port_by_rule(id, {t0->plane, t0->t0, true, 1});
        return t_.port_by_rule(id, {1, 1, false, 1});
    }

    void differs(Reader &r)
    {
        const auto name = r.node_name("node");
        const NodeId id = node(r, "node", name);
        Difference d;

        if (t_.missing.count(id))
            r.bad("node", "\"{}\" is missing (topology.missing), and so cannot differ", name);
        if (r.optional("device"))
            d.device = r.netdev("device");
        if (r.optional("addresses"))
            d.addresses = r.addresses("addresses", kAddresses);
        if (r.optional("ports"))
            other_ports(r, id, d);
        r.finish();
        if (!std::holds_alternative<HostId>(id) && (r.has("device") || r.has("addresses")))
            r.bad(r.has("device") ? "device" : "addresses", "{} is a switch, expected ports only",
                  name);
        if (!d.device.empty())
            other_device(r, id, d);
        if (!d.addresses.empty())
            other_addresses(r, std::get<HostId>(id), d);
        if (!t_.differs.emplace(id, std::move(d)).second)
            r.bad("node", "\"{}\" is there twice", name);
    }

    void other_ports(Reader &r, const NodeId &id, Difference &d)
    {
        std::set<std::string> here;

        for (const auto &[by_rule, name] : r.string_pairs("ports", kPorts)) {
            if (!t_.cable_at(id, by_rule))
                r.bad("ports", "{} has no port \"{}\" by the rule, expected one such as {}",
                      t_.name(id), by_rule, sample_port(id));
            if (!is_netdev(name) || name == kSidDevice)
                r.bad("ports", "\"{}\" is no interface name, expected 1 to {} characters without "
                               "space, '/', ':' and '%', and not {}", name, kIfNameMax, kSidDevice);
            if (!here.insert(name).second)
                r.bad("ports", "\"{}\" is there twice, expected one name per port", name);
            d.ports.emplace(by_rule, name);
        }
        for (const auto &name : here)
            if (t_.cable_at(id, name) && !d.ports.count(name))
                r.bad("ports", "\"{}\" is another port of {} by the rule, expected a name that is "
                               "free", name, t_.name(id));
        if (std::holds_alternative<HostId>(id) && here.count(t_.device) && d.device.empty())
            r.bad("ports", "\"{}\" is the host's device, expected the port's interface", t_.device);
    }

    void other_device(const Reader &r, const NodeId &id, const Difference &d) const
    {
        bool port = t_.cable_at(id, d.device) && !d.ports.count(d.device);

        for (const auto &[by_rule, name] : d.ports)
            port |= name == d.device;
        if (port)
            r.bad("device", "\"{}\" is a port of {}, expected another name", d.device, t_.name(id));
    }

    // Of the fabric's prefix one at least, and nobody else's.
    void other_addresses(const Reader &r, HostId id, const Difference &d)
    {
        bool inside = false;

        for (const IfAddr &a : d.addresses) {
            if (!a.addr.v4 && !f_.prefix.contains(Ip6{a.addr.bytes}))
                r.bad("addresses", "{} is outside fabric.prefix {}", to_string(a),
                      to_string(f_.prefix));
            inside |= !a.addr.v4;
            if (!taken_.insert(a.addr).second)
                r.bad("addresses", "{} is used twice", to_string(a.addr));
            for (const AddressRule &rule : t_.addressing) {
                const auto other = rule.host(a.addr.gid());
                if (other && *other != id && t_.has(NodeId(*other)))
                    r.bad("addresses", "{} is that of {} by the rule, expected one that no host has",
                          to_string(a.addr), t_.name(*other));
            }
        }
        if (!inside)
            r.bad("addresses", "{} has no IPv6 address, expected one in fabric.prefix {}",
                  t_.name(id), to_string(f_.prefix));
    }

    // Each of them is a profile in every host.
    void check_profiles() const
    {
        const Irregular i = irregular(t_);
        std::size_t n = t_.addressing.size() * (2 + i.t0s.size());

        for (const HostId h : i.hosts)
            n += t_.addresses(h).size();
        if (n > kProfilesMax)
            root_.bad("topology", "the exceptions are {} profiles in every host, expected {} at most: "
                                  "write such a fabric as lists", n, kProfilesMax);
    }

    static constexpr const char *kPort = "node:port, such as [\"p1-t0-1:t1-2\"]";
    static constexpr const char *kPorts = "the rule's names and those here, such as {eth1 = \"ens5\"}";

    Reader &root_;
    const Fabric &f_;
    Reader r_;
    Errors errors_;
    Topology t_;
    std::set<IpAddr> taken_;
};

}   // namespace

Topology read_rule(Reader &root, const Fabric &fabric) { return Rule(root, fabric).read(); }

}   // namespace mrcfab
