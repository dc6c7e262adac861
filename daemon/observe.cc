// SPDX-License-Identifier: GPL-2.0
#include "observe.h"

#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "sysctl.h"

namespace mrcd {

namespace {

using nl::Bytes;
using nl::Result;

void sysctls(const Desired &want, Observed &have)
{
    for (const WantedSysctl &w : want.sysctls) {
        std::ifstream in(sysctl_path(w.key));
        std::string value;
        if (in && std::getline(in, value))
            have.sysctls[w.key] = value;
    }
}

Result links(nl::Socket &s, Observed &have)
{
    auto m = nl::links_dump();

    return s.dump(m, [&] { have.links.clear(); }, [&](const nlmsghdr &h, Bytes payload) {
        if (h.nlmsg_type == RTM_NEWLINK)
            have.links.push_back(nl::parse_link(payload));
    });
}

Result addrs(nl::Socket &s, Observed &have)
{
    auto m = nl::addrs_dump();

    return s.dump(m, [&] { have.addrs.clear(); }, [&](const nlmsghdr &h, Bytes payload) {
        if (h.nlmsg_type == RTM_NEWADDR)
            have.addrs.push_back(nl::parse_addr(payload));
    });
}

Result routes(nl::Socket &s, Observed &have)
{
    auto m = nl::routes_dump();

    return s.dump(m, [&] { have.routes.clear(); }, [&](const nlmsghdr &h, Bytes payload) {
        const auto r = nl::parse_route(payload);
        if (h.nlmsg_type == RTM_NEWROUTE && r && r->protocol == kProtocol)
            have.routes.push_back(*r);
    });
}

// A long list of EVs comes in parts, in as many messages.
void add_profile(std::vector<ObservedProfile> &list, const ObservedProfile &part)
{
    if (!list.empty() && list.back().any_dst == part.any_dst &&
        list.back().profile.key == part.profile.key) {
        auto &evs = list.back().profile.evs;
        evs.insert(evs.end(), part.profile.evs.begin(), part.profile.evs.end());
        return;
    }
    list.push_back(part);
}

Result device_parts(nl::Socket &s, std::uint16_t family, MrcDevice &dev)
{
    const auto about_us = [&](Bytes payload) {
        return nl::reply_ifindex(payload) == static_cast<std::uint32_t>(dev.ifindex);
    };
    auto planes = nl::mrc_dump(family, MRC_CMD_PLANE_GET);
    auto profiles = nl::mrc_dump(family, MRC_CMD_PROFILE_GET);

    Result r = s.dump(planes, [&] { dev.planes.clear(); }, [&](const nlmsghdr &, Bytes payload) {
        const auto plane = nl::parse_plane(payload);
        if (plane && about_us(payload))
            dev.planes.push_back(*plane);
    });
    if (!r)
        return r;
    return s.dump(profiles, [&] { dev.profiles.clear(); }, [&](const nlmsghdr &, Bytes payload) {
        const auto profile = nl::parse_profile(payload);
        if (profile && about_us(payload))
            add_profile(dev.profiles, *profile);
    });
}

Result device(Sockets &sockets, const WantedDevice &want, Observed &have)
{
    const Link *link = have.link(want.name);

    have.device.reset();
    if (!link || link->kind != "mrc") {
        sockets.family.reset();   // perhaps the module went, to come back with other numbers
        return {};
    }
    if (!sockets.family)
        sockets.family = nl::find_family(sockets.genl, MRC_GENL_NAME, MRC_GENL_MCGRP_EVENTS);
    if (!sockets.family)
        return {};

    const std::uint16_t family = sockets.family->id;
    const int ifindex = link->ifindex;
    auto m = nl::mrc_dump(family, MRC_CMD_DEV_GET);
    Result r = sockets.genl.dump(
        m, [&] { have.device.reset(); }, [&](const nlmsghdr &, Bytes payload) {
            if (nl::reply_ifindex(payload) == static_cast<std::uint32_t>(ifindex))
                nl::parse_device(payload, have.device.emplace());
        });
    if (r && have.device)
        r = device_parts(sockets.genl, family, *have.device);
    if (!r)
        sockets.family.reset();   // the module may have been loaded anew
    return r;
}

Result in_context(const char *what, Result r)
{
    if (!r)
        r.text = std::string("reading ") + what + ": " + r.text;
    return r;
}

}   // namespace

nl::Result observe(Sockets &sockets, const Desired &want, Observed &have)
{
    have = {};
    sysctls(want, have);
    if (auto r = in_context("interfaces", links(sockets.route, have)); !r)
        return r;
    if (auto r = in_context("addresses", addrs(sockets.route, have)); !r)
        return r;
    if (auto r = in_context("routes", routes(sockets.route, have)); !r)
        return r;
    if (want.device)
        return in_context("the mrc device", device(sockets, *want.device, have));
    return {};
}

bool rdma_netns_exclusive()
{
    try {
        nl::Socket s(NETLINK_RDMA, nl::Socket::Use::kRequests);
        nl::Message m(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET),
                      NLM_F_REQUEST | NLM_F_ACK);
        bool shared = true;
        (void)s.request(m, [&](const nlmsghdr &, Bytes payload) {
            shared = nl::Attrs(payload).u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE).value_or(1);
        });
        return !shared;
    } catch (const std::system_error &) {   // no RDMA in this kernel
        return false;
    }
}

}   // namespace mrcd
