// SPDX-License-Identifier: GPL-2.0
// Two steps: Reader takes values out of a TOML table and refuses what it was not
// asked for; Builder puts them together and checks what spans several tables.
#include "fabric.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace mrcd {

namespace {

constexpr unsigned kIfNameMax = 15;
constexpr unsigned kUsidMax = 0xffff;

template <typename... Args>
[[noreturn]] void fail(const std::string &file, const toml::source_region &where,
                       fmt::format_string<Args...> format, Args &&...args)
{
    throw FabricError(fmt::format("{}:{}:{}: {}", file, where.begin.line, where.begin.column,
                                  fmt::format(format, std::forward<Args>(args)...)));
}

// One table. finish() refuses every key that was not asked for.
class Reader {
public:
    Reader(const std::string &file, const toml::table &table, std::string name)
        : file_(file), table_(table), name_(std::move(name))
    {
    }

    template <typename... Args>
    [[noreturn]] void bad(std::string_view key, fmt::format_string<Args...> format,
                          Args &&...args) const
    {
        const toml::node *node = table_.get(key);
        fail(file_, node ? node->source() : table_.source(), "{}.{}: {}", name_, key,
             fmt::format(format, std::forward<Args>(args)...));
    }

    std::uint64_t number(std::string_view key, std::uint64_t min, std::uint64_t max)
    {
        const auto *node = require(key)->as_integer();
        if (!node)
            bad(key, "not an integer, expected {} to {}", min, max);
        const std::int64_t value = node->get();
        if (value < 0 || static_cast<std::uint64_t>(value) < min ||
            static_cast<std::uint64_t>(value) > max)
            bad(key, "{} is out of range, expected {} to {}", value, min, max);
        return static_cast<std::uint64_t>(value);
    }

    bool has(std::string_view key) const { return table_.contains(key); }

    std::string string(std::string_view key, std::string_view expected)
    {
        const auto *node = require(key)->as_string();
        if (!node)
            bad(key, "not a string, expected {}", expected);
        return node->get();
    }

    std::string node_name(std::string_view key)
    {
        const auto value = string(key, "a name");
        const bool ok = std::all_of(value.begin(), value.end(), [](unsigned char c) {
            return std::isalnum(c) || c == '-' || c == '_' || c == '.';
        });
        if (value.empty() || value.size() > 63 || !ok)
            bad(key, "\"{}\" is no name, expected 1 to 63 letters, digits, '-', '_' or '.'",
                value);
        return value;
    }

    std::string netdev(std::string_view key)
    {
        const auto value = string(key, "a network interface name");
        const bool ok = std::all_of(value.begin(), value.end(), [](unsigned char c) {
            return std::isgraph(c) && c != '/' && c != ':' && c != '%';
        });
        if (value.empty() || value.size() > kIfNameMax || !ok || value == "." || value == "..")
            bad(key, "\"{}\" is no interface name, expected 1 to {} characters without "
                     "space, '/', ':' and '%'", value, kIfNameMax);
        return value;
    }

    // A table that must be there.
    Reader table(std::string_view key)
    {
        const auto *node = require(key)->as_table();
        if (!node)
            bad(key, "not a table, expected [{}]", key);
        return Reader(file_, *node, std::string(key));
    }

    // [[key]], none or several.
    std::vector<Reader> tables(std::string_view key, const std::string &full_name)
    {
        std::vector<Reader> list;

        known_.insert(std::string(key));
        const toml::node *node = table_.get(key);
        if (!node)
            return list;
        const auto *array = node->as_array();
        if (!array)
            bad(key, "not an array of tables, expected [[{}]]", full_name);
        for (const auto &item : *array) {
            const auto *item_table = item.as_table();
            if (!item_table)
                bad(key, "not an array of tables, expected [[{}]]", full_name);
            list.emplace_back(file_, *item_table, full_name);
        }
        return list;
    }

    std::vector<std::string> strings(std::string_view key, std::string_view expected)
    {
        std::vector<std::string> list;
        const auto *array = require(key)->as_array();

        if (!array)
            bad(key, "not a list, expected {}", expected);
        for (const auto &item : *array) {
            const auto *text = item.as_string();
            if (!text)
                bad(key, "an item is not a string, expected {}", expected);
            list.push_back(text->get());
        }
        return list;
    }

    void finish() const
    {
        for (const auto &[key, value] : table_) {
            if (known_.count(std::string(key.str())))
                continue;
            fail(file_, key.source(), "unknown key \"{}\" in {}, expected {}", key.str(),
                 name_.empty() ? "the file" : "[" + name_ + "]",
                 fmt::join(known_, ", "));
        }
    }

private:
    const toml::node *require(std::string_view key)
    {
        known_.insert(std::string(key));
        const toml::node *node = table_.get(key);
        if (!node) {
            const auto what = name_.empty() ? fmt::format("[{}]", key)
                                            : fmt::format("key \"{}\" in [{}]", key, name_);
            fail(file_, table_.source(), "{} is missing", what);
        }
        return node;
    }

    const std::string &file_;
    const toml::table &table_;
    std::string name_;
    std::set<std::string> known_;
};

class Builder {
public:
    Builder(const std::string &file, const toml::table &root) : root_(file, root, "") {}

    Fabric build()
    {
        globals();
        // The readers stay: what spans tables is complained about where it stands.
        for (auto &r : root_.tables("switch", "switch"))
            add_switch(r);
        for (auto &r : root_.tables("host", "host"))
            add_host(r);
        root_.finish();
        resolve_links();
        return std::move(f_);
    }

private:
    struct PendingLink {
        Reader reader;
        std::size_t owner;
        SwitchLink link;
    };

    void globals()
    {
        Reader fabric = root_.table("fabric");
        f_.block = prefix(fabric, "block", kUsidBlockLen, kUsidBlockLen);
        f_.prefix = prefix(fabric, "prefix", 16, 127);
        if (f_.block.contains(f_.prefix.addr) || f_.prefix.contains(f_.block.addr))
            fabric.bad("prefix", "{} and fabric.block {} overlap, expected a prefix apart from it",
                       to_string(f_.prefix), to_string(f_.block));
        fabric.finish();

        Reader usid = root_.table("usid");
        f_.plane_stride = usid.number("plane_stride", 1, kUsidMax);
        f_.t0_base = usid.number("t0_base", 0, kUsidMax);
        f_.t1_base = usid.number("t1_base", 0, kUsidMax);
        f_.host_base = usid.number("host_base", 0, kUsidMax);
        usid.finish();

        Reader planes = root_.table("planes");
        f_.planes = planes.number("count", 1, kPlanesMax);
        if (planes.has("mtu"))
            f_.mtu = planes.number("mtu", 1280, 65535);
        planes.finish();

        Reader profile = root_.table("profile");
        f_.profile_id = profile.number("id", 1, INT64_MAX);
        f_.evs_per_plane = profile.number("evs_per_plane", 1, kEvsMax / f_.planes);
        if (profile.has("min_active"))
            f_.min_active = profile.number("min_active", 1, f_.evs_per_plane * f_.planes);
        profile.finish();
    }

    Prefix6 prefix(Reader &r, std::string_view key, unsigned min_len, unsigned max_len)
    {
        const auto expected = min_len == max_len
            ? fmt::format("an IPv6 prefix of length {}, such as fcbb:bb00::/32", min_len)
            : fmt::format("an IPv6 prefix of length {} to {}, such as fd00:6d72:63::/64",
                          min_len, max_len);
        const auto text = r.string(key, expected);
        const auto p = parse_prefix6(text);

        if (!p || p->len < min_len || p->len > max_len || !p->host_bits_zero())
            r.bad(key, "\"{}\" is wrong, expected {}", text, expected);
        return *p;
    }

    void claim_name(Reader &r, const std::string &name)
    {
        if (!names_.insert(name).second)
            r.bad("name", "\"{}\" is used twice, names of switches and hosts are unique", name);
    }

    void claim_usid(Reader &r, std::string_view key, unsigned usid, const std::string &owner)
    {
        if (usid == 0 || usid > kUsidMax)
            r.bad(key, "makes uSID {:#x} of {}, expected 0x1 to {:#x}", usid, owner, kUsidMax);
        const auto [it, fresh] = usids_.emplace(usid, owner);
        if (!fresh)
            r.bad(key, "makes uSID {:#06x} of {}, which is already that of {}: expected "
                       "[usid] bases further apart or another index", usid, owner, it->second);
    }

    void claim_port(Reader &r, std::string_view key, const std::string &node,
                    const std::string &port)
    {
        if (!ports_.emplace(node, port).second)
            r.bad(key, "port \"{}\" of {} is used twice, expected one cable per port", port, node);
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
        claim_usid(r, "index", f_.usid(sw), sw.name);
        for (auto &lr : r.tables("link", "switch.link")) {
            SwitchLink link;
            link.port = lr.netdev("port");
            link.peer = lr.node_name("peer");
            link.peer_port = lr.netdev("peer_port");
            lr.finish();
            if (sw.tier != 0)
                r.bad("link", "{} is of tier 1: links are written at their tier 0 end", sw.name);
            claim_port(lr, "port", sw.name, link.port);
            pending_.push_back({lr, f_.switches.size(), link});
            sw.links.push_back(link);
        }
        r.finish();
        f_.switches.push_back(std::move(sw));
    }

    // A T1 may be written after the T0 that names it.
    void resolve_links()
    {
        for (auto &p : pending_) {
            const Switch &owner = f_.switches[p.owner];
            const Switch *peer = f_.find_switch(p.link.peer);

            if (!peer)
                p.reader.bad("peer", "there is no switch \"{}\"", p.link.peer);
            if (peer->tier != 1 || peer->plane != owner.plane)
                p.reader.bad("peer", "{} is of tier {} and plane {}, expected a switch of tier 1 "
                                     "and plane {}", peer->name, peer->tier, peer->plane,
                             owner.plane);
            claim_port(p.reader, "peer_port", peer->name, p.link.peer_port);
        }
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
        f_.hosts.push_back(std::move(host));
    }

    void addresses(Reader &r, Host &host)
    {
        static constexpr auto kExpected = "addresses with length, such as "
                                          "[\"fd00:6d72:63::1/64\", \"10.77.0.1/24\"]";
        bool inside = false;

        for (const auto &text : r.strings("addresses", kExpected)) {
            const auto a = parse_ifaddr(text);
            if (!a)
                r.bad("addresses", "\"{}\" is no address with length, expected {}", text,
                      kExpected);
            if (const auto what = not_for_hosts(a->addr); !what.empty())
                r.bad("addresses", "\"{}\" is {}, expected {}", text, what, kExpected);
            if (!addresses_.insert(a->addr).second)
                r.bad("addresses", "{} is used twice", to_string(a->addr));
            if (!a->addr.v4) {
                const Ip6 ip{a->addr.bytes};
                if (!f_.prefix.contains(ip))
                    r.bad("addresses", "{} is outside fabric.prefix {}", text,
                          to_string(f_.prefix));
                inside = true;
            }
            host.addresses.push_back(*a);
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
        if (!sw)
            pr.bad("switch", "there is no switch \"{}\"", port.switch_name);
        if (sw->tier != 0 || sw->plane != port.plane)
            pr.bad("switch", "{} is of tier {} and plane {}, expected a switch of tier 0 and "
                             "plane {}", sw->name, sw->tier, sw->plane, port.plane);
        if (port.netdev == host.device)
            pr.bad("netdev", "\"{}\" is the host's device, expected the port's interface",
                   port.netdev);
        claim_port(pr, "netdev", host.name, port.netdev);
        claim_port(pr, "switch_port", sw->name, port.switch_port);
        claim_usid(r, "index", f_.usid(host, port.plane),
                   fmt::format("{} on plane {}", host.name, port.plane));
        if (!by_plane.emplace(port.plane, port).second)
            pr.bad("plane", "{} has two ports on plane {}, expected one", host.name, port.plane);
    }

    Reader root_;
    Fabric f_;
    std::set<std::string> names_;
    std::map<unsigned, std::string> usids_;
    std::set<std::pair<std::string, std::string>> ports_;
    std::set<IpAddr> addresses_;
    std::vector<PendingLink> pending_;
};

constexpr std::uintmax_t kFileMax = 64u << 20;

template <typename T>
const T *find_by_name(const std::vector<T> &list, std::string_view name)
{
    const auto it = std::find_if(list.begin(), list.end(),
                                 [&](const T &item) { return item.name == name; });
    return it == list.end() ? nullptr : &*it;
}

}   // namespace

const Switch *Fabric::find_switch(std::string_view name) const
{
    return find_by_name(switches, name);
}

const Host *Fabric::find_host(std::string_view name) const
{
    return find_by_name(hosts, name);
}

unsigned Fabric::usid(const Switch &sw) const
{
    return sw.plane * plane_stride + (sw.tier == 0 ? t0_base : t1_base) + sw.index;
}

unsigned Fabric::usid(const Host &host, unsigned plane) const
{
    return plane * plane_stride + host_base + host.index;
}

Fabric parse_fabric(std::string_view text, const std::string &file_name)
{
    try {
        const toml::table root = toml::parse(text, std::string_view(file_name));
        return Builder(file_name, root).build();
    } catch (const toml::parse_error &e) {
        fail(file_name, e.source(), "{}", e.description());
    }
}

Fabric load_fabric(const std::string &file_name)
{
    std::error_code ec;
    const auto size = std::filesystem::file_size(file_name, ec);

    if (ec)
        throw FabricError(fmt::format("{}: cannot be read: {}", file_name, ec.message()));
    if (size > kFileMax)
        throw FabricError(fmt::format("{}: {} bytes are no fabric file, expected {} at most",
                                      file_name, size, kFileMax));
    std::ifstream in(file_name);
    std::string text(size, '\0');
    in.read(text.data(), static_cast<std::streamsize>(size));
    if (!in && !in.eof())
        throw FabricError(fmt::format("{}: cannot be read: {}", file_name,
                                      std::generic_category().message(errno)));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return parse_fabric(text, file_name);
}

}   // namespace mrcd
