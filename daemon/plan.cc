// SPDX-License-Identifier: GPL-2.0
// plan.cc - see plan.h.
#include "plan.h"

#include <fmt/format.h>
#include <linux/mrc.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "lookup.h"

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

std::uint32_t mode_of(const Profile &profile)
{
    return profile.is_template() ? MRC_MODE_GEN : MRC_MODE_EXP;
}

namespace {

constexpr const char *kForwarding = "/forwarding";
constexpr const char *kAcceptRa = "/accept_ra";
constexpr const char *kByHosts = "1";       // accept_ra: unless the interface forwards
constexpr const char *kEvenRouters = "2";   // accept_ra: even if it forwards

// Plans in the order that the kernel needs: interfaces before addresses, addresses before the
// routes over them, planes before their SIDs, profiles before they are the default. A port is
// raised before it is marked as prepared (made a plane, or given the last of its sysctls). If a
// marked port is down, somebody has decided so; even a new process can tell that.
class Planner {
public:
    Planner(const Desired &want, const Observed &have, const Policy &policy)
        : want_(want), have_(have), policy_(policy), links_(have.links)
    {
    }

    Plan make()
    {
        judge_links();
        mtus();
        links_up();
        sysctls();
        if (want_.device)
            masters(*want_.device);
        addresses();
        routes();
        if (want_.device)
            device(*want_.device);
        return std::move(out_);
    }

private:
    template <typename T> void op(T o) { out_.ops.push_back(std::move(o)); }

    template <typename T> void removal(T o)
    {
        op(std::move(o));
        out_.removals++;
    }

    template <typename... Args> void wait(fmt::format_string<Args...> f, Args &&...args)
    {
        out_.waiting.push_back(fmt::format(f, std::forward<Args>(args)...));
    }

    template <typename... Args> void note(fmt::format_string<Args...> f, Args &&...args)
    {
        out_.notes.push_back(fmt::format(f, std::forward<Args>(args)...));
    }

    // ------------------------------------------------------------ interfaces

    // May this plan change the interface? It exists and is as wanted, or this plan creates it.
    bool fit(const std::string &name) const { return fit_.count(name); }

    bool usable(const std::string &name) const
    {
        const Link *link = links_.find(name);
        return fit(name) && (raised_.count(name) || (link && link->up));
    }

    void judge_links()
    {
        for (const WantedLink &w : want_.links) {
            if (const Link *link = links_.find(w.name)) {
                const auto wrong = what_is_wrong(w, *link);
                if (wrong.empty())
                    fit_.insert(w.name);
                else
                    wait("{} {}; it is left alone", w.name, wrong);
            } else if (!w.kind.empty() && !policy_.missing_kinds.count(w.kind)) {
                op(LinkAdd{w.name, w.kind});
                fit_.insert(w.name);
            } else if (!w.optional) {
                wait("there is no interface {}{}", w.name, w.physical ? other_adapters() : "");
            }
        }
    }

    // A missing port may appear later, or have another name.
    std::string other_adapters() const
    {
        constexpr std::size_t kShown = 8;
        std::vector<std::string> names;

        for (const Link &link : have_.links)
            if (link.kind.empty() && !link.loopback && names.size() <= kShown &&
                std::none_of(want_.links.begin(), want_.links.end(),
                             [&](const WantedLink &w) { return w.name == link.name; }))
                names.push_back(link.name);
        if (names.empty())
            return {};
        const bool more = names.size() > kShown;
        if (more)
            names.pop_back();
        return fmt::format(" (yet, or it has another name: here are {}{})", fmt::join(names, ", "),
                           more ? ", ..." : "");
    }

    // The reason why somebody else has to act.
    std::string what_is_wrong(const WantedLink &w, const Link &link) const
    {
        const auto kind = link.kind.empty() ? std::string("an adapter") : link.kind;
        if (!w.kind.empty())
            return link.kind == w.kind ? "" : fmt::format(
                "is of kind {}, expected {}: delete or rename it", kind, w.kind);
        if (link.loopback || link.kind == "mrc" || link.kind == "bridge")
            return fmt::format("is {}, expected a port of the fabric: use another name",
                               link.loopback ? "the loopback interface" : "of kind " + kind);
        const Link *master = link.master ? links_.find(link.master) : nullptr;
        if (master && master->kind != "mrc")
            return fmt::format("belongs to {}: ip link set {} nomaster", master->name, w.name);
        return "";
    }

    // An MTU is never lowered: somebody raised it on purpose.
    void mtus()
    {
        for (const WantedLink &w : want_.links) {
            const Link *link = links_.find(w.name);
            if (w.mtu == 0 || !link || !fit(w.name) || link->mtu >= w.mtu)
                continue;
            const auto mtu = link->max_mtu ? std::min(w.mtu, link->max_mtu) : w.mtu;
            if (mtu > link->mtu && !policy_.mtu_refused.count(link->ifindex))
                op(LinkMtu{w.name, mtu});
            else
                note("{}: its largest MTU is {}, not {}", w.name, link->mtu, w.mtu);
        }
    }

    void links_up()
    {
        for (const WantedLink &w : want_.links) {
            const Link *link = links_.find(w.name);
            if (!policy_.foresee && want_.device && w.physical && fit(w.name) && link && link->up && !link->running)
                note("{} has no carrier: check the cable and the other end", w.name);
            if (!fit(w.name) || (link && link->up))
                continue;
            if (link && w.may_be_shut() && prepared(w, *link)) {
                out_.left_shut.insert(link->ifindex);
                note("{} was set down by others and stays down: ip link set {} up", w.name, w.name);
                continue;
            }
            op(LinkUp{w.name});
            raised_.insert(w.name);
        }
    }

    // Did we have it up before? See make().
    bool prepared(const WantedLink &w, const Link &link) const
    {
        const Link *master = link.master ? links_.find(link.master) : nullptr;

        if (policy_.seen_up.count(link.ifindex))
            return true;
        if (w.kind == "mrc" && have_.device && have_.device->profile_id != 0)
            return true;
        if (w.kind == "mrc")
            return std::any_of(have_.links.begin(), have_.links.end(),
                               [&](const Link &l) { return l.master == link.ifindex; });
        if (want_.device)   // a plane, perhaps of a renamed device
            return master && master->kind == "mrc";
        return sysctl_is(w.name + "/seg6_enabled", "1") && sysctl_is(w.name + "/accept_dad", "0");
    }

    bool sysctl_is(const std::string &key, const std::string &value) const
    {
        const auto it = have_.sysctls.find(key);
        return it != have_.sysctls.end() && it->second == value;
    }

    // --------------------------------------------------------------- sysctls

    // "all" enables forwarding for every present and future interface. The management port would
    // become a router and ignore router advertisements. And whenever an interface gets forwarding,
    // the kernel forgets all advertised default routers, except those of interfaces with accept_ra
    // 2.
    void sysctls()
    {
        const auto missing = missing_sysctls();
        const auto others = others_to_set_back(missing);

        for (const Other &o : others)
            if (o.guarded)
                op(SysctlSet{o.name + kAcceptRa, kEvenRouters});
        for (const SysctlSet &s : missing)
            if (of_all(s))
                op(s);
        for (const Other &o : others)
            if (o.opened)
                op(SysctlSet{o.name + kForwarding, "0"});
        for (const SysctlSet &s : missing)
            if (!of_all(s))
                op(s);
        for (const Other &o : others)
            if (o.guarded || o.is.accept_ra != o.accept_ra)
                op(SysctlSet{o.name + kAcceptRa, o.accept_ra});
    }

    static bool of_all(const SysctlSet &s) { return s.key == std::string("all") + kForwarding; }
    static bool of_any(const SysctlSet &s) { return s.key.ends_with(kForwarding); }

    std::vector<SysctlSet> missing_sysctls() const
    {
        std::vector<SysctlSet> missing;

        for (const WantedSysctl &w : want_.sysctls) {
            const auto scope = w.key.substr(0, w.key.find('/'));
            const bool made_now = fit(scope) && !links_.find(scope);
            const bool ours = scope == "all" || fit(scope);
            const auto it = have_.sysctls.find(w.key);
            if (!ours || (it == have_.sysctls.end() ? !made_now : it->second == w.value))
                continue;
            // A port that somebody set down before we first raised it is not marked.
            if (w.key == scope + "/accept_dad" && !usable(scope))
                continue;
            missing.push_back({w.key, w.value});
        }
        return missing;
    }

    // An interface of somebody else, or "default".
    struct Other {
        std::string name;
        Hearing is;
        std::string accept_ra;   // wanted value
        bool opened;             // it forwards, or will with "all"
        bool guarded;            // the kernel would forget its default routers
    };

    // Interfaces of others that @missing changes, and those of an unfinished plan. The latter may
    // have other names now, and look like routers that somebody wants.
    std::vector<Other> others_to_set_back(const std::vector<SysctlSet> &missing)
    {
        const bool all = std::any_of(missing.begin(), missing.end(), of_all);
        const bool any = std::any_of(missing.begin(), missing.end(), of_any);
        std::vector<Other> others;

        for (const auto &[name, is] : have_.hearing) {
            const Link *link = links_.find(name);
            const int index = link ? link->ifindex : 0;
            const auto before = policy_.set_back.find(index);
            const bool begun = before != policy_.set_back.end();
            const bool host = is.forwarding == "0";
            Other o{name, is, begun ? before->second : is.accept_ra, !host || all,
                    any && link && is.accept_ra == kByHosts};
            if (fit(name) || !(begun || host))
                continue;
            if (!o.opened && !o.guarded && is.accept_ra == o.accept_ra)
                continue;
            out_.set_back.emplace(index, o.accept_ra);
            others.push_back(std::move(o));
        }
        return others;
    }

    // ---------------------------------------------------------------- planes

    // Ports with a wrong plane number, and ports that the file no longer names, leave first. So
    // every number is free for its own port.
    void masters(const WantedDevice &dev)
    {
        const Link *master = links_.find(dev.name);
        if (!fit(dev.name))
            return;
        for (const Link &link : have_.links)
            if (master && link.master == master->ifindex && !in_place(dev, link))
                release(dev, link);
        for (const WantedPlane &p : dev.planes) {
            const Link *link = links_.find(p.link);
            if (!link || !fit(p.link))
                continue;   // judge_links() has reported it
            if (master && link->master == master->ifindex && in_place(dev, *link))
                continue;
            if (link->master && !(master && link->master == master->ifindex))
                op(PlaneRelease{p.link});   // from an mrc device with another name
            op(PlaneAdd{dev.name, p.number, p.link});
        }
    }

    void release(const WantedDevice &dev, const Link &link)
    {
        const bool wanted = std::any_of(dev.planes.begin(), dev.planes.end(),
                                        [&](const WantedPlane &p) { return p.link == link.name; });
        if (wanted)
            op(PlaneRelease{link.name});
        else
            removal(PlaneRelease{link.name});
    }

    // Before the module has shown its planes, only the name can be compared.
    bool in_place(const WantedDevice &dev, const Link &link) const
    {
        const auto number = number_of(link.ifindex);

        return std::any_of(dev.planes.begin(), dev.planes.end(), [&](const WantedPlane &p) {
            return p.link == link.name && number.value_or(p.number) == p.number;
        });
    }

    std::optional<std::uint8_t> number_of(int ifindex) const
    {
        if (have_.device)
            for (const Plane &p : have_.device->planes)
                if (p.ifindex == ifindex)
                    return p.number;
        return std::nullopt;
    }

    // ------------------------------------------------------------- addresses

    // Removals come first: removing an IPv4 address may remove later addresses of the same network.
    void addresses()
    {
        std::set<std::pair<std::string, IfAddr>> wanted;

        for (const WantedAddr &w : want_.addrs)
            wanted.emplace(w.link, w.addr);
        for (const Addr &a : have_.addrs) {
            const Link *link = links_.find(a.ifindex);
            addrs_.emplace(a.ifindex, &a);
            if (a.protocol != kProtocol || !link)
                continue;
            out_.present++;
            if (!wanted.count({link->name, a.addr}))
                removal(AddrDel{link->name, a.addr});
        }
        for (const WantedAddr &w : want_.addrs)
            if (usable(w.link))
                address(w);
    }

    void address(const WantedAddr &w)
    {
        const Link *link = links_.find(w.link);
        const Addr *other = nullptr;
        const auto [first, last] = addrs_.equal_range(link ? link->ifindex : 0);

        for (auto it = first; it != last; ++it) {
            const Addr &a = *it->second;
            if (a.addr.addr != w.addr.addr)
                continue;
            if (a.addr == w.addr)
                return;
            if (a.protocol != kProtocol && !w.addr.addr.v4)
                other = &a;   // the kernel accepts an IPv6 address only once, with any length
        }
        if (other)
            wait("{} has {}, expected {}: ip addr del {} dev {}", w.link, to_string(other->addr),
                 to_string(w.addr), to_string(other->addr), w.link);
        else
            op(AddrAdd{w.link, w.addr});
    }

    // ---------------------------------------------------------------- routes

    static bool ours(const Route &r) { return r.protocol == kProtocol; }

    void routes()
    {
        using Key = std::pair<Prefix6, std::uint32_t>;   // metric
        std::set<Prefix6> wanted;
        std::set<Key> keys;
        std::multimap<Key, const Route *> there;

        for (const WantedRoute &w : want_.routes) {
            wanted.insert(w.dst);
            keys.emplace(w.dst, w.metric);
        }
        for (const Route &r : have_.routes) {
            if (!ours(r))
                continue;
            out_.present++;
            if (!wanted.count(r.dst))
                removal(RouteDel{r.dst, r.metric, r.oif});
            else if (!keys.count({r.dst, r.metric}))
                op(RouteDel{r.dst, r.metric, r.oif});
            else
                there.emplace(Key{r.dst, r.metric}, &r);
        }
        for (const WantedRoute &w : want_.routes) {
            const auto [first, last] = there.equal_range({w.dst, w.metric});
            std::vector<const Route *> old;
            for (auto it = first; it != last; ++it)
                old.push_back(it->second);
            route(w, old);
        }
    }

    void route(const WantedRoute &w, const std::vector<const Route *> &old)
    {
        const auto link = std::find_if(w.links.begin(), w.links.end(),
                                       [&](const std::string &name) { return usable(name); });
        if (link == w.links.end()) {   // the port's routes are gone with it; over another port they are wrong
            for (const Route *r : old)
                op(RouteDel{r->dst, r->metric, r->oif});
            return;
        }
        const RouteSpec spec{w.dst, w.metric, *link, w.via, w.on_link};

        if (old.size() == 1 && same(*old[0], spec))
            return;
        // The kernel replaces a route only by one of the same form.
        if (old.size() == 1 && !old[0]->strange && old[0]->usid_end == spec.own_sid()) {
            op(RouteReplace{spec});
            return;
        }
        for (const Route *r : old)
            op(RouteDel{r->dst, r->metric, r->oif});
        op(RouteAdd{spec});
    }

    bool same(const Route &r, const RouteSpec &spec) const
    {
        const Link *link = links_.find(spec.link);
        return link && r.oif == link->ifindex && r.via == spec.via &&
               r.usid_end == spec.own_sid() && !r.strange;
    }

    // ---------------------------------------------------------------- device

    void device(const WantedDevice &dev)
    {
        static const MrcDevice kNone;
        const MrcDevice *d = have_.device ? &*have_.device : nullptr;

        if (!fit(dev.name) && links_.find(dev.name))
            return;
        if (!d && !policy_.foresee) {
            wait("{} is not known to the mrc module yet", dev.name);
            return;
        }
        if (!d)
            d = &kNone;
        out_.present += d->planes.size();
        for (const WantedPlane &p : dev.planes)
            plane(dev, *d, p);
        if (dev.qos && d->qos != *dev.qos)
            op(QosSet{dev.name, *dev.qos});
        // The kernel accepts no default profile that does not exist, and removes no path that a QP
        // uses.
        new_profiles(dev, *d);
        if (d->profile_id != dev.profile_id && (dev.profile_id ? !dev.profiles.empty() : leads_by_sids(*d)))
            op(DefaultProfileSet{dev.name, dev.profile_id});
        old_profiles(dev, *d);
        if (!d->registered && !policy_.foresee)
            wait("{} is not registered as an RDMA device yet", dev.name);
    }

    void plane(const WantedDevice &dev, const MrcDevice &d, const WantedPlane &w)
    {
        const auto it = std::find_if(d.planes.begin(), d.planes.end(),
                                     [&](const Plane &p) { return p.number == w.number; });
        const Link *link = links_.find(w.link);
        const bool there = it != d.planes.end() && link && it->ifindex == link->ifindex;
        if (!fit(w.link))
            return;   // judge_links() has reported it
        if (!there && !policy_.foresee)
            return wait("{} has no plane {} over {} yet", dev.name, w.number, w.link);
        if ((there ? it->sid.value_or(Ip6{}) : Ip6{}) != w.sid)
            op(SidSet{dev.name, w.number, w.sid});
    }

    // Is the device's default profile left over from a fabric of switches? A default of UDP ports
    // is somebody else's.
    static bool leads_by_sids(const MrcDevice &d)
    {
        return std::any_of(d.profiles.begin(), d.profiles.end(), [&](const ObservedProfile &p) {
            return p.profile.key.id == d.profile_id && p.fmt == MRC_FMT_SRV6;
        });
    }

    void new_profiles(const WantedDevice &dev, const MrcDevice &d)
    {
        std::unordered_map<ProfileKey, const ObservedProfile *, ProfileKeyHash> there;

        for (const ObservedProfile &p : d.profiles)
            if (!p.any_dst)
                there.emplace(p.profile.key, &p);
        for (const Profile &w : dev.profiles) {
            const auto it = there.find(w.key);
            if (it == there.end() || it->second->profile != w || it->second->fmt != MRC_FMT_SRV6 ||
                it->second->mode != mode_of(w))
                op(ProfileSet{dev.name, w});
        }
    }

    // Only profiles with an id of ours are removed: others belong to mrcctl's users.
    void old_profiles(const WantedDevice &dev, const MrcDevice &d)
    {
        std::unordered_set<ProfileKey, ProfileKeyHash> wanted;
        std::optional<Reached> reached;   // computed when something is removed

        for (const Profile &w : dev.profiles)
            wanted.insert(w.key);
        for (const ObservedProfile &p : d.profiles) {
            const auto id = p.profile.key.id;
            const bool our_id = id == dev.profile_id || policy_.retired_profiles.count(id);
            if (!our_id || p.any_dst)
                continue;
            out_.present++;
            if (wanted.count(p.profile.key))
                continue;
            if (!reached)
                reached.emplace(dev.profiles);
            if (reached->by(p.profile.key.dst))
                op(ProfileDel{dev.name, p.profile.key});
            else
                removal(ProfileDel{dev.name, p.profile.key});
        }
    }

    const Desired &want_;
    const Observed &have_;
    const Policy &policy_;
    Plan out_;
    const LinkIndex links_;
    std::multimap<int, const Addr *> addrs_;   // by interface
    std::set<std::string> fit_;
    std::set<std::string> raised_;
};

}   // namespace

std::vector<std::string> marks(const Op &op)
{
    if (const auto *add = std::get_if<PlaneAdd>(&op))
        return {add->device, add->netdev};
    if (const auto *set = std::get_if<DefaultProfileSet>(&op))
        return {set->device};
    if (const auto *set = std::get_if<SysctlSet>(&op))
        return {set->key.substr(0, set->key.find('/'))};
    return {};
}

bool guards(const Op &op)
{
    const auto *set = std::get_if<SysctlSet>(&op);

    return set && set->key.ends_with(kAcceptRa) && set->value == kEvenRouters;
}

Plan plan(const Desired &want, const Observed &have, const Policy &policy)
{
    return Planner(want, have, policy).make();
}

}   // namespace mrcd
