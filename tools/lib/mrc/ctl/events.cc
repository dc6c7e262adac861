// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// events.cc - news of EVs: the kernel says with which peer states changed, and the queue looks which
// EV's did since it looked last.
//
// So an EV that changed and changed back between two looks is no news, and the kernel's messages may
// be lost when nobody polls for long. Both is why precise counts are not promised; what does not
// fit into the queue is counted, and a loss of messages counts as one event at least.
#include <linux/mrc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "ev_path.h"

using mrcnl::attr_range;
using mrcnl::table;

namespace {

struct seen_ev {
    mrc_ctl_ev ev = {};
    uint32_t state = MRC_CTL_EV_GOOD;
};

// Of an event as programs know it, with and without the state at the end.
constexpr size_t size_1_0_1 = sizeof(mrc_ctl_ev_event);
constexpr size_t size_1_0_0 = offsetof(mrc_ctl_ev_event, state);

seen_ev path_of(const table &t)
{
    seen_ev s = {ev_of(t)};

    switch (t[MRC_A_EV_STATE].num()) {
    case MRC_NL_EV_ASSUMED_BAD: s.state = MRC_CTL_EV_ASSUMED_BAD; break;
    case MRC_NL_EV_DENIED: s.state = MRC_CTL_EV_DENIED; break;
    }
    return s;
}

} // namespace

struct mrc_ev_queue {
    size_t room = 0;
    std::deque<mrc_ctl_ev_event> waiting;
    uint32_t dropped = 0; // since the last one that found room
    mrcnl::genl_socket nl;
    bool stale = false; // there was news, and no look since that succeeded
    // Of each peer, by place in its path set.
    std::map<std::string, std::map<uint64_t, seen_ev>> seen;

    void look(mrc_ctl &c, bool tell);
    void read_news(uint32_t ifindex);
    void compare(mrc_ctl &c, uint64_t profile, const seen_ev &was, const seen_ev &now);
};

void mrc_ev_queue::compare(mrc_ctl &c, uint64_t profile, const seen_ev &was, const seen_ev &now)
{
    auto it = c.evs.find(profile);
    bool same = !std::memcmp(&was.ev, &now.ev, sizeof(was.ev));
    uint32_t before = same ? was.state : static_cast<uint32_t>(MRC_CTL_EV_GOOD);

    if (it == c.evs.end() || before == now.state ||
        !(static_cast<uint32_t>(it->second.event_mask) & now.state))
        return;
    if (waiting.size() >= room) {
        dropped++;
        return;
    }
    mrc_ctl_ev_event e = {};
    e.profile_id = profile;
    e.ev = now.ev;
    e.drop_count = dropped;
    e.state = static_cast<mrc_ctl_ev_state>(now.state);
    waiting.push_back(e);
    dropped = 0;
}

// What path sets of profiles for any destination say now. A path set begins with all GOOD, so
// what else a peer's says that is met for the first time is news, but at the first look of all.
void mrc_ev_queue::look(mrc_ctl &c, bool tell)
{
    decltype(seen) now;

    c.dump(MRC_CMD_EV_GET, [&](const table &t, const attr_range &attrs) {
        table peer(t[MRC_A_PEER]);
        if (peer[MRC_A_PEER_PROFILE_DST_LEN].num())
            return;
        auto b = peer[MRC_A_PEER_GID].bytes();
        std::string gid(b.begin(), b.end());
        for (auto a : attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table ev(a);
            auto place = ev[MRC_A_EV_INDEX].num();
            auto path = path_of(ev);
            if (tell)
                compare(c, peer[MRC_A_PEER_PROFILE_ID].num(), seen[gid][place], path);
            now[gid][place] = path;
        }
    });
    seen = std::move(now);
}

// Reads what the kernel has said since: did states change, or is it not known?
void mrc_ev_queue::read_news(uint32_t ifindex)
{
    for (;;) {
        auto e = nl.receive([&](const mrcnl::message &m) {
            table t(m.attrs);
            stale |= t[MRC_A_EVENT_TYPE].num() == MRC_EVENT_EV &&
                     t[MRC_A_DEV_IFINDEX].num() == ifindex;
        });
        if (!e)
            continue;
        if (e.code != ENOBUFS)
            return;
        dropped++;
        stale = true;
    }
}

// Into an array whose entries are @size bytes long.
static int poll_events(mrc_cq *cq, int num_entries, void *to, size_t size)
{
    int n = 0;

    if (!MRC_IS(cq, CQ) || !cq->events || num_entries < 0 || (num_entries && !to))
        return mrc_minus(EINVAL);
    int ret = mrc_ctl_run(cq->ctx, "mrc_ctl_poll_ev_event", [&](mrc_ctl &c) {
        mrc_ev_queue &q = *cq->events;
        q.read_news(c.ifindex);
        if (q.stale)
            q.look(c, true);
        q.stale = false; // a look that fails is made up for by the next call
        for (; n < num_entries && !q.waiting.empty(); n++) {
            std::memcpy(static_cast<char *>(to) + static_cast<size_t>(n) * size,
                        &q.waiting.front(), size);
            q.waiting.pop_front();
        }
    });
    return ret ? ret : n;
}

extern "C" {

int mrc_ctl_poll_ev_event_1_0_0(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event);
int mrc_ctl_poll_ev_event_1_0_1(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event);

void mrc_ev_queue_free(mrc_ev_queue *q)
{
    delete q;
}

struct mrc_cq *mrc_ctl_create_ev_event_cq(struct mrc_context *ctx, int cqe, void *cq_context,
                                          struct mrc_comp_channel *channel, int comp_vector)
{
    mrc_cq *cq = nullptr;

    (void)comp_vector;
    mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        if (cqe < 1)
            throw refused{EINVAL, "cqe " + std::to_string(cqe)};
        if (channel)
            throw refused{EOPNOTSUPP, "with a completion channel: such a queue is polled"};
        need_admin();
        auto q = std::make_unique<mrc_ev_queue>();
        q->room = static_cast<size_t>(cqe);
        mrcnl::error e = q->nl.open(MRC_GENL_NAME);
        if (!e)
            e = q->nl.join(MRC_GENL_MCGRP_EVENTS);
        if (e)
            throw refused{EIO, e.text};
        q->look(c, false);
        cq = static_cast<mrc_cq *>(std::calloc(1, sizeof(*cq)));
        if (!cq)
            throw std::bad_alloc();
        cq->kind = MRC_KIND_CQ;
        cq->ctx = ctx;
        cq->user = cq_context;
        cq->events = q.release();
        pthread_mutex_lock(&ctx->lock);
        cq->next = ctx->cqs;
        ctx->cqs = cq;
        pthread_mutex_unlock(&ctx->lock);
    });
    return cq;
}

// Three names of one call, see mrc_ctl.h. Who was compiled with other headers than ours has only the
// first.
int mrc_ctl_poll_ev_event(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event)
{
    bool old = MRC_IS(cq, CQ) && cq->ctx->version < MRC_API_VER(1, 0, 1);

    return poll_events(cq, num_entries, ev_event, old ? size_1_0_0 : size_1_0_1);
}

int mrc_ctl_poll_ev_event_1_0_0(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event)
{
    return poll_events(cq, num_entries, ev_event, size_1_0_0);
}

int mrc_ctl_poll_ev_event_1_0_1(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event)
{
    return poll_events(cq, num_entries, ev_event, size_1_0_1);
}

} // extern "C"
