// SPDX-License-Identifier: GPL-2.0
// rtnl.cc - see rtnl.h.
#include "rtnl.h"

#include "../tools/lib/fabric/usid.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/lwtunnel.h>
#include <linux/rtnetlink.h>
#include <linux/seg6_local.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace mrcd::nl {

namespace {

constexpr std::uint16_t kChange = NLM_F_REQUEST | NLM_F_ACK;
constexpr std::uint16_t kDump = NLM_F_REQUEST | NLM_F_DUMP;

Message link_change(int ifindex, unsigned flags, unsigned mask)
{
    ifinfomsg h{};

    h.ifi_index = ifindex;
    h.ifi_flags = flags;
    h.ifi_change = mask;
    return Message(RTM_NEWLINK, kChange, h);
}

Message addr_change(std::uint16_t type, std::uint16_t flags, int ifindex, const IfAddr &a)
{
    const Bytes address(a.addr.bytes.data(), a.addr.size());
    ifaddrmsg h{};

    h.ifa_family = a.addr.v4 ? AF_INET : AF_INET6;
    h.ifa_prefixlen = a.len;
    h.ifa_index = static_cast<unsigned>(ifindex);
    Message m(type, flags, h);
    m.put(IFA_LOCAL, address).put(IFA_ADDRESS, address);
    return m;
}

constexpr std::uint8_t kMappedLen = 96;   // bits of ::ffff:0:0/96 before an IPv4 prefix
constexpr std::size_t kMappedBytes = kMappedLen / 8;

rtmsg route_header(const Prefix6 &dst)
{
    const bool v4 = is_mapped(dst);
    rtmsg h{};

    h.rtm_family = v4 ? AF_INET : AF_INET6;
    h.rtm_dst_len = v4 ? dst.len - kMappedLen : dst.len;
    h.rtm_table = RT_TABLE_MAIN;
    h.rtm_protocol = kProtocol;
    h.rtm_scope = RT_SCOPE_UNIVERSE;
    h.rtm_type = RTN_UNICAST;
    return h;
}

void put_dst(Message &m, const Prefix6 &dst)
{
    const Bytes all(dst.addr.bytes);
    m.put(RTA_DST, is_mapped(dst) ? all.subspan(kMappedBytes) : all);
}

// An IPv4 route with an IPv6 next hop needs an attribute of its own.
void put_next_hop(Message &m, const RouteSpec &route)
{
    std::array<std::uint8_t, sizeof(rtvia) + 16> value{};
    rtvia via{};

    if (!is_mapped(route.dst)) {
        m.put(RTA_GATEWAY, route.via->bytes);
        return;
    }
    via.rtvia_family = AF_INET6;
    std::memcpy(value.data(), &via, sizeof(via));
    std::copy(route.via->bytes.begin(), route.via->bytes.end(), value.begin() + sizeof(via));
    m.put(RTA_VIA, value);
}

void put_usid_end(Message &m)
{
    m.nest(RTA_ENCAP, [&](auto &) {
        m.u32(SEG6_LOCAL_ACTION, SEG6_LOCAL_ACTION_END);
        m.nest(SEG6_LOCAL_FLAVORS, [&](auto &) {
            m.u32(SEG6_LOCAL_FLV_OPERATION, 1u << SEG6_LOCAL_FLV_OP_NEXT_CSID);
            m.u8(SEG6_LOCAL_FLV_LCBLOCK_BITS, kUsidBlockLen);
            m.u8(SEG6_LOCAL_FLV_LCNODE_FN_BITS, kUsidLen);
        });
    });
    m.u16(RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6_LOCAL);
}

bool is_usid_end(const mrcnl::table &encap)
{
    const mrcnl::table flavors(encap[SEG6_LOCAL_FLAVORS]);

    return encap[SEG6_LOCAL_ACTION].num() == SEG6_LOCAL_ACTION_END &&
           flavors[SEG6_LOCAL_FLV_OPERATION].num() == 1u << SEG6_LOCAL_FLV_OP_NEXT_CSID &&
           flavors[SEG6_LOCAL_FLV_LCBLOCK_BITS].num() == kUsidBlockLen &&
           flavors[SEG6_LOCAL_FLV_LCNODE_FN_BITS].num() == kUsidLen;
}

template <typename Array> void copy_address(Array &to, const mrcnl::attr &from)
{
    const Bytes b = from.bytes();
    std::copy_n(b.begin(), std::min(b.size(), to.size()), to.begin());
}

}   // namespace

Message link_add(const LinkAdd &op)
{
    Message m(RTM_NEWLINK, kChange | NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});

    m.str(IFLA_IFNAME, op.name);
    m.nest(IFLA_LINKINFO, [&](auto &info) { info.str(IFLA_INFO_KIND, op.kind); });
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
    rtmsg h = route_header(route.dst);

    if (route.on_link)
        h.rtm_scope = RT_SCOPE_LINK;
    Message m(RTM_NEWROUTE, kChange | NLM_F_CREATE | how, h);
    put_dst(m, route.dst);
    if (route.via)
        put_next_hop(m, route);
    else if (route.own_sid())
        put_usid_end(m);
    m.u32(RTA_OIF, static_cast<std::uint32_t>(ifindex));
    m.u32(RTA_PRIORITY, route.metric);
    return m;
}

Message route_del(const Prefix6 &dst, std::uint32_t metric, int ifindex)
{
    rtmsg h = route_header(dst);

    if (is_mapped(dst))
        h.rtm_scope = RT_SCOPE_NOWHERE;   // any scope
    Message m(RTM_DELROUTE, kChange, h);
    put_dst(m, dst);
    if (ifindex != 0)
        m.u32(RTA_OIF, static_cast<std::uint32_t>(ifindex));
    m.u32(RTA_PRIORITY, metric);
    return m;
}

Message links_dump()
{
    Message m(RTM_GETLINK, kDump, ifinfomsg{});

    m.u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return m;
}

Message addrs_dump() { return Message(RTM_GETADDR, kDump, ifaddrmsg{}); }

Message routes_dump(int family)
{
    rtmsg h{};

    h.rtm_family = static_cast<unsigned char>(family);
    h.rtm_protocol = kProtocol;   // filters, if the kernel supports strict checking
    return Message(RTM_GETROUTE, kDump, h);
}

Link parse_link(Bytes payload)
{
    const auto h = mrcnl::fixed_header<ifinfomsg>(payload);
    const mrcnl::table a(mrcnl::attrs_after<ifinfomsg>(payload));
    Link link;

    link.ifindex = h.ifi_index;
    link.name = a[IFLA_IFNAME].str();
    link.kind = mrcnl::table(a[IFLA_LINKINFO])[IFLA_INFO_KIND].str();
    link.up = h.ifi_flags & IFF_UP;
    link.running = link.up && (h.ifi_flags & IFF_RUNNING);
    link.mtu = static_cast<std::uint32_t>(a[IFLA_MTU].num());
    link.max_mtu = static_cast<std::uint32_t>(a[IFLA_MAX_MTU].num());
    link.master = static_cast<int>(a[IFLA_MASTER].num());
    link.loopback = h.ifi_flags & IFF_LOOPBACK;
    return link;
}

Addr parse_addr(Bytes payload)
{
    const auto h = mrcnl::fixed_header<ifaddrmsg>(payload);
    const mrcnl::table a(mrcnl::attrs_after<ifaddrmsg>(payload));
    Addr addr;

    addr.ifindex = static_cast<int>(h.ifa_index);
    addr.addr.len = h.ifa_prefixlen;
    addr.addr.addr.v4 = h.ifa_family == AF_INET;
    copy_address(addr.addr.addr.bytes, a[IFA_LOCAL] ? a[IFA_LOCAL] : a[IFA_ADDRESS]);
    addr.protocol = static_cast<std::uint8_t>(a[IFA_PROTO].num());
    return addr;
}

std::optional<Route> parse_route(Bytes payload)
{
    const auto h = mrcnl::fixed_header<rtmsg>(payload);
    const mrcnl::table a(mrcnl::attrs_after<rtmsg>(payload));
    const auto table = a[RTA_TABLE] ? a[RTA_TABLE].num() : h.rtm_table;
    Route r;

    const bool v4 = h.rtm_family == AF_INET;

    if ((!v4 && h.rtm_family != AF_INET6) || h.rtm_flags & RTM_F_CLONED || table != RT_TABLE_MAIN)
        return std::nullopt;
    if (v4) {
        IfAddr dst{{true, {}}, h.rtm_dst_len};
        copy_address(dst.addr.bytes, a[RTA_DST]);
        r.dst = mapped(dst);
    } else {
        copy_address(r.dst.addr.bytes, a[RTA_DST]);
        r.dst.len = h.rtm_dst_len;
    }
    r.metric = static_cast<std::uint32_t>(a[RTA_PRIORITY].num());
    r.protocol = h.rtm_protocol;
    r.oif = static_cast<int>(a[RTA_OIF].num());
    if (a[RTA_GATEWAY] && !v4) {
        r.via.emplace();
        copy_address(r.via->bytes, a[RTA_GATEWAY]);
    }
    const Bytes via = a[RTA_VIA].bytes();   // family, address
    if (via.size() == sizeof(rtvia) + 16 && v4) {
        r.via.emplace();
        std::copy(via.begin() + sizeof(rtvia), via.end(), r.via->bytes.begin());
    }
    r.usid_end = a[RTA_ENCAP_TYPE].num() == LWTUNNEL_ENCAP_SEG6_LOCAL &&
                 is_usid_end(mrcnl::table(a[RTA_ENCAP]));
    r.strange = (v4 && a[RTA_GATEWAY]) || h.rtm_type != RTN_UNICAST || a[RTA_MULTIPATH] || a[RTA_NH_ID] ||
                (a[RTA_ENCAP_TYPE] && !r.usid_end);
    return r;
}

}   // namespace mrcd::nl
