// SPDX-License-Identifier: GPL-2.0
// fake_genl.cc - the module's netlink family in place of tools/lib/nl's sockets: see world.h.
// Requests are the library's own bytes, and are looked at as the kernel looks at them; answers are
// now and then damaged, which nobody may die of.
#include <linux/mrc.h>

#include <cerrno>
#include <functional>

#include "nl/genl.h"

#include "world.h"

namespace mrcnl {

void socket::closer::operator()(nl_sock *) const {}

namespace {

struct nl_head {
    nlmsghdr nl;
    uint8_t genl[4];
};

attr_range attrs_of(const request &rq)
{
    auto b = rq.bytes();
    REQUIRE(b.size() >= sizeof(nl_head) && !rq.too_long());
    return attr_range(b.subspan(sizeof(nl_head)));
}

uint8_t cmd_of(const request &rq)
{
    return rq.bytes()[sizeof(nlmsghdr)];
}

std::vector<uint8_t> payload(const attr &a)
{
    auto b = a.bytes();
    return {b.begin(), b.end()};
}

error refusal(int code)
{
    return {code, "the kernel's own words", true};
}

// An answer, in memory of exactly its size.
void answer(const handler &h, const request &rq)
{
    auto from = attrs_of(rq);
    auto whole = rq.bytes().subspan(sizeof(nl_head));
    std::vector<uint8_t> copy(whole.begin(), whole.end());
    message m;

    (void)from;
    m.cmd = cmd_of(rq);
    if (!the_world->honest && !copy.empty() && the_world->says(8)) {
        copy.resize(the_world->in.below(static_cast<u32>(copy.size()) + 1));
        for (u32 n = the_world->in.below(4); n && !copy.empty(); n--)
            copy[the_world->in.below(static_cast<u32>(copy.size()))] ^= the_world->in.any<uint8_t>();
        copy.shrink_to_fit();
    }
    m.attrs = attr_range({copy.data(), copy.size()});
    h(m);
}

request reply(uint8_t cmd)
{
    request rq(cmd);
    rq.u32(MRC_A_DEV_IFINDEX, 7).str(MRC_A_IBDEV_NAME, the_world->net.gone ? "mrc1" : "mrc0");
    return rq;
}

void put_ev(request &to, uint16_t type, const mrc_ctl_ev &ev, uint32_t index, uint32_t state)
{
    to.nest(type, [&](auto &n) {
        n.u32(MRC_A_EV_INDEX, index).put(MRC_A_EV_VALUE, {ev.val, sizeof(ev.val)});
        n.u8(MRC_A_EV_PORT, ev.port).u32(MRC_A_EV_STATE, state);
    });
}

void put_gid(request &to, uint8_t last)
{
    uint8_t gid[16] = {0xfd};
    gid[15] = last;
    to.put(MRC_A_PEER_GID, gid);
}

// ---- what there is ----

// A long list comes in several messages.
void dump_profile(uint64_t id, const fake_profile &p, const handler &h)
{
    size_t at = 0;
    do {
        auto rq = reply(MRC_CMD_PROFILE_GET);
        rq.nest(MRC_A_PROFILE, [&](auto &n) {
            for (auto a : attr_range(bytes(p.attrs)))
                n.put(a.type(), a.bytes());
            for (size_t end = at + 500; at < end && at < p.evs.size(); at++)
                put_ev(n, MRC_A_PROFILE_EV, p.evs[at], static_cast<uint32_t>(at), 0);
        });
        answer(h, rq);
    } while (at < p.evs.size());
    (void)id;
}

void dump_peers(bool evs, const handler &h)
{
    for (const auto &[last, peer] : the_world->net.peers) {
        auto rq = reply(evs ? MRC_CMD_EV_GET : MRC_CMD_PEER_GET);
        rq.nest(MRC_A_PEER, [&peer = peer, last = last](auto &n) {
            put_gid(n, last);
            n.u64(MRC_A_PEER_PROFILE_ID, peer.profile).u32(MRC_A_PEER_QPS, peer.qps);
        });
        for (size_t i = 0; evs && i < peer.evs.size(); i++)
            put_ev(rq, MRC_A_EV, peer.evs[i].ev, static_cast<uint32_t>(i), peer.evs[i].state);
        answer(h, rq);
    }
}

void dump_planes(const handler &h)
{
    for (const auto &[number, admin] : the_world->net.planes) {
        auto rq = reply(MRC_CMD_PLANE_GET);
        rq.nest(MRC_A_PLANE, [number = number, admin = admin](auto &n) {
            n.u8(MRC_A_PLANE_NUMBER, number).u8(MRC_A_PLANE_ADMIN, admin);
        });
        answer(h, rq);
    }
}

void dump_ccs(const handler &h)
{
    for (const auto &[id, attrs] : the_world->net.ccs) {
        auto rq = reply(MRC_CMD_CC_GET);
        rq.put(MRC_A_CC | NLA_F_NESTED, attrs);
        answer(h, rq);
    }
}

void dump_qps(const handler &h)
{
    auto rq = reply(MRC_CMD_QP_GET);
    rq.nest(MRC_A_QP, [](auto &n) {
        n.u32(MRC_A_QP_NUM, 2).u64(MRC_A_QP_CC_PROFILE_ID, the_world->net.qp_cc);
    });
    answer(h, rq);
}

// ---- changes ----

mrc_ctl_ev ev_of(const attr &a)
{
    table t(a);
    mrc_ctl_ev ev = {};
    auto value = t[MRC_A_EV_VALUE].bytes();

    REQUIRE(value.size() == sizeof(ev.val)); // the library's own
    std::memcpy(ev.val, value.data(), sizeof(ev.val));
    ev.port = static_cast<uint8_t>(t[MRC_A_EV_PORT].num());
    return ev;
}

int set_profile(const table &t, attr_range attrs)
{
    table p(t[MRC_A_PROFILE]);
    fake_profile made;

    for (auto a : attrs)
        if (a.type() == MRC_A_EV)
            made.evs.push_back(ev_of(a));
    u64 mode = p[MRC_A_PROFILE_MODE].num(), count = p[MRC_A_PROFILE_COUNT].num();
    bool sound = p[MRC_A_PROFILE_ID].num() && made.evs.size() <= 4096 && count <= 4096 &&
                 (mode == MRC_MODE_EXP ? !made.evs.empty() && p[MRC_A_PROFILE_FMT].num() :
                                          mode == MRC_MODE_GEN || made.evs.empty()) &&
                 (mode != MRC_MODE_AUTO || count) &&
                 (mode != MRC_MODE_GEN || !p[MRC_A_PROFILE_FMT_WIDTHS].bytes().empty());
    REQUIRE(sound || !the_world->honest);
    if (!sound)
        return EINVAL;
    if (mode == MRC_MODE_GEN) // those that are denied: they are forgotten here
        made.evs.clear();
    if (mode == MRC_MODE_GEN && !count)
        count = 4; // all that the fields make
    // GEN: what the kernel would refuse of the fields, the library leaves to it.
    for (u64 i = 0; mode == MRC_MODE_GEN && i < count; i++) {
        mrc_ctl_ev ev = {};
        ev.val[0] = static_cast<uint8_t>(i);
        ev.port = static_cast<uint8_t>(1 + i % 4);
        made.evs.push_back(ev);
    }
    made.attrs = payload(t[MRC_A_PROFILE]);
    the_world->net.profiles[p[MRC_A_PROFILE_ID].num()] = made;
    return 0;
}

int set_ev(const table &t, attr_range attrs)
{
    auto gid = table(t[MRC_A_PEER])[MRC_A_PEER_GID].bytes();
    REQUIRE(gid.size() == 16 || !the_world->honest);
    if (gid.size() != 16)
        return EINVAL;
    auto it = the_world->net.peers.find(gid[15]);
    if (it == the_world->net.peers.end())
        return ENOENT;
    for (auto a : attrs) {
        if (a.type() != MRC_A_EV)
            continue;
        table e(a);
        u64 i = e[MRC_A_EV_INDEX].num(), state = e[MRC_A_EV_STATE].num();
        REQUIRE(state == MRC_NL_EV_GOOD || state == MRC_NL_EV_DENIED);
        if (i >= it->second.evs.size())
            return EINVAL;
        if (mrc_ctl_ev named = ev_of(a); std::memcmp(&named, &it->second.evs[i].ev, sizeof(named)) != 0)
            return ESTALE;
        it->second.evs[i].state = static_cast<uint32_t>(state);
    }
    return 0;
}

int set_plane(const table &t)
{
    table p(t[MRC_A_PLANE]);
    auto it = the_world->net.planes.find(static_cast<uint8_t>(p[MRC_A_PLANE_NUMBER].num()));
    if (it == the_world->net.planes.end())
        return ENODEV;
    it->second = p[MRC_A_PLANE_ADMIN].num();
    return 0;
}

int change(uint8_t cmd, attr_range attrs)
{
    fake_family &f = the_world->net;
    table t(attrs);
    u64 profile = table(t[MRC_A_PROFILE])[MRC_A_PROFILE_ID].num();
    u64 cc = table(t[MRC_A_CC])[MRC_A_CC_ID].num();

    switch (cmd) {
    case MRC_CMD_PROFILE_SET: return set_profile(t, attrs);
    case MRC_CMD_PROFILE_DEL: return f.profiles.erase(profile) ? 0 : ENOENT;
    case MRC_CMD_EV_SET: return set_ev(t, attrs);
    case MRC_CMD_PLANE_SET: return set_plane(t);
    case MRC_CMD_CC_SET:
        REQUIRE(cc && table(t[MRC_A_CC])[MRC_A_CC_ALGORITHM].str().size());
        f.ccs[cc] = payload(t[MRC_A_CC]);
        return 0;
    case MRC_CMD_CC_DEL: return f.ccs.erase(cc) ? 0 : ENOENT;
    default: DIE("command %u changes nothing", cmd);
    }
}

} // namespace

// ---- genl.h ----

error genl_socket::open(const std::string &name)
{
    REQUIRE(name == MRC_GENL_NAME);
    int err = the_world->fails();
    return err ? refusal(err) : error();
}

error genl_socket::join(const std::string &, const std::vector<number> &)
{
    int err = the_world->fails();
    return err ? refusal(err) : error();
}

int genl_socket::fd() const
{
    auto [at, made] = the_world->files.emplace(this, 0);
    if (made)
        at->second = static_cast<int>(100000 + the_world->next++);
    return at->second;
}

error genl_socket::call(request &rq, const handler &)
{
    world &w = *the_world;
    auto attrs = attrs_of(rq);

    REQUIRE(w.admin);
    REQUIRE(table(attrs)[MRC_A_DEV_IFINDEX].num() == 7 || !w.honest);
    int err = w.fails();
    if (cmd_of(rq) == MRC_CMD_EP_SEND)
        return err ? refusal(err) : error();
    if (!err)
        err = change(cmd_of(rq), attrs);
    w.net.changes += !err;
    return err ? refusal(err) : error();
}

error genl_socket::dump(request &rq, const handler &h)
{
    fake_family &f = the_world->net;

    attrs_of(rq);
    if (int err = the_world->fails())
        return refusal(err);
    switch (cmd_of(rq)) {
    case MRC_CMD_DEV_GET: answer(h, reply(MRC_CMD_DEV_GET)); break;
    case MRC_CMD_PLANE_GET: dump_planes(h); break;
    case MRC_CMD_PROFILE_GET:
        for (const auto &[id, p] : f.profiles)
            dump_profile(id, p, h);
        break;
    case MRC_CMD_PEER_GET: dump_peers(false, h); break;
    case MRC_CMD_EV_GET: dump_peers(true, h); break;
    case MRC_CMD_CC_GET: dump_ccs(h); break;
    case MRC_CMD_QP_GET: dump_qps(h); break;
    default: DIE("command %u is no dump", cmd_of(rq));
    }
    return {};
}

// Nobody answers.
void genl_socket::own(handler) {}

error genl_socket::wait_own(std::chrono::nanoseconds)
{
    return {EAGAIN, "none", false};
}

error genl_socket::receive(const handler &h)
{
    world &w = *the_world;

    if (!w.net.events)
        return {EAGAIN, "", false};
    w.net.events--;
    if (w.says(8))
        return {ENOBUFS, "", false};
    request rq(static_cast<uint8_t>(MRC_CMD_EVENT));
    rq.u32(MRC_A_DEV_IFINDEX, 7).u32(MRC_A_EVENT_TYPE, w.says(3) ? w.in.below(7) : MRC_EVENT_EV);
    answer(h, rq);
    return {};
}

} // namespace mrcnl
