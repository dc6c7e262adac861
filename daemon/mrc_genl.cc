// SPDX-License-Identifier: GPL-2.0
// mrc_genl.cc - see mrc_genl.h.
#include "mrc_genl.h"

#include <linux/genetlink.h>

#include <algorithm>

namespace mrcd::nl {

namespace {

constexpr std::size_t kEvValueLen = 32;
constexpr std::uint8_t kWholeAddress = 128;

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

// Next to the profile: inside it, a nest's limit of 64 KiB would apply, and not the module's.
void put_ev(Message &m, const Ev &ev)
{
    std::array<std::uint8_t, kEvValueLen> value{};   // its second half is zero: no SRH segment

    std::copy(ev.outer_dst.bytes.begin(), ev.outer_dst.bytes.end(), value.begin());
    m.nest(MRC_A_EV, [&](auto &n) {
        n.put(MRC_A_EV_VALUE, value).u8(MRC_A_EV_PORT, ev.port);
    });
}

// The length only for a prefix: older modules do not know the attribute.
void put_key(Message &m, const ProfileKey &key)
{
    m.u64(MRC_A_PROFILE_ID, key.id);
    m.put(MRC_A_PROFILE_DST, key.dst.bytes);
    if (key.len != kWholeAddress)
        m.u8(MRC_A_PROFILE_DST_LEN, key.len);
}

void put_generator(Message &m, const Generator &g)
{
    m.nest(MRC_A_PROFILE_GEN, [&](auto &) {
        m.u8(MRC_A_GEN_PORT, g.port);
        for (const GenField &f : g.fields)
            m.nest(MRC_A_GEN_FIELD, [&](auto &) {
                m.u32(MRC_A_FIELD_WIDTH, f.width).u32(MRC_A_FIELD_INIT, f.init);
                m.u32(MRC_A_FIELD_FIRST, f.first).u32(MRC_A_FIELD_LAST, f.last);
                m.u32(MRC_A_FIELD_MASK, f.mask);
            });
        for (const GenCopy &c : g.copies)
            m.nest(MRC_A_GEN_COPY, [&](auto &) {
                m.u32(MRC_A_COPY_FROM, c.from).u32(MRC_A_COPY_BIT, c.bit);
                m.u32(MRC_A_COPY_WIDTH, c.width).u32(MRC_A_COPY_AT, c.at);
            });
    });
}

std::uint32_t num32(const mrcnl::attr &a) { return static_cast<std::uint32_t>(a.num()); }

Generator generator(const mrcnl::attr &nest)
{
    Generator g{static_cast<std::uint8_t>(mrcnl::table(nest)[MRC_A_GEN_PORT].num()), {}, {}};

    for (const mrcnl::attr part : nest.nested()) {
        const mrcnl::table t(part);
        if (part.type() == MRC_A_GEN_FIELD)
            g.fields.push_back({num32(t[MRC_A_FIELD_WIDTH]), num32(t[MRC_A_FIELD_INIT]),
                                num32(t[MRC_A_FIELD_MASK]), num32(t[MRC_A_FIELD_FIRST]),
                                num32(t[MRC_A_FIELD_LAST])});
        if (part.type() == MRC_A_GEN_COPY)
            g.copies.push_back({num32(t[MRC_A_COPY_FROM]), num32(t[MRC_A_COPY_BIT]),
                                num32(t[MRC_A_COPY_WIDTH]), num32(t[MRC_A_COPY_AT])});
    }
    return g;
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

// All in one message: the module checks the values together.
Message qos_set(std::uint16_t family, int ifindex, const DeviceQos &qos)
{
    Message m = command(family, MRC_CMD_DEV_SET, ifindex);

    m.nest(MRC_A_DEV, [&](auto &) {
        m.u8(MRC_A_DEV_DSCP_DATA, qos.dscp.data).u8(MRC_A_DEV_DSCP_RTX, qos.dscp.rtx);
        m.u8(MRC_A_DEV_DSCP_CONTROL, qos.dscp.control).u8(MRC_A_DEV_DSCP_NO_TRIM, qos.dscp.no_trim);
        m.u8(MRC_A_DEV_DSCP_TRIMMED, qos.dscp.trimmed);
        m.u8(MRC_A_DEV_DSCP_TRIMMED_LASTHOP, qos.dscp.trimmed_lasthop);
        m.u8(MRC_A_DEV_TRIM_NACK, qos.trim_nack);
    });
    return m;
}

Message profile_set(std::uint16_t family, int ifindex, const Profile &profile)
{
    Message m = command(family, MRC_CMD_PROFILE_SET, ifindex);

    m.nest(MRC_A_PROFILE, [&](auto &) {
        put_key(m, profile.key);
        m.u32(MRC_A_PROFILE_FMT, MRC_FMT_SRV6);
        m.u32(MRC_A_PROFILE_MODE, mode_of(profile));
        m.u32(MRC_A_PROFILE_MIN_ACTIVE, profile.min_active);
        if (profile.is_template())
            m.put(MRC_A_PROFILE_FMT_WIDTHS, profile.widths);
        for (const Generator &g : profile.gens)
            put_generator(m, g);
    });
    for (const Ev &ev : profile.evs)
        put_ev(m, ev);
    return m;
}

Message profile_del(std::uint16_t family, int ifindex, const ProfileKey &key)
{
    Message m = command(family, MRC_CMD_PROFILE_DEL, ifindex);

    m.nest(MRC_A_PROFILE, [&](auto &) { put_key(m, key); });
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
    const auto u8 = [&](std::uint16_t type) { return static_cast<std::uint8_t>(dev[type].num()); };
    device.qos = {{u8(MRC_A_DEV_DSCP_DATA), u8(MRC_A_DEV_DSCP_RTX), u8(MRC_A_DEV_DSCP_CONTROL),
                   u8(MRC_A_DEV_DSCP_NO_TRIM), u8(MRC_A_DEV_DSCP_TRIMMED), u8(MRC_A_DEV_DSCP_TRIMMED_LASTHOP)},
                  u8(MRC_A_DEV_TRIM_NACK) != 0};
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
    p.profile.key = {a[MRC_A_PROFILE_ID].num(), dst.value_or(Ip6{}),
                     a[MRC_A_PROFILE_DST_LEN] ? static_cast<std::uint8_t>(a[MRC_A_PROFILE_DST_LEN].num())
                                              : kWholeAddress};
    p.any_dst = !dst;
    p.fmt = static_cast<std::uint32_t>(a[MRC_A_PROFILE_FMT].num());
    p.mode = static_cast<std::uint32_t>(a[MRC_A_PROFILE_MODE].num());
    p.profile.min_active = static_cast<std::uint32_t>(a[MRC_A_PROFILE_MIN_ACTIVE].num());
    const Bytes widths = a[MRC_A_PROFILE_FMT_WIDTHS].bytes();
    p.profile.widths.assign(widths.begin(), widths.end());
    for (const mrcnl::attr part : t[MRC_A_PROFILE].nested())
        if (part.type() == MRC_A_PROFILE_GEN)
            p.profile.gens.push_back(generator(part));
    if (p.mode == MRC_MODE_GEN)   // its EVs follow from the fields
        return p;
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
