// SPDX-License-Identifier: GPL-2.0
// fake_kernel.cc - see fake_kernel.h.
#include "fake_kernel.h"

#include <linux/genetlink.h>
#include <linux/mrc.h>

#include <cerrno>
#include <algorithm>
#include <cstring>
#include <utility>

#include "nl/genl.h"

extern "C" {
#include "uverbs.h"

bool mrc_uverbs_is_ours(const struct ibv_context *) { return kernel.is_ours; }
int mrc_uverbs_limits(struct ibv_context *, struct mrc_uquery_device_resp *) { return 0; }
}

using namespace mrcnl;

fake_kernel kernel;
std::recursive_mutex kernel_lock;

mrc_ctl_ev fake_ev(int i)
{
    mrc_ctl_ev ev = {};

    ev.val[0] = 0xc0;
    ev.val[1] = static_cast<uint8_t>(i);
    ev.port = 1;
    return ev;
}

void fake_peer::turn(size_t i, uint32_t state)
{
    auto usable = [](uint32_t s) { return s == MRC_NL_EV_GOOD || s == MRC_NL_EV_SKIP; };
    uint32_t was = std::exchange(paths[i].state, state);

    bad += state == MRC_NL_EV_ASSUMED_BAD && was != state;
    good += usable(state) && !usable(was);
}

namespace {

constexpr uint32_t ifindex = 7;

// The attributes of a message as they lie in it.
attr_range attrs_of(request &rq)
{
    return attrs_after<genlmsghdr>(rq.bytes().subspan(NLMSG_HDRLEN));
}

using answer = std::function<void(request &)>;

void put_ev(request &to, const mrc_ctl_ev &ev)
{
    to.put(MRC_A_EV_VALUE, {ev.val, sizeof(ev.val)}).u8(MRC_A_EV_PORT, ev.port);
}

mrc_ctl_ev get_ev(const table &t)
{
    mrc_ctl_ev ev = {};
    auto value = t[MRC_A_EV_VALUE].bytes();

    std::memcpy(ev.val, value.data(), std::min(value.size(), sizeof(ev.val)));
    ev.port = static_cast<uint8_t>(t[MRC_A_EV_PORT].num());
    return ev;
}

void put_peer(request &to, const std::string &gid, const fake_peer &peer, uint64_t named = 0)
{
    to.nest(MRC_A_PEER, [&](auto &n) {
        n.put(MRC_A_PEER_GID, {reinterpret_cast<const uint8_t *>(gid.data()), gid.size()});
        n.u64(MRC_A_PEER_PROFILE_ID, peer.profile).u32(MRC_A_PEER_QPS, peer.qps);
        n.u8(MRC_A_PEER_PROFILE_DST_LEN, peer.dst_len);
        n.u64(MRC_A_PEER_PATHS, peer.set).u64(MRC_A_PEER_FIRST_PATHS, peer.first_set);
        n.u64(MRC_A_PEER_TURNED_BAD, peer.bad).u64(MRC_A_PEER_TURNED_GOOD, peer.good);
        if (named)
            n.u64(MRC_A_PEER_NAMED, named);
    });
}

void put_paths(request &to, const fake_peer &peer)
{
    uint32_t i = 0;

    for (const auto &path : peer.paths)
        to.nest(MRC_A_EV, [&](auto &n) {
            n.u32(MRC_A_EV_INDEX, i++).u32(MRC_A_EV_STATE, path.state);
            put_ev(n, path.ev);
        });
}

void put_profile(request &to, uint64_t id, const fake_profile &p)
{
    to.nest(MRC_A_PROFILE, [&](auto &n) {
        n.u64(MRC_A_PROFILE_ID, id).u32(MRC_A_PROFILE_MODE, p.mode).u32(MRC_A_PROFILE_FMT, p.fmt);
        n.u32(MRC_A_PROFILE_MIN_ACTIVE, p.min_active);
        for (const auto &ev : p.evs)
            n.nest(MRC_A_PROFILE_EV, [&](auto &e) { put_ev(e, ev); });
        if (p.mode != MRC_MODE_GEN)
            return;
        n.nest(MRC_A_PROFILE_GEN, [&](auto &g) {
            g.nest(MRC_A_GEN_FIELD, [&](auto &f) {
                f.u32(MRC_A_FIELD_WIDTH, p.field.width).u32(MRC_A_FIELD_LAST, p.field.max_val);
            });
        });
    });
}

void put_cc(request &to, uint64_t id, const fake_cc &cc)
{
    to.nest(MRC_A_CC, [&](auto &n) {
        n.u64(MRC_A_CC_ID, id).str(MRC_A_CC_ALGORITHM, cc.algorithm);
        n.u32(MRC_A_CC_WINDOW, cc.window).u32(MRC_A_CC_BASE_RTT, cc.base_rtt);
        if (cc.algorithm != "fixed")
            n.u8(MRC_A_CC_TRIMMING, static_cast<uint8_t>(cc.trimming));
    });
}

// All answers of a dump.
void answer_all(uint8_t cmd, const std::function<void(const answer &)> &one)
{
    switch (cmd) {
    case MRC_CMD_DEV_GET:
        one([](auto &to) { to.str(MRC_A_IBDEV_NAME, kernel.ibdev).u32(MRC_A_DEV_IFINDEX, ifindex); });
        break;
    case MRC_CMD_PLANE_GET:
        one([](auto &to) { to.nest(MRC_A_PLANE, [](auto &n) { n.u8(MRC_A_PLANE_NUMBER, 1); }); });
        break;
    case MRC_CMD_PEER_GET:
        for (const auto &[gid, peer] : kernel.peers)
            one([&](auto &to) { put_peer(to, gid, peer); });
        break;
    case MRC_CMD_EV_GET:
        for (const auto &[gid, peer] : kernel.peers)
            one([&](auto &to) { put_peer(to, gid, peer), put_paths(to, peer); });
        for (const auto &[key, set] : kernel.named)
            one([&](auto &to) { put_peer(to, key.first, set, key.second), put_paths(to, set); });
        break;
    case MRC_CMD_PROFILE_GET:
        for (const auto &[id, p] : kernel.profiles)
            one([&](auto &to) { put_profile(to, id, p); });
        break;
    case MRC_CMD_CC_GET:
        for (const auto &[id, cc] : kernel.ccs)
            one([&](auto &to) { put_cc(to, id, cc); });
        break;
    }
}

// The path set that is meant; or NULL.
fake_peer *set_meant(const table &peer)
{
    auto bytes = peer[MRC_A_PEER_GID].bytes();
    std::string gid(bytes.begin(), bytes.end());

    if (uint64_t named = peer[MRC_A_PEER_NAMED].num()) {
        auto it = kernel.named.find({gid, named});
        return it == kernel.named.end() ? nullptr : &it->second;
    }
    auto it = kernel.peers.find(gid);
    return it == kernel.peers.end() ? nullptr : &it->second;
}

// The rules of mrc_genl_set.c.
int set_evs(const table &t, const attr_range &attrs)
{
    table peer(t[MRC_A_PEER]);
    fake_peer *set = set_meant(peer);

    if (!set)
        return ENOENT;
    if (peer[MRC_A_PEER_PATHS] && peer[MRC_A_PEER_PATHS].num() != set->set)
        return ESTALE;
    auto paths = set->paths;
    for (auto a : attrs) {
        if (a.type() != MRC_A_EV)
            continue;
        table e(a);
        auto ev = get_ev(e);
        auto index = e[MRC_A_EV_INDEX].num();
        if (index >= paths.size())
            return e[MRC_A_EV_VALUE] ? ESTALE : ERANGE;
        if (e[MRC_A_EV_VALUE] && std::memcmp(&ev, &paths[index].ev, sizeof(ev)))
            return ESTALE;
        paths[index].state = static_cast<uint32_t>(e[MRC_A_EV_STATE].num());
    }
    for (size_t i = 0; i < paths.size(); i++)
        set->turn(i, paths[i].state);
    kernel.events++;
    return 0;
}

// EVs of the one field of a profile that is generated.
int make_evs(fake_profile &p, const table &profile)
{
    table gen(profile[MRC_A_PROFILE_GEN]), field(gen[MRC_A_GEN_FIELD]);
    uint64_t made, count;

    p.field.width = static_cast<uint32_t>(field[MRC_A_FIELD_WIDTH].num());
    p.field.max_val = static_cast<uint32_t>(field[MRC_A_FIELD_LAST].num());
    made = p.field.max_val + 1;
    count = profile[MRC_A_PROFILE_COUNT] ? profile[MRC_A_PROFILE_COUNT].num() : made;
    if (count > made)
        return EINVAL;
    for (uint64_t i = 0; i < count; i++)
        p.evs.push_back(fake_ev(static_cast<int>(i)));
    return 0;
}

int set_profile(const table &t, const attr_range &attrs)
{
    table profile(t[MRC_A_PROFILE]);
    fake_profile p = {};
    auto get = [&](uint16_t type) { return static_cast<uint32_t>(profile[type].num()); };

    p.mode = get(MRC_A_PROFILE_MODE);
    p.fmt = get(MRC_A_PROFILE_FMT);
    p.min_active = get(MRC_A_PROFILE_MIN_ACTIVE);
    for (auto a : attrs)
        if (a.type() == MRC_A_EV)
            p.evs.push_back(get_ev(table(a)));
    if (int err = p.mode == MRC_MODE_GEN ? make_evs(p, profile) : 0)
        return err;
    kernel.profiles[profile[MRC_A_PROFILE_ID].num()] = p;
    return 0;
}

int set_cc(const table &t)
{
    table cc(t[MRC_A_CC]);

    if (cc[MRC_A_CC_ALGORITHM].str() == "fixed" && cc[MRC_A_CC_TRIMMING].num())
        return EINVAL;
    kernel.ccs[cc[MRC_A_CC_ID].num()] = {
        std::string(cc[MRC_A_CC_ALGORITHM].str()), static_cast<uint32_t>(cc[MRC_A_CC_WINDOW].num()),
        static_cast<uint32_t>(cc[MRC_A_CC_TRIMMING].num()),
        static_cast<uint32_t>(cc[MRC_A_CC_BASE_RTT].num())};
    return 0;
}

int change(uint8_t cmd, const table &t, const attr_range &attrs)
{
    switch (cmd) {
    case MRC_CMD_EV_SET: return set_evs(t, attrs);
    case MRC_CMD_PROFILE_SET: return set_profile(t, attrs);
    case MRC_CMD_PROFILE_DEL:
        return kernel.profiles.erase(table(t[MRC_A_PROFILE])[MRC_A_PROFILE_ID].num()) ? 0 : ENOENT;
    case MRC_CMD_PLANE_SET: return 0;
    case MRC_CMD_CC_SET: return set_cc(t);
    case MRC_CMD_CC_DEL: return kernel.ccs.erase(table(t[MRC_A_CC])[MRC_A_CC_ID].num()) ? 0 : ENOENT;
    }
    return EOPNOTSUPP;
}

// What a test has ordered for this command.
error begin(uint8_t cmd)
{
    if (auto what = std::move(kernel.before[cmd])) {
        kernel.before.erase(cmd);
        what();
    }
    kernel.calls[cmd]++;
    if (int code = std::exchange(kernel.fails[cmd], 0))
        return {code, "as the test wants it", false};
    return {};
}

uint8_t cmd_of(request &rq)
{
    return fixed_header<genlmsghdr>(rq.bytes().subspan(NLMSG_HDRLEN)).cmd;
}

} // namespace

error genl_socket::open(const std::string &)
{
    return {};
}

error genl_socket::join(const std::string &, const std::vector<number> &)
{
    return {};
}

int genl_socket::fd() const
{
    std::lock_guard hold(kernel_lock);
    return kernel.news_fd;
}

// Answers, in the order of questions, come before the verdict: the library must take both.
static error ask_endpoints(request &rq, const handler &on_reply, const handler &own)
{
    for (auto a : attrs_of(rq)) {
        if (a.type() != MRC_A_EP)
            continue;
        table ep(a);
        int port = static_cast<int>(ep[MRC_A_EP_PORT].num());
        int err = kernel.busy ? EBUSY : kernel.refuses.contains(port) ? kernel.refuses[port] : 0;
        bool lost = std::count(kernel.swallows.begin(), kernel.swallows.end(), port);
        request m(err ? MRC_CMD_EP_SEND : MRC_CMD_EP_ANSWER);

        kernel.busy -= kernel.busy > 0;
        if (!err && ep[MRC_A_EP_PORTS_UP])
            kernel.told.push_back(static_cast<uint32_t>(ep[MRC_A_EP_PORTS_UP].num()));
        m.u32(MRC_A_DEV_IFINDEX, ifindex);
        m.nest(MRC_A_EP, [&](auto &n) {
            n.u16(MRC_A_EP_ID, static_cast<uint16_t>(ep[MRC_A_EP_ID].num())).put(MRC_A_EP_GID, ep[MRC_A_EP_GID].bytes());
            n.u32(MRC_A_EP_ERROR, static_cast<uint32_t>(err)).u64(MRC_A_EP_RTT, 1234).u8(MRC_A_EP_PORT, 3);
        });
        if (err)
            on_reply({MRC_CMD_EP_SEND, attrs_of(m)});
        else if (!lost && own)
            for (int copies = 0; copies < 2; copies++) // the second is to nothing that was asked
                own({MRC_CMD_EP_ANSWER, attrs_of(m)});
    }
    return {};
}

static handler own_handler;

void genl_socket::own(handler h)
{
    std::lock_guard hold(kernel_lock);
    own_handler = std::move(h);
}

error genl_socket::wait_own(std::chrono::nanoseconds)
{
    return {EAGAIN, "none", false};
}

error genl_socket::call(request &rq, const handler &on_reply)
{
    std::lock_guard hold(kernel_lock);
    if (auto e = begin(cmd_of(rq)))
        return e;
    if (cmd_of(rq) == MRC_CMD_EP_SEND)
        return ask_endpoints(rq, on_reply, own_handler);
    if (int code = change(cmd_of(rq), table(attrs_of(rq)), attrs_of(rq)))
        return {code, std::strerror(code), true};
    return {};
}

error genl_socket::dump(request &rq, const handler &on_reply)
{
    std::lock_guard hold(kernel_lock);
    if (auto e = begin(cmd_of(rq)))
        return e;
    answer_all(cmd_of(rq), [&](const answer &fill) {
        request reply(cmd_of(rq));
        fill(reply);
        on_reply({cmd_of(rq), attrs_of(reply)});
    });
    return {};
}

error genl_socket::receive(const handler &on_event)
{
    std::lock_guard hold(kernel_lock);
    if (!kernel.events)
        return {EAGAIN, "none", false};
    kernel.events--;
    request event(MRC_CMD_EVENT);
    event.u32(MRC_A_EVENT_TYPE, MRC_EVENT_EV).u32(MRC_A_DEV_IFINDEX, ifindex);
    on_event({MRC_CMD_EVENT, attrs_of(event)});
    return {};
}
