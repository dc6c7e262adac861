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
#include "wire/mrc_evgen.h"

bool mrc_uverbs_is_ours(const struct ibv_context *) { return kernel.is_ours; }
int mrc_uverbs_limits(struct ibv_context *, struct mrc_uquery_device_resp *limits)
{
    *limits = {};
    limits->max_wimm = 128;
    limits->max_wimm_dest = 64;
    limits->max_mpr = 8;
    limits->timeout = 14;
    limits->linear_cnt = 7;
    limits->exp_cnt = 6;
    return 0;
}

int mrc_uverbs_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, const struct mrc_umodify_qp *ask)
{
    kernel.asked = *ask;
    if (kernel.qp_fails)
        return kernel.qp_fails;
    if (mask & IBV_QP_STATE)
        qp->state = attr->qp_state;
    return 0;
}
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
        for (size_t i = 0; i < p.evs.size(); i++)
            n.nest(MRC_A_PROFILE_EV, [&](auto &e) {
                put_ev(e, p.evs[i]);
                if (i < p.denied.size() && p.denied[i])
                    e.u32(MRC_A_EV_STATE, MRC_NL_EV_DENIED);
            });
        if (p.fields.empty())
            return;
        n.put(MRC_A_PROFILE_FMT_WIDTHS, p.widths);
        n.nest(MRC_A_PROFILE_GEN, [&](auto &g) {
            for (const auto &x : p.fields)
                g.nest(MRC_A_GEN_FIELD, [&](auto &f) {
                    f.u32(MRC_A_FIELD_WIDTH, x.width).u32(MRC_A_FIELD_INIT, x.init_val);
                    f.u32(MRC_A_FIELD_FIRST, x.min_val).u32(MRC_A_FIELD_LAST, x.max_val);
                    f.u32(MRC_A_FIELD_MASK, x.mask);
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

mrc_ev_gen gen_of(const fake_profile &p)
{
    mrc_ev_gen g = {};

    g.fmt = static_cast<uint8_t>(p.fmt);
    for (uint8_t width : p.widths)
        g.fmt_width[g.n_fmt++] = width;
    for (const auto &f : p.fields)
        g.field[g.n++] = {f.width, f.init_val, f.min_val, f.max_val, f.mask};
    return g;
}

void get_fields(fake_profile &p, const table &profile)
{
    auto widths = profile[MRC_A_PROFILE_FMT_WIDTHS].bytes();

    p.widths.assign(widths.begin(), widths.end());
    for (auto a : profile[MRC_A_PROFILE_GEN].nested()) {
        table f(a);
        auto get = [&](uint16_t type) { return static_cast<uint32_t>(f[type].num()); };
        p.fields.push_back({get(MRC_A_FIELD_WIDTH), get(MRC_A_FIELD_INIT), get(MRC_A_FIELD_FIRST),
                            get(MRC_A_FIELD_LAST), get(MRC_A_FIELD_MASK)});
    }
}

// GEN: all on port 1. Those that are listed say which are denied, in their order.
int make_evs(fake_profile &p, const table &profile, const mrc_ev_gen &g)
{
    auto listed = std::exchange(p.evs, {});
    auto denied = std::exchange(p.denied, {});
    uint64_t count = profile[MRC_A_PROFILE_COUNT] ? profile[MRC_A_PROFILE_COUNT].num() : mrc_evgen_count(&g);
    size_t next = 0;

    if (count > mrc_evgen_count(&g))
        return EINVAL;
    for (uint32_t i = 0; i < count; i++) {
        mrc_ctl_ev ev = {{}, 1};
        uint32_t value, port;
        mrc_evgen_deal(mrc_evgen_count(&g), static_cast<uint32_t>(count), 1, i, &value, &port);
        mrc_evgen_expand(&g, value, ev.val);
        p.evs.push_back(ev);
        bool is_next = next < listed.size() && !std::memcmp(&listed[next], &ev, sizeof(ev));
        p.denied.push_back(is_next && denied[next]);
        next += is_next;
    }
    return next == listed.size() ? 0 : EINVAL;
}

// The rules of mrc_genl_profile.c.
int set_profile(const table &t, const attr_range &attrs)
{
    table profile(t[MRC_A_PROFILE]);
    fake_profile p = {};
    uint8_t k;
    auto get = [&](uint16_t type) { return static_cast<uint32_t>(profile[type].num()); };

    p.mode = get(MRC_A_PROFILE_MODE);
    p.fmt = get(MRC_A_PROFILE_FMT);
    p.min_active = get(MRC_A_PROFILE_MIN_ACTIVE);
    for (auto a : attrs)
        if (a.type() == MRC_A_EV) {
            p.evs.push_back(get_ev(table(a)));
            p.denied.push_back(table(a)[MRC_A_EV_STATE].num() == MRC_NL_EV_DENIED);
        }
    get_fields(p, profile);
    const mrc_ev_gen g = gen_of(p);
    if (!p.fields.empty() && mrc_evgen_check(&g, &k) != MRC_EVGEN_OK)
        return EINVAL;
    if (int err = p.mode == MRC_MODE_GEN ? make_evs(p, profile, g) : 0)
        return err;
    for (const auto &ev : p.evs) {
        mrc_ctl_ev name = {}, wire = {};
        if (p.fields.empty())
            break;
        mrc_evgen_name_of(&g, ev.val, name.val);
        mrc_evgen_wire(&g, name.val, wire.val);
        if (std::memcmp(wire.val, ev.val, sizeof(ev.val)))
            return EINVAL;
    }
    if (!p.evs.empty() && std::find(p.denied.begin(), p.denied.end(), false) == p.denied.end())
        return EBUSY;
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
