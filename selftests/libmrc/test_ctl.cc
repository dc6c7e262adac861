// SPDX-License-Identifier: GPL-2.0
// test_ctl.cc - profiles and EVs of the controller half, with a kernel that does what a test needs at the
// moment it needs it: path sets that are replaced in between, peers that go.
#include "test_ctl.h"

namespace {

// ---- EVs denied ----

// Between the list of EVs and what follows from it, the path set becomes another one.
TEST_F(ctl, denied_is_the_ev_that_was_meant)
{
    online(4);
    kernel.peers[a] = peer_of(4);
    kernel.before[MRC_CMD_EV_SET] = [] {
        auto &paths = kernel.peers[a].paths;
        paths.insert(paths.begin(), {fake_ev(77), MRC_NL_EV_GOOD});
    };
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{2, MRC_CTL_EV_DENIED}}), 0);
    for (const auto &path : kernel.peers[a].paths)
        EXPECT_EQ(path.state, path.ev.val[1] == 2 ? MRC_NL_EV_DENIED : MRC_NL_EV_GOOD)
            << int(path.ev.val[1]);
}

TEST_F(ctl, peer_that_goes_is_no_obstacle)
{
    online(4);
    kernel.peers[a] = kernel.peers[b] = peer_of(4);
    kernel.before[MRC_CMD_EV_SET] = [] { kernel.peers.erase(a); };
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{2, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(kernel.peers[b].paths[2].state, MRC_NL_EV_DENIED);
}

TEST_F(ctl, last_peer_that_goes_leaves_it_to_the_profile)
{
    online(4);
    kernel.peers[a] = peer_of(4);
    kernel.before[MRC_CMD_EV_SET] = [] { kernel.peers.erase(a); };
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{2, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, false, true, false}));
}

// The list costs one look and one order for each peer.
TEST_F(ctl, long_list_of_states_is_one_call)
{
    std::vector<entry> list;

    online(100);
    kernel.peers[a] = kernel.peers[b] = peer_of(100);
    for (int i = 0; i < 64; i++)
        list.push_back({i, MRC_CTL_EV_DENIED});
    list.push_back({3, MRC_CTL_EV_GOOD}); // in turn: the later word counts
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, list), 0);
    EXPECT_EQ(kernel.calls[MRC_CMD_EV_GET], 1);
    EXPECT_EQ(kernel.calls[MRC_CMD_EV_SET], 2);
    for (size_t i = 0; i < 100; i++)
        EXPECT_EQ(kernel.peers[b].paths[i].state,
                  i < 64 && i != 3 ? MRC_NL_EV_DENIED : MRC_NL_EV_GOOD);
}

TEST_F(ctl, states_before_the_refused_one_stay)
{
    online(4);
    kernel.peers[a] = peer_of(4);
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE,
                    {{1, MRC_CTL_EV_DENIED}, {99, MRC_CTL_EV_DENIED}, {2, MRC_CTL_EV_DENIED}}),
              -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(kernel.peers[a].paths[1].state, MRC_NL_EV_DENIED);
    EXPECT_EQ(kernel.peers[a].paths[2].state, MRC_NL_EV_GOOD);

    // One that no path set has: the peer's is of ordinary IP, a part of the profile.
    kernel.peers[a].paths.pop_back();
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE,
                    {{1, MRC_CTL_EV_GOOD}, {3, MRC_CTL_EV_DENIED}, {2, MRC_CTL_EV_DENIED}}),
              0);
    EXPECT_EQ(kernel.peers[a].paths[1].state, MRC_NL_EV_GOOD);
    EXPECT_EQ(kernel.peers[a].paths[2].state, MRC_NL_EV_DENIED);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, false, true, true}));
}

// ---- denied by the profile ----

TEST_F(ctl, denied_before_there_is_a_peer)
{
    mrc_ctl_ev_op_entry one[2] = {};
    mrc_ctl_ev_profile_attr attr = {};
    auto states = [&] {
        one[0].ev = fake_ev(0);
        one[1].ev = fake_ev(1);
        attr.ev_op = {MRC_CTL_EV_OP_QUERY_EV_STATE, one, 2};
        EXPECT_EQ(mrc_ctl_query_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
        return std::pair(one[0].state, one[1].state);
    };
    const auto one_denied = std::pair(MRC_CTL_EV_GOOD, MRC_CTL_EV_DENIED);

    offline(3, 1);
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{1, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(states(), one_denied);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, true, false}));
    EXPECT_EQ(states(), one_denied);
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{1, MRC_CTL_EV_GOOD}, {2, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, false, true}));
    EXPECT_EQ(states(), std::pair(MRC_CTL_EV_GOOD, MRC_CTL_EV_GOOD));
    // One that is denied from the start; and through OFFLINE.
    mrc_ctl_ev_op_entry in = {fake_ev(0), fake_ev(9), MRC_CTL_EV_DENIED, 0};
    attr.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, &in, 1};
    ASSERT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{true, false, true}));
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_OFFLINE), 0);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{true, false, true}));
}

// What the peer refuses, the profile does not keep either.
TEST_F(ctl, refused_by_a_peer_is_not_remembered)
{
    online(3);
    kernel.peers[a] = peer_of(3);
    kernel.fails[MRC_CMD_EV_SET] = EBUSY;
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{1, MRC_CTL_EV_DENIED}}), -1);
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, false, false}));
}

TEST_F(ctl, long_list_of_replacements_is_one_profile)
{
    online(4);
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_REPLACE_EV, {{0, 50}, {1, 51}, {50, 52}}), 0);
    EXPECT_EQ(kernel.calls[MRC_CMD_PROFILE_SET], 1);
    EXPECT_EQ(evs_of(4), (std::vector<int>{52, 51, 2, 3}));
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_REPLACE_EV, {{2, 53}, {99, 54}, {3, 55}}), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(evs_of(4), (std::vector<int>{52, 51, 53, 3}));
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_REPLACE_EV, {{99, 54}}), -1);
    EXPECT_EQ(kernel.calls[MRC_CMD_PROFILE_SET], 2); // nothing to say
}

// ---- profiles for single destinations have the same id and are not these ----

TEST_F(ctl, profile_of_one_destination_is_another)
{
    mrc_ctl_ev_event event[4];

    online(4);
    kernel.peers[a] = peer_of(4, 128);
    kernel.peers[b] = peer_of(4);
    kernel.peers[b].qps = 0;
    mrc_cq *cq = queue();
    becomes(a, 0, MRC_NL_EV_ASSUMED_BAD);
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 0);
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{2, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(kernel.peers[a].paths[2].state, MRC_NL_EV_GOOD);
    EXPECT_EQ(kernel.peers[b].paths[2].state, MRC_NL_EV_DENIED);
    EXPECT_EQ(ev_state(MRC_CTL_PROFILE_OFFLINE), 0); // only the other one has QPs
    EXPECT_TRUE(kernel.profiles.empty());
}

TEST_F(ctl, profile_in_use_stays)
{
    online(4);
    kernel.peers[a] = peer_of(4);
    EXPECT_EQ(ev_state(MRC_CTL_PROFILE_OFFLINE), -1);
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(kernel.profiles.size(), 1u);
}

// QPs that name the profile have a path set of their own, beside that of the device's default.
TEST_F(ctl, what_qps_name_is_told_ordered_and_in_use)
{
    mrc_ctl_ev_event event[4];

    online(4);
    kernel.peers[a] = peer_of(4);
    kernel.peers[a].profile = id + 1;
    kernel.named[{a, id}] = peer_of(4);
    mrc_cq *cq = queue();
    kernel.named[{a, id}].turn(1, MRC_NL_EV_ASSUMED_BAD);
    kernel.events++;
    ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    EXPECT_EQ(event[0].ev.val[1], 1);
    EXPECT_EQ(event[0].profile_id, id);
    ASSERT_EQ(ev_op(MRC_CTL_EV_OP_MODIFY_EV_STATE, {{2, MRC_CTL_EV_DENIED}}), 0);
    EXPECT_EQ(kernel.peers[a].paths[2].state, MRC_NL_EV_GOOD);
    EXPECT_EQ((kernel.named[{a, id}].paths[2].state), MRC_NL_EV_DENIED);
    EXPECT_EQ(ev_state(MRC_CTL_PROFILE_OFFLINE), -1);
    EXPECT_EQ(errno, EBUSY);
    kernel.named.clear();
    EXPECT_EQ(ev_state(MRC_CTL_PROFILE_OFFLINE), 0);
}

// ---- fields ----

TEST_F(ctl, new_fields_make_as_many_as_they_make)
{
    mrc_ctl_ev_field field = {16, 0xc000, 0, 15, 15};
    mrc_ctl_ev_profile_attr attr = {};

    kernel.profiles[id] = {MRC_MODE_GEN, MRC_FMT_UDP, 1, {}, {{16, 0xc000, 0, 7, 7}}, {16}};
    for (int i = 0; i < 8; i++)
        kernel.profiles[id].evs.push_back(fake_ev(i));
    for (uint32_t last : {15u, 3u}) {
        field.max_val = last;
        attr.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, &field, 1};
        ASSERT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
        EXPECT_EQ(kernel.profiles[id].evs.size(), last + 1);
        ASSERT_EQ(mrc_ctl_query_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_COUNT), 0);
        EXPECT_EQ(attr.ev_count, last + 1);
    }
}

// The kernel has the new fields: that it does not tell them is no refusal (fuzz_libmrc).
TEST_F(ctl, fields_are_set_though_they_cannot_be_read_back)
{
    mrc_ctl_ev_field field = {16, 0xc000, 0, 3, 15};
    mrc_ctl_ev_profile_attr attr = {};

    kernel.profiles[id] = {MRC_MODE_GEN, MRC_FMT_UDP, 1, {}, {{16, 0xc000, 0, 7, 7}}, {16}};
    kernel.before[MRC_CMD_PROFILE_SET] = [] { kernel.fails[MRC_CMD_PROFILE_GET] = ENOMEM; };
    attr.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, &field, 1};
    EXPECT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
    EXPECT_EQ(kernel.profiles[id].evs.size(), 4u);
    ASSERT_EQ(mrc_ctl_query_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_COUNT), 0);
    EXPECT_EQ(attr.ev_count, 4u);
}

// ---- states ----

// What was done of the list of EVs stays, though the state is refused: three of two may not be bad.
TEST_F(ctl, replaced_evs_stay_when_the_state_is_refused)
{
    offline(2, 3);
    EXPECT_EQ(ev_op(MRC_CTL_EV_OP_REPLACE_EV, {{0, 60}, {1, 61}}, MRC_CTL_EV_PROFILE_STATE,
                    MRC_CTL_PROFILE_ONLINE),
              -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_TRUE(kernel.profiles.empty());
    EXPECT_EQ(evs_of(2), (std::vector<int>{60, 61}));
}

TEST_F(ctl, format_is_free_when_the_profile_was_taken_away)
{
    offline(2, 1);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(fmt_state(MRC_CTL_PROFILE_OFFLINE), -1);
    EXPECT_EQ(errno, EBUSY);
    kernel.profiles.clear(); // by another controller
    EXPECT_EQ(fmt_state(MRC_CTL_PROFILE_OFFLINE), 0);
}

// ---- congestion control: what mrc_ctl.h has no words for stays ----

TEST_F(ctl, cc_keeps_trimming_and_window)
{
    mrc_ctl_cc_nscc_cfg cfg = {};
    mrc_ctl_cc_profile_attr attr = {};

    kernel.ccs[id] = {"uet-1.0-nscc", 300000, 1, 0};
    cfg.base_rtt = 9000;
    attr.cc_config = &cfg;
    ASSERT_EQ(mrc_ctl_modify_cc_profile(ctx, id, &attr, MRC_CTL_CC_PROFILE_CONFIG), 0);
    EXPECT_EQ(kernel.ccs[id].base_rtt, 9000u);
    EXPECT_EQ(kernel.ccs[id].window, 300000u);
    EXPECT_EQ(kernel.ccs[id].trimming, 1u);
}

TEST_F(ctl, cc_keeps_its_window_through_offline)
{
    mrc_ctl_cc_profile_attr attr = {};

    kernel.ccs[id] = {"fixed", 70000, 0, 0};
    for (auto state : {MRC_CTL_PROFILE_OFFLINE, MRC_CTL_PROFILE_ONLINE}) {
        attr.profile_state = state;
        ASSERT_EQ(mrc_ctl_modify_cc_profile(ctx, id, &attr, MRC_CTL_CC_PROFILE_STATE), 0);
    }
    EXPECT_EQ(kernel.ccs[id].window, 70000u);
    EXPECT_EQ(mrc_ctl_modify_cc_profile(ctx, id, &attr, MRC_CTL_CC_PROFILE_CONFIG), 0);
    EXPECT_EQ(kernel.ccs[id].window, 70000u);
}

} // namespace
