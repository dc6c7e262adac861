// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_in_use.c - an EV profile that a QP to another host uses: EVs denied and allowed.
 *
 *	MRC_TEST_DEV=mrc0 mrc_in_use
 *
 * EV profile 1 is for any destination, has EVs 50000 to 50002, and is the default of the device, which is
 * that of eth1.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "kselftest_harness.h"
#include "expect.h"
#include <mrc_ctl.h>
#include "vcommon.h"

FIXTURE(in_use) {
	struct vc_dev dev;
	struct mrc_context *ctx[2];	/* two controllers */
};

FIXTURE_SETUP(in_use)
{
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	int i;

	vc_open(&self->dev, &opts);
	for (i = 0; i < 2; i++) {
		self->ctx[i] = mrc_create_context(self->dev.ctx, NULL);
		ASSERT_NE(NULL, self->ctx[i]);
	}
}

FIXTURE_TEARDOWN(in_use)
{
	EXPECT_EQ(0, mrc_destroy_context(self->ctx[0]));
	EXPECT_EQ(0, mrc_destroy_context(self->ctx[1]));
	vc_close(&self->dev);
}

TEST_F_TIMEOUT(in_use, deny_and_allow, LIMIT_S)
{
	struct mrc_ctl_ev_op_entry list[64], one = {};
	struct mrc_ctl_ev_profile_attr e = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, list, 64 },
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
	};
	struct mrc_context *ctx = self->ctx[0];
	int i, n;

	ASSERT_EQ(0, mrc_ctl_query_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	n = e.ev_op.entry_count;
	ASSERT_LT(1, n);
	one.ev = list[1].ev;
	for (i = 0; i < 2; i++) {
		one.state = i ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED;
		e.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
		e.ev_op.entries = &one;
		e.ev_op.entry_count = 1;
		ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
		one.state = MRC_CTL_EV_UNKNOWN;
		e.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
		ASSERT_EQ(0, mrc_ctl_query_ev_profile(self->ctx[1], 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
		EXPECT_EQ(i ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED, one.state);
		EXPECT_EQ(0, system(i ? "mrcctl -j peer show | jq -e 'all(.[]; .denied == 0)'" :
				    "mrcctl -j peer show | jq -e 'any(.[]; .denied == 1)'"));
	}
	one.state = MRC_CTL_EV_ASSUMED_BAD;
	e.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	one.ev.val[1] ^= 0x55;
	one.state = MRC_CTL_EV_DENIED;
	MINUS(ENOENT, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	MINUS(EBUSY, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_STATE));
}

/* One event a change that is wanted: none when an EV is denied, one when it is GOOD again. */
TEST_F_TIMEOUT(in_use, events, LIMIT_S)
{
	struct mrc_ctl_ev_op_entry list[64], all[2] = {};
	struct mrc_ctl_ev_profile_attr e = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, list, 64 },
		.ev_event_mask = MRC_CTL_EV_GOOD,
	};
	struct mrc_context *ctx = self->ctx[0];
	struct mrc_ctl_ev_event event[4] = {};
	struct mrc_cq *cq, *small;
	int i;

	ASSERT_EQ(0, mrc_ctl_query_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	ASSERT_LT(2, e.ev_op.entry_count);
	cq = mrc_ctl_create_ev_event_cq(ctx, 16, NULL, NULL, 0);
	small = mrc_ctl_create_ev_event_cq(ctx, 1, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_NE(NULL, small);
	ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EVENT_MASK));
	e.ev_op = (typeof(e.ev_op)) { MRC_CTL_EV_OP_MODIFY_EV_STATE, all, 2 };
	for (i = 0; i < 2; i++)
		all[i] = (struct mrc_ctl_ev_op_entry) { .ev = list[i].ev, .state = MRC_CTL_EV_DENIED };
	ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	EXPECT_EQ(0, mrc_ctl_poll_ev_event(cq, 4, event));
	EXPECT_EQ(0, mrc_ctl_poll_ev_event(small, 4, event));
	all[0].state = all[1].state = MRC_CTL_EV_GOOD;
	ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	ASSERT_EQ(2, mrc_ctl_poll_ev_event(cq, 4, event));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, event[i].profile_id);
		EXPECT_EQ(MRC_CTL_EV_GOOD, event[i].state);
		EXPECT_EQ(0, event[i].drop_count);
		EXPECT_EQ(0, memcmp(&list[i].ev, &event[i].ev, sizeof(list[i].ev)));
	}
	EXPECT_EQ(0, mrc_ctl_poll_ev_event(cq, 4, event));

	/* The small queue lost one, and says so with the next that it has room for. */
	ASSERT_EQ(1, mrc_ctl_poll_ev_event(small, 4, event));
	EXPECT_EQ(0, event[0].drop_count);
	for (i = 0; i < 2; i++) {
		all[0].state = i ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED;
		e.ev_op.entry_count = 1;
		ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
		EXPECT_EQ(i, mrc_ctl_poll_ev_event(small, 4, event));
	}
	EXPECT_EQ(1, event[0].drop_count);
	EXPECT_EQ(0, mrc_destroy_cq(cq));
	EXPECT_EQ(0, mrc_destroy_cq(small));
}

/*
 * The QP's path set becomes one of profiles for prefixes, of the same id: nobody uses the one for any
 * destination then, and what is said of its EVs is not said of theirs.
 */
static int set_state(struct mrc_context *ctx, const struct mrc_ctl_ev *ev, enum mrc_ctl_ev_state state)
{
	struct mrc_ctl_ev_op_entry one = { .ev = *ev, .state = state };
	struct mrc_ctl_ev_profile_attr e = { .ev_op = { MRC_CTL_EV_OP_MODIFY_EV_STATE, &one, 1 } };

	return mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP);
}

/* Who waits for news sleeps until there is some: other things that the kernel tells of do not wake it. */
TEST_F_TIMEOUT(in_use, events_by_channel, LIMIT_S)
{
	struct mrc_ctl_ev_op_entry list[64];
	struct mrc_ctl_ev_profile_attr e = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, list, 64 },
		.ev_event_mask = MRC_CTL_EV_GOOD,
	};
	struct mrc_ctl_port_attr port = { MRC_CTL_PORT_ADMIN_ENABLED };
	struct mrc_context *ctx = self->ctx[0];
	struct mrc_comp_channel *channel;
	struct mrc_ctl_ev_event event[4];
	struct pollfd pfd = { .events = POLLIN };
	struct mrc_cq *cq, *got = NULL;
	void *user = NULL;
	int i;

	ASSERT_EQ(0, mrc_ctl_query_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EVENT_MASK));
	ASSERT_EQ(0, mrc_create_comp_channel(ctx, &channel));
	ASSERT_EQ(0, mrc_get_comp_channel_fd(channel, &pfd.fd));
	cq = mrc_ctl_create_ev_event_cq(ctx, 16, self, channel, 0);
	ASSERT_NE(NULL, cq);
	EXPECT_EQ(EBUSY, mrc_destroy_comp_channel(channel));
	ASSERT_EQ(0, mrc_req_notify_cq(cq, 0));
	ASSERT_EQ(0, system("mrcctl dev set dev eth1 hop-limit 63 && mrcctl dev set dev eth1 hop-limit 64"));
	EXPECT_EQ(0, mrc_ctl_modify_port(ctx, 1, &port, MRC_CTL_PORT_ADMIN_STATE));
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	/* Denied, which the mask does not have, then GOOD. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, set_state(self->ctx[1], &list[0].ev, i ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED));
		ASSERT_EQ(1, poll(&pfd, 1, 30000));
		ASSERT_EQ(0, mrc_get_cq_event(channel, &got, &user));
		EXPECT_EQ(cq, got);
		EXPECT_EQ((void *)self, user);
		EXPECT_EQ(0, poll(&pfd, 1, 0));
		EXPECT_EQ(i, mrc_ctl_poll_ev_event(cq, 4, event));
		ASSERT_EQ(0, mrc_req_notify_cq(cq, 0));
	}
	EXPECT_EQ(EBUSY, mrc_destroy_cq(cq));
	mrc_ack_cq_events(cq, 2);
	EXPECT_EQ(0, mrc_destroy_cq(cq));
	EXPECT_EQ(0, mrc_destroy_comp_channel(channel));
}

TEST_F_TIMEOUT(in_use, profile_of_a_prefix, LIMIT_S)
{
	struct mrc_ctl_ev_op_entry one = { .state = MRC_CTL_EV_DENIED };
	struct mrc_ctl_ev_profile_attr e = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, NULL, 0 },
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
	};
	struct mrc_ctl_ev_op_entry list[64];
	struct mrc_context *ctx = self->ctx[0];

	e.ev_op.entries = list;
	e.ev_op.entry_count = 64;
	ASSERT_EQ(0, mrc_ctl_query_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	one.ev = list[0].ev;
	ASSERT_EQ(0, system("for half in ::/1 8000::/1; do mrcctl profile set dev eth1 id 1 dst $half "
			    "fmt udp ev 1 50000 ev 1 50007 || exit; done"));
	e.ev_op = (typeof(e.ev_op)) { MRC_CTL_EV_OP_MODIFY_EV_STATE, &one, 1 };
	/* The profile is nobody's now: it remembers what is denied, and no peer's path is. */
	EXPECT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_EV_OP));
	EXPECT_EQ(0, system("mrcctl -j profile show | jq -e 'any(.[]; .id == 1 and .dst == null and .ev[0].denied)'"));
	EXPECT_EQ(0, system("mrcctl -j peer show | jq -e 'all(.[]; .denied == 0)'"));
	EXPECT_EQ(0, mrc_ctl_modify_ev_profile(ctx, 1, &e, MRC_CTL_EV_PROFILE_STATE));
	EXPECT_NE(0, system("mrcctl -j profile show | jq -e 'any(.[]; .id == 1 and .dst == null)'"));
	ASSERT_EQ(0, system("mrcctl profile set dev eth1 id 1 fmt udp ev 1 50000 ev 1 50001 ev 1 50002"));
	ASSERT_EQ(0, system("for half in ::/1 8000::/1; do mrcctl profile del dev eth1 id 1 dst $half "
			    "|| exit; done"));
	MINUS(EBUSY, mrc_ctl_modify_ev_profile(self->ctx[1], 1, &e, MRC_CTL_EV_PROFILE_STATE));
}

TEST_HARNESS_MAIN
