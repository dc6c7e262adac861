// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#include <fmt/format.h>
#include <linux/mrc.h>

#include <algorithm>

namespace mrcd {

const Link *Observed::link(std::string_view name) const
{
    const auto it = std::find_if(links.begin(), links.end(),
                                 [&](const Link &l) { return l.name == name; });
    return it == links.end() ? nullptr : &*it;
}

const Link *Observed::link(int ifindex) const
{
    const auto it = std::find_if(links.begin(), links.end(),
                                 [&](const Link &l) { return l.ifindex == ifindex; });
    return it == links.end() ? nullptr : &*it;
}

namespace {

// The order of the steps is the order the kernel needs: interfaces before
// addresses, addresses before the routes over them, planes before their SIDs,
// profiles before they are the default.
class Planner {
public:
    Planner(const Desired &want, const Observed &have, const Policy &policy)
        : want_(want), have_(have), policy_(policy)
    {
    }

    Plan make()
    {
        make_links();
        sysctls();
        mtus();
        if (want_.device)
            masters(*want_.device);
        links_up();
        addresses();
        routes();
        if (want_.device)
            device(*want_.device);
        return std::move(out_);
    }

private:
    template <typename T> void op(T o) { out_.ops.push_back(std::move(o)); }

    template <typename... Args> void wait(fmt::format_string<Args...> f, Args &&...args)
    {
        out_.waiting.push_back(fmt::format(f, std::forward<Args>(args)...));
    }

    // There now, or by an operation of this plan.
    bool exists(const std::string &name) const
    {
        return have_.link(name) || created_.count(name);
    }

    bool usable(const std::string &name) const
    {
        const Link *link = have_.link(name);
        return raised_.count(name) || (link && link->up);
    }

    void make_links()
    {
        for (const WantedLink &w : want_.links) {
            const Link *link = have_.link(w.name);
            if (link) {
                if (!w.kind.empty() && link->kind != w.kind)
                    wait("{} is of kind \"{}\", expected \"{}\"", w.name, link->kind, w.kind);
                continue;
            }
            if (w.kind.empty() || policy_.missing_kinds.count(w.kind)) {
                if (!w.optional)
                    wait("there is no interface {}", w.name);
                continue;
            }
            op(LinkAdd{w.name, w.kind});
            created_.insert(w.name);
        }
    }

    void sysctls()
    {
        for (const WantedSysctl &w : want_.sysctls) {
            const auto it = have_.sysctls.find(w.key);
            const bool made_now = created_.count(w.key.substr(0, w.key.find('/')));
            if (it == have_.sysctls.end() ? made_now : it->second != w.value)
                op(SysctlSet{w.key, w.value});
        }
    }

    void mtus()
    {
        for (const WantedLink &w : want_.links) {
            const Link *link = have_.link(w.name);
            if (w.mtu != 0 && exists(w.name) && (!link || link->mtu != w.mtu))
                op(LinkMtu{w.name, w.mtu});
        }
    }

    // Ones in the wrong place are taken out first, all of them, so that every
    // number is free to be kept for its own port. Without that word the device
    // gives a port the number it had, or the lowest.
    void masters(const WantedDevice &dev)
    {
        const Link *master = have_.link(dev.name);
        if (!exists(dev.name))
            return;
        std::set<std::uint8_t> misplaced;
        for (const WantedPlane &p : dev.planes) {
            const Link *link = have_.link(p.link);
            const auto number = link ? number_of(link->ifindex) : std::nullopt;
            if (number && *number != p.number && master && link->master == master->ifindex) {
                op(LinkMaster{p.link, ""});
                misplaced.insert(p.number);
            }
        }
        for (const WantedPlane &p : dev.planes) {
            const Link *link = have_.link(p.link);
            if (!link) {
                wait("{}: plane {} waits for {}", dev.name, p.number, p.link);
                continue;
            }
            if (master && link->master == master->ifindex && !misplaced.count(p.number))
                continue;
            op(PlaneKeep{dev.name, p.number, p.link});
            op(LinkMaster{p.link, dev.name});
        }
    }

    std::optional<std::uint8_t> number_of(int ifindex) const
    {
        if (have_.device)
            for (const Plane &p : have_.device->planes)
                if (p.ifindex == ifindex)
                    return p.number;
        return std::nullopt;
    }

    void links_up()
    {
        for (const WantedLink &w : want_.links) {
            const Link *link = have_.link(w.name);
            if (!exists(w.name) || (link && link->up))
                continue;
            if (link && w.may_be_shut() && policy_.leave_down.count(w.name))
                continue;
            op(LinkUp{w.name});
            raised_.insert(w.name);
        }
    }

    void addresses()
    {
        for (const WantedAddr &w : want_.addrs)
            if (usable(w.link) && !has_address(w))
                op(AddrAdd{w.link, w.addr});
        for (const Addr &a : have_.addrs) {
            const Link *link = have_.link(a.ifindex);
            if (a.protocol != kProtocol || !link)
                continue;
            const bool wanted = std::any_of(
                want_.addrs.begin(), want_.addrs.end(), [&](const WantedAddr &w) {
                    return w.link == link->name && w.addr == a.addr;
                });
            if (!wanted)
                op(AddrDel{link->name, a.addr});
        }
    }

    bool has_address(const WantedAddr &w) const
    {
        const Link *link = have_.link(w.link);
        return link && std::any_of(have_.addrs.begin(), have_.addrs.end(), [&](const Addr &a) {
            return a.ifindex == link->ifindex && a.addr == w.addr;
        });
    }

    static bool ours(const Route &r) { return r.protocol == kProtocol; }

    void routes()
    {
        std::set<Prefix6> wanted;

        for (const WantedRoute &w : want_.routes)
            wanted.insert(w.dst);
        for (const Route &r : have_.routes)
            if (ours(r) && (!wanted.count(r.dst) || r.metric != kRouteMetric))
                op(RouteDel{r.dst, r.metric, r.oif});
        for (const WantedRoute &w : want_.routes)
            route(w);
    }

    void route(const WantedRoute &w)
    {
        const auto link = std::find_if(w.links.begin(), w.links.end(),
                                       [&](const std::string &name) { return usable(name); });
        if (link == w.links.end())
            return;
        const RouteSpec spec{w.dst, kRouteMetric, *link, w.via};
        std::vector<const Route *> old;
        for (const Route &r : have_.routes)
            if (ours(r) && r.dst == w.dst && r.metric == kRouteMetric)
                old.push_back(&r);

        if (old.size() == 1 && same(*old[0], spec))
            return;
        // The kernel replaces a route only by one of the same shape.
        if (old.size() == 1 && !old[0]->strange && old[0]->usid_end == !spec.via) {
            op(RouteReplace{spec});
            return;
        }
        for (const Route *r : old)
            op(RouteDel{r->dst, r->metric, r->oif});
        op(RouteAdd{spec});
    }

    bool same(const Route &r, const RouteSpec &spec) const
    {
        const Link *link = have_.link(spec.link);
        return link && r.oif == link->ifindex && r.via == spec.via &&
               r.usid_end == !spec.via && !r.strange;
    }

    void device(const WantedDevice &dev)
    {
        static const MrcDevice kNone;
        const MrcDevice *d = have_.device ? &*have_.device : nullptr;

        if (!d && !policy_.foresee) {
            wait("{} is not known to the mrc module yet", dev.name);
            return;
        }
        if (!d)
            d = &kNone;
        for (const WantedPlane &p : dev.planes)
            plane(dev, *d, p);
        // The kernel takes no default without profiles, and no path from under a QP.
        new_profiles(dev, *d);
        if (d->profile_id != dev.profile_id && !dev.profiles.empty())
            op(DefaultProfileSet{dev.name, dev.profile_id});
        old_profiles(dev, *d);
        if (!d->registered && !policy_.foresee)
            wait("{} is not registered as an RDMA device yet", dev.name);
    }

    void plane(const WantedDevice &dev, const MrcDevice &d, const WantedPlane &w)
    {
        const auto it = std::find_if(d.planes.begin(), d.planes.end(),
                                     [&](const Plane &p) { return p.number == w.number; });
        const Link *link = have_.link(w.link);
        const bool there = it != d.planes.end() && link && it->ifindex == link->ifindex;
        if (!there && !policy_.foresee)
            return wait("{} has no plane {} over {} yet", dev.name, w.number, w.link);

        PlaneSet set{dev.name, w.number, std::nullopt, std::nullopt};
        const auto admin = policy_.plane_admin.find(w.number);
        if (there && admin != policy_.plane_admin.end() && admin->second != it->admin)
            set.admin = admin->second;
        if (!there || it->sid != w.sid)
            set.sid = w.sid;
        if (set.admin || set.sid)
            op(set);
    }

    void new_profiles(const WantedDevice &dev, const MrcDevice &d)
    {
        for (const Profile &w : dev.profiles) {
            const auto it = std::find_if(
                d.profiles.begin(), d.profiles.end(), [&](const ObservedProfile &p) {
                    return !p.any_dst && p.profile == w && p.fmt == MRC_FMT_SRV6 &&
                           p.mode == MRC_MODE_EXP;
                });
            if (it == d.profiles.end())
                op(ProfileSet{dev.name, w});
        }
    }

    // Only profiles under an id of ours are touched: others are mrcctl's users'.
    void old_profiles(const WantedDevice &dev, const MrcDevice &d)
    {
        std::set<ProfileKey> wanted;

        for (const Profile &w : dev.profiles)
            wanted.insert(w.key);
        for (const ObservedProfile &p : d.profiles) {
            const auto id = p.profile.key.id;
            const bool our_id = id == dev.profile_id || policy_.retired_profiles.count(id);
            if (our_id && !p.any_dst && !wanted.count(p.profile.key))
                op(ProfileDel{dev.name, p.profile.key});
        }
    }

    const Desired &want_;
    const Observed &have_;
    const Policy &policy_;
    Plan out_;
    std::set<std::string> created_;
    std::set<std::string> raised_;
};

std::string route_text(const char *verb, const RouteSpec &r)
{
    const auto hop = r.via ? fmt::format("via {}", to_string(*r.via))
                           : std::string("encap seg6local action End flavors next-csid "
                                         "lblen 32 nflen 16");
    return fmt::format("route {} {} {} dev {} proto {} metric {}", verb, to_string(r.dst), hop,
                       r.link, kProtocol, r.metric);
}

// EVs that share a way are counted, not repeated.
std::string evs_text(const std::vector<Ev> &evs)
{
    std::map<Ev, unsigned> count;
    std::string text;

    for (const Ev &ev : evs)
        count[ev]++;
    for (const Ev &ev : evs) {
        const auto it = count.find(ev);
        if (it == count.end())
            continue;
        text += fmt::format(" ev {} port {}", to_string(ev.outer_dst), ev.port);
        if (it->second > 1)
            text += fmt::format(" x{}", it->second);
        count.erase(it);
    }
    return text;
}

struct Printer {
    std::string operator()(const SysctlSet &o) const
    {
        return fmt::format("sysctl net/ipv6/conf/{}={}", o.key, o.value);
    }
    std::string operator()(const LinkAdd &o) const
    {
        return fmt::format("link add {} type {}", o.name, o.kind);
    }
    std::string operator()(const LinkMtu &o) const
    {
        return fmt::format("link set {} mtu {}", o.name, o.mtu);
    }
    std::string operator()(const LinkMaster &o) const
    {
        return o.master.empty() ? fmt::format("link set {} nomaster", o.name)
                                : fmt::format("link set {} master {}", o.name, o.master);
    }
    std::string operator()(const PlaneKeep &o) const
    {
        return fmt::format("mrc plane set dev {} number {} netdev {}", o.device, o.number, o.netdev);
    }
    std::string operator()(const LinkUp &o) const { return fmt::format("link set {} up", o.name); }
    std::string operator()(const AddrAdd &o) const
    {
        return fmt::format("addr add {} dev {}{}", to_string(o.addr), o.link,
                           o.addr.addr.v4 ? "" : " nodad");
    }
    std::string operator()(const AddrDel &o) const
    {
        return fmt::format("addr del {} dev {}", to_string(o.addr), o.link);
    }
    std::string operator()(const RouteAdd &o) const { return route_text("add", o.route); }
    std::string operator()(const RouteReplace &o) const { return route_text("replace", o.route); }
    std::string operator()(const RouteDel &o) const
    {
        return fmt::format("route del {} proto {} metric {}", to_string(o.dst), kProtocol,
                           o.metric);
    }
    std::string operator()(const PlaneSet &o) const
    {
        auto text = fmt::format("mrc plane set dev {} number {}", o.device, o.number);
        if (o.admin)
            text += *o.admin ? " admin up" : " admin down";
        if (o.sid)
            text += fmt::format(" sid {}", to_string(*o.sid));
        return text;
    }
    std::string operator()(const DefaultProfileSet &o) const
    {
        return fmt::format("mrc dev set {} profile {}", o.device, o.id);
    }
    std::string operator()(const ProfileSet &o) const
    {
        return fmt::format("mrc profile set dev {} id {} dst {} fmt srv6 mode exp min-active {}{}",
                           o.device, o.profile.key.id, to_string(o.profile.key.dst),
                           o.profile.min_active, evs_text(o.profile.evs));
    }
    std::string operator()(const ProfileDel &o) const
    {
        return fmt::format("mrc profile del dev {} id {} dst {}", o.device, o.key.id,
                           to_string(o.key.dst));
    }
};

}   // namespace

std::string to_string(const Op &op) { return std::visit(Printer(), op); }

Plan plan(const Desired &want, const Observed &have, const Policy &policy)
{
    return Planner(want, have, policy).make();
}

}   // namespace mrcd
