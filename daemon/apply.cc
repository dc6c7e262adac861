// SPDX-License-Identifier: GPL-2.0
// apply.cc - see apply.h.
#include "apply.h"

#include <fcntl.h>
#include <linux/mrc.h>
#include <net/if.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "mrc_genl.h"
#include "rtnl.h"
#include "sysctl.h"

namespace mrcd {

namespace {

using mrcnl::error;

error failed(int code) { return {code, std::generic_category().message(code), true}; }

class Applier {
public:
    explicit Applier(Sockets &sockets) : s_(sockets) {}

    error operator()(const SysctlSet &o)
    {
        const int fd = open(sysctl_path(o.key).c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return failed(errno);
        const auto line = o.value + "\n";
        const error e = write(fd, line.data(), line.size()) < 0 ? failed(errno) : error{};
        close(fd);
        return e;
    }

    error operator()(const LinkAdd &o) { return route(nl::link_add(o)); }

    error operator()(const LinkMtu &o)
    {
        return at(o.name, [&](int i) { return route(nl::link_mtu(i, o.mtu)); });
    }

    error operator()(const PlaneAdd &o)
    {
        if (auto e = mrc(o.device, [&](auto f, int i) { return nl::plane_keep(f, i, o); }))
            return e;
        return at(o.netdev, [&](int port) {
            return at(o.device, [&](int i) { return route(nl::link_master(port, i)); });
        });
    }

    error operator()(const PlaneRelease &o)
    {
        return at(o.netdev, [&](int i) { return route(nl::link_master(i, 0)); });
    }

    error operator()(const LinkUp &o)
    {
        return at(o.name, [&](int i) { return route(nl::link_up(i)); });
    }

    error operator()(const AddrAdd &o)
    {
        return at(o.link, [&](int i) { return route(nl::addr_add(i, o.addr)); });
    }

    // Removed meanwhile: together with another one, or by somebody else.
    error operator()(const AddrDel &o)
    {
        const error e = at(o.link, [&](int i) { return route(nl::addr_del(i, o.addr)); });
        return e.code == EADDRNOTAVAIL || e.code == ENODEV ? error{} : e;
    }

    error operator()(const RouteAdd &o) { return new_route(o.route, nl::RouteMode::kAdd); }
    error operator()(const RouteReplace &o) { return new_route(o.route, nl::RouteMode::kReplace); }

    // The interface was removed since the state was read, and the route with it.
    error operator()(const RouteDel &o)
    {
        const error e = route(nl::route_del(o.dst, o.metric, o.oif));
        return e.code == ESRCH ? error{} : e;
    }

    error operator()(const SidSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::sid_set(f, i, o); });
    }

    error operator()(const DefaultProfileSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::default_profile_set(f, i, o.id); });
    }

    error operator()(const QosSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::qos_set(f, i, o.qos); });
    }

    error operator()(const ProfileSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::profile_set(f, i, o.profile); });
    }

    error operator()(const ProfileDel &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::profile_del(f, i, o.key); });
    }

private:
    error route(nl::Message m) { return s_.route.call(m); }

    error new_route(const RouteSpec &spec, nl::RouteMode mode)
    {
        return at(spec.link, [&](int i) { return route(nl::route_new(spec, i, mode)); });
    }

    template <typename F> error at(const std::string &link, F &&fn)
    {
        const unsigned index = if_nametoindex(link.c_str());
        if (index == 0)
            return {ENODEV, "there is no interface " + link, false};
        return fn(static_cast<int>(index));
    }

    template <typename F> error mrc(const std::string &device, F &&make)
    {
        return at(device, [&](int i) -> error {
            if (auto e = family())
                return e;
            nl::Message m = make(s_.family->id, i);
            return s_.genl.call(m);
        });
    }

    // The module may have been loaded since the state was read.
    error family()
    {
        mrcnl::family found;

        if (s_.family)
            return {};
        if (mrcnl::find_family(s_.genl, MRC_GENL_NAME, found))
            return {ENOENT, "the module mrc is not loaded: modprobe mrc", false};
        s_.family = found;
        return {};
    }

    Sockets &s_;
};

}   // namespace

mrcnl::error apply(Sockets &sockets, const Op &op) { return std::visit(Applier(sockets), op); }

}   // namespace mrcd
