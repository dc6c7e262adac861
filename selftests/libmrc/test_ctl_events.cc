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
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), -1);
    ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    EXPECT_EQ(event[0].ev.val[1], 3);
    int looks = kernel.calls[MRC_CMD_EV_GET];
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 0);
    EXPECT_EQ(kernel.calls[MRC_CMD_EV_GET], looks); // no news, no look
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
