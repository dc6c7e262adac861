// SPDX-License-Identifier: GPL-2.0
// app.cc - mrc.h but for queue pairs (qp.cc): see app.h.
#include "app.h"

#include <algorithm>

namespace {

constexpr size_t most = 4; // of a kind

// The only errors of a call that makes or changes something here: the interface's, and the fake
// kernel's own.
bool documented(int err)
{
    static const int codes[] = {EINVAL, EBUSY,  E2BIG,  ENOENT,    EPERM,  EOPNOTSUPP, ENOMEM,
                                EIO,    EACCES, ERANGE, ETIMEDOUT, ENODEV, EAGAIN,     ENOSPC};
    return std::find(std::begin(codes), std::end(codes), err) != std::end(codes);
}

} // namespace

void *program::stranger()
{
    std::vector<void *> all = {nullptr, &junk_};

    all.insert(all.end(), contexts.begin(), contexts.end());
    all.insert(all.end(), channels.begin(), channels.end());
    all.insert(all.end(), cqs.begin(), cqs.end());
    all.insert(all.end(), event_cqs.begin(), event_cqs.end());
    all.insert(all.end(), hints.begin(), hints.end());
    for (const a_qp &q : qps)
        all.push_back(q.qp);
    return all[in.below(static_cast<u32>(all.size()))];
}

a_qp *program::find(const mrc_qp *qp)
{
    for (a_qp &q : qps)
        if (q.qp == qp)
            return &q;
    return nullptr;
}

// How many objects hang on it.
size_t program::of(const mrc_context *ctx) const
{
    return static_cast<size_t>(std::count_if(owner.begin(), owner.end(),
                                             [&](const auto &o) { return o.second == ctx; }));
}

void program::context_calls()
{
    ibv_context *v = &w.ctx[in.below(2)];
    mrc_context_attr attr = {in.extreme<u32>(), in.extreme<u32>()};
    mrc_device_attr device;
    u32 words[4];
    int supported;

    switch (in.below(4)) {
    case 0:
        mrc_query_version(in.below(2) ? &words[0] : nullptr, in.below(2) ? &words[1] : nullptr,
                          in.below(2) ? &words[2] : nullptr, in.below(2) ? &words[3] : nullptr);
        break;
    case 1: {
        auto *ctx = pick(contexts);
        int ret = mrc_query_device_ex(in.one_in(8) ? nullptr : v, ctx, in.one_in(8) ? nullptr : &device,
                                      in.one_in(8) ? nullptr : &supported);
        REQUIRE(!ret || (ret == -1 && documented(errno)));
        break;
    }
    case 2: {
        if (contexts.size() >= most)
            break;
        auto *ctx = mrc_create_context(in.one_in(8) ? nullptr : v, in.below(2) ? &attr : nullptr);
        REQUIRE(ctx ? w.ours : documented(errno));
        if (ctx)
            contexts.push_back(ctx);
        break;
    }
    default: {
        auto *ctx = pick(contexts);
        bool ours = has(contexts, ctx), busy = ours && of(ctx);
        int ret = mrc_destroy_context(ctx);
        REQUIRE(ret == (ours && !busy ? 0 : -1) && (!ret || errno == (busy ? EBUSY : EINVAL)));
        if (!ret)
            std::erase(contexts, ctx);
    }
    }
}

void program::channel_calls()
{
    int fd = -1;

    if (in.below(2)) {
        auto *ch = pick(channels);
        bool ours = has(channels, ch);
        REQUIRE(mrc_get_comp_channel_fd(ch, in.one_in(8) ? nullptr : &fd) == -1 || (ours && fd > 0));
    } else if (channels.size() < most && in.below(3)) {
        mrc_comp_channel *ch = nullptr;
        auto *ctx = pick(contexts);
        int err = mrc_create_comp_channel(ctx, in.one_in(8) ? nullptr : &ch);
        REQUIRE(err ? documented(err) && !ch : has(contexts, ctx) && ch);
        if (!err) {
            channels.push_back(ch);
            owner[ch] = ctx;
        }
    } else {
        auto *ch = pick(channels);
        int err = mrc_destroy_comp_channel(ch);
        REQUIRE(err ? err == EBUSY || (err == EINVAL && !has(channels, ch)) : has(channels, ch));
        if (!err)
            forget(channels, ch);
    }
}

void program::cq_calls()
{
    auto *ch = in.below(2) ? nullptr : pick(channels);
    auto *ctx = pick(contexts), *made = ctx;
    auto *cq = in.one_in(4) ? pick(event_cqs) : pick(cqs);
    ibv_wc wc[4];
    mrc_cq *got = nullptr;
    void *user = nullptr;
    int n = static_cast<int>(in.below(6)) - 1, ret;

    switch (in.below(5)) {
    case 0:
        if (cqs.size() >= most)
            break;
        cq = mrc_create_cq(ctx, static_cast<int>(in.extreme<u32>()), this, ch, in.any<int>());
        REQUIRE(cq ? has(contexts, made) && (!ch || owner[ch] == ctx) : documented(errno));
        if (cq) {
            cqs.push_back(cq);
            owner[cq] = ctx;
        }
        break;
    case 1:
        ret = mrc_destroy_cq(cq);
        REQUIRE(ret ? ret == EBUSY || ret == EINVAL : has(cqs, cq) || has(event_cqs, cq));
        if (!ret) {
            std::erase(event_cqs, cq);
            forget(cqs, cq);
        }
        break;
    case 2:
        ret = mrc_poll_cq(cq, n < 5 ? n : 4, in.one_in(8) ? nullptr : wc);
        REQUIRE(ret < 0 || (has(cqs, cq) && ret <= n));
        break;
    case 3:
        ret = mrc_req_notify_cq(cq, static_cast<int>(in.below(2)));
        REQUIRE(ret ? documented(ret) : has(cqs, cq) || has(event_cqs, cq));
        break;
    default:
        ch = pick(channels);
        if (mrc_get_cq_event(ch, in.one_in(8) ? nullptr : &got, &user))
            break;
        REQUIRE(has(channels, ch) && (has(cqs, got) || has(event_cqs, got)) && user == this);
        mrc_ack_cq_events(reinterpret_cast<mrc_cq *>(&junk_), 1);
        mrc_ack_cq_events(got, 1);
    }
}

void program::hint_calls()
{
    mrc_qp_hint_init_attr init = {};
    auto *hint = pick(hints);
    auto *ctx = pick(contexts);
    int mask = in.one_in(8) ? in.any<int>() : static_cast<int>(in.below(8)), ret;

    init.attr.num_qps_per_peer = in.extreme<int>();
    init.attr.num_send_peers = in.extreme<int>();
    init.attr.num_remote_recv_peers = static_cast<int>(in.below(9));
    switch (in.below(4)) {
    case 0:
        if (hints.size() >= most)
            break;
        hint = mrc_create_qp_hint(ctx, in.one_in(8) ? nullptr : &init);
        REQUIRE(hint ? has(contexts, ctx) : documented(errno));
        if (hint) {
            hints.push_back(hint);
            owner[hint] = ctx;
        }
        break;
    case 1: {
        bool busy = std::any_of(qps.begin(), qps.end(), [&](const a_qp &q) { return hint && q.hint == hint; });
        bool ours = has(hints, hint);
        ret = mrc_destroy_qp_hint(hint);
        REQUIRE(ret == (ours && !busy ? 0 : -1) && (!ret || errno == (busy ? EBUSY : EINVAL)));
        if (!ret)
            forget(hints, hint);
        break;
    }
    case 2: {
        mrc_qp_hint_attr was = {}, now = {};
        mrc_query_qp_hint(hint, &was, 7);
        ret = mrc_modify_qp_hint(hint, in.one_in(8) ? nullptr : &init.attr, mask);
        REQUIRE(ret ? errno == EINVAL : has(hints, hint));
        mrc_query_qp_hint(hint, &now, 7);
        REQUIRE(!ret || !std::memcmp(&was, &now, sizeof(was)));
        break;
    }
    default:
        ret = mrc_query_qp_hint(hint, in.one_in(8) ? nullptr : &init.attr, mask);
        REQUIRE(ret ? errno == EINVAL : has(hints, hint));
    }
}

void program::events()
{
    mrc_async_event event = {};

    if (in.below(2)) { // what nobody handed out
        event.event_type = in.below(2) ? IBV_EVENT_QP_FATAL : IBV_EVENT_CQ_ERR;
        event.element.qp = reinterpret_cast<mrc_qp *>(&junk_);
        mrc_ack_async_event(in.below(2) ? &event : nullptr);
        return;
    }
    auto *ctx = pick(contexts);
    if (mrc_get_async_event(ctx, &event))
        return;
    REQUIRE(has(contexts, ctx));
    if (event.event_type == IBV_EVENT_QP_FATAL || event.event_type == IBV_EVENT_COMM_EST)
        REQUIRE(find(event.element.qp) && owner[event.element.qp] == ctx);
    if (event.event_type == IBV_EVENT_CQ_ERR)
        REQUIRE(has(cqs, event.element.cq) && owner[event.element.cq] == ctx);
    mrc_ack_async_event(&event);
    REQUIRE(!w.events_out);
}

void program::meet(u64 id)
{
    fake_peer peer = {id, in.below(2), {}};
    auto it = w.net.profiles.find(id);

    for (size_t i = 0; it != w.net.profiles.end() && i < it->second.evs.size(); i++)
        peer.evs.push_back({it->second.evs[i], in.below(4)});
    w.net.peers[static_cast<u8>(1 + in.below(3))] = peer;
}

// What other programs and the fabric do meanwhile.
void program::others()
{
    fake_family &f = w.net;
    u64 id = 1 + in.below(3);
    u8 last = static_cast<u8>(1 + in.below(3));

    switch (in.below(10)) {
    case 0: w.admin = !in.one_in(3); break;
    case 1: w.ours = !in.one_in(3); break;
    case 2: f.gone = in.one_in(3); break;
    case 3: f.profiles.erase(id); break;
    case 4: f.ccs.erase(id); break;
    case 5: f.qp_cc = in.below(4); break;
    case 6: f.peers.erase(last); break;
    case 7: meet(id); break;
    default:
        if (f.peers.contains(last))
            for (fake_ev &ev : f.peers[last].evs)
                ev.state = in.below(4);
        f.events += in.below(3);
    }
}

void program::act()
{
    switch (in.below(16)) {
    case 0: case 1: context_calls(); break;
    case 2: channel_calls(); break;
    case 3: case 4: cq_calls(); break;
    case 5: hint_calls(); break;
    case 6: qp_life(); break;
    case 7: case 8: qp_modify(); break;
    case 9: qp_post(); break;
    case 10: events(); break;
    case 11: others(); break;
    default: control();
    }
    REQUIRE(!w.events_out);
}

void program::end()
{
    w.quiet = true;
    while (!qps.empty()) {
        REQUIRE(!mrc_destroy_qp(qps.back().qp));
        qps.pop_back();
    }
    for (auto *cq : cqs)
        REQUIRE(!mrc_destroy_cq(cq));
    for (auto *cq : event_cqs)
        REQUIRE(!mrc_destroy_cq(cq));
    for (auto *ch : channels)
        REQUIRE(!mrc_destroy_comp_channel(ch));
    for (auto *hint : hints)
        REQUIRE(!mrc_destroy_qp_hint(hint));
    for (auto *ctx : contexts)
        REQUIRE(!mrc_destroy_context(ctx));
}
