// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// events.cc - EV events.
//
// The kernel reports the peer whose EV states changed; the queue then compares with the states at
// its last look. An EV that changed and changed back between two looks gives no event, nor does the
// first of two changes to the same state. The kernel counts all changes, so the number of missed
// ones is exact: each change of an EV to a state in its profile's event mask is reported or part of
// a drop_count. Lost messages do not matter, because they only trigger a look. Not counted: changes
// of a peer that was removed with its paths between two looks.
#include <linux/mrc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "ev_name.h"
#include "ev_path.h"

using mrcnl::attr_range;
using mrcnl::table;

namespace {

struct seen_ev {
    mrc_ctl_ev ev = {};
    uint32_t state = MRC_CTL_EV_GOOD;
};

// Size of an event in the program's array, with and without the state at its end.
constexpr size_t size_1_0_1 = sizeof(mrc_ctl_ev_event);
constexpr size_t size_1_0_0 = offsetof(mrc_ctl_ev_event, state);

constexpr int first_looks = 10; // tries to read a consistent first state

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

// The state of one path set of a peer when it was read last.
struct seen_peer {
    uint64_t first_paths = 0, paths = 0; // identify the peer and the path set
    uint64_t bad = 0, good = 0;          // the kernel's counts of changes
    int64_t bad_over = 0, good_over = 0; // reported before the kernel's count had them
    std::map<uint64_t, seen_ev> evs;     // by index in the path set
    bool torn = false;                   // the set was replaced while it was read,
    bool moved = false;                  // or states changed
};

struct mrc_ev_queue {
    size_t room = 0;
    std::deque<mrc_ctl_ev_event> waiting;
    uint32_t dropped = 0; // events lost since the last one in the queue
    mrcnl::genl_socket nl;
    bool stale = false; // there were changes, and no successful look since
    std::map<set_key, seen_peer> seen;

    void look(mrc_ctl &c, bool tells);
    void read_news(uint32_t ifindex);
    void compare(const ev_profile &profile, uint64_t id, const seen_peer &was, seen_peer &now);
    void tell(uint64_t profile, const seen_ev &ev);
    void drop(int64_t more) { dropped += static_cast<uint32_t>(more); }
};

void mrc_ev_queue::tell(uint64_t profile, const seen_ev &ev)
{
    if (waiting.size() >= room) {
        drop(1);
        return;
    }
    mrc_ctl_ev_event e = {};
    e.profile_id = profile;
    e.ev = ev.ev;
    e.drop_count = dropped;
    e.state = static_cast<mrc_ctl_ev_state>(ev.state);
    waiting.push_back(e);
    dropped = 0;
}

// The number of changes that were missed: the kernel counted @counted, and @told can be seen. The
// kernel's counts are read before a long list of states. So more may be seen than counted; @over
// carries that to the next look.
static int64_t missed(uint64_t counted, uint64_t told, int64_t &over)
{
    int64_t n = static_cast<int64_t>(counted) - static_cast<int64_t>(told) - over;

    over = n < 0 ? -n : 0;
    return n < 0 ? 0 : n;
}

// A path set that replaced another one starts with all EVs GOOD. EVs that were bad have changed to
// GOOD, which the kernel did not count.
void mrc_ev_queue::compare(const ev_profile &profile, uint64_t id, const seen_peer &was, seen_peer &now)
{
    const int mask = profile.event_mask;
    uint64_t bad = 0, good = 0;

    for (const auto &[place, ev] : now.evs) {
        auto it = was.evs.find(place);
        bool same = it != was.evs.end() && !std::memcmp(&it->second.ev, &ev.ev, sizeof(ev.ev));
        uint32_t before = same ? it->second.state : static_cast<uint32_t>(MRC_CTL_EV_GOOD);

        if (before == ev.state)
            continue;
        bad += ev.state == MRC_CTL_EV_ASSUMED_BAD;
        good += ev.state == MRC_CTL_EV_GOOD && now.paths == was.paths;
        if (static_cast<uint32_t>(mask) & ev.state)
            tell(id, {ev_name(profile, ev.ev), ev.state});
    }
    now.bad_over = was.bad_over;
    now.good_over = was.good_over;
    int64_t bads = missed(now.bad - was.bad, bad, now.bad_over);
    int64_t goods = missed(now.good - was.good, good, now.good_over);
    drop((mask & MRC_CTL_EV_ASSUMED_BAD ? bads : 0) + (mask & MRC_CTL_EV_GOOD ? goods : 0));
}

static void add_paths(seen_peer &p, const table &peer, const attr_range &attrs)
{
    uint64_t paths = peer[MRC_A_PEER_PATHS].num();
    uint64_t bad = peer[MRC_A_PEER_TURNED_BAD].num(), good = peer[MRC_A_PEER_TURNED_GOOD].num();

    if (!p.paths) {
        p.paths = paths;
        p.first_paths = peer[MRC_A_PEER_FIRST_PATHS].num();
        p.bad = bad;
        p.good = good;
    }
    p.torn |= p.paths != paths;
    p.moved |= p.bad != bad || p.good != good;
    for (auto a : attrs)
        if (a.type() == MRC_A_EV)
            p.evs[table(a)[MRC_A_EV_INDEX].num()] = path_of(table(a));
}

// Reads the path sets of all profiles for any destination, and (@tells) adds events for changes. A
// path set starts with all EVs GOOD, so other states in a new path set are changes. Not at the
// first look, which reads until counts and states are of one moment.
void mrc_ev_queue::look(mrc_ctl &c, bool tells)
{
    const seen_peer nothing;
    const ev_profile unknown; // this context wants no events of it
    decltype(seen) now;
    std::map<set_key, uint64_t> profiles;

    c.dump(MRC_CMD_EV_GET, [&](const table &t, const attr_range &attrs) {
        table peer(t[MRC_A_PEER]);
        if (peer[MRC_A_PEER_PROFILE_DST_LEN].num())
            return;
        auto set = set_of(peer);
        add_paths(now[set], peer, attrs);
        profiles[set] = peer[MRC_A_PEER_PROFILE_ID].num();
    });
    stale = false;
    for (auto &[set, p] : now) {
        const seen_peer &was = seen[set];
        auto it = c.evs.find(profiles[set]);

        stale |= p.torn || (!tells && p.moved); // then look again
        if (p.torn)
            p = was;
        else if (tells)
            compare(it == c.evs.end() ? unknown : it->second, profiles[set],
                    was.first_paths == p.first_paths ? was : nothing, p);
    }
    seen = std::move(now);
}

// Reads notifications of the kernel. Did states change, or is that unknown?
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
        stale = true;
    }
}

// Fills an array whose entries have @size bytes.
static int poll_events(mrc_cq *cq, int num_entries, void *to, size_t size)
{
    int n = 0;

    if (!MRC_IS(cq, CQ) || !cq->events || num_entries < 0 || (num_entries && !to)) {
        errno = EINVAL;
        return -EINVAL;
    }
    int ret = mrc_ctl_run(cq->ctx, "mrc_ctl_poll_ev_event", [&](mrc_ctl &c) {
        if (cq->owner != getpid()) // the parent would miss what a child reads
            throw refused{EINVAL, "a queue of the parent process; make one of your own"};
        mrc_ev_queue &q = *cq->events;
        q.read_news(c.ifindex);
        if (q.stale)
            q.look(c, true); // if it fails, the next call looks again
        for (; n < num_entries && !q.waiting.empty(); n++) {
            std::memcpy(static_cast<char *>(to) + static_cast<size_t>(n) * size,
                        &q.waiting.front(), size);
            q.waiting.pop_front();
        }
    });
    return ret ? -errno : n;
}

// Creates the CQ, which then owns @q.
static mrc_cq *make_cq(mrc_context *ctx, mrc_comp_channel *channel, void *user, mrc_ev_queue *q)
{
    auto *cq = static_cast<mrc_cq *>(std::calloc(1, sizeof(mrc_cq)));

    if (!cq)
        throw std::bad_alloc();
    cq->kind = MRC_KIND_CQ;
    cq->ctx = ctx;
    cq->user = user;
    cq->events = q;
    cq->owner = getpid();
    if (int err = channel ? mrc_channel_join(cq, channel) : 0) {
        std::free(cq);
        throw refused{err == EINVAL ? EINVAL : EIO, std::string("the completion channel has no file to poll: ") + std::strerror(err)};
    }
    pthread_mutex_lock(&ctx->lock);
    cq->next = ctx->cqs;
    ctx->cqs = cq;
    pthread_mutex_unlock(&ctx->lock);
    return cq;
}

extern "C" {

int mrc_ctl_poll_ev_event_1_0_0(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event);
int mrc_ctl_poll_ev_event_1_0_1(struct mrc_cq *cq, int num_entries, struct mrc_ctl_ev_event *ev_event);

void mrc_ev_queue_free(mrc_ev_queue *q)
{
    delete q;
}

int mrc_ev_queue_fd(const mrc_ev_queue *q)
{
    return q->nl.fd();
}

struct mrc_cq *mrc_ctl_create_ev_event_cq(struct mrc_context *ctx, int cqe, void *cq_context,
                                          struct mrc_comp_channel *channel, int comp_vector)
{
    mrc_cq *cq = nullptr;

    (void)comp_vector;
    mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        if (cqe < 1)
            throw refused{EINVAL, "cqe " + std::to_string(cqe)};
        if (channel && (!MRC_IS(channel, CHANNEL) || channel->ctx != ctx))
            throw refused{EINVAL, "the completion channel is none, or of another context"};
        need_admin();
        auto q = std::make_unique<mrc_ev_queue>();
        q->room = static_cast<size_t>(cqe);
        mrcnl::error e = q->nl.open(MRC_GENL_NAME);
        if (!e)
            e = q->nl.join(MRC_GENL_MCGRP_EVENTS,
                           {{MRC_A_EVENT_TYPE, MRC_EVENT_EV}, {MRC_A_DEV_IFINDEX, c.ifindex}});
        if (e)
            throw refused{EIO, e.text};
        for (int i = 0; i < first_looks && (!i || q->stale); i++)
            q->look(c, false);
        cq = make_cq(ctx, channel, cq_context, q.get());
        q.release();
    });
    return cq;
}

// Three symbols of one call: see mrc_ctl.h. Programs that were compiled with other headers use the
// first only.
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
