// SPDX-License-Identifier: GPL-2.0
/*
 * prog_ctl.c - a controller of the pattern of OCP's examples of EV profiles: formats, an explicit profile of
 * STEVs i << 16 | i from 0 without fields, one with fields whose EVs are named by their bits, and a generated
 * one of fields of 8, 4 and 4 bits from 0. EVs are denied before anybody has a path.
 *
 *	prog_ctl DEVICE make		profiles 21 (explicit), 22 (with fields), 23 (generated), ONLINE
 *	prog_ctl DEVICE events N	of those, until N have come
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <mrc_ctl.h>
#include "vcommon.h"

#define MUST(cond) do { if (!(cond)) vc_die("%s: %s", #cond, strerror(errno)); } while (0)

enum { EXPLICIT = 21, FIELDS, GENERATED };
enum { PER_PORT = 8, MOST = 64 };

static struct mrc_context *ctx;
static uint32_t ports;

static void format(uint64_t id, enum mrc_ctl_ev_fmt_mode mode, struct mrc_ctl_ev_fmt_field *fields, int n)
{
	struct mrc_ctl_ev_fmt_profile_attr a = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE, .ev_fmt_mode = mode,
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, fields, n },
	};

	MUST(!mrc_ctl_modify_ev_fmt_profile(ctx, id, &a, MRC_CTL_EV_FMT_PROFILE_STATE |
					    MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP));
	a.profile_state = MRC_CTL_PROFILE_ONLINE;
	MUST(!mrc_ctl_modify_ev_fmt_profile(ctx, id, &a, MRC_CTL_EV_FMT_PROFILE_STATE));
}

static void offline(uint64_t id, enum mrc_ctl_ev_mode mode, uint32_t count, struct mrc_ctl_ev_field *fields,
		    int n)
{
	struct mrc_ctl_ev_profile_attr a = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE, .ev_mode = mode, .ev_fmt_profile_id = id,
		.ev_count = count, .ev_min_active = 2,
		.ev_event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD,
		.ev_fields_op = { MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, n },
	};

	MUST(!mrc_ctl_modify_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
					MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
					MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK |
					(n ? MRC_CTL_EV_PROFILE_EV_FIELDS_OP : 0)));
}

static void online(uint64_t id)
{
	struct mrc_ctl_ev_profile_attr a = { .profile_state = MRC_CTL_PROFILE_ONLINE };

	MUST(!mrc_ctl_modify_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_STATE));
}

static int operate(uint64_t id, enum mrc_ctl_ev_op op, struct mrc_ctl_ev_op_entry *e, int n)
{
	struct mrc_ctl_ev_profile_attr a = { .ev_op = { op, e, n } };

	return mrc_ctl_modify_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_EV_OP);
}

static int list(uint64_t id, struct mrc_ctl_ev_op_entry *e)
{
	struct mrc_ctl_ev_profile_attr a = { .ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, e, MOST } };

	MUST(!mrc_ctl_query_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_EV_OP));
	return a.ev_op.entry_count;
}

/* So many EVs on each port that there is: bit N is port N. */
static int each_port(struct mrc_ctl_ev_op_entry *e, void (*value)(uint32_t i, uint8_t *val))
{
	uint32_t port, i, n = 0;

	memset(e, 0, MOST * sizeof(*e));
	for (port = 1; port < 32; port++)
		for (i = 0; ports >> port & 1 && i < PER_PORT && n < MOST; i++, n++) {
			e[n].state = MRC_CTL_EV_GOOD;
			e[n].ev_new.port = (uint8_t)port;
			value(i, e[n].ev_new.val);
		}
	return (int)n;
}

/* Most significant byte first. */
static void pair(uint32_t i, uint8_t *val)
{
	val[0] = val[2] = (uint8_t)(i >> 8);
	val[1] = val[3] = (uint8_t)i;
}

static void bits(uint32_t i, uint8_t *val)
{
	val[0] = (uint8_t)(i << 4 | (15 - i));
}

/* What the array says now is what was put in, in any order, the first one denied. */
static void check(uint64_t id, const struct mrc_ctl_ev_op_entry *in, int n)
{
	struct mrc_ctl_ev_op_entry got[MOST];
	int i, k, found = 0;

	if (list(id, got) != n)
		vc_die("profile %d: not %d EVs", (int)id, n);
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (!memcmp(&got[k].ev, &in[i].ev_new, sizeof(got[k].ev))) {
				found++;
				if (got[k].state != (i ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED))
					vc_die("profile %d: EV %d is in state %d", (int)id, i, got[k].state);
			}
	if (found != n)
		vc_die("profile %d: %d of %d EVs are there", (int)id, found, n);
}

static void make_explicit(uint64_t id, void (*value)(uint32_t i, uint8_t *val), struct mrc_ctl_ev_field *fields,
			  int n_fields)
{
	struct mrc_ctl_ev_fmt_field widths[] = { { 16 }, { 16 } };
	struct mrc_ctl_ev_op_entry in[MOST], deny = { .state = MRC_CTL_EV_DENIED };
	int n = each_port(in, value);

	format(id, MRC_CTL_EV_FMT_MODE_STEV, widths, 2);
	offline(id, MRC_CTL_EV_MODE_EXP, (uint32_t)n, fields, n_fields);
	MUST(!operate(id, MRC_CTL_EV_OP_REPLACE_EV, in, n));
	deny.ev = in[0].ev_new;
	MUST(!operate(id, MRC_CTL_EV_OP_MODIFY_EV_STATE, &deny, 1));	/* OFFLINE */
	check(id, in, n);
	online(id);
	check(id, in, n);
}

static void make_generated(uint64_t id)
{
	struct mrc_ctl_ev_fmt_field widths[] = { { 8 }, { 4 }, { 4 } };
	struct mrc_ctl_ev_field fields[] = { { 8, 0, 0, 3, 3 }, { 4, 0, 0, 1, 1 }, { 4, 0, 0, 0, 0 } };
	struct mrc_ctl_ev_op_entry got[MOST], deny = { .state = MRC_CTL_EV_DENIED };
	int n;

	format(id, MRC_CTL_EV_FMT_MODE_STEV, widths, 3);
	offline(id, MRC_CTL_EV_MODE_GEN, 8, fields, 3);
	online(id);
	n = list(id, got);
	if (n != 8)
		vc_die("8 EVs were to be made, not %d", n);
	deny.ev = got[3].ev;
	if (deny.ev.val[0] != 3 << 5)	/* three bits: 011 */
		vc_die("EV 3 is 0x%02x", deny.ev.val[0]);
	MUST(!operate(id, MRC_CTL_EV_OP_MODIFY_EV_STATE, &deny, 1));	/* right after ONLINE */
	list(id, got);
	if (got[3].state != MRC_CTL_EV_DENIED)
		vc_die("EV 3 is not denied");
}

static void make(void)
{
	struct mrc_ctl_ev_field fields[] = { { 16, 0x100, 0, 15, 0xf }, { 16, 0x200, 0, 15, 0xf } };

	make_explicit(EXPLICIT, pair, NULL, 0);
	make_explicit(FIELDS, bits, fields, 2);
	make_generated(GENERATED);
	printf("ports 0x%x, profiles %d to %d are ONLINE\n", ports, EXPLICIT, GENERATED);
}

/* Of profiles that are there: this context asks for their events. */
static void events(int wanted)
{
	struct mrc_ctl_ev_profile_attr a = { .ev_event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD };
	struct mrc_ctl_ev_event e;
	struct mrc_cq *cq;
	uint64_t id;
	int n;

	for (id = EXPLICIT; id <= GENERATED; id++)
		MUST(!mrc_ctl_modify_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_EVENT_MASK));
	cq = mrc_ctl_create_ev_event_cq(ctx, 64, NULL, NULL, 0);
	MUST(cq);
	printf("waiting\n");
	fflush(stdout);
	while (wanted > 0) {
		n = mrc_ctl_poll_ev_event(cq, 1, &e);
		if (n < 0)
			vc_die("events: %s", strerror(-n));
		if (!n) {
			poll(NULL, 0, 20);
			continue;
		}
		printf("profile %d EV %02x%02x%02x%02x port %u state %d\n", (int)e.profile_id, e.ev.val[0],
		       e.ev.val[1], e.ev.val[2], e.ev.val[3], e.ev.port, e.state);
		fflush(stdout);
		wanted--;
	}
	MUST(!(errno = mrc_destroy_cq(cq)));
}

int main(int argc, char **argv)
{
	struct mrc_ctl_device_attr attr;
	struct vc_opts opts = { .gid_index = -1 };
	struct vc_dev dev;
	int supported = 0;

	if (argc < 3)
		return VC_EXIT_USAGE;
	opts.dev = argv[1];
	vc_open(&dev, &opts);
	ctx = mrc_create_context(dev.ctx, NULL);
	MUST(ctx && !mrc_ctl_query_device_ex(dev.ctx, ctx, &attr, &supported) && supported);
	ports = attr.phy_port_mask;
	if (!strcmp(argv[2], "make"))
		make();
	else
		events(argc > 3 ? atoi(argv[3]) : 1);
	MUST(!mrc_destroy_context(ctx));
	vc_close(&dev);
	return 0;
}
