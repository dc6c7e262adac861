// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// flat_read.cc - see flat_read.h.
#include "flat_read.h"

#include <set>

#include "errors.h"
#include "profile.h"

namespace mrcfab {

namespace {

constexpr std::size_t kHostsMax = 1024;   // each has a route on each plane of each other
constexpr unsigned kLowBits = 16;
constexpr const char *kHosts = "2 to 1024 host names, such as [\"alpha\", \"beta\"]";
constexpr const char *kPorts = "1 to 32 interfaces, plane 1 first, such as [\"eth1\", \"eth2\"]";

class FlatReader {
public:
    FlatReader(Reader &root, const Fabric &f) : root_(root), r_(root.table("flat"))
    {
        flat_.mtu = f.mtu;
    }

    Flat read()
    {
        // What needs SRv6 is refused by its name, before a key that is missing is.
        for (const char *key : {"fabric", "planes", "profile", "usid", "topology", "switch", "host"})
            if (root_.has(key))
                root_.bad(key, "is for fabrics of SRv6 switches, expected either that or [flat]");
        errors_.of([&] { hosts(); });
        flat_.device = r_.optional("device") ? r_.netdev("device") : "mrc0";
        errors_.of([&] { flat_.ports = ports(r_); });
        if (r_.optional("mtu"))
            errors_.of([&] { flat_.mtu = static_cast<unsigned>(r_.number("mtu", 1280, 65535)); });
        errors_.of([&] { prefix(); });
        errors_.of([&] { ipv4(); });
        errors_.of([&] { r_.only({"differs"}); });
        errors_.raise();
        for (Reader &d : r_.tables("differs", "flat.differs"))
            errors_.of([&] { differs(d); });
        errors_.raise();
        return std::move(flat_);
    }

private:
    void hosts()
    {
        std::set<std::string> seen;

        flat_.hosts = r_.strings("hosts", kHosts);
        if (flat_.hosts.size() < 2 || flat_.hosts.size() > kHostsMax)
            r_.bad("hosts", "{} names, expected {}", flat_.hosts.size(), kHosts);
        for (const auto &name : flat_.hosts) {
            if (!is_node_name(name))
                r_.bad("hosts", "\"{}\" is no name, expected {}", name, kHosts);
            if (!seen.insert(name).second)
                r_.bad("hosts", "\"{}\" is there twice, expected each host once", name);
        }
    }

    std::vector<std::string> ports(Reader &r)
    {
        const auto list = r.strings("ports", kPorts);
        std::set<std::string> seen;

        if (list.empty() || list.size() > kPlanesMax)
            r.bad("ports", "{} interfaces, expected {}", list.size(), kPorts);
        for (const auto &port : list) {
            if (!is_netdev(port))
                r.bad("ports", "\"{}\" is no interface name, expected {}", port, kPorts);
            if (port == flat_.device)
                r.bad("ports", "\"{}\" is the MRC device itself, expected {}", port, kPorts);
            if (!seen.insert(port).second)
                r.bad("ports", "\"{}\" is there twice, expected each port on one plane", port);
        }
        return list;
    }

    void prefix()
    {
        flat_.prefix = r_.optional("prefix") ? r_.prefix6("prefix", 16, 128 - kLowBits, "fd00:6d72:63::/64")
                                        : *parse_prefix6("fd00:6d72:63::/64");
        if (const auto what = not_for_hosts(flat_.addresses(1)[0]); !what.empty())
            r_.bad("prefix", "{} holds {}, expected one for hosts, such as fd00:6d72:63::/64",
                   to_string(flat_.prefix), what);
    }

    void ipv4()
    {
        if (!r_.optional("ipv4"))
            return;
        const auto net = r_.network4("ipv4", "10.77.0.0/24");
        const auto room = (1ull << (32 - net.len)) - 2;   // but the first and the last
        if (net.len > 30 || flat_.hosts.size() > room)
            r_.bad("ipv4", "{} has too few addresses for {} hosts, expected a shorter prefix, such as "
                           "10.77.0.0/{}", to_string(net), flat_.hosts.size(),
                   flat_.hosts.size() > 254 ? 16 : 24);
        flat_.ipv4 = net;
    }

    void differs(Reader &d)
    {
        const auto host = d.node_name("host");

        if (!flat_.number(host))
            d.bad("host", "\"{}\" is not in flat.hosts, expected one of these", host);
        const auto list = ports(d);
        if (list.size() > flat_.ports.size())
            d.bad("ports", "{} interfaces, expected as many as flat.ports has, {}, or fewer",
                   list.size(), flat_.ports.size());
        d.finish();
        if (!flat_.differs.emplace(host, list).second)
            d.bad("host", "\"{}\" differs twice, expected one [[flat.differs]] for each host", host);
    }

    Reader &root_;
    Reader r_;
    Errors errors_;
    Flat flat_;
};

}   // namespace

Flat read_flat(Reader &root, Fabric &fabric)
{
    Flat flat = FlatReader(root, fabric).read();

    fabric.planes = static_cast<unsigned>(flat.ports.size());
    fabric.mtu = flat.mtu;
    fabric.prefix = flat.prefix;
    return flat;
}

}   // namespace mrcfab
