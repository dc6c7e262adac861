// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_mover.c - a controller that makes profiles through mrc_ctl.h and moves traffic between them.
 *
 *	mrc_mover -d mrc0 -i 20 [-b BASE] [-n MOVES] [-p PAUSE_MS] -x 'mrcctl dev set dev mrc0 profile'
 *
 * It makes three ONLINE EV profiles with ids from -i on: an EXP profile of EVs on the odd ports of the device, another
 * on the even ports, and one on all ports. It also makes their format, and a CC profile with id -i. The EVs are UDP
 * ports of its own choice, or the EVs of the EXP profile -b (UDP or SRv6). The third profile is GEN if fields can
 * generate its EVs. Each move makes one of the three the default profile of the device, and changes a limit of the CC
 * profile. mrc_ctl.h has no call that sets the default, so mrc_mover runs the command of -x followed by the id.
 * At the end it removes the profiles that are not in use. Needs CAP_NET_ADMIN.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mrc_ctl.h>
#include "ev_text.h"
#include "example.h"

#define FIRST_UDP	50000	/* the first EV's value */
#define EVS_PER_PORT	4
#define MAX_EVS		256
#define PROFILES	3
#define GROUPS		8	/* of 16 bits: an SRv6 destination's block (two of them) and uSIDs */

struct mover {
	struct mrc_context *ctx;
	uint64_t id;
	uint64_t base;		/* the profile that EVs are taken from; 0: none */
	uint32_t ports;		/* mask, bit 0: port 1 */
	struct mrc_ctl_ev evs[MAX_EVS];
	int n_evs;
	struct mrc_ctl_ev_field fields[GROUPS];		/* fields that generate the EVs */
	int n_fields;		/* 0: no fields generate them */
	const char *command;
};

static void die(const char *what)
{
	fprintf(stderr, "mrc_mover: %s: %s (MRC_DEBUG=1 says more)\n", what, strerror(errno));
	exit(1);
}

/* ---- profiles ---- */

static int groups(enum mrc_ctl_ev_fmt_mode mode)
{
	return mode == MRC_CTL_EV_FMT_MODE_SRV6 ? GROUPS : 1;
}

/* A query of an ONLINE profile does not return the format. EXP profiles need only its mode. */
static void make_format(const struct mover *m, enum mrc_ctl_ev_fmt_mode mode)
{
	struct mrc_ctl_ev_fmt_field fields[GROUPS] = { {16}, {16}, {16}, {16}, {16}, {16}, {16}, {16} };
	struct mrc_ctl_ev_fmt_profile_attr attr = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_fmt_mode = mode,
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, fields, groups(mode) },
	};

	if (mrc_ctl_modify_ev_fmt_profile(m->ctx, m->id, &attr,
					  MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE |
					  MRC_CTL_EV_FMT_PROFILE_OP))
		die("format to OFFLINE");
	attr.profile_state = MRC_CTL_PROFILE_ONLINE;
	if (mrc_ctl_modify_ev_fmt_profile(m->ctx, m->id, &attr, MRC_CTL_EV_FMT_PROFILE_STATE))
		die("format to ONLINE");
}

static int ev_state(const struct mover *m, uint64_t id, enum mrc_ctl_profile_state to)
{
	struct mrc_ctl_ev_profile_attr attr = { .profile_state = to };

	return mrc_ctl_modify_ev_profile(m->ctx, id, &attr, MRC_CTL_EV_PROFILE_STATE);
}

/* EVS_PER_PORT values on each port. */
static void udp_evs(struct mover *m)
{
	uint8_t port;
	int i;

	make_format(m, MRC_CTL_EV_FMT_MODE_UDP);
	for (port = 1; port <= 32; port++)
		for (i = 0; i < EVS_PER_PORT && m->ports >> (port - 1) & 1; i++) {
			const unsigned int value = FIRST_UDP + (unsigned int)m->n_evs;
			struct mrc_ctl_ev *ev = &m->evs[m->n_evs++];

			ev->val[0] = (uint8_t)(value >> 8);
			ev->val[1] = (uint8_t)value;
			ev->port = port;
		}
	m->fields[0] = (struct mrc_ctl_ev_field){
		.width = 16, .init_val = FIRST_UDP & ~0xffu, .mask = 0xff,
		.min_val = FIRST_UDP & 0xff, .max_val = (FIRST_UDP & 0xff) + (uint32_t)m->n_evs - 1,
	};
	m->n_fields = 1;
}

/* A path may be listed several times, as a weight; here once is enough. */
static bool has_ev(const struct mover *m, const struct mrc_ctl_ev *ev)
{
	int i;

	for (i = 0; i < m->n_evs && memcmp(&m->evs[i], ev, sizeof(*ev)); i++)
		;
	return i < m->n_evs;
}

/* A field for the values from the smallest to the largest of group @at of the EVs. */
static struct mrc_ctl_ev_field field_of(const struct mover *m, int at)
{
	struct mrc_ctl_ev_field f = { .width = 16, .min_val = UINT16_MAX };
	int i;

	for (i = 0; i < m->n_evs; i++) {
		const uint8_t *val = m->evs[i].val + 2 * at;
		const uint32_t group = (uint32_t)(val[0] << 8 | val[1]);

		f.min_val = group < f.min_val ? group : f.min_val;
		f.max_val = group > f.max_val ? group : f.max_val;
	}
	if (f.min_val == f.max_val) {
		f.init_val = f.min_val;
		f.min_val = f.max_val = 0;
	} else {
		f.mask = UINT16_MAX;
	}
	return f;
}

/*
 * GEN combines each value of a field with each value of the others, on each port, and no two of our
 * EVs are equal. So if the numbers are equal, the EVs are, too. This is so where planes have the
 * same uSIDs and the numbers of T1s are contiguous.
 */
static void find_fields(struct mover *m, int n_fields)
{
	uint64_t n = (uint64_t)__builtin_popcount(m->ports);
	int i;

	for (i = 0; i < n_fields; i++) {
		m->fields[i] = field_of(m, i);
		n *= m->fields[i].max_val - m->fields[i].min_val + 1;
		if (n > (uint64_t)m->n_evs)
			return;
	}
	if (n == (uint64_t)m->n_evs)
		m->n_fields = n_fields;
}

/* Does some EV have bits behind these groups, such as a segment? */
static bool any_beyond(const struct mover *m, int n_groups)
{
	static const uint8_t zero[MRC_CTL_EV_MAX_BYTES];
	const size_t at = 2 * (size_t)n_groups;
	int i;

	for (i = 0; i < m->n_evs && !memcmp(m->evs[i].val + at, zero, sizeof(zero) - at); i++)
		;
	return i < m->n_evs;
}

static void base_evs(struct mover *m)
{
	struct mrc_ctl_ev_op_entry entries[MAX_EVS] = {};
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, MAX_EVS },
	};
	enum mrc_ctl_ev_fmt_mode mode;
	int i;

	if (mrc_ctl_query_ev_profile(m->ctx, m->base, &attr,
				     MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_EV_OP))
		die("the EVs of profile -b");
	errno = EINVAL;
	if (attr.ev_mode != MRC_CTL_EV_MODE_EXP || !attr.ev_op.entry_count)
		die("profile -b is none of mode EXP");
	mode = ev_is_srv6(&entries[0].ev) ? MRC_CTL_EV_FMT_MODE_SRV6 : MRC_CTL_EV_FMT_MODE_UDP;
	make_format(m, mode);
	for (i = 0; i < attr.ev_op.entry_count; i++)
		if (!has_ev(m, &entries[i].ev))
			m->evs[m->n_evs++] = entries[i].ev;
	if (!any_beyond(m, groups(mode)))
		find_fields(m, groups(mode));
}

/* Fills in entries that give a profile those of the EVs that are on @ports. */
static int list_evs(const struct mover *m, uint32_t ports, struct mrc_ctl_ev_op_entry *e)
{
	int n = 0, i;

	for (i = 0; i < m->n_evs; i++) {
		if (!(ports >> (m->evs[i].port - 1) & 1))
			continue;
		e[n].ev = MRC_CTL_EV_UNPOPULATED;
		e[n].ev_new = m->evs[i];
		e[n++].state = MRC_CTL_EV_GOOD;
	}
	return n;
}

static void make_exp(const struct mover *m, uint64_t id, uint32_t ports)
{
	struct mrc_ctl_ev_op_entry entries[MAX_EVS] = {};
	const int n = list_evs(m, ports, entries);
	struct mrc_ctl_ev_profile_attr attr = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_mode = MRC_CTL_EV_MODE_EXP,
		.ev_fmt_profile_id = m->id,
		.ev_count = (uint32_t)n,
		.ev_min_active = 1,
		.ev_op = { MRC_CTL_EV_OP_REPLACE_EV, entries, n },
	};

	if (mrc_ctl_modify_ev_profile(m->ctx, id, &attr,
				      MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
				      MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
				      MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK |
				      MRC_CTL_EV_PROFILE_EV_OP))
		die("EXP profile to OFFLINE");
	if (ev_state(m, id, MRC_CTL_PROFILE_ONLINE))
		die("EXP profile to ONLINE");
}

/* The device generates the EVs, and distributes them over its ports. */
static void make_gen(const struct mover *m, uint64_t id)
{
	struct mrc_ctl_ev_field fields[GROUPS];
	struct mrc_ctl_ev_profile_attr attr = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_mode = MRC_CTL_EV_MODE_GEN,
		.ev_fmt_profile_id = m->id,
		.ev_count = (uint32_t)m->n_evs,
		.ev_min_active = 1,
		.ev_fields_op = { MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, m->n_fields },
	};

	memcpy(fields, m->fields, sizeof(fields));
	if (mrc_ctl_modify_ev_profile(m->ctx, id, &attr,
				      MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
				      MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
				      MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK |
				      MRC_CTL_EV_PROFILE_EV_FIELDS_OP))
		die("GEN profile to OFFLINE");
	if (ev_state(m, id, MRC_CTL_PROFILE_ONLINE))
		die("GEN profile to ONLINE");
}

/*
 * The device derives parameters that are 0. The configuration of an ONLINE profile may change under
 * traffic.
 */
static int cc_to(const struct mover *m, enum mrc_ctl_profile_state to, uint32_t max_cwnd, int mask)
{
	const struct mrc_ctl_cc_nscc_cfg cfg = { .max_cwnd = max_cwnd };
	struct mrc_ctl_cc_profile_attr attr = {
		.profile_state = to, .algorithm = "uet-1.0-nscc", .cc_config = &cfg,
	};

	return mrc_ctl_modify_cc_profile(m->ctx, m->id, &attr, mask);
}

static void make_all(struct mover *m)
{
	const uint32_t odd = m->ports & 0x55555555, even = m->ports & ~odd;

	if (m->base)
		base_evs(m);
	else
		udp_evs(m);
	make_exp(m, m->id, odd ? odd : m->ports);
	make_exp(m, m->id + 1, even ? even : m->ports);
	if (m->n_fields)
		make_gen(m, m->id + 2);
	else
		make_exp(m, m->id + 2, m->ports);
	printf("profile %llu is of mode %s\n", (unsigned long long)(m->id + 2), m->n_fields ? "GEN" : "EXP");
	if (cc_to(m, MRC_CTL_PROFILE_OFFLINE, 0, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM))
		die("CC profile to OFFLINE");
	if (cc_to(m, MRC_CTL_PROFILE_ONLINE, 0, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG))
		die("CC profile to ONLINE");
}

/* Removes the profiles. One that is in use (EBUSY) remains. */
static void take_away_all(const struct mover *m)
{
	struct mrc_ctl_ev_fmt_profile_attr fmt = { .profile_state = MRC_CTL_PROFILE_OFFLINE };
	unsigned int i;

	for (i = 0; i < PROFILES; i++)
		if (!ev_state(m, m->id + i, MRC_CTL_PROFILE_OFFLINE))
			printf("profile %llu is gone\n", (unsigned long long)(m->id + i));
		else if (errno == EBUSY)
			printf("profile %llu is in use\n", (unsigned long long)(m->id + i));
		else
			die("EV profile to OFFLINE");
	if (!mrc_ctl_modify_ev_fmt_profile(m->ctx, m->id, &fmt, MRC_CTL_EV_FMT_PROFILE_STATE))
		puts("the format is gone");
	else if (errno != EBUSY)
		die("format to OFFLINE");
	if (cc_to(m, MRC_CTL_PROFILE_OFFLINE, 0, MRC_CTL_CC_PROFILE_STATE) && errno != EBUSY)
		die("CC profile to OFFLINE");
}

/* ---- moves ---- */

static void move(const struct mover *m, unsigned int turn)
{
	const unsigned long long to = m->id + turn % PROFILES;
	char *command;

	if (asprintf(&command, "%s %llu", m->command, to) < 0)
		die("no memory");
	if (system(command))
		die(command);
	free(command);
	if (cc_to(m, 0, turn & 1 ? 1u << 20 : 0, MRC_CTL_CC_PROFILE_CONFIG))
		die("another configuration of the CC profile");
	printf("moved to profile %llu\n", to);
	fflush(stdout);
}

static void ports_of(struct mover *m, struct ibv_context *v)
{
	struct mrc_ctl_device_attr attr;

	if (mrc_ctl_query_device(v, &attr))
		die("mrc_ctl_query_device");
	m->ports = attr.phy_port_mask >> 1;
	if (!m->ports)
		die("the device has no ports");
}

int main(int argc, char **argv)
{
	unsigned int moves = PROFILES, pause_ms = 1000, i;
	struct mover m = { .id = 20 };
	const char *device = NULL;
	struct ibv_context *v;
	int c;

	while ((c = getopt(argc, argv, "b:d:i:n:p:x:")) != -1) {
		switch (c) {
		case 'b': m.base = strtoull(optarg, NULL, 0); break;
		case 'd': device = optarg; break;
		case 'i': m.id = strtoull(optarg, NULL, 0); break;
		case 'n': moves = number(optarg, 1, UINT32_MAX); break;
		case 'p': pause_ms = number(optarg, 0, 1000000); break;
		case 'x': m.command = optarg; break;
		default: return 2;
		}
	}
	if (!m.command || optind < argc)
		return 2;
	v = open_device(device);
	m.ctx = mrc_create_context(v, NULL);
	if (!m.ctx)
		die("mrc_create_context");
	ports_of(&m, v);
	make_all(&m);
	for (i = 0; i < moves; i++) {
		move(&m, i);
		usleep(pause_ms * 1000);
	}
	take_away_all(&m);
	if (mrc_destroy_context(m.ctx))
		die("something is left");
	ibv_close_device(v);
	return 0;
}
