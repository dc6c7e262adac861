// SPDX-License-Identifier: GPL-2.0
// fake_kernel.h - carries a plan out on an Observed, as a kernel would.
#pragma once

#include <gtest/gtest.h>
#include <linux/mrc.h>

#include <algorithm>

#include "plan.h"

namespace mrcd {

class FakeKernel {
public:
    Observed state;

    // A port as the cable leaves it: there, down, small.
    void add_port(const std::string &name)
    {
        state.links.push_back({.ifindex = next_++, .name = name, .kind = "veth", .up = false,
                               .running = false, .mtu = 1500, .master = 0});
        for (const char *key : {"/seg6_enabled", "/accept_dad"})
            state.sysctls[name + key] = "-1";
    }

    void apply(const Plan &p)
    {
        for (const Op &op : p.ops)
            std::visit(*this, op);
    }

    // The interface is shut: its routes and IPv6 addresses go.
    void shut(const std::string &name)
    {
        Link &l = link(name);
        l.up = l.running = false;
        std::erase_if(state.routes, [&](const Route &r) { return r.oif == l.ifindex; });
        std::erase_if(state.addrs, [&](const Addr &a) { return a.ifindex == l.ifindex; });
    }

    void open(const std::string &name) { link(name).up = link(name).running = true; }

    void operator()(const SysctlSet &o) { state.sysctls[o.key] = o.value; }
    void operator()(const LinkAdd &o)
    {
        add_port(o.name);
        state.links.back().kind = o.kind;
        if (o.kind != "mrc")
            return;
        state.device.emplace();
        state.device->ifindex = state.links.back().ifindex;
        state.device->registered = true;
    }
    void operator()(const LinkMtu &o) { link(o.name).mtu = o.mtu; }
    void operator()(const LinkMaster &o)
    {
        Link &l = link(o.name);
        l.master = o.master.empty() ? 0 : link(o.master).ifindex;
        auto &planes = state.device->planes;
        if (o.master.empty()) {
            for (const Plane &p : planes)
                if (p.ifindex == l.ifindex)
                    kept_[p.number] = o.name;
            std::erase_if(planes, [&](const Plane &p) { return p.ifindex == l.ifindex; });
            return;
        }
        planes.push_back({number_for(o.name), l.ifindex, true, std::nullopt});
    }
    void operator()(const PlaneKeep &o)
    {
        for (const Plane &p : state.device->planes)
            EXPECT_NE(p.number, o.number) << "EBUSY: plane " << int(o.number);
        std::erase_if(kept_, [&](const auto &k) { return k.second == o.netdev; });
        kept_[o.number] = o.netdev;
    }
    void operator()(const LinkUp &o) { open(o.name); }
    void operator()(const AddrAdd &o)
    {
        ASSERT_TRUE(link(o.link).up) << "address on a link that is down: " << o.link;
        state.addrs.push_back({link(o.link).ifindex, o.addr, kProtocol});
    }
    void operator()(const AddrDel &o)
    {
        const int index = link(o.link).ifindex;
        std::erase_if(state.addrs, [&](const Addr &a) {
            return a.ifindex == index && a.addr == o.addr;
        });
    }
    void operator()(const RouteAdd &o) { state.routes.push_back(made(o.route)); }
    void operator()(const RouteReplace &o)
    {
        for (Route &r : state.routes)
            if (r.dst == o.route.dst && r.metric == o.route.metric)
                r = made(o.route);
    }
    void operator()(const RouteDel &o)
    {
        std::erase_if(state.routes, [&](const Route &r) {
            return r.dst == o.dst && r.metric == o.metric && r.protocol == kProtocol &&
                   (o.oif == 0 || r.oif == o.oif);
        });
    }
    void operator()(const PlaneSet &o)
    {
        for (Plane &p : state.device->planes) {
            if (p.number != o.number)
                continue;
            p.admin = o.admin.value_or(p.admin);
            p.sid = o.sid ? o.sid : p.sid;
        }
    }
    void operator()(const DefaultProfileSet &o)
    {
        EXPECT_TRUE(has_profile(o.id)) << "ENOENT: no profile " << o.id;
        state.device->profile_id = o.id;
    }
    void operator()(const ProfileSet &o)
    {
        (*this)(ProfileDel{o.device, o.profile.key});
        state.device->profiles.push_back({o.profile, false, MRC_FMT_SRV6, MRC_MODE_EXP});
    }
    void operator()(const ProfileDel &o)
    {
        std::erase_if(state.device->profiles,
                      [&](const ObservedProfile &p) { return p.profile.key == o.key; });
    }

    Link &link(const std::string &name)
    {
        const auto it = std::find_if(state.links.begin(), state.links.end(),
                                     [&](const Link &l) { return l.name == name; });
        EXPECT_NE(it, state.links.end()) << name;
        return *it;
    }

private:
    bool has_profile(std::uint64_t id) const
    {
        const auto &all = state.device->profiles;
        return std::any_of(all.begin(), all.end(), [&](const ObservedProfile &p) {
            return p.profile.key.id == id;
        });
    }

    // The one it had, else the lowest that is kept for nobody.
    std::uint8_t number_for(const std::string &port) const
    {
        for (const auto &[number, name] : kept_)
            if (name == port)
                return number;
        std::uint8_t number = 1;
        while (kept_.count(number) ||
               std::any_of(state.device->planes.begin(), state.device->planes.end(),
                           [&](const Plane &p) { return p.number == number; }))
            number++;
        return number;
    }

    Route made(const RouteSpec &r)
    {
        EXPECT_TRUE(link(r.link).up) << "route over a link that is down: " << r.link;
        return {.dst = r.dst, .metric = r.metric, .protocol = kProtocol,
                .oif = link(r.link).ifindex, .via = r.via, .usid_end = !r.via};
    }

    std::map<std::uint8_t, std::string> kept_;
    int next_ = 2;
};

}   // namespace mrcd
