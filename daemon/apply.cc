// SPDX-License-Identifier: GPL-2.0
#include "apply.h"

#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "sysctl.h"

namespace mrcd {

namespace {

using nl::Result;

Result failed(int code) { return {code, std::generic_category().message(code)}; }

class Applier {
public:
    explicit Applier(Sockets &sockets) : s_(sockets) {}

    Result operator()(const SysctlSet &o)
    {
        const int fd = open(sysctl_path(o.key).c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return failed(errno);
        const auto line = o.value + "\n";
        const Result r = write(fd, line.data(), line.size()) < 0 ? failed(errno) : Result{};
        close(fd);
        return r;
    }

    Result operator()(const LinkAdd &o) { return route(nl::link_add(o)); }

    Result operator()(const LinkMtu &o)
    {
        return at(o.name, [&](int i) { return route(nl::link_mtu(i, o.mtu)); });
    }

    Result operator()(const LinkMaster &o)
    {
        return at(o.name, [&](int i) {
            if (o.master.empty())
                return route(nl::link_master(i, 0));
            return at(o.master, [&](int master) { return route(nl::link_master(i, master)); });
        });
    }

    Result operator()(const PlaneKeep &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::plane_keep(f, i, o); });
    }

    Result operator()(const LinkUp &o)
    {
        return at(o.name, [&](int i) { return route(nl::link_up(i)); });
    }

    // An address that came meanwhile by itself is as good.
    Result operator()(const AddrAdd &o)
    {
        const Result r = at(o.link, [&](int i) { return route(nl::addr_add(i, o.addr)); });
        return r.code == EEXIST ? Result{} : r;
    }

    Result operator()(const AddrDel &o)
    {
        return at(o.link, [&](int i) { return route(nl::addr_del(i, o.addr)); });
    }

    Result operator()(const RouteAdd &o) { return new_route(o.route, nl::RouteMode::kAdd); }
    Result operator()(const RouteReplace &o) { return new_route(o.route, nl::RouteMode::kReplace); }

    // Gone with its interface, between the look and now.
    Result operator()(const RouteDel &o)
    {
        const Result r = route(nl::route_del(o.dst, o.metric, o.oif));
        return r.code == ESRCH ? Result{} : r;
    }

    Result operator()(const PlaneSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::plane_set(f, i, o); });
    }

    Result operator()(const DefaultProfileSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::default_profile_set(f, i, o.id); });
    }

    Result operator()(const ProfileSet &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::profile_set(f, i, o.profile); });
    }

    Result operator()(const ProfileDel &o)
    {
        return mrc(o.device, [&](auto f, int i) { return nl::profile_del(f, i, o.key); });
    }

private:
    Result route(nl::Message m) { return s_.route.request(m); }

    Result new_route(const RouteSpec &spec, nl::RouteMode mode)
    {
        return at(spec.link, [&](int i) { return route(nl::route_new(spec, i, mode)); });
    }

    template <typename F> Result at(const std::string &link, F &&fn)
    {
        const unsigned index = if_nametoindex(link.c_str());
        if (index == 0)
            return {ENODEV, "there is no interface " + link};
        return fn(static_cast<int>(index));
    }

    template <typename F> Result mrc(const std::string &device, F &&make)
    {
        return at(device, [&](int i) -> Result {
            if (!s_.family)
                return {ENOENT, "the mrc module is not loaded"};
            nl::Message m = make(s_.family->id, i);
            return s_.genl.request(m);
        });
    }

    Sockets &s_;
};

}   // namespace

nl::Result apply(Sockets &sockets, const Op &op) { return std::visit(Applier(sockets), op); }

}   // namespace mrcd
