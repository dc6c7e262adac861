// SPDX-License-Identifier: GPL-2.0
// test_ctl_events.cc - news of EVs: which is told, what a failure loses, and how far apart events stand
// in the array of a program of another version.
#include "test_ctl.h"

extern "C" {
#include "old_events.h"
}

namespace {

// ---- news ----

// A peer says nothing when it is met; that its first EV turned bad is news all the same.
TEST_F(ctl, new_peer_is_heard)
{
    mrc_ctl_ev_event event[4];

    online(4);
    kernel.peers[a] = peer_of(4);
    mrc_cq *cq = queue();
    kernel.peers[b] = peer_of(4);
    becomes(b, 2, MRC_NL_EV_ASSUMED_BAD);
    ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    EXPECT_EQ(event[0].ev.val[1], 2);
    EXPECT_EQ(event[0].state, MRC_CTL_EV_ASSUMED_BAD);
    EXPECT_EQ(event[0].profile_id, id);
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 0);
}

// What was bad before the queue was there is not told.
TEST_F(ctl, first_look_is_silent)
{
    mrc_ctl_ev_event event[4];

    online(4);
    kernel.peers[a] = peer_of(4);
    becomes(a, 1, MRC_NL_EV_ASSUMED_BAD);
    mrc_cq *cq = queue();
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 0);
}

// The kernel's word was read, but not what it is about: the next call makes up for it.
TEST_F(ctl, failed_look_loses_nothing)
{
    mrc_ctl_ev_event event[4];

    online(4);
    kernel.peers[a] = peer_of(4);
    mrc_cq *cq = queue();
    becomes(a, 3, MRC_NL_EV_ASSUMED_BAD);
    kernel.fails[MRC_CMD_EV_GET] = EINTR;
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), -EIO);
    ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    EXPECT_EQ(event[0].ev.val[1], 3);
    int looks = kernel.calls[MRC_CMD_EV_GET];
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 0);
    EXPECT_EQ(kernel.calls[MRC_CMD_EV_GET], looks); // no news, no look
}

// ---- counts: each change is told or is in a drop_count ----

// Events told and dropped so far, by what a queue says.
struct account {
    uint64_t told = 0, dropped = 0;

    void poll(mrc_cq *cq)
    {
        mrc_ctl_ev_event event[16];
        int n;

        while ((n = mrc_ctl_poll_ev_event(cq, 16, event)) > 0)
            for (int i = 0; i < n; i++, told++)
                dropped += event[i].drop_count;
        EXPECT_EQ(n, 0);
    }
};

TEST_F(ctl, changes_between_two_looks_are_counted)
{
    account all;

    online(4);
    kernel.peers[a] = peer_of(4);
    mrc_cq *cq = queue();
    for (int i = 0; i < 1000; i++)
        becomes(a, 0, i % 2 ? MRC_NL_EV_GOOD : MRC_NL_EV_ASSUMED_BAD);
    all.poll(cq);
    EXPECT_EQ(all.told, 0u); // it is as it was
    becomes(a, 1, MRC_NL_EV_ASSUMED_BAD);
    all.poll(cq);
    EXPECT_EQ(all.told, 1u);
    EXPECT_EQ(all.dropped, 1000u);
}

// A storm of changes with two peers, looks now and then, a queue that is too small: the sum is exact.
TEST_F(ctl, storm_is_told_or_counted_to_the_last)
{
    constexpr size_t evs = 64;
    uint32_t random = 1;
    account all;

    online(evs);
    kernel.peers[a] = kernel.peers[b] = peer_of(evs);
    kernel.peers[b].set = kernel.peers[b].first_set = 2;
    mrc_cq *cq = queue(8);
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525u + 1013904223u;
        const auto &gid = random >> 31 ? a : b;
        size_t place = random >> 16 & (evs - 1);
        auto now = kernel.peers[gid].paths[place].state;
        becomes(gid, place, now == MRC_NL_EV_GOOD ? MRC_NL_EV_ASSUMED_BAD : MRC_NL_EV_GOOD);
        if (!(random >> 8 & 0x3ff))
            all.poll(cq);
    }
    all.poll(cq);
    // What was dropped last comes with the next event.
    auto &first = kernel.peers[a];
    becomes(a, 0, first.paths[0].state == MRC_NL_EV_GOOD ? MRC_NL_EV_ASSUMED_BAD : MRC_NL_EV_GOOD);
    all.poll(cq);
    EXPECT_GT(all.told, 100u);
    EXPECT_EQ(all.told + all.dropped, 200001u);
}

// Only what the mask has.
TEST_F(ctl, counts_go_by_the_mask)
{
    mrc_ctl_ev_profile_attr attr = {};
    account all;

    online(4);
    kernel.peers[a] = peer_of(4);
    mrc_cq *cq = queue();
    attr.ev_event_mask = MRC_CTL_EV_ASSUMED_BAD;
    ASSERT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EVENT_MASK), 0);
    for (int i = 0; i < 11; i++)
        becomes(a, 0, i % 2 ? MRC_NL_EV_GOOD : MRC_NL_EV_ASSUMED_BAD);
    all.poll(cq);
    becomes(a, 1, MRC_NL_EV_ASSUMED_BAD);
    all.poll(cq);
    EXPECT_EQ(all.told, 2u);
    EXPECT_EQ(all.dropped, 5u); // bad six times, one of which is told
}

// The set that takes another's place goes on counting; a peer that comes back under its GID begins anew.
TEST_F(ctl, counts_outlive_path_sets)
{
    account all;

    online(4);
    kernel.peers[a] = peer_of(4);
    mrc_cq *cq = queue();
    for (int i = 0; i < 10; i++)
        becomes(a, 0, i % 2 ? MRC_NL_EV_GOOD : MRC_NL_EV_ASSUMED_BAD);
    kernel.peers[a].set = 5;
    becomes(a, 2, MRC_NL_EV_ASSUMED_BAD);
    all.poll(cq);
    EXPECT_EQ(all.told, 1u);
    becomes(a, 2, MRC_NL_EV_GOOD);
    all.poll(cq);
    EXPECT_EQ(all.told, 2u);
    EXPECT_EQ(all.dropped, 10u);

    kernel.peers[a] = peer_of(4);
    kernel.peers[a].set = kernel.peers[a].first_set = 6;
    becomes(a, 3, MRC_NL_EV_ASSUMED_BAD);
    all.poll(cq);
    EXPECT_EQ(all.told, 3u);
    EXPECT_EQ(all.dropped, 10u);
}

// ---- orders name the path set that they were made for ----

TEST_F(ctl, order_for_a_former_path_set_is_looked_up_again)
{
    online(4);
    kernel.peers[a] = peer_of(4);
    kernel.before[MRC_CMD_EV_SET] = [] { kernel.peers[a].set = 9; };
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{2, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(kernel.calls[MRC_CMD_EV_SET], 2); // the first was refused
    EXPECT_EQ(kernel.peers[a].paths[2].state, MRC_NL_EV_DENIED);
}

// ---- events as programs of older versions know them ----

TEST_F(ctl, context_that_says_no_version)
{
    mrc_context_attr none = {};
    mrc_ctl_ev_event event[3];

    use(&none);
    online(3);
    kernel.peers[a] = peer_of(3);
    mrc_cq *cq = queue();
    becomes(a, 1, MRC_NL_EV_ASSUMED_BAD);
    becomes(a, 2, MRC_NL_EV_ASSUMED_BAD);
    ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 3, event), 2);
    EXPECT_EQ(event[1].ev.val[1], 2);
    EXPECT_EQ(event[1].state, MRC_CTL_EV_ASSUMED_BAD);
}

TEST_F(ctl, program_of_1_0_0)
{
    uint8_t value[3];
    uint32_t dropped[3];

    online(5);
    kernel.peers[a] = peer_of(5);
    mrc_cq *cq = queue();
    for (size_t i = 1; i < 5; i++)
        becomes(a, i, MRC_NL_EV_ASSUMED_BAD);
    ASSERT_EQ(old_poll(cq, value, dropped), 3);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(value[i], i + 1);
        EXPECT_EQ(dropped[i], 0u);
    }
}

// Of 1.0.0 for mrc.h alone; and what is bound to the plain name goes by the context's word.
TEST_F(ctl, program_of_two_versions)
{
    mrc_context_attr attr = {MRC_API_VER(1, 0, 0), 0};
    mrc_ctl_ev_event event[3];
    uint8_t value[3];

    use(&attr);
    online(3);
    kernel.peers[a] = peer_of(3);
    mrc_cq *cq = queue(), *other = queue();
    becomes(a, 1, MRC_NL_EV_ASSUMED_BAD);
    becomes(a, 2, MRC_NL_EV_ASSUMED_BAD);
    ASSERT_EQ(mixed_poll(cq, value), 2);
    EXPECT_EQ(value[1], 2);
    std::memset(static_cast<void *>(event), 0x5a, sizeof(event));
    kernel.events = 1;
    ASSERT_EQ(mrc_ctl_poll_ev_event(other, 3, event), 2);
    auto second = reinterpret_cast<const uint8_t *>(event) + offsetof(mrc_ctl_ev_event, state);
    EXPECT_EQ(second[offsetof(mrc_ctl_ev_event, ev) + 1], 2);
}

} // namespace
