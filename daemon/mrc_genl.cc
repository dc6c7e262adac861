// SPDX-License-Identifier: GPL-2.0
#include "mrc_genl.h"

#include <linux/genetlink.h>

#include <algorithm>

namespace mrcd::nl {

namespace {

constexpr std::size_t kEvValueLen = 32;

Message command(std::uint16_t family, std::uint8_t cmd, int ifindex)
{
    Message m(cmd);

    m.set_type(family).u32(MRC_A_DEV_IFINDEX, static_cast<std::uint32_t>(ifindex));
    return m;
}

std::optional<Ip6> address(const mrcnl::attr &a)
{
    const Bytes value = a.bytes();
    if (value.size() < 16)
        return std::nullopt;
    Ip6 ip;
    std::copy_n(value.begin(), 16, ip.bytes.begin());
    return ip;
}

// Beside the profile: inside it, the 64 KiB of a nest would be the limit, not the module's.
void put_ev(Message &m, const Ev &ev)
{
    std::array<std::uint8_t, kEvValueLen> value{};   // no SRH segment

    std::copy(ev.outer_dst.bytes.begin(), ev.outer_dst.bytes.end(), value.begin());
    m.nest(MRC_A_EV, [&](auto &n) {
        n.put(MRC_A_EV_VALUE, value).u8(MRC_A_EV_PORT, ev.port);
    });
}

mrcnl::table top(Bytes payload)
{
    return mrcnl::table(mrcnl::attrs_after<genlmsghdr>(payload));
}

}   // namespace

Message mrc_dump(std::uint16_t family, std::uint8_t cmd)
{
    Message m(cmd);

    m.set_type(family);
    return m;
}

Message sid_set(std::uint16_t family, int ifindex, const SidSet &op)
{
    Message m = command(family, MRC_CMD_PLANE_SET, ifindex);

    m.nest(MRC_A_PLANE, [&](auto &) {
        m.u8(MRC_A_PLANE_NUMBER, op.number);
        m.put(MRC_A_PLANE_SID, op.sid.bytes);
    });
    return m;
}

Message plane_keep(std::uint16_t family, int ifindex, const PlaneAdd &op)
{
    Message m = command(family, MRC_CMD_PLANE_SET, ifindex);

    m.nest(MRC_A_PLANE, [&](auto &) {
        m.u8(MRC_A_PLANE_NUMBER, op.number);
        m.str(MRC_A_PLANE_IFNAME, op.netdev);
    });
    return m;
}

Message default_profile_set(std::uint16_t family, int ifindex, std::uint64_t id)
{
    Message m = command(family, MRC_CMD_DEV_SET, ifindex);

    m.nest(MRC_A_DEV, [&](auto &) { m.u64(MRC_A_DEV_PROFILE_ID, id); });
    return m;
}

Message profile_set(std::uint16_t family, int ifindex, const Profile &profile)
{
    Message m = command(family, MRC_CMD_PROFILE_SET, ifindex);

    m.nest(MRC_A_PROFILE, [&](auto &) {
        m.u64(MRC_A_PROFILE_ID, profile.key.id);
        m.put(MRC_A_PROFILE_DST, profile.key.dst.bytes);
        m.u32(MRC_A_PROFILE_FMT, MRC_FMT_SRV6);
        m.u32(MRC_A_PROFILE_MODE, MRC_MODE_EXP);
        m.u32(MRC_A_PROFILE_MIN_ACTIVE, profile.min_active);
    });
    for (const Ev &ev : profile.evs)
        put_ev(m, ev);
    return m;
}

Message profile_del(std::uint16_t family, int ifindex, const ProfileKey &key)
{
    Message m = command(family, MRC_CMD_PROFILE_DEL, ifindex);

    m.nest(MRC_A_PROFILE, [&](auto &) {
        m.u64(MRC_A_PROFILE_ID, key.id);
        m.put(MRC_A_PROFILE_DST, key.dst.bytes);
    });
    return m;
}

std::uint32_t reply_ifindex(Bytes payload)
{
    return static_cast<std::uint32_t>(top(payload)[MRC_A_DEV_IFINDEX].num());
}

void parse_device(Bytes payload, MrcDevice &device)
{
    const auto a = top(payload);
    const mrcnl::table dev(a[MRC_A_DEV]);

    device.ifindex = static_cast<int>(a[MRC_A_DEV_IFINDEX].num());
    device.ibdev = a[MRC_A_IBDEV_NAME].str();
    device.registered = dev[MRC_A_DEV_STATE].num() != 0;
    device.profile_id = dev[MRC_A_DEV_PROFILE_ID].num();
}

std::optional<Plane> parse_plane(Bytes payload)
{
    const auto t = top(payload);
    const mrcnl::table a(t[MRC_A_PLANE]);
    Plane plane;

    if (!t[MRC_A_PLANE])
        return std::nullopt;
    plane.number = static_cast<std::uint8_t>(a[MRC_A_PLANE_NUMBER].num());
    plane.ifindex = static_cast<int>(a[MRC_A_PLANE_IFINDEX].num());
    plane.admin = !a[MRC_A_PLANE_ADMIN] || a[MRC_A_PLANE_ADMIN].num();
    plane.sid = address(a[MRC_A_PLANE_SID]);
    return plane;
}

std::optional<ObservedProfile> parse_profile(Bytes payload)
{
    const auto t = top(payload);
    const mrcnl::table a(t[MRC_A_PROFILE]);
    const auto dst = address(a[MRC_A_PROFILE_DST]);
    ObservedProfile p;

    if (!t[MRC_A_PROFILE])
        return std::nullopt;
    p.profile.key = {a[MRC_A_PROFILE_ID].num(), dst.value_or(Ip6{})};
    p.any_dst = !dst;
    p.fmt = static_cast<std::uint32_t>(a[MRC_A_PROFILE_FMT].num());
    p.mode = static_cast<std::uint32_t>(a[MRC_A_PROFILE_MODE].num());
    p.profile.min_active = static_cast<std::uint32_t>(a[MRC_A_PROFILE_MIN_ACTIVE].num());
    const auto add = [&](mrcnl::attr_range evs, std::uint16_t type) {
        for (const mrcnl::attr one : evs) {
            if (one.type() != type)
                continue;
            const mrcnl::table ev(one);
            p.profile.evs.push_back({address(ev[MRC_A_EV_VALUE]).value_or(Ip6{}),
                                     static_cast<std::uint8_t>(ev[MRC_A_EV_PORT].num())});
        }
    };
    add(t[MRC_A_PROFILE].nested(), MRC_A_PROFILE_EV);
    add(mrcnl::attrs_after<genlmsghdr>(payload), MRC_A_EV);
    return p;
}

}   // namespace mrcd::nl
