// SPDX-License-Identifier: GPL-2.0
// observe.cc - see observe.h.
#include "observe.h"

#include <linux/mrc.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <fstream>

#include "mrc_genl.h"
#include "rtnl.h"
#include "sysctl.h"

namespace mrcd {

namespace {

using mrcnl::error;
using nl::Bytes;

std::optional<std::string> read_sysctl(const std::string &key)
{
    std::ifstream in(sysctl_path(key));
    std::string value;

    if (in && std::getline(in, value))
        return value;
    return std::nullopt;
}

void sysctls(const Desired &want, Observed &have)
{
    for (const WantedSysctl &w : want.sysctls)
        if (const auto value = read_sysctl(w.key))
            have.sysctls[w.key] = *value;
    if (want.sysctls.empty())
        return;
    const auto hearing = [&](const std::string &name) {
        if (const auto value = read_sysctl(name + "/forwarding"))
            have.hearing[name] = {*value, read_sysctl(name + "/accept_ra").value_or("")};
    };
    hearing("default");
    for (const Link &link : have.links)
        hearing(link.name);
}

error links(mrcnl::socket &s, Observed &have)
{
    auto m = nl::links_dump();

    return s.dump(m, [&](const nlmsghdr &h, Bytes payload) {
        if (h.nlmsg_type == RTM_NEWLINK)
            have.links.push_back(nl::parse_link(payload));
    });
}

error addrs(mrcnl::socket &s, Observed &have)
{
    auto m = nl::addrs_dump();

    return s.dump(m, [&](const nlmsghdr &h, Bytes payload) {
        if (h.nlmsg_type == RTM_NEWADDR)
            have.addrs.push_back(nl::parse_addr(payload));
    });
}

error routes(mrcnl::socket &s, int family, Observed &have)
{
    auto m = nl::routes_dump(family);

    return s.dump(m, [&](const nlmsghdr &h, Bytes payload) {
        const auto r = nl::parse_route(payload);
        if (h.nlmsg_type == RTM_NEWROUTE && r && r->protocol == kProtocol)
            have.routes.push_back(*r);
    });
}

// A long profile arrives in several messages; this joins the parts.
void add_profile(std::vector<ObservedProfile> &list, const ObservedProfile &part)
{
    if (!list.empty() && list.back().any_dst == part.any_dst &&
        list.back().profile.key == part.profile.key) {
        auto &evs = list.back().profile.evs;
        auto &gens = list.back().profile.gens;
        evs.insert(evs.end(), part.profile.evs.begin(), part.profile.evs.end());
        gens.insert(gens.end(), part.profile.gens.begin(), part.profile.gens.end());
        return;
    }
    list.push_back(part);
}

error device_parts(mrcnl::socket &s, std::uint16_t family, MrcDevice &dev)
{
    const auto about_us = [&](Bytes payload) {
        return nl::reply_ifindex(payload) == static_cast<std::uint32_t>(dev.ifindex);
    };
    auto planes = nl::mrc_dump(family, MRC_CMD_PLANE_GET);
    auto profiles = nl::mrc_dump(family, MRC_CMD_PROFILE_GET);

    if (auto e = s.dump(planes, [&](const nlmsghdr &, Bytes payload) {
            const auto plane = nl::parse_plane(payload);
            if (plane && about_us(payload))
                dev.planes.push_back(*plane);
        }))
        return e;
    return s.dump(profiles, [&](const nlmsghdr &, Bytes payload) {
        if (!about_us(payload))
            return;
        if (const auto profile = nl::parse_profile(payload))
            add_profile(dev.profiles, *profile);
    });
}

// The family is looked up each time: a reloaded module has another number.
error device(Sockets &sockets, const WantedDevice &want, Observed &have)
{
    const Link *link = have.link(want.name);
    mrcnl::family family;

    sockets.family.reset();
    if (!link || link->kind != "mrc")
        return {};
    if (auto e = mrcnl::find_family(sockets.genl, MRC_GENL_NAME, family))
        return e.code == ENOENT ? error{} : e;
    sockets.family = family;

    const int ifindex = link->ifindex;
    auto m = nl::mrc_dump(family.id, MRC_CMD_DEV_GET);
    auto e = sockets.genl.dump(m, [&](const nlmsghdr &, Bytes payload) {
        if (nl::reply_ifindex(payload) == static_cast<std::uint32_t>(ifindex))
            nl::parse_device(payload, have.device.emplace());
    });
    return e || !have.device ? e : device_parts(sockets.genl, family.id, *have.device);
}

error in_context(const char *what, error e)
{
    if (e)
        e.text = std::string("reading ") + what + ": " + e.text;
    return e;
}

}   // namespace

mrcnl::error observe(Sockets &sockets, const Desired &want, Observed &have)
{
    have = {};
    if (auto e = in_context("interfaces", links(sockets.route, have)))
        return e;
    sysctls(want, have);
    if (auto e = in_context("addresses", addrs(sockets.route, have)))
        return e;
    for (const int family : {AF_INET6, AF_INET})
        if (auto e = in_context("routes", routes(sockets.route, family, have)))
            return e;
    if (want.device)
        return in_context("the mrc device", device(sockets, *want.device, have));
    return {};
}

bool rdma_netns_exclusive()
{
    mrcnl::socket s;
    bool shared = true;

    if (s.open(NETLINK_RDMA))   // this kernel has no RDMA
        return false;
    mrcnl::request m = mrcnl::request::plain(
        RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET), NLM_F_REQUEST);
    (void)s.call(m, [&](const nlmsghdr &, Bytes payload) {
        const mrcnl::table t{mrcnl::attr_range(payload)};
        if (const auto mode = t[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
            shared = mode.num();
    });
    return !shared;
}

}   // namespace mrcd
