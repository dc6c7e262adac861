// SPDX-License-Identifier: GPL-2.0
// test_ctl.h - a context of libmrc on fake_kernel.h, and what tests of its controller half say again and
// again.
#pragma once

#include <gtest/gtest.h>
#include <linux/mrc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fake_kernel.h"

extern "C" {
#include "object.h"
}

inline constexpr uint64_t id = 1;
inline constexpr int any_news = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD;
inline const std::string a(16, 'a'), b(16, 'b');

struct entry : mrc_ctl_ev_op_entry {
    entry(int i, mrc_ctl_ev_state to) : mrc_ctl_ev_op_entry{fake_ev(i), {}, to, 0} {}
    entry(int i, int by) : mrc_ctl_ev_op_entry{fake_ev(i), fake_ev(by), MRC_CTL_EV_GOOD, 0} {}
};

// A format of UDP, from INIT to ONLINE. False: refused.
inline bool format_online(mrc_context *ctx, uint64_t which)
{
    mrc_ctl_ev_fmt_field field = {16};
    mrc_ctl_ev_fmt_profile_attr f = {};

    f.profile_state = MRC_CTL_PROFILE_OFFLINE;
    f.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP;
    f.ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, &field, 1};
    if (mrc_ctl_modify_ev_fmt_profile(ctx, which, &f,
                                      MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE |
                                          MRC_CTL_EV_FMT_PROFILE_OP))
        return false;
    f.profile_state = MRC_CTL_PROFILE_ONLINE;
    return !mrc_ctl_modify_ev_fmt_profile(ctx, which, &f, MRC_CTL_EV_FMT_PROFILE_STATE);
}

class ctl : public testing::Test {
  protected:
    ctl()
    {
        kernel = {};
        std::strcpy(device.name, "mrc0");
        v.device = &device;
    }
    ~ctl() override
    {
        for (mrc_cq *cq : queues) {
            mrc_ev_queue_free(cq->events);
            std::free(cq);
        }
        if (ctx)
            mrc_ctl_free(ctx->ctl);
        std::free(ctx);
    }
    void SetUp() override { use(nullptr); }

    // A context that says this of versions.
    void use(mrc_context_attr *attr)
    {
        if (ctx)
            mrc_ctl_free(ctx->ctl);
        std::free(ctx);
        ctx = mrc_create_context(&v, attr);
        ASSERT_NE(ctx, nullptr);
    }

    // Profile 1 with EVs 0 ... n - 1, ONLINE, and a peer that has all of them.
    void online(int n)
    {
        fake_profile p = {MRC_MODE_EXP, MRC_FMT_UDP, 1, {}, {}};
        for (int i = 0; i < n; i++)
            p.evs.push_back(fake_ev(i));
        kernel.profiles[id] = p;
    }
    static fake_peer peer_of(int n, uint8_t dst_len = 0)
    {
        fake_peer p = {id, dst_len, 1, {}, 1, 1, 0, 0};
        for (int i = 0; i < n; i++)
            p.paths.push_back({fake_ev(i), MRC_NL_EV_GOOD});
        return p;
    }
    mrc_cq *queue(int room = 64)
    {
        mrc_ctl_ev_profile_attr attr = {};
        attr.ev_event_mask = any_news;
        EXPECT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EVENT_MASK), 0);
        mrc_cq *cq = mrc_ctl_create_ev_event_cq(ctx, room, nullptr, nullptr, 0);
        EXPECT_NE(cq, nullptr);
        if (cq)
            queues.push_back(cq);
        return cq;
    }
    // Path @i of a peer gets into that state, and the kernel says that something did.
    static void becomes(const std::string &gid, size_t i, uint32_t state)
    {
        kernel.peers[gid].turn(i, state);
        kernel.events++;
    }
    int ev_op(mrc_ctl_ev_op op, std::vector<entry> list, int more = 0, mrc_ctl_profile_state to = {})
    {
        mrc_ctl_ev_profile_attr attr = {};
        attr.ev_op = {op, list.data(), static_cast<int>(list.size())};
        attr.profile_state = to;
        errno = 0;
        return mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP | more);
    }
    int ev_state(mrc_ctl_profile_state to)
    {
        mrc_ctl_ev_profile_attr attr = {};
        attr.profile_state = to;
        errno = 0;
        return mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_STATE);
    }
    int fmt_state(mrc_ctl_profile_state to)
    {
        mrc_ctl_ev_fmt_profile_attr attr = {};
        attr.profile_state = to;
        errno = 0;
        return mrc_ctl_modify_ev_fmt_profile(ctx, id, &attr, MRC_CTL_EV_FMT_PROFILE_STATE);
    }
    // A format, ONLINE; a profile of EXP of it, OFFLINE, with EVs 0 ... n - 1.
    void offline(int n, uint32_t min_active)
    {
        ASSERT_TRUE(format_online(ctx, id));

        std::vector<mrc_ctl_ev_op_entry> evs;
        for (int i = 0; i < n; i++)
            evs.push_back({{}, fake_ev(i), MRC_CTL_EV_GOOD, 0});
        mrc_ctl_ev_profile_attr e = {};
        e.profile_state = MRC_CTL_PROFILE_OFFLINE;
        e.ev_mode = MRC_CTL_EV_MODE_EXP;
        e.ev_fmt_profile_id = id;
        e.ev_count = static_cast<uint32_t>(n);
        e.ev_min_active = min_active;
        e.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, evs.data(), n};
        ASSERT_EQ(mrc_ctl_modify_ev_profile(
                      ctx, id, &e,
                      MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                          MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                          MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP),
                  0);
    }
    // Second bytes of the EVs that the profile has.
    std::vector<int> evs_of(int n)
    {
        std::vector<mrc_ctl_ev_op_entry> got(static_cast<size_t>(n));
        mrc_ctl_ev_profile_attr attr = {};
        std::vector<int> out;
        attr.ev_op = {MRC_CTL_EV_OP_QUERY_EV_ARRAY, got.data(), n};
        EXPECT_EQ(mrc_ctl_query_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
        for (int i = 0; i < std::min(n, attr.ev_op.entry_count); i++)
            out.push_back(got[static_cast<size_t>(i)].ev.val[1]);
        return out;
    }

    ibv_device device = {};
    ibv_context v = {};
    mrc_context *ctx = nullptr;
    std::vector<mrc_cq *> queues;
};
