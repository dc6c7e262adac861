// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lists.cc - reads a fabric as lists of switches, hosts and cables, and checks that they are
// consistent.
#include "lists.h"

#include <map>
#include <set>

#include "desired.h"
#include "errors.h"
#include "usid.h"

namespace mrcfab {

namespace {

class Lists {
public:
    Lists(Reader &root, Fabric &fabric) : root_(root), f_(fabric) {}

    void read()
    {
        errors_.of([&] { usids(); });
        // The readers stay: what spans tables is complained about where it stands.
        for (auto &r : root_.tables("switch", "switch"))
            errors_.of([&] { add_switch(r); });
        all_switches_ = errors_.none();
        for (auto &r : root_.tables("host", "host"))
            errors_.of([&] { add_host(r); });
        errors_.raise();
        for (auto &p : pending_)
            errors_.of([&] { resolve_link(p); });
        errors_.raise();
    }

private:
    struct PendingLink {
        Reader reader;
        std::size_t owner;
        SwitchLink link;
    };

    // Where each plane has its own block, one numbering does for all of them.
    void usids()
    {
        Reader usid = root_.table("usid");
        f_.plane_stride = usid.number("plane_stride", block_per_plane(f_.block.len) ? 0 : 1, kUsidMax);
        f_.t0_base = usid.number("t0_base", 0, kUsidMax);
        f_.t1_base = usid.number("t1_base", 0, kUsidMax);
        f_.host_base = usid.number("host_base", 0, kUsidMax);
        usid.finish();
    }

    void claim_name(Reader &r, const std::string &name)
    {
        if (!names_.insert(name).second)
            r.bad("name", "\"{}\" is used twice, names of switches and hosts are unique", name);
    }

    // A uSID is one node's in its block; a host's only has to be so at its T0.
    void claim_usid(Reader &r, unsigned usid, unsigned plane, const std::string &owner,
                    const std::string &t0 = {})
    {
        const unsigned block = block_per_plane(f_.block.len) ? plane : 0;
        const std::string &place = block ? t0 : kAnywhere;

        if (usid == 0 || usid > kUsidMax)
            r.bad("index", "makes uSID {:#x} of {}, expected 0x1 to {:#x}", usid, owner, kUsidMax);
        const auto [it, fresh] = usids_.emplace(Usid{block, place, usid}, owner);
        const auto at_switch = usids_.find(Usid{block, kAnywhere, usid});
        const std::string *other = !fresh ? &it->second : nullptr;
        if (fresh && at_switch != usids_.end() && place != kAnywhere)
            other = &at_switch->second;
        if (other)
            r.bad("index", "makes uSID {:#06x} of {}, which is already that of {}: expected "
                           "[usid] bases further apart or another index", usid, owner, *other);
    }

    void claim_port(Reader &r, std::string_view key, const std::string &node,
                    const std::string &port)
    {
        if (!ports_.emplace(node, port).second)
            r.bad(key, "port \"{}\" of {} is used twice, expected one cable per port", port, node);
    }

    void claim_switch_port(Reader &r, std::string_view key, const std::string &sw, const std::string &port)
    {
        if (port == kSidDevice)
            r.bad(key, "\"{}\" is the interface of a switch's own SIDs, expected another name", port);
        claim_port(r, key, sw, port);
    }

    unsigned plane(Reader &r) { return r.number("plane", 1, f_.planes); }

    void add_switch(Reader &r)
    {
        Switch sw;

        sw.name = r.node_name("name");
        claim_name(r, sw.name);
        sw.tier = r.number("tier", 0, 1);
        sw.plane = plane(r);
        sw.index = r.number("index", 1, kUsidMax);
        claim_usid(r, f_.usid(sw), sw.plane, sw.name);
        for (auto &lr : r.tables("link", "switch.link")) {
            SwitchLink link;
            link.port = lr.netdev("port");
            link.peer = lr.node_name("peer");
            link.peer_port = lr.netdev("peer_port");
            lr.finish();
            if (sw.tier != 0)
                r.bad("link", "{} is of tier 1: links are written at their tier 0 end", sw.name);
            claim_switch_port(lr, "port", sw.name, link.port);
            pending_.push_back({lr, f_.switches.size(), link});
            sw.links.push_back(link);
        }
        r.finish();
        f_.add(std::move(sw));
    }

    // A T1 may be written after the T0 that names it.
    void resolve_link(PendingLink &p)
    {
        const Switch &owner = f_.switches[p.owner];
        const Switch *peer = f_.find_switch(p.link.peer);

        if (!peer)
            p.reader.bad("peer", "there is no switch \"{}\"", p.link.peer);
        if (peer->tier != 1 || peer->plane != owner.plane)
            p.reader.bad("peer", "{} is of tier {} and plane {}, expected a switch of tier 1 and plane {}",
                         peer->name, peer->tier, peer->plane, owner.plane);
        claim_cable(p, owner, *peer);
        claim_switch_port(p.reader, "peer_port", peer->name, p.link.peer_port);
    }

    // A second one would be a second way to the same uSID, and each end has one route to it.
    void claim_cable(PendingLink &p, const Switch &owner, const Switch &peer)
    {
        const auto [it, fresh] = cables_.emplace(std::pair{owner.name, peer.name}, p.link.port);

        if (!fresh)
            p.reader.bad("peer", "{} is at port \"{}\" of {} already, and so cannot be at \"{}\", too: "
                                 "expected one cable between two switches", peer.name, it->second,
                         owner.name, p.link.port);
    }

    void add_host(Reader &r)
    {
        Host host;

        host.name = r.node_name("name");
        claim_name(r, host.name);
        host.index = r.number("index", 1, kUsidMax);
        host.device = r.netdev("device");
        addresses(r, host);
        std::map<unsigned, HostPort> by_plane;
        for (auto &pr : r.tables("port", "host.port"))
            add_port(r, pr, host, by_plane);
        r.finish();
        if (by_plane.empty())
            r.bad("port", "{} has no port, expected [[host.port]] for planes 1, 2, ...",
                  host.name);
        for (const auto &[number, port] : by_plane) {
            if (number != host.ports.size() + 1)
                r.bad("port", "{} is on plane {} but not on plane {}: expected planes 1, 2, ... "
                              "without gaps", host.name, number, host.ports.size() + 1);
            host.ports.push_back(port);
        }
        f_.add(std::move(host));
    }

    void addresses(Reader &r, Host &host)
    {
        static constexpr auto kExpected = "addresses with length, such as "
                                          "[\"fd00:6d72:63::1/64\", \"10.77.0.1/24\"]";
        bool inside = false;

        for (const IfAddr &a : r.addresses("addresses", kExpected)) {
            if (!addresses_.insert(a.addr).second)
                r.bad("addresses", "{} is used twice", to_string(a.addr));
            if (!a.addr.v4) {
                const Ip6 ip{a.addr.bytes};
                if (!f_.prefix.contains(ip))
                    r.bad("addresses", "{} is outside fabric.prefix {}", to_string(a),
                          to_string(f_.prefix));
                inside = true;
            }
            host.addresses.push_back(a);
        }
        if (!inside)
            r.bad("addresses", "{} has no IPv6 address, expected one in fabric.prefix {}",
                  host.name, to_string(f_.prefix));
    }

    void add_port(Reader &r, Reader &pr, const Host &host, std::map<unsigned, HostPort> &by_plane)
    {
        HostPort port;

        port.plane = plane(pr);
        port.netdev = pr.netdev("netdev");
        port.switch_name = pr.node_name("switch");
        port.switch_port = pr.netdev("switch_port");
        pr.finish();
        const Switch *sw = f_.find_switch(port.switch_name);
        if (!sw && !all_switches_) {   // it may be the one that is wrong
            by_plane.emplace(port.plane, port);
            return;
        }
        if (!sw)
            pr.bad("switch", "there is no switch \"{}\"", port.switch_name);
        if (sw->tier != 0 || sw->plane != port.plane)
            pr.bad("switch", "{} is of tier {} and plane {}, expected a switch of tier 0 and "
                             "plane {}", sw->name, sw->tier, sw->plane, port.plane);
        if (port.netdev == host.device)
            pr.bad("netdev", "\"{}\" is the host's device, expected the port's interface",
                   port.netdev);
        claim_port(pr, "netdev", host.name, port.netdev);
        claim_switch_port(pr, "switch_port", sw->name, port.switch_port);
        claim_usid(r, f_.usid(host, port.plane), port.plane,
                   fmt::format("{} on plane {}", host.name, port.plane), sw->name);
        if (!by_plane.emplace(port.plane, port).second)
            pr.bad("plane", "{} has two ports on plane {}, expected one", host.name, port.plane);
    }

    struct Usid {
        unsigned block;
        std::string place;   // a T0
        unsigned usid;

        auto operator<=>(const Usid &) const = default;
    };

    inline static const std::string kAnywhere;

    Reader &root_;
    Fabric &f_;
    Errors errors_;
    bool all_switches_ = true;   // none was refused
    std::set<std::string> names_;
    std::map<Usid, std::string> usids_;
    std::set<std::pair<std::string, std::string>> ports_;
    std::map<std::pair<std::string, std::string>, std::string> cables_;   // T0, T1: the T0's port
    std::set<IpAddr> addresses_;
    std::vector<PendingLink> pending_;
};

}   // namespace

void read_lists(Reader &root, Fabric &fabric) { Lists(root, fabric).read(); }

}   // namespace mrcfab
