// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_controller.c - the controller half of libmrc: states of profiles, what each needs, who sees it.
 *
 *	MRC_TEST_DEV=mrc0 mrc_controller
 *
 * The device has port 1 alone.
 */
#include <errno.h>
#include <linux/capability.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "expect.h"
#include "mpair.h"

#define ID	4100
#define COUNT	4

FIXTURE(controller) {
	struct mpair p;
	struct mrc_context *other;	/* of the same device: another controller */
};

FIXTURE_SETUP(controller)
{
	mpair_open(&self->p);
	self->other = mrc_create_context(self->p.dev.ctx, NULL);
	ASSERT_NE(NULL, self->other);
}

FIXTURE_TEARDOWN(controller)
{
	EXPECT_EQ(0, mrc_destroy_context(self->other));
	mpair_close(&self->p);
}

/* ---- devices and ports ---- */

TEST_F_TIMEOUT(controller, device, LIMIT_S)
{
	struct mrc_ctl_device_attr a;
	uint32_t now, last, vendor;
	int supported = 0;

	mrc_ctl_query_version(&now, &last, &vendor, NULL);
	EXPECT_EQ(MRC_CTL_API_VER(1, 0, 1), now);
	EXPECT_EQ(0, last);
	EXPECT_EQ(MRC_CTL_API_VER(1, 0, 0), vendor);
	memset(&a, 0xff, sizeof(a));
	ASSERT_EQ(0, mrc_ctl_query_device_ex(self->p.dev.ctx, self->p.ctx, &a, &supported));
	EXPECT_EQ(1, supported);
	EXPECT_EQ(MRC_CTL_PROTOCOL_VERSION_1, a.mrc_ctl_protocol_version);
	EXPECT_EQ(4096, a.ev.ev_max_count_profile);
	EXPECT_GE(a.ev.ev_max_count, a.ev.ev_free_count);
	EXPECT_EQ(256, a.ev.ev_max_width);
	EXPECT_EQ(7, a.ev.ev_fmt_mode_mask);
	EXPECT_EQ(7, a.ev.ev_mode_mask);
	EXPECT_EQ(1, a.ev.ev_count_align);
	EXPECT_STREQ("uet-1.0-nscc", a.cc.algorithms[0]);
	EXPECT_EQ(NULL, a.cc.algorithms[1]);
	EXPECT_EQ(1 << 1, a.phy_port_mask & 3);	/* port 1, and bit 0 is none */
	EXPECT_EQ(MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE |
		  MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE | MRC_CTL_OPT_CAP_EV_EVENT |
		  MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT | MRC_CTL_OPT_CAP_EP_OP_EV_PROBE, a.opt_attr);
	EXPECT_EQ(0, mrc_ctl_query_device(self->p.dev.ctx, &a));
}

/* Nobody is asked whom this host does not know. */
TEST_F_TIMEOUT(controller, endpoint_of_nobody, LIMIT_S)
{
	struct mrc_ctl_ep_req req = { .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
				      .req_ev = { .val = { 0xc3, 0x50 }, .port = 1 } };
	struct mrc_ctl_ep_rsp rsp;
	int n = 1;

	req.dgid.raw[0] = 0xfd;
	MINUS(ENOENT, mrc_ctl_ep_batch_send_wait(self->p.ctx, 0, MRC_CTL_EP_OP_EV_PROBE, &req, 1,
						 1000000, &rsp, &n));
	EXPECT_EQ(0, n);
	req.req_ev.port = 9;
	MINUS(EINVAL, mrc_ctl_ep_batch_send_wait(self->p.ctx, 0, MRC_CTL_EP_OP_EV_PROBE, &req, 1,
						 1000000, &rsp, &n));
}

/* The only port: without it the RDMA port is down. */
TEST_F_TIMEOUT(controller, ports, LIMIT_S)
{
	struct mrc_ctl_port_attr a = { MRC_CTL_PORT_ADMIN_DISABLED };
	struct ibv_port_attr port;

	MINUS(EINVAL, mrc_ctl_query_port(self->p.ctx, 0, &a, MRC_CTL_PORT_ADMIN_STATE));
	MINUS(EINVAL, mrc_ctl_query_port(self->p.ctx, 33, &a, MRC_CTL_PORT_ADMIN_STATE));
	MINUS(EINVAL, mrc_ctl_query_port(self->p.ctx, 1, NULL, MRC_CTL_PORT_ADMIN_STATE));
	MINUS(EINVAL, mrc_ctl_query_port(self->p.ctx, 1, &a, 2));
	ASSERT_EQ(0, mrc_ctl_query_port(self->p.ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	EXPECT_EQ(MRC_CTL_PORT_ADMIN_ENABLED, a.port_admin_state);
	a.port_admin_state = (enum mrc_ctl_port_admin_state)7;
	MINUS(EINVAL, mrc_ctl_modify_port(self->p.ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	a.port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED;
	ASSERT_EQ(0, mrc_ctl_modify_port(self->p.ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	ASSERT_EQ(0, ibv_query_port(self->p.dev.ctx, 1, &port));
	EXPECT_EQ(IBV_PORT_DOWN, port.state);
	ASSERT_EQ(0, mrc_ctl_query_port(self->other, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	EXPECT_EQ(MRC_CTL_PORT_ADMIN_DISABLED, a.port_admin_state);
	a.port_admin_state = MRC_CTL_PORT_ADMIN_ENABLED;
	ASSERT_EQ(0, mrc_ctl_modify_port(self->p.ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	ASSERT_EQ(0, ibv_query_port(self->p.dev.ctx, 1, &port));
	EXPECT_EQ(IBV_PORT_ACTIVE, port.state);
}

/* ---- states, of each kind of profile ---- */

enum kind { FMT, EV, CC, KINDS };

static int set_state(struct mrc_context *ctx, enum kind kind, enum mrc_ctl_profile_state to)
{
	struct mrc_ctl_ev_fmt_profile_attr f = { .profile_state = to };
	struct mrc_ctl_ev_profile_attr e = { .profile_state = to };
	struct mrc_ctl_cc_profile_attr c = { .profile_state = to };

	if (kind == FMT)
		return mrc_ctl_modify_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_STATE);
	if (kind == EV)
		return mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_STATE);
	return mrc_ctl_modify_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_STATE);
}

static int get_state(struct mrc_context *ctx, enum kind kind)
{
	struct mrc_ctl_ev_fmt_profile_attr f;
	struct mrc_ctl_ev_profile_attr e;
	struct mrc_ctl_cc_profile_attr c;

	if (kind == FMT)
		return mrc_ctl_query_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_STATE) ?
			-1 : (int)f.profile_state;
	if (kind == EV)
		return mrc_ctl_query_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_STATE) ?
			-1 : (int)e.profile_state;
	return mrc_ctl_query_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_STATE) ?
		-1 : (int)c.profile_state;
}

static struct mrc_ctl_ev ev_number(int i)
{
	struct mrc_ctl_ev ev = { .port = 1 };

	ev.val[0] = 0xc0;
	ev.val[1] = (uint8_t)i;
	return ev;
}

/* To OFFLINE with all that it and ONLINE need; an EV profile's format is made ONLINE. */
static int make(struct mrc_context *ctx, enum kind kind)
{
	static const struct mrc_ctl_cc_nscc_cfg cfg;
	struct mrc_ctl_ev_fmt_field field = { 16 };
	struct mrc_ctl_ev_fmt_profile_attr f = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE, .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, &field, 1 },
	};
	struct mrc_ctl_ev_op_entry entries[COUNT] = {};
	struct mrc_ctl_ev_profile_attr e = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE, .ev_mode = MRC_CTL_EV_MODE_EXP,
		.ev_fmt_profile_id = ID, .ev_count = COUNT, .ev_min_active = 1,
		.ev_event_mask = MRC_CTL_EV_GOOD,
		.ev_op = { MRC_CTL_EV_OP_REPLACE_EV, entries, COUNT },
	};
	struct mrc_ctl_cc_profile_attr c = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE, .algorithm = "uet-1.0-nscc",
		.cc_config = &cfg,
	};
	int i;

	if (kind == CC)
		return mrc_ctl_modify_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_STATE |
						 MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG);
	if (mrc_ctl_modify_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_STATE |
					  MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP))
		return -1;
	if (kind == FMT)
		return 0;
	for (i = 0; i < COUNT; i++) {
		entries[i].ev_new = ev_number(i);
		entries[i].state = MRC_CTL_EV_GOOD;
	}
	if (set_state(ctx, FMT, MRC_CTL_PROFILE_ONLINE))
		return -1;
	return mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_STATE |
					 MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
					 MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
					 MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP);
}

/* To INIT from wherever it is. */
static int unmake(struct mrc_context *ctx, enum kind kind)
{
	if (get_state(ctx, kind) == MRC_CTL_PROFILE_ONLINE &&
	    set_state(ctx, kind, MRC_CTL_PROFILE_OFFLINE))
		return -1;
	if (get_state(ctx, kind) == MRC_CTL_PROFILE_OFFLINE &&
	    set_state(ctx, kind, MRC_CTL_PROFILE_INIT))
		return -1;
	return kind == EV ? unmake(ctx, FMT) : 0;
}

/* From each state to each. */
TEST_F_TIMEOUT(controller, transitions, LIMIT_S)
{
	static const bool allowed[3][3] = {
		[MRC_CTL_PROFILE_INIT] = { true, false, false },	/* nothing is known of it */
		[MRC_CTL_PROFILE_OFFLINE] = { true, true, true },
		[MRC_CTL_PROFILE_ONLINE] = { false, true, true },
	};
	struct mrc_context *ctx = self->p.ctx;
	int kind, from, to, ret;

	for (kind = 0; kind < KINDS; kind++) {
		for (from = 0; from < 9; from++) {
			to = from % 3;
			ASSERT_EQ(0, unmake(ctx, kind));
			EXPECT_EQ(MRC_CTL_PROFILE_INIT, get_state(ctx, kind));
			if (from / 3 >= MRC_CTL_PROFILE_OFFLINE)
				ASSERT_EQ(0, make(ctx, kind));
			if (from / 3 == MRC_CTL_PROFILE_ONLINE)
				ASSERT_EQ(0, set_state(ctx, kind, MRC_CTL_PROFILE_ONLINE));
			EXPECT_EQ(from / 3, get_state(ctx, kind));
			errno = 0;
			ret = set_state(ctx, kind, to);
			EXPECT_EQ(allowed[from / 3][to] ? 0 : -1, ret) {
				TH_LOG("kind %d from %d to %d", kind, from / 3, to);
			}
			EXPECT_EQ(allowed[from / 3][to] ? 0 : EINVAL, errno);
			EXPECT_EQ(ret ? from / 3 : to, get_state(ctx, kind));
		}
		ASSERT_EQ(0, unmake(ctx, kind));
	}
	MINUS(EINVAL, set_state(ctx, EV, 3));
}

/* ---- EVs ---- */

static int ev_array(struct mrc_context *ctx, struct mrc_ctl_ev_op_entry *entries, int *n)
{
	struct mrc_ctl_ev_profile_attr e = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, *n },
	};
	int ret = mrc_ctl_query_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_EV_OP);

	*n = e.ev_op.entry_count;
	return ret;
}

static int ev_replace(struct mrc_context *ctx, struct mrc_ctl_ev ev, struct mrc_ctl_ev by,
		      uint32_t flags)
{
	struct mrc_ctl_ev_op_entry entry = { ev, by, MRC_CTL_EV_GOOD, flags };
	struct mrc_ctl_ev_profile_attr e = { .ev_op = { MRC_CTL_EV_OP_REPLACE_EV, &entry, 1 } };

	return mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_EV_OP);
}

TEST_F_TIMEOUT(controller, explicit_evs, LIMIT_S)
{
	struct mrc_ctl_ev_op_entry got[COUNT] = {};
	struct mrc_ctl_ev wrong = ev_number(0), more = ev_number(9), one;
	struct mrc_context *ctx = self->p.ctx;
	int n = COUNT, i;

	ASSERT_EQ(0, make(ctx, EV));
	n = COUNT - 1;
	MINUS(E2BIG, ev_array(ctx, got, &n));
	EXPECT_EQ(COUNT, n);
	MINUS(ENOENT, ev_replace(ctx, more, ev_number(1), 0));
	wrong.port = 32;
	MINUS(EINVAL, ev_replace(ctx, ev_number(0), wrong, 0));
	wrong.port = 0;
	MINUS(EINVAL, ev_replace(ctx, ev_number(0), wrong, 0));
	MINUS(EINVAL, ev_replace(ctx, ev_number(0), more, 2));
	EXPECT_EQ(MRC_CTL_PROFILE_INIT, get_state(self->other, EV));
	ASSERT_EQ(0, set_state(ctx, EV, MRC_CTL_PROFILE_ONLINE));

	/* Now it is the device's: another controller sees it. */
	EXPECT_EQ(MRC_CTL_PROFILE_ONLINE, get_state(self->other, EV));
	ASSERT_EQ(0, ev_array(self->other, got, &n));
	ASSERT_EQ(COUNT, n);
	for (i = 0; i < COUNT; i++) {
		one = ev_number(i);
		EXPECT_EQ(0, memcmp(&one, &got[i].ev, sizeof(one)));
		EXPECT_EQ(MRC_CTL_EV_GOOD, got[i].state);
	}
	EXPECT_EQ(0, system("mrcctl -j profile show | jq -e "
			    "'any(.[]; .id == 4100 and (.ev | length) == 4)'"));

	/* Two copies of one, both of which go. */
	ASSERT_EQ(0, ev_replace(ctx, ev_number(0), ev_number(1), 0));
	ASSERT_EQ(0, ev_replace(ctx, ev_number(1), more, MRC_CTL_EV_OP_F_ALL_COPIES));
	ASSERT_EQ(0, ev_array(self->other, got, &n));
	EXPECT_EQ(0, memcmp(&more, &got[0].ev, sizeof(more)));
	EXPECT_EQ(0, memcmp(&more, &got[1].ev, sizeof(more)));
	one = ev_number(2);
	EXPECT_EQ(0, memcmp(&one, &got[2].ev, sizeof(one)));
	ASSERT_EQ(0, ev_replace(ctx, more, ev_number(0), 0));
	ASSERT_EQ(0, ev_array(self->other, got, &n));
	EXPECT_EQ(0, memcmp(&more, &got[1].ev, sizeof(more)));

	MINUS(EBUSY, set_state(ctx, FMT, MRC_CTL_PROFILE_OFFLINE));
	ASSERT_EQ(0, unmake(ctx, EV));
	EXPECT_EQ(MRC_CTL_PROFILE_INIT, get_state(self->other, EV));
	EXPECT_NE(0, system("mrcctl -j profile show | jq -e 'any(.[]; .id == 4100)'"));
}

/* Entries are applied one by one: those before the one that is refused stay. */
TEST_F_TIMEOUT(controller, list_that_ends_early, LIMIT_S)
{
	struct mrc_ctl_ev_op_entry list[3] = {
		{ ev_number(0), ev_number(20), MRC_CTL_EV_GOOD, 0 },
		{ ev_number(77), ev_number(21), MRC_CTL_EV_GOOD, 0 },
		{ ev_number(2), ev_number(22), MRC_CTL_EV_GOOD, 0 },
	}, got[COUNT];
	struct mrc_ctl_ev_profile_attr e = { .ev_op = { MRC_CTL_EV_OP_REPLACE_EV, list, 3 } };
	struct mrc_context *ctx = self->p.ctx;
	struct mrc_ctl_ev one = ev_number(20);
	int n = COUNT;

	ASSERT_EQ(0, make(ctx, EV));
	MINUS(ENOENT, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_EV_OP));
	ASSERT_EQ(0, ev_array(ctx, got, &n));
	EXPECT_EQ(0, memcmp(&one, &got[0].ev, sizeof(one)));
	one = ev_number(2);
	EXPECT_EQ(0, memcmp(&one, &got[2].ev, sizeof(one)));
	ASSERT_EQ(0, unmake(ctx, EV));
}

/* A field that is fixed and one that counts: 0xc100 ... 0xc107, named by the three bits that differ. */
TEST_F_TIMEOUT(controller, generated_evs, LIMIT_S)
{
	struct mrc_ctl_ev_field fields[] = {
		{ .width = 8, .init_val = 0xc1 },
		{ .width = 8, .init_val = 0, .min_val = 0, .max_val = 7, .mask = 7 },
	}, back[2];
	struct mrc_ctl_ev_fmt_field widths[] = { { 8 }, { 8 } };
	struct mrc_ctl_ev_fmt_profile_attr f = {
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, widths, 2 },
	};
	struct mrc_ctl_ev_profile_attr e = {
		.ev_mode = MRC_CTL_EV_MODE_GEN, .ev_count = 8,
		.ev_fields_op = { MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, 2 },
	};
	struct mrc_context *ctx = self->p.ctx;
	struct mrc_ctl_ev_op_entry got[8];
	int n = 8, i;

	ASSERT_EQ(0, make(ctx, FMT));
	ASSERT_EQ(0, mrc_ctl_modify_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_OP));
	ASSERT_EQ(0, set_state(ctx, FMT, MRC_CTL_PROFILE_ONLINE));
	e.profile_state = MRC_CTL_PROFILE_OFFLINE;
	e.ev_fmt_profile_id = ID;
	e.ev_min_active = 2;
	e.ev_event_mask = 0;
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_STATE |
						MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_COUNT));
	ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_STATE |
					       MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_COUNT |
					       MRC_CTL_EV_PROFILE_FMT_ID |
					       MRC_CTL_EV_PROFILE_EV_FIELDS_OP));
	MINUS(EINVAL, set_state(ctx, EV, MRC_CTL_PROFILE_ONLINE));
	e.profile_state = MRC_CTL_PROFILE_ONLINE;
	ASSERT_EQ(0, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_STATE |
					       MRC_CTL_EV_PROFILE_MIN_ACTIVE |
					       MRC_CTL_EV_PROFILE_EVENT_MASK));
	ASSERT_EQ(0, ev_array(self->other, got, &n));
	ASSERT_EQ(8, n);
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(i << 5, got[i].ev.val[0]);
		EXPECT_EQ(0, got[i].ev.val[1]);
		EXPECT_EQ(1, got[i].ev.port);
	}
	memset(back, 0, sizeof(back));
	e.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
	e.ev_fields_op.fields = back;
	ASSERT_EQ(0, mrc_ctl_query_ev_profile(self->other, ID, &e, MRC_CTL_EV_PROFILE_EV_FIELDS_OP |
					      MRC_CTL_EV_PROFILE_MIN_ACTIVE));
	EXPECT_EQ(2, e.ev_fields_op.field_count);
	EXPECT_EQ(0, memcmp(fields, back, sizeof(back)));
	EXPECT_EQ(2, e.ev_min_active);
	ASSERT_EQ(0, unmake(ctx, EV));
}

TEST_F_TIMEOUT(controller, values, LIMIT_S)
{
	struct mrc_ctl_ev_fmt_field wide[17];
	struct mrc_ctl_ev_fmt_profile_attr f = {
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, wide, 17 },
	};
	struct mrc_ctl_ev_profile_attr e = { .ev_count = 4097 };
	struct mrc_context *ctx = self->p.ctx;

	memset(wide, 9, sizeof(wide));
	MINUS(E2BIG, mrc_ctl_modify_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_MODE |
						   MRC_CTL_EV_FMT_PROFILE_OP));
	f.ev_fmt_op.fmt_field_count = 2;	/* 18 bits of 16 */
	MINUS(E2BIG, mrc_ctl_modify_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_MODE |
						   MRC_CTL_EV_FMT_PROFILE_OP));
	f.ev_fmt_mode = (enum mrc_ctl_ev_fmt_mode)3;
	MINUS(EINVAL, mrc_ctl_modify_ev_fmt_profile(ctx, ID, &f, MRC_CTL_EV_FMT_PROFILE_MODE));
	MINUS(E2BIG, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_COUNT));
	e.ev_count = 0;
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_COUNT));
	e.ev_event_mask = MRC_CTL_EV_DENIED;
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_EVENT_MASK));
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, ID, NULL, 0));
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, ID, &e, 1 << 20));
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, 0, &e, 0));
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(NULL, ID, &e, 0));
	e.cur_profile_state = MRC_CTL_PROFILE_ONLINE;
	MINUS(EINVAL, mrc_ctl_modify_ev_profile(ctx, ID, &e, MRC_CTL_EV_PROFILE_CUR_STATE));
	EXPECT_EQ(MRC_CTL_PROFILE_INIT, get_state(ctx, EV));
}

/* ---- congestion control ---- */

TEST_F_TIMEOUT(controller, cc_config, LIMIT_S)
{
	struct mrc_ctl_cc_nscc_cfg cfg = {
		.disable_qa = 1, .adjust_bytes_threshold = 70000, .adjust_period_threshold = 12000,
		.base_rtt = 9000, .eta = 100.5f, .fi = 12.25f, .fi_scale = 0.5f, .gamma = 0.75f,
		.max_md_jump = 0.25f, .max_cwnd = 1 << 20, .qa_gate = 3, .qa_threshold = 30000,
		.target_delay = 5000,
	}, back = {};
	struct mrc_ctl_cc_profile_attr c = { .cc_config = &cfg };
	struct mrc_context *ctx = self->p.ctx;

	ASSERT_EQ(0, make(ctx, CC));
	ASSERT_EQ(0, set_state(ctx, CC, MRC_CTL_PROFILE_ONLINE));
	ASSERT_EQ(0, mrc_ctl_modify_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_CONFIG));
	c.cc_config = &back;
	c.algorithm = NULL;
	ASSERT_EQ(0, mrc_ctl_query_cc_profile(self->other, ID, &c, MRC_CTL_CC_PROFILE_CONFIG |
					      MRC_CTL_CC_PROFILE_ALGORITHM));
	EXPECT_STREQ("uet-1.0-nscc", c.algorithm);
	EXPECT_EQ(0, memcmp(&cfg.adjust_bytes_threshold, &back.adjust_bytes_threshold,
			    offsetof(struct mrc_ctl_cc_nscc_cfg, qa_gate) - 4));
	EXPECT_EQ(1, back.disable_qa);
	EXPECT_EQ(3, back.qa_gate);
	EXPECT_EQ(30000, back.qa_threshold);
	EXPECT_EQ(5000, back.target_delay);

	c.cc_config = &cfg;
	cfg.gamma = 1.5f;
	MINUS(EINVAL, mrc_ctl_modify_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_CONFIG));
	cfg.gamma = NAN;
	MINUS(EINVAL, mrc_ctl_modify_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_CONFIG));
	cfg.gamma = -1;
	MINUS(EINVAL, mrc_ctl_modify_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_CONFIG));
	c.algorithm = "bbr";
	MINUS(EINVAL, mrc_ctl_modify_cc_profile(ctx, ID + 1, &c, MRC_CTL_CC_PROFILE_ALGORITHM));
	c.cc_config = &back;
	ASSERT_EQ(0, mrc_ctl_query_cc_profile(ctx, ID, &c, MRC_CTL_CC_PROFILE_CONFIG));
	EXPECT_EQ(0.75f, back.gamma);
	ASSERT_EQ(0, unmake(ctx, CC));
}

TEST_F_TIMEOUT(controller, cc_in_use, LIMIT_S)
{
	struct mrc_ctl_cc_nscc_cfg cfg = { .max_cwnd = 1 << 19 }, back;
	struct mrc_ctl_cc_profile_attr c = { .cc_config = &cfg };
	struct mpair *p = &self->p;

	ASSERT_EQ(0, make(p->ctx, CC));
	ASSERT_EQ(0, set_state(p->ctx, CC, MRC_CTL_PROFILE_ONLINE));
	p->attr.profile.cc_profile_id = ID;
	ASSERT_EQ(0, mpair_connect(p));
	MINUS(EBUSY, set_state(p->ctx, CC, MRC_CTL_PROFILE_OFFLINE));
	EXPECT_EQ(MRC_CTL_PROFILE_ONLINE, get_state(self->other, CC));
	/* What is refused changes nothing, the configuration beside it neither. */
	c.profile_state = MRC_CTL_PROFILE_OFFLINE;
	MINUS(EBUSY, mrc_ctl_modify_cc_profile(p->ctx, ID, &c, MRC_CTL_CC_PROFILE_STATE |
					       MRC_CTL_CC_PROFILE_CONFIG));
	c.cc_config = &back;
	ASSERT_EQ(0, mrc_ctl_query_cc_profile(p->ctx, ID, &c, MRC_CTL_CC_PROFILE_CONFIG));
	EXPECT_EQ(0, back.max_cwnd);
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_RESET, 0));
	ASSERT_EQ(0, mpair_step(p, p->end[1].qp, IBV_QPS_RESET, 0));

	/* One that has named it and not begun to send: it must find it at RTS. */
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_INIT, 0));
	MINUS(EBUSY, set_state(p->ctx, CC, MRC_CTL_PROFILE_OFFLINE));
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_RTR, p->end[1].qpn));
	MINUS(EBUSY, set_state(p->ctx, CC, MRC_CTL_PROFILE_OFFLINE));
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_RTS, 0));
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_RESET, 0));
	EXPECT_EQ(0, unmake(p->ctx, CC));
}

/* ---- queues of events: what is no queue of completions ---- */

TEST_F_TIMEOUT(controller, event_queue, LIMIT_S)
{
	struct mrc_context *ctx = self->p.ctx;
	struct mrc_qp_init_attr init = { .recv_cq = self->p.end[0].cq, .pd = self->p.dev.pd };
	struct mrc_ctl_ev_event event;
	struct mrc_cq *cq;
	struct ibv_wc wc;

	errno = 0;
	EXPECT_EQ(NULL, mrc_ctl_create_ev_event_cq(ctx, 0, NULL, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, mrc_ctl_create_ev_event_cq(NULL, 16, NULL, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
	cq = mrc_ctl_create_ev_event_cq(ctx, 16, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	EXPECT_EQ(0, mrc_ctl_poll_ev_event(cq, 1, &event));
	EXPECT_EQ(-EINVAL, mrc_ctl_poll_ev_event(cq, -1, &event));
	EXPECT_EQ(-EINVAL, mrc_ctl_poll_ev_event(cq, 1, NULL));
	EXPECT_EQ(-EINVAL, mrc_ctl_poll_ev_event(self->p.end[0].cq, 1, &event));
	EXPECT_EQ(-EINVAL, mrc_ctl_poll_ev_event(NULL, 1, &event));
	EXPECT_GT(0, mrc_poll_cq(cq, 1, &wc));
	EXPECT_EQ(EINVAL, mrc_req_notify_cq(cq, 0));
	init.send_cq = cq;
	errno = 0;
	EXPECT_EQ(NULL, mrc_create_qp(ctx, &init));
	EXPECT_EQ(EINVAL, errno);
	MINUS(EBUSY, mrc_destroy_context(ctx));
	EXPECT_EQ(0, mrc_destroy_cq(cq));
}

/* ---- who may ---- */

static int drop_admin(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps))
		return -1;
	caps[0].effective &= ~(1u << CAP_NET_ADMIN);
	caps[0].permitted &= ~(1u << CAP_NET_ADMIN);
	return (int)syscall(SYS_capset, &head, caps);
}

TEST_F_TIMEOUT(controller, no_privilege, LIMIT_S)
{
	struct mrc_ctl_port_attr a = { MRC_CTL_PORT_ADMIN_DISABLED };
	struct mrc_context *ctx = self->p.ctx;
	struct mrc_ctl_device_attr d;
	int kind;

	ASSERT_EQ(0, drop_admin());
	for (kind = 0; kind < KINDS; kind++) {
		MINUS(EPERM, make(ctx, kind));
		MINUS(EPERM, set_state(ctx, kind, MRC_CTL_PROFILE_OFFLINE));
		EXPECT_EQ(MRC_CTL_PROFILE_INIT, get_state(ctx, kind));
	}
	MINUS(EPERM, mrc_ctl_modify_port(ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	EXPECT_EQ(0, mrc_ctl_query_port(ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE));
	EXPECT_EQ(MRC_CTL_PORT_ADMIN_ENABLED, a.port_admin_state);
	EXPECT_EQ(0, mrc_ctl_query_device(self->p.dev.ctx, &d));
}

TEST_HARNESS_MAIN
