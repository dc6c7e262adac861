// SPDX-License-Identifier: GPL-2.0
// test_threads.cc - what several threads do with one context of the controller half, and what two contexts do with one
// device; under ThreadSanitizer.
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "test_ctl.h"

namespace {

constexpr int threads_n = 4;
constexpr int rounds = 50;

class threads : public ctl {
  protected:
    void SetUp() override
    {
        ctl::SetUp();
        online(threads_n);
        kernel.peers[a] = peer_of(threads_n);
        kernel.peers[b] = peer_of(threads_n);
    }
    // At once, each with its number.
    static void at_once(const std::function<void(int)> &f)
    {
        std::vector<std::thread> all;

        for (int i = 0; i < threads_n; i++)
            all.emplace_back(f, i);
        for (auto &t : all)
            t.join();
    }
    static void becomes_bad_and_good(const std::string &gid, size_t i)
    {
        for (uint32_t state : {MRC_NL_EV_ASSUMED_BAD, MRC_NL_EV_GOOD}) {
            std::lock_guard hold(kernel_lock);
            becomes(gid, i, state);
        }
    }
};

bool profile_to(mrc_context *ctx, uint64_t which, mrc_ctl_profile_state to)
{
    mrc_ctl_ev_profile_attr attr = {};

    attr.profile_state = to;
    return !mrc_ctl_modify_ev_profile(ctx, which, &attr, MRC_CTL_EV_PROFILE_STATE);
}

// OFFLINE, of that format, with one EV.
bool profile(mrc_context *ctx, uint64_t which)
{
    mrc_ctl_ev_op_entry ev = {{}, fake_ev(static_cast<int>(which)), MRC_CTL_EV_GOOD, 0};
    mrc_ctl_ev_profile_attr e = {};

    e.profile_state = MRC_CTL_PROFILE_OFFLINE;
    e.ev_mode = MRC_CTL_EV_MODE_EXP;
    e.ev_fmt_profile_id = which;
    e.ev_count = e.ev_min_active = 1;
    e.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, &ev, 1};
    return !mrc_ctl_modify_ev_profile(ctx, which, &e,
                                      MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                                          MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                                          MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP);
}

// What a thread did of it, that is so: its own EV, whoever else is at work.
bool ev_is(mrc_context *ctx, uint64_t which, mrc_ctl_profile_state state)
{
    mrc_ctl_ev_op_entry got = {};
    mrc_ctl_ev_profile_attr attr = {};

    attr.ev_op = {MRC_CTL_EV_OP_QUERY_EV_ARRAY, &got, 1};
    return !mrc_ctl_query_ev_profile(ctx, which, &attr, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_EV_OP) &&
           attr.profile_state == state && attr.ev_op.entry_count == 1 &&
           got.ev.val[1] == static_cast<uint8_t>(which);
}

// From INIT to ONLINE and back.
void lives(mrc_context *ctx, uint64_t which)
{
    EXPECT_TRUE(profile(ctx, which));
    EXPECT_TRUE(profile_to(ctx, which, MRC_CTL_PROFILE_ONLINE));
    EXPECT_TRUE(ev_is(ctx, which, MRC_CTL_PROFILE_ONLINE));
    EXPECT_TRUE(profile_to(ctx, which, MRC_CTL_PROFILE_OFFLINE));
    EXPECT_TRUE(ev_is(ctx, which, MRC_CTL_PROFILE_OFFLINE));
    EXPECT_TRUE(profile_to(ctx, which, MRC_CTL_PROFILE_INIT));
}

TEST_F(threads, profiles_of_their_own)
{
    at_once([&](int i) {
        auto which = static_cast<uint64_t>(10 + i);
        EXPECT_TRUE(format_online(ctx, which));
        for (int n = 0; n < rounds; n++)
            lives(ctx, which);
    });
    EXPECT_EQ(kernel.profiles.size(), 1u); // the one of before
}

// Two contexts, as two libraries in one process have them: neither knows of the other.
TEST_F(threads, contexts_of_their_own)
{
    at_once([&](int i) {
        mrc_context *own = mrc_create_context(&v, nullptr);
        auto which = static_cast<uint64_t>(10 + i);
        ASSERT_NE(own, nullptr);
        EXPECT_TRUE(format_online(own, which));
        for (int n = 0; n < rounds; n++)
            lives(own, which);
        EXPECT_EQ(mrc_destroy_context(own), 0);
    });
    EXPECT_EQ(kernel.profiles.size(), 1u);
}

// Each its own EV of one profile: none undoes another's.
TEST_F(threads, evs_of_one_profile)
{
    online(threads_n + 1); // all of them denied would be refused
    at_once([&](int i) {
        for (int n = 0; n <= 2 * rounds; n++) {
            entry e(i, n % 2 ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED);
            mrc_ctl_ev_profile_attr attr = {};
            attr.ev_op = {MRC_CTL_EV_OP_MODIFY_EV_STATE, &e, 1};
            EXPECT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
        }
    });
    for (const auto &path : kernel.peers[a].paths)
        EXPECT_EQ(path.state, MRC_NL_EV_DENIED);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{true, true, true, true, false}));
}

TEST_F(threads, congestion_profiles_and_hints)
{
    at_once([&](int i) {
        auto which = static_cast<uint64_t>(5 + i);
        mrc_ctl_cc_profile_attr cc = {};
        mrc_qp_hint_init_attr init = {};
        for (int n = 0; n < rounds; n++) {
            cc.profile_state = MRC_CTL_PROFILE_OFFLINE;
            EXPECT_EQ(mrc_ctl_modify_cc_profile(ctx, which, &cc, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM), 0);
            EXPECT_EQ(mrc_ctl_query_cc_profile(ctx, which, &cc, MRC_CTL_CC_PROFILE_STATE), 0);
            EXPECT_EQ(cc.profile_state, MRC_CTL_PROFILE_OFFLINE);
            cc.profile_state = MRC_CTL_PROFILE_INIT;
            EXPECT_EQ(mrc_ctl_modify_cc_profile(ctx, which, &cc, MRC_CTL_CC_PROFILE_STATE), 0);
            mrc_qp_hint *hint = mrc_create_qp_hint(ctx, &init);
            ASSERT_NE(hint, nullptr);
            EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
        }
    });
    EXPECT_EQ(ctx->n_hints, 0u);
}

// Several read one queue while states change: each change is told to one of them, or counted as dropped.
TEST_F(threads, news_is_told_to_one)
{
    std::atomic<uint64_t> known = 0;
    std::atomic<int> writers = 2;
    mrc_cq *cq = queue();
    auto poll = [&] {
        mrc_ctl_ev_event event[4];
        int n = mrc_ctl_poll_ev_event(cq, 4, event);

        EXPECT_GE(n, 0);
        for (int i = 0; i < n; i++)
            known += 1 + event[i].drop_count;
        return n;
    };

    at_once([&](int i) {
        if (i < 2) {
            for (int n = 0; n < 10 * rounds; n++)
                becomes_bad_and_good(i ? a : b, static_cast<size_t>(n % threads_n));
            writers--;
        } else {
            while (writers || poll())
                poll();
        }
    });
    while (poll())
        ;
    // What was dropped is told by the next that finds room.
    kernel.peers[a].turn(0, MRC_NL_EV_ASSUMED_BAD);
    kernel.events++;
    EXPECT_EQ(poll(), 1);
    EXPECT_EQ(known, 2u * 2 * 10 * rounds + 1);
}

TEST_F(threads, queues_of_their_own)
{
    mrc_ctl_ev_profile_attr attr = {};

    attr.ev_event_mask = any_news;
    ASSERT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EVENT_MASK), 0);
    at_once([&](int i) {
        mrc_ctl_ev_event event[4];
        for (int n = 0; n < rounds; n++) {
            mrc_cq *own = mrc_ctl_create_ev_event_cq(ctx, 64, nullptr, nullptr, 0);
            ASSERT_NE(own, nullptr);
            becomes_bad_and_good(a, static_cast<size_t>(i));
            EXPECT_GE(mrc_ctl_poll_ev_event(own, 4, event), 0);
            EXPECT_EQ(mrc_destroy_cq(own), 0);
        }
    });
    EXPECT_EQ(ctx->cqs, nullptr);
}

// Armed by one, told to one of those that wait, acknowledged: as often as it was armed and something came.
TEST_F(threads, channel_wakes_one)
{
    ibv_comp_channel file = {};
    file.fd = eventfd(0, 0);
    mrc_comp_channel channel = {MRC_KIND_CHANNEL, ctx, &file, -1, 0, 0};
    std::atomic<int> told = 0;

    {
        std::lock_guard hold(kernel_lock);
        kernel.news_fd = eventfd(1, EFD_NONBLOCK); // always readable: whoever arms is told
    }
    mrc_cq *cq = mrc_ctl_create_ev_event_cq(ctx, 64, this, &channel, 0);
    ASSERT_NE(cq, nullptr);
    std::thread armer([&] {
        for (int n = 0; n < 2 * rounds; n++) {
            EXPECT_EQ(mrc_req_notify_cq(cq, 0), 0);
            while (told == n)
                std::this_thread::yield();
        }
    });
    std::thread waiters[2];
    for (auto &w : waiters)
        w = std::thread([&] {
            while (told < 2 * rounds) {
                mrc_cq *got;
                void *user;
                ASSERT_EQ(mrc_get_cq_event(&channel, &got, &user), 0);
                EXPECT_EQ(got, cq);
                EXPECT_EQ(user, this);
                mrc_ack_cq_events(got, 1);
                told++;
            }
        });
    armer.join();
    EXPECT_EQ(mrc_req_notify_cq(cq, 0), 0); // one may wait still
    for (auto &w : waiters)
        w.join();
    EXPECT_GE(told, 2 * rounds);
    EXPECT_EQ(mrc_destroy_cq(cq), 0);
    close(channel.poll_fd);
    close(kernel.news_fd);
    close(file.fd);
}

} // namespace
