// SPDX-License-Identifier: GPL-2.0
#include "fake_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mrcd {

namespace {

mrcnl::error refuse(int code, const std::string &text) { return {code, text, true}; }

bool same_network(const IfAddr &a, const IfAddr &b)
{
    for (unsigned bit = 0; bit < a.len; bit++)
        if ((a.addr.bytes[bit / 8] ^ b.addr.bytes[bit / 8]) & (0x80u >> (bit % 8)))
            return false;
    return a.len == b.len;
}

}   // namespace

FakeKernel::FakeKernel()
{
    for (const char *scope : {"all", "default"})
        for (const auto &[key, value] : {std::pair{"/forwarding", "0"}, std::pair{"/seg6_enabled", "0"},
                                         std::pair{"/accept_dad", "0"}, std::pair{"/accept_ra", "1"}})
            state.sysctls[scope + std::string(key)] = value;
}

Link *FakeKernel::find(const std::string &name)
{
    const auto it = std::find_if(state.links.begin(), state.links.end(),
                                 [&](const Link &l) { return l.name == name; });
    return it == state.links.end() ? nullptr : &*it;
}

Link &FakeKernel::add_link(const std::string &name, const std::string &kind, std::uint32_t max_mtu)
{
    state.links.push_back({.ifindex = next_++, .name = name, .kind = kind, .up = false,
                           .running = false, .mtu = 1500, .max_mtu = max_mtu, .master = 0,
                           .loopback = false});
    state.sysctls[name + "/forwarding"] = state.sysctls["default/forwarding"];
    state.sysctls[name + "/seg6_enabled"] = state.sysctls["default/seg6_enabled"];
    state.sysctls[name + "/accept_dad"] = "1";
    state.sysctls[name + "/accept_ra"] = state.sysctls["default/accept_ra"];
    return state.links.back();
}

void FakeKernel::del_link(const std::string &name)
{
    Link *l = find(name);
    if (!l)
        return;
    const int index = l->ifindex;
    set_down(*l);
    release(*l);
    for (Link &other : state.links)
        if (other.master == index)
            release(other);
    if (state.device && state.device->ifindex == index) {
        state.device.reset();
        kept_.clear();
    }
    others_.erase(index);
    default_routers.erase(name);
    std::erase_if(state.addrs, [&](const Addr &a) { return a.ifindex == index; });
    std::erase_if(state.sysctls, [&](const auto &s) { return s.first.starts_with(name + "/"); });
    std::erase_if(state.links, [&](const Link &other) { return other.ifindex == index; });
    shut_by_hand.erase(index);
}

void FakeKernel::rename(const std::string &name, const std::string &to)
{
    decltype(state.sysctls) all;

    for (const auto &[key, value] : state.sysctls)
        all.emplace(key.starts_with(name + "/") ? to + key.substr(name.size()) : key, value);
    state.sysctls = std::move(all);
    if (default_routers.erase(name))
        default_routers.insert(to);
    link(name).name = to;
}

void FakeKernel::set_down(Link &l)
{
    l.up = l.running = false;
    std::erase_if(state.routes, [&](const Route &r) { return r.oif == l.ifindex; });
    std::erase_if(state.addrs, [&](const Addr &a) {
        return a.ifindex == l.ifindex && !a.addr.addr.v4;
    });
}

void FakeKernel::shut(const std::string &name)
{
    if (Link *l = find(name); l && l->up) {
        set_down(*l);
        shut_by_hand.insert(l->ifindex);
    }
}

void FakeKernel::open(const std::string &name)
{
    if (Link *l = find(name)) {
        l->up = l->running = true;
        shut_by_hand.erase(l->ifindex);
    }
}

void FakeKernel::unload()
{
    std::vector<std::string> names;
    for (const Link &l : state.links)
        if (l.kind == "mrc")
            names.push_back(l.name);
    for (const auto &name : names)
        del_link(name);
}

void FakeKernel::focus(const Link *device)
{
    if (!device || device->kind != "mrc" ||
        (state.device && state.device->ifindex == device->ifindex))
        return;
    if (state.device)
        others_[state.device->ifindex] = {*state.device, std::exchange(kept_, {})};
    state.device.reset();
    if (const auto it = others_.find(device->ifindex); it != others_.end()) {
        state.device = it->second.first;
        kept_ = it->second.second;
        others_.erase(it);
    }
}

void FakeKernel::release(Link &l)
{
    if (const auto it = others_.find(l.master); it != others_.end())
        std::erase_if(it->second.first.planes,
                      [&](const Plane &p) { return p.ifindex == l.ifindex; });
    if (state.device && l.master == state.device->ifindex)
        for (const Plane &p : state.device->planes)
            if (p.ifindex == l.ifindex)
                kept_[p.number] = l.name;
    if (state.device)
        std::erase_if(state.device->planes, [&](const Plane &p) { return p.ifindex == l.ifindex; });
    l.master = 0;
}

// The one it had, else the lowest that is kept for nobody.
std::uint8_t FakeKernel::number_for(const std::string &port) const
{
    const auto taken = [&](std::uint8_t n) {
        return std::any_of(state.device->planes.begin(), state.device->planes.end(),
                           [&](const Plane &p) { return p.number == n; });
    };
    for (const auto &[number, name] : kept_)
        if (name == port && !taken(number))
            return number;
    std::uint8_t number = 1;
    while (kept_.count(number) || taken(number))
        number++;
    return number;
}

void FakeKernel::enslave(Link &l, int master)
{
    release(l);
    l.master = master;
    if (!state.device || state.device->ifindex != master)
        return;
    const auto number = number_for(l.name);
    kept_.erase(number);
    state.device->planes.push_back({number, l.ifindex, true, std::nullopt});
}

// One operation by the rules.
struct FakeKernel::Doer {
    FakeKernel &k;

    mrcnl::error none(const std::string &name) { return refuse(ENODEV, "there is no " + name); }

    mrcnl::error operator()(const SysctlSet &o)
    {
        if (!k.state.sysctls.count(o.key))
            return refuse(ENOENT, "no such file");
        const auto scope = o.key.substr(0, o.key.find('/'));
        if (scope == "default" && o.value == "1")
            k.broken.push_back("opens later interfaces: " + o.key);
        if (scope == "mgmt" && o.value == "1" && !o.key.ends_with("/accept_ra"))
            k.broken.push_back("the management port: " + o.key);
        if (o.key == "all/forwarding" && k.state.sysctls[o.key] != o.value)
            for (auto &[key, value] : k.state.sysctls)
                if (key.ends_with("/forwarding"))
                    value = o.value;
        k.state.sysctls[o.key] = o.value;
        if (o.key.ends_with("/forwarding") && scope != "default" && o.value != "0")
            std::erase_if(k.default_routers, [&](const std::string &name) {
                return k.state.sysctls[name + "/accept_ra"] != "2";
            });
        return {};
    }

    mrcnl::error operator()(const LinkAdd &o)
    {
        if (k.find(o.name))
            return refuse(EEXIST, "File exists");
        if ((o.kind == "mrc" && !k.has_module) || (o.kind == "dummy" && !k.has_dummy))
            return refuse(EOPNOTSUPP, "Unknown device type");
        Link &l = k.add_link(o.name, o.kind);
        if (o.kind != "mrc")
            return {};
        k.focus(&l);
        k.state.device.emplace();
        k.state.device->ifindex = l.ifindex;
        k.state.device->registered = true;
        return {};
    }

    mrcnl::error operator()(const LinkMtu &o)
    {
        Link *l = k.find(o.name);
        if (!l)
            return none(o.name);
        if (o.mtu < l->mtu)
            k.broken.push_back("MTU lowered: " + o.name);
        if (l->kind == "bridge")
            k.broken.push_back("not ours: " + o.name);
        if (o.mtu > l->max_mtu)
            return refuse(EINVAL, "mtu greater than device maximum");
        l->mtu = o.mtu;
        return {};
    }

    mrcnl::error operator()(const LinkUp &o)
    {
        Link *l = k.find(o.name);
        if (!l)
            return none(o.name);
        if (k.shut_by_hand.count(l->ifindex))
            k.broken.push_back("raised what somebody shut: " + o.name);
        if (l->kind == "bridge")
            k.broken.push_back("not ours: " + o.name);
        l->up = l->running = true;
        return {};
    }

    mrcnl::error operator()(const PlaneAdd &o)
    {
        Link *device = k.find(o.device), *l = k.find(o.netdev);
        if (!device || !l)
            return none(device ? o.netdev : o.device);
        k.focus(device);
        if (!k.state.device || k.state.device->ifindex != device->ifindex) {
            k.broken.push_back("not ours: " + o.device);
            return refuse(EOPNOTSUPP, "no MRC device");
        }
        if (l->kind == "mrc" || l->loopback)
            return refuse(ELOOP, "is an MRC device itself");
        for (const Plane &p : k.state.device->planes) {
            if (p.number == o.number && p.ifindex == l->ifindex)
                return {};
            if (p.number == o.number || p.ifindex == l->ifindex)
                return refuse(EBUSY, "nomaster first");
        }
        std::erase_if(k.kept_, [&](const auto &kept) { return kept.second == o.netdev; });
        k.kept_[o.number] = o.netdev;
        const Link *master = l->master ? k.state.link(l->master) : nullptr;
        if (master && master->kind != "mrc")
            k.broken.push_back("taken away from its master: " + o.netdev);
        k.enslave(*l, device->ifindex);
        return {};
    }

    mrcnl::error operator()(const PlaneRelease &o)
    {
        Link *l = k.find(o.netdev);
        if (!l)
            return none(o.netdev);
        const auto master = std::find_if(k.state.links.begin(), k.state.links.end(),
                                         [&](const Link &m) { return m.ifindex == l->master; });
        if (master != k.state.links.end() && master->kind != "mrc")
            k.broken.push_back("taken away from its master: " + o.netdev);
        k.release(*l);
        return {};
    }

    mrcnl::error operator()(const AddrAdd &o)
    {
        Link *l = k.find(o.link);
        if (!l)
            return none(o.link);
        if (l->kind == "bridge")
            k.broken.push_back("not ours: " + o.link);
        if (!l->up && !o.addr.addr.v4)
            return refuse(EACCES, "the interface is down");
        for (const Addr &a : k.state.addrs)
            if (a.ifindex == l->ifindex && a.addr.addr == o.addr.addr &&
                (!o.addr.addr.v4 || a.addr == o.addr))
                return refuse(EEXIST, "File exists");
        k.state.addrs.push_back({l->ifindex, o.addr, kProtocol});
        return {};
    }

    mrcnl::error operator()(const AddrDel &o)
    {
        Link *l = k.find(o.link);
        auto &all = k.state.addrs;
        if (!l)
            return {};
        const auto it = std::find_if(all.begin(), all.end(), [&](const Addr &a) {
            return a.ifindex == l->ifindex && a.addr == o.addr;
        });
        if (it == all.end())
            return {};
        if (it->protocol != kProtocol)
            k.broken.push_back("another's address: " + to_string(o.addr));
        // An IPv4 address takes the later ones of its network with it.
        const bool first = o.addr.addr.v4 && std::none_of(all.begin(), it, [&](const Addr &a) {
            return a.ifindex == l->ifindex && a.addr.addr.v4 && same_network(a.addr, o.addr);
        });
        const auto gone = *it;
        all.erase(it);
        if (first)
            std::erase_if(all, [&](const Addr &a) {
                return a.ifindex == gone.ifindex && a.addr.addr.v4 && same_network(a.addr, gone.addr);
            });
        return {};
    }

    mrcnl::error new_route(const RouteSpec &r, bool replace)
    {
        Link *l = k.find(r.link);
        if (!l)
            return none(r.link);
        if (!l->up)
            return refuse(ENETDOWN, "Device for nexthop is not up");
        const Route made{.dst = r.dst, .metric = r.metric, .protocol = kProtocol,
                         .oif = l->ifindex, .via = r.via, .usid_end = r.own_sid()};
        for (Route &there : k.state.routes) {
            if (there.dst != r.dst || there.metric != r.metric)
                continue;
            if (!replace)
                return refuse(EEXIST, "File exists");
            if (there.protocol != kProtocol)
                k.broken.push_back("another's route: " + to_string(r.dst));
            there = made;
            return {};
        }
        k.state.routes.push_back(made);
        return {};
    }

    mrcnl::error operator()(const RouteAdd &o) { return new_route(o.route, false); }
    mrcnl::error operator()(const RouteReplace &o) { return new_route(o.route, true); }

    mrcnl::error operator()(const RouteDel &o)
    {
        std::erase_if(k.state.routes, [&](const Route &r) {
            return r.dst == o.dst && r.metric == o.metric && r.protocol == kProtocol &&
                   (o.oif == 0 || r.oif == o.oif);
        });
        return {};
    }

    // The module's own; @device is what the family is asked about.
    mrcnl::error with_device(const std::string &name, const std::function<mrcnl::error(MrcDevice &)> &fn)
    {
        Link *l = k.find(name);
        k.focus(l);
        if (!l || !k.state.device || k.state.device->ifindex != l->ifindex)
            return refuse(ENODEV, "no MRC device " + name);
        return fn(*k.state.device);
    }

    mrcnl::error operator()(const SidSet &o)
    {
        return with_device(o.device, [&](MrcDevice &d) -> mrcnl::error {
            for (Plane &p : d.planes)
                if (p.number == o.number) {
                    p.sid = o.sid;
                    return {};
                }
            return refuse(ENOENT, "has no such plane");
        });
    }

    mrcnl::error operator()(const DefaultProfileSet &o)
    {
        return with_device(o.device, [&](MrcDevice &d) -> mrcnl::error {
            if (o.id && std::none_of(d.profiles.begin(), d.profiles.end(), [&](const ObservedProfile &p) {
                    return p.profile.key.id == o.id;
                }))
                return refuse(ENOENT, "no such profile");
            d.profile_id = o.id;
            return {};
        });
    }

    // As mrc_dev_attr_check(): data that looks trimmed would be answered by NACKs.
    mrcnl::error operator()(const QosSet &o)
    {
        return with_device(o.device, [&](MrcDevice &d) -> mrcnl::error {
            const Dscps &q = o.qos.dscp;
            if (q.trimmed == q.trimmed_lasthop)
                return refuse(EINVAL, "trimmed and trimmed-lasthop must differ");
            for (const auto sent : {q.data, q.rtx, q.control, q.no_trim})
                if (sent == q.trimmed || sent == q.trimmed_lasthop)
                    return refuse(EINVAL, "what is sent must not look trimmed");
            d.qos = o.qos;
            return {};
        });
    }

    mrcnl::error operator()(const ProfileSet &o)
    {
        return with_device(o.device, [&](MrcDevice &d) -> mrcnl::error {
            std::erase_if(d.profiles, [&](const ObservedProfile &p) {
                return !p.any_dst && p.profile.key == o.profile.key;
            });
            d.profiles.push_back({o.profile, false, MRC_FMT_SRV6, mode_of(o.profile)});
            return {};
        });
    }

    // The default keeps a profile.
    mrcnl::error operator()(const ProfileDel &o)
    {
        return with_device(o.device, [&](MrcDevice &d) -> mrcnl::error {
            std::erase_if(d.profiles, [&](const ObservedProfile &p) {
                return !p.any_dst && p.profile.key == o.key;
            });
            return {};
        });
    }
};

mrcnl::error FakeKernel::look(const Desired &want, Observed &have)
{
    looks++;
    if (blind > 0) {
        blind--;
        return {ENOBUFS, "no buffer space", false};
    }
    if (want.device)
        focus(find(want.device->name));
    have = state;
    if (hides_max_mtu)
        for (Link &l : have.links)
            l.max_mtu = 0;
    // Only what is asked for is seen; and the routes are ours.
    have.sysctls.clear();
    for (const WantedSysctl &w : want.sysctls)
        if (const auto it = state.sysctls.find(w.key); it != state.sysctls.end())
            have.sysctls.insert(*it);
    have.hearing.clear();
    if (!want.sysctls.empty())
        for (const auto &[key, value] : state.sysctls)
            if (const auto name = key.substr(0, key.find('/')); key.ends_with("/forwarding") && name != "all")
                have.hearing[name] = {value, state.sysctls.at(name + "/accept_ra")};
    std::erase_if(have.routes, [](const Route &r) { return r.protocol != kProtocol; });
    const Link *device = want.device ? have.link(want.device->name) : nullptr;
    if (!device || !have.device || have.device->ifindex != device->ifindex)
        have.device.reset();
    return {};
}

mrcnl::error FakeKernel::apply(const Op &op)
{
    if (meanwhile && meanwhile_in-- == 0)
        std::exchange(meanwhile, nullptr)();
    std::optional<Fault> fault;
    if (!faults.empty()) {
        fault = faults.front();
        faults.pop_front();
    }
    if (fault == Fault::kRefused)
        return {ENOBUFS, "no buffer space", false};
    auto e = std::visit(Doer{*this}, op);
    if (!e)
        done++;
    if (fault == Fault::kDoneUnheard)
        return {ETIMEDOUT, "the kernel did not answer", false};
    return e;
}

}   // namespace mrcd
