// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_fight.c - two controllers that know nothing of each other, each a process, work on the same profiles; one
 * of them is killed again and again, wherever it is.
 *
 *	mrc_fight -d mrc0 [-n KILLS]
 *
 * What must hold: each call succeeds or says one of the errors that the interface has for it; an EV profile that is
 * ONLINE is one controller's whole, never parts of both; and who comes afterwards can do all that a first one
 * could. Prints how many calls were made and how many succeeded.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <mrc_ctl.h>
#include "example.h"

#define ID	40		/* of all three profiles */
#define EVS	24
#define STATE	1		/* the mask's bit, of all kinds */

/* Shared with the children. */
static struct tally {
	unsigned long calls, succeeded;
	char wrong[128];
} *tally;

static struct mrc_context *ctx;
static int me;			/* 0, 1; 2: the one afterwards */

static void wrong(const char *what, int err)
{
	snprintf(tally->wrong, sizeof(tally->wrong), "controller %d: %s: %s", me, what, strerror(err));
	_exit(1);
}

/* Another one is at it, too: what it did may be in the way. */
static void judge(const char *what, int ret)
{
	tally->calls++;
	tally->succeeded += !ret;
	if (ret && errno != EINVAL && errno != EBUSY && errno != ENOENT)
		wrong(what, errno);
}

static void format_to(enum mrc_ctl_profile_state to, bool make)
{
	struct mrc_ctl_ev_fmt_field field = { 16 };
	struct mrc_ctl_ev_fmt_profile_attr a = {
		.profile_state = to,
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, &field, 1 },
	};
	int more = make ? MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP : 0;

	judge("a format", mrc_ctl_modify_ev_fmt_profile(ctx, ID, &a, STATE | more));
}

/* UDP source ports, which say whose they are. */
static struct mrc_ctl_ev ev_of(int who, int i)
{
	int port = 40000 + 1000 * who + i;
	struct mrc_ctl_ev ev = { .val = { (uint8_t)(port >> 8), (uint8_t)port }, .port = 1 };

	return ev;
}

static int owner_of(const struct mrc_ctl_ev *ev)
{
	return ((ev->val[0] << 8 | ev->val[1]) - 40000) / 1000;
}

static void evs_to(enum mrc_ctl_profile_state to, bool make)
{
	struct mrc_ctl_ev_op_entry e[EVS] = {};
	struct mrc_ctl_ev_profile_attr a = {
		.profile_state = to,
		.ev_mode = MRC_CTL_EV_MODE_EXP,
		.ev_fmt_profile_id = ID,
		.ev_count = EVS,
		.ev_min_active = 1,
		.ev_event_mask = MRC_CTL_EV_GOOD,
		.ev_op = { MRC_CTL_EV_OP_REPLACE_EV, e, EVS },
	};
	int i, more = 0;

	for (i = 0; i < EVS; i++) {
		e[i].ev = MRC_CTL_EV_UNPOPULATED;
		e[i].ev_new = ev_of(me, i);
		e[i].state = MRC_CTL_EV_GOOD;
	}
	if (make)
		more = MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
		       MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP;
	judge("an EV profile", mrc_ctl_modify_ev_profile(ctx, ID, &a, STATE | more));
}

static void evs_are_of_one(void)
{
	struct mrc_ctl_ev_op_entry e[EVS];
	struct mrc_ctl_ev_profile_attr a = { .ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, e, EVS } };
	int i, ret = mrc_ctl_query_ev_profile(ctx, ID, &a, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_EV_OP);

	judge("the list of EVs", ret);
	if (ret || a.profile_state != MRC_CTL_PROFILE_ONLINE)
		return;
	for (i = 1; i < a.ev_op.entry_count; i++)
		if (owner_of(&e[i].ev) != owner_of(&e[0].ev))
			wrong("a profile of two controllers", 0);
}

static void cc_to(enum mrc_ctl_profile_state to, bool make)
{
	struct mrc_ctl_cc_nscc_cfg cfg = { .base_rtt = 9000 + (unsigned int)me };
	struct mrc_ctl_cc_profile_attr a = {
		.profile_state = to,
		.algorithm = "uet-1.0-nscc",
		.cc_config = &cfg,
	};
	int more = make ? MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG : 0;

	judge("a CC profile", mrc_ctl_modify_cc_profile(ctx, ID, &a, STATE | more));
}

static void round_trip(void)
{
	static const enum mrc_ctl_profile_state way[] = {
		MRC_CTL_PROFILE_OFFLINE, MRC_CTL_PROFILE_ONLINE, MRC_CTL_PROFILE_OFFLINE, MRC_CTL_PROFILE_INIT,
	};
	size_t i;

	/* What the other one made is in the way of what we make. */
	evs_to(MRC_CTL_PROFILE_OFFLINE, false);
	cc_to(MRC_CTL_PROFILE_OFFLINE, false);
	for (i = 0; i < 4; i++) {
		if (i < 2)
			format_to(way[i], !i);
		evs_to(way[i], !i);
		evs_are_of_one();
		cc_to(way[i], !i);
		if (i >= 2)
			format_to(way[i], false);
	}
}

/* One of those that were killed may have left profiles ONLINE; once they are away, all is as for the first. */
static void afterwards(void)
{
	struct tally before;

	round_trip();
	before = *tally;
	round_trip();
	/* Nothing is there to take OFFLINE, twice; and in the end no list of EVs. */
	if (tally->calls - before.calls != tally->succeeded - before.succeeded + 3)
		wrong("afterwards not all is possible", errno);
	if (mrc_destroy_context(ctx))
		wrong("mrc_destroy_context", errno);
	_exit(0);
}

static pid_t controller(struct ibv_context *v, int who)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	me = who;
	ctx = mrc_create_context(v, NULL);
	if (!ctx)
		wrong("mrc_create_context", errno);
	if (who == 2)
		afterwards();
	for (;;)
		round_trip();
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	struct ibv_context *v;
	int c, i, status, kills = 40;
	pid_t pid[2];

	while ((c = getopt(argc, argv, "d:n:")) != -1) {
		if (c == 'd')
			device = optarg;
		else if (c == 'n')
			kills = (int)number(optarg, 1, 1000);
		else
			return 2;
	}
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	v = open_device(device);
	for (i = 0; i < 2; i++)
		pid[i] = controller(v, i);
	for (i = 0; (i < kills || tally->succeeded <= 100) && !*tally->wrong; i++) {
		usleep(30000 + (unsigned int)(i * 7919 % 40000));	/* somewhere else each time */
		kill(pid[1], SIGKILL);
		waitpid(pid[1], &status, 0);
		pid[1] = controller(v, 1);
	}
	for (i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], &status, 0);
	}
	if (!*tally->wrong && (waitpid(controller(v, 2), &status, 0) < 0 || status) && !*tally->wrong)
		strcpy(tally->wrong, "the one afterwards died");
	if (*tally->wrong) {
		puts(tally->wrong);
		return 1;
	}
	printf("%lu calls, %lu succeeded, %d kills\n", tally->calls, tally->succeeded, kills);
	return 0;
}
