// SPDX-License-Identifier: GPL-2.0
#include "genl.h"

#include <linux/genetlink.h>

#include <algorithm>

namespace mrcd::nl {

namespace {

constexpr std::size_t kEvValueLen = 32;

Message command(std::uint16_t family, std::uint16_t flags, std::uint8_t cmd)
{
    Message m(family, flags);
    genlmsghdr h{};

    h.cmd = cmd;
    h.version = MRC_GENL_VERSION;
    m.header(h);
    return m;
}

Message change(std::uint16_t family, std::uint8_t cmd, int ifindex)
{
    Message m = command(family, NLM_F_REQUEST | NLM_F_ACK, cmd);

    m.u32(MRC_A_DEV_IFINDEX, static_cast<std::uint32_t>(ifindex));
    return m;
}

std::optional<Ip6> address(const std::optional<Bytes> &value)
{
    if (!value || value->size() < 16)
        return std::nullopt;
    Ip6 a;
    std::copy_n(value->begin(), 16, a.bytes.begin());
    return a;
}

void put_ev(Message &m, const Ev &ev)
{
    std::array<std::uint8_t, kEvValueLen> value{};   // no SRH segment

    std::copy(ev.outer_dst.bytes.begin(), ev.outer_dst.bytes.end(), value.begin());
    m.nest(MRC_A_PROFILE_EV, [&] {
        m.put(MRC_A_EV_VALUE, value);
        m.u8(MRC_A_EV_PORT, ev.port);
    });
}

}   // namespace

std::optional<GenlFamily> find_family(Socket &socket, const char *name, const char *group)
{
    Message m(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK);
    genlmsghdr h{};
    GenlFamily family;

    h.cmd = CTRL_CMD_GETFAMILY;
    h.version = 2;
    m.header(h);
    m.string(CTRL_ATTR_FAMILY_NAME, name);
    const Result r = socket.request(m, [&](const nlmsghdr &, Bytes payload) {
        const auto a = attrs_after<genlmsghdr>(payload);
        family.id = a.u16(CTRL_ATTR_FAMILY_ID).value_or(0);
        a.nest(CTRL_ATTR_MCAST_GROUPS).each([&](std::uint16_t, Bytes value) {
            const Attrs g(value);
            if (g.string(CTRL_ATTR_MCAST_GRP_NAME) == group)
                family.events_group = g.u32(CTRL_ATTR_MCAST_GRP_ID).value_or(0);
        });
    });
    if (!r || family.id == 0)
        return std::nullopt;
    return family;
}

Message mrc_dump(std::uint16_t family, std::uint8_t cmd)
{
    return command(family, NLM_F_REQUEST | NLM_F_DUMP, cmd);
}

Message plane_set(std::uint16_t family, int ifindex, const PlaneSet &op)
{
    Message m = change(family, MRC_CMD_PLANE_SET, ifindex);

    m.nest(MRC_A_PLANE, [&] {
        m.u8(MRC_A_PLANE_NUMBER, op.number);
        if (op.admin)
            m.u8(MRC_A_PLANE_ADMIN, *op.admin);
        if (op.sid)
            m.put(MRC_A_PLANE_SID, op.sid->bytes);
    });
    return m;
}

Message plane_keep(std::uint16_t family, int ifindex, const PlaneKeep &op)
{
    Message m = change(family, MRC_CMD_PLANE_SET, ifindex);

    m.nest(MRC_A_PLANE, [&] {
        m.u8(MRC_A_PLANE_NUMBER, op.number);
        m.string(MRC_A_PLANE_IFNAME, op.netdev);
    });
    return m;
}

Message default_profile_set(std::uint16_t family, int ifindex, std::uint64_t id)
{
    Message m = change(family, MRC_CMD_DEV_SET, ifindex);

    m.nest(MRC_A_DEV, [&] { m.u64(MRC_A_DEV_PROFILE_ID, id); });
    return m;
}

Message profile_set(std::uint16_t family, int ifindex, const Profile &profile)
{
    Message m = change(family, MRC_CMD_PROFILE_SET, ifindex);

    m.nest(MRC_A_PROFILE, [&] {
        m.u64(MRC_A_PROFILE_ID, profile.key.id);
        m.put(MRC_A_PROFILE_DST, profile.key.dst.bytes);
        m.u32(MRC_A_PROFILE_FMT, MRC_FMT_SRV6);
        m.u32(MRC_A_PROFILE_MODE, MRC_MODE_EXP);
        m.u32(MRC_A_PROFILE_MIN_ACTIVE, profile.min_active);
        for (const Ev &ev : profile.evs)
            put_ev(m, ev);
    });
    return m;
}

Message profile_del(std::uint16_t family, int ifindex, const ProfileKey &key)
{
    Message m = change(family, MRC_CMD_PROFILE_DEL, ifindex);

    m.nest(MRC_A_PROFILE, [&] {
        m.u64(MRC_A_PROFILE_ID, key.id);
        m.put(MRC_A_PROFILE_DST, key.dst.bytes);
    });
    return m;
}

std::uint32_t reply_ifindex(Bytes payload)
{
    return attrs_after<genlmsghdr>(payload).u32(MRC_A_DEV_IFINDEX).value_or(0);
}

void parse_device(Bytes payload, MrcDevice &device)
{
    const auto a = attrs_after<genlmsghdr>(payload);
    const auto dev = a.nest(MRC_A_DEV);

    device.ifindex = static_cast<int>(a.u32(MRC_A_DEV_IFINDEX).value_or(0));
    device.ibdev = a.string(MRC_A_IBDEV_NAME);
    device.registered = dev.u32(MRC_A_DEV_STATE).value_or(0) != 0;
    device.profile_id = dev.u64(MRC_A_DEV_PROFILE_ID).value_or(0);
}

std::optional<Plane> parse_plane(Bytes payload)
{
    const auto top = attrs_after<genlmsghdr>(payload);
    const auto a = top.nest(MRC_A_PLANE);
    Plane plane;

    if (!top.has(MRC_A_PLANE))
        return std::nullopt;
    plane.number = a.u8(MRC_A_PLANE_NUMBER).value_or(0);
    plane.ifindex = static_cast<int>(a.u32(MRC_A_PLANE_IFINDEX).value_or(0));
    plane.admin = a.u8(MRC_A_PLANE_ADMIN).value_or(1);
    plane.sid = address(a.find(MRC_A_PLANE_SID));
    return plane;
}

std::optional<ObservedProfile> parse_profile(Bytes payload)
{
    const auto top = attrs_after<genlmsghdr>(payload);
    const auto a = top.nest(MRC_A_PROFILE);
    const auto dst = address(a.find(MRC_A_PROFILE_DST));
    ObservedProfile p;

    if (!top.has(MRC_A_PROFILE))
        return std::nullopt;
    p.profile.key = {a.u64(MRC_A_PROFILE_ID).value_or(0), dst.value_or(Ip6{})};
    p.any_dst = !dst;
    p.fmt = a.u32(MRC_A_PROFILE_FMT).value_or(0);
    p.mode = a.u32(MRC_A_PROFILE_MODE).value_or(0);
    p.profile.min_active = a.u32(MRC_A_PROFILE_MIN_ACTIVE).value_or(0);
    a.each([&](std::uint16_t type, Bytes value) {
        if (type != MRC_A_PROFILE_EV)
            return;
        const Attrs ev(value);
        p.profile.evs.push_back({address(ev.find(MRC_A_EV_VALUE)).value_or(Ip6{}),
                                 ev.u8(MRC_A_EV_PORT).value_or(0)});
    });
    return p;
}

}   // namespace mrcd::nl
