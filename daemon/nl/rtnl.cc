// SPDX-License-Identifier: GPL-2.0
#include "rtnl.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/lwtunnel.h>
#include <linux/rtnetlink.h>
#include <linux/seg6_local.h>
#include <net/if.h>

#include <algorithm>

namespace mrcd::nl {

namespace {

constexpr std::uint16_t kChange = NLM_F_REQUEST | NLM_F_ACK;
constexpr std::uint16_t kDump = NLM_F_REQUEST | NLM_F_DUMP;

Message link_change(int ifindex, unsigned flags, unsigned mask)
{
    Message m(RTM_NEWLINK, kChange);
    ifinfomsg h{};

    h.ifi_index = ifindex;
    h.ifi_flags = flags;
    h.ifi_change = mask;
    m.header(h);
    return m;
}

Message addr_change(std::uint16_t type, std::uint16_t flags, int ifindex, const IfAddr &a)
{
    const Bytes address(a.addr.bytes.data(), a.addr.size());
    Message m(type, flags);
    ifaddrmsg h{};

    h.ifa_family = a.addr.v4 ? AF_INET : AF_INET6;
    h.ifa_prefixlen = a.len;
    h.ifa_index = static_cast<unsigned>(ifindex);
    m.header(h);
    m.put(IFA_LOCAL, address);
    m.put(IFA_ADDRESS, address);
    return m;
}

rtmsg route_header(const Prefix6 &dst)
{
    rtmsg h{};

    h.rtm_family = AF_INET6;
    h.rtm_dst_len = dst.len;
    h.rtm_table = RT_TABLE_MAIN;
    h.rtm_protocol = kProtocol;
    h.rtm_scope = RT_SCOPE_UNIVERSE;
    h.rtm_type = RTN_UNICAST;
    return h;
}

void put_usid_end(Message &m)
{
    m.nest(RTA_ENCAP, [&] {
        m.u32(SEG6_LOCAL_ACTION, SEG6_LOCAL_ACTION_END);
        m.nest(SEG6_LOCAL_FLAVORS, [&] {
            m.u32(SEG6_LOCAL_FLV_OPERATION, 1u << SEG6_LOCAL_FLV_OP_NEXT_CSID);
            m.u8(SEG6_LOCAL_FLV_LCBLOCK_BITS, kUsidBlockLen);
            m.u8(SEG6_LOCAL_FLV_LCNODE_FN_BITS, kUsidLen);
        });
    });
    m.u16(RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6_LOCAL);
}

bool is_usid_end(const Attrs &encap)
{
    const Attrs flavors = encap.nest(SEG6_LOCAL_FLAVORS);

    return encap.u32(SEG6_LOCAL_ACTION) == std::uint32_t{SEG6_LOCAL_ACTION_END} &&
           flavors.u32(SEG6_LOCAL_FLV_OPERATION) == 1u << SEG6_LOCAL_FLV_OP_NEXT_CSID &&
           flavors.u8(SEG6_LOCAL_FLV_LCBLOCK_BITS) == std::uint8_t{kUsidBlockLen} &&
           flavors.u8(SEG6_LOCAL_FLV_LCNODE_FN_BITS) == std::uint8_t{kUsidLen};
}

template <typename Array> void copy_address(Array &to, const std::optional<Bytes> &from)
{
    if (from)
        std::copy_n(from->begin(), std::min(from->size(), to.size()), to.begin());
}

}   // namespace

Message link_add(const LinkAdd &op)
{
    Message m(RTM_NEWLINK, kChange | NLM_F_CREATE | NLM_F_EXCL);

    m.header(ifinfomsg{});
    m.string(IFLA_IFNAME, op.name);
    m.nest(IFLA_LINKINFO, [&] { m.string(IFLA_INFO_KIND, op.kind); });
    return m;
}

Message link_mtu(int ifindex, std::uint32_t mtu)
{
    Message m = link_change(ifindex, 0, 0);

    m.u32(IFLA_MTU, mtu);
    return m;
}

Message link_master(int ifindex, int master)
{
    Message m = link_change(ifindex, 0, 0);

    m.u32(IFLA_MASTER, static_cast<std::uint32_t>(master));
    return m;
}

Message link_up(int ifindex) { return link_change(ifindex, IFF_UP, IFF_UP); }

Message addr_add(int ifindex, const IfAddr &addr)
{
    Message m = addr_change(RTM_NEWADDR, kChange | NLM_F_CREATE | NLM_F_EXCL, ifindex, addr);

    if (!addr.addr.v4)
        m.u32(IFA_FLAGS, IFA_F_NODAD);
    m.u8(IFA_PROTO, kProtocol);
    return m;
}

Message addr_del(int ifindex, const IfAddr &addr)
{
    return addr_change(RTM_DELADDR, kChange, ifindex, addr);
}

Message route_new(const RouteSpec &route, int ifindex, RouteMode mode)
{
    const std::uint16_t how = mode == RouteMode::kAdd ? NLM_F_EXCL : NLM_F_REPLACE;
    Message m(RTM_NEWROUTE, kChange | NLM_F_CREATE | how);

    m.header(route_header(route.dst));
    m.put(RTA_DST, route.dst.addr.bytes);
    if (route.via)
        m.put(RTA_GATEWAY, route.via->bytes);
    else
        put_usid_end(m);
    m.u32(RTA_OIF, static_cast<std::uint32_t>(ifindex));
    m.u32(RTA_PRIORITY, route.metric);
    return m;
}

Message route_del(const Prefix6 &dst, std::uint32_t metric, int ifindex)
{
    Message m(RTM_DELROUTE, kChange);

    m.header(route_header(dst));
    m.put(RTA_DST, dst.addr.bytes);
    if (ifindex != 0)
        m.u32(RTA_OIF, static_cast<std::uint32_t>(ifindex));
    m.u32(RTA_PRIORITY, metric);
    return m;
}

Message links_dump()
{
    Message m(RTM_GETLINK, kDump);

    m.header(ifinfomsg{});
    m.u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return m;
}

Message addrs_dump()
{
    Message m(RTM_GETADDR, kDump);

    m.header(ifaddrmsg{});
    return m;
}

Message routes_dump()
{
    Message m(RTM_GETROUTE, kDump);
    rtmsg h{};

    h.rtm_family = AF_INET6;
    h.rtm_protocol = kProtocol;   // filters, where the kernel knows strict checking
    m.header(h);
    return m;
}

Link parse_link(Bytes payload)
{
    const auto h = fixed_header<ifinfomsg>(payload);
    const auto a = attrs_after<ifinfomsg>(payload);
    Link link;

    link.ifindex = h.ifi_index;
    link.name = a.string(IFLA_IFNAME);
    link.kind = a.nest(IFLA_LINKINFO).string(IFLA_INFO_KIND);
    link.up = h.ifi_flags & IFF_UP;
    link.running = link.up && (h.ifi_flags & IFF_RUNNING);
    link.mtu = a.u32(IFLA_MTU).value_or(0);
    link.master = static_cast<int>(a.u32(IFLA_MASTER).value_or(0));
    return link;
}

Addr parse_addr(Bytes payload)
{
    const auto h = fixed_header<ifaddrmsg>(payload);
    const auto a = attrs_after<ifaddrmsg>(payload);
    Addr addr;

    addr.ifindex = static_cast<int>(h.ifa_index);
    addr.addr.len = h.ifa_prefixlen;
    addr.addr.addr.v4 = h.ifa_family == AF_INET;
    copy_address(addr.addr.addr.bytes, a.has(IFA_LOCAL) ? a.find(IFA_LOCAL) : a.find(IFA_ADDRESS));
    addr.protocol = a.u8(IFA_PROTO).value_or(0);
    return addr;
}

std::optional<Route> parse_route(Bytes payload)
{
    const auto h = fixed_header<rtmsg>(payload);
    const auto a = attrs_after<rtmsg>(payload);
    Route r;

    if (h.rtm_family != AF_INET6 || h.rtm_flags & RTM_F_CLONED ||
        a.u32(RTA_TABLE).value_or(h.rtm_table) != RT_TABLE_MAIN)
        return std::nullopt;
    copy_address(r.dst.addr.bytes, a.find(RTA_DST));
    r.dst.len = h.rtm_dst_len;
    r.metric = a.u32(RTA_PRIORITY).value_or(0);
    r.protocol = h.rtm_protocol;
    r.oif = static_cast<int>(a.u32(RTA_OIF).value_or(0));
    if (const auto via = a.find(RTA_GATEWAY)) {
        r.via.emplace();
        copy_address(r.via->bytes, via);
    }
    const auto encap = a.u16(RTA_ENCAP_TYPE);
    r.usid_end = encap == std::uint16_t{LWTUNNEL_ENCAP_SEG6_LOCAL} &&
                 is_usid_end(a.nest(RTA_ENCAP));
    r.strange = h.rtm_type != RTN_UNICAST || a.has(RTA_MULTIPATH) ||
                (encap && !r.usid_end) || a.has(RTA_NH_ID);
    return r;
}

}   // namespace mrcd::nl
