// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_storm.c - EVs denied and allowed as fast as the kernel takes it, and their news counted: each is
 * told or is in a drop_count, to the last.
 *
 *	mrc_storm -d mrc0 [-i PROFILE] [-t SECONDS] [-r CHANGES_A_SECOND] [-D]
 *
 * One context storms, another hears; with -D nobody does (deaf), to see what hearing costs. All EVs of the profile but the first are denied by one call and
 * allowed by the next; news of GOOD is counted. Prints what was changed, told and dropped; fails where one is missing.
 * There may be more: a busy host's connections doubt EVs, and believe in them again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <mrc_ctl.h>
#include "example.h"

#define MOST_EVS	4096

struct storm {
	struct mrc_context *ctx, *hears;
	struct mrc_cq *cq;
	uint64_t profile;
	struct mrc_ctl_ev_op_entry evs[MOST_EVS];
	int n;
	bool deaf;
	uint64_t told, dropped;
};

static void die(const char *what)
{
	fprintf(stderr, "mrc_storm: %s: %s (MRC_DEBUG=1 says more)\n", what, strerror(errno));
	exit(1);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void list_evs(struct storm *s)
{
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, s->evs, MOST_EVS },
	};

	if (mrc_ctl_query_ev_profile(s->ctx, s->profile, &attr, MRC_CTL_EV_PROFILE_EV_OP))
		die("which EVs the profile has");
	s->n = attr.ev_op.entry_count;
	if (s->n < 2) {
		fputs("mrc_storm: a profile of two EVs at least\n", stderr);
		exit(1);
	}
}

static void listen_to(struct storm *s)
{
	struct mrc_ctl_ev_profile_attr attr = { .ev_event_mask = MRC_CTL_EV_GOOD };

	if (mrc_ctl_modify_ev_profile(s->hears, s->profile, &attr, MRC_CTL_EV_PROFILE_EVENT_MASK))
		die("event mask");
	s->cq = mrc_ctl_create_ev_event_cq(s->hears, 1024, NULL, NULL, 0);
	if (!s->cq)
		die("mrc_ctl_create_ev_event_cq");
}

static void set_all(struct storm *s, enum mrc_ctl_ev_state to, int first, int n)
{
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = { MRC_CTL_EV_OP_MODIFY_EV_STATE, s->evs + first, n },
	};
	int i;

	for (i = first; i < first + n; i++)
		s->evs[i].state = to;
	if (mrc_ctl_modify_ev_profile(s->ctx, s->profile, &attr, MRC_CTL_EV_PROFILE_EV_OP))
		die(to == MRC_CTL_EV_GOOD ? "to allow EVs" : "to deny EVs");
}

static void hear(struct storm *s)
{
	struct mrc_ctl_ev_event events[64];
	int n, i;

	while (!s->deaf) {
		n = mrc_ctl_poll_ev_event(s->cq, 64, events);
		if (n < 0)
			die("mrc_ctl_poll_ev_event");
		s->told += (uint64_t)n;
		for (i = 0; i < n; i++)
			s->dropped += events[i].drop_count;
		if (!n)
			return;
	}
}

/* Of how many peers is a change of one EV news? The deaf take one for granted. */
static uint64_t news_of_one(struct storm *s)
{
	if (s->deaf)
		return 1;
	set_all(s, MRC_CTL_EV_DENIED, 1, 1);
	hear(s);
	set_all(s, MRC_CTL_EV_GOOD, 1, 1);
	hear(s);
	if (s->told + s->dropped)
		return s->told + s->dropped;
	fprintf(stderr, "mrc_storm: no peer has a path set of profile %llu\n",
		(unsigned long long)s->profile);
	exit(1);
}

/* How often, in @secs seconds, with @pause from one round to the next; *@took: how long it was. */
static uint64_t rage(struct storm *s, int secs, double pause, double *took)
{
	const double start = seconds();
	uint64_t rounds = 0;

	while (seconds() < start + secs) {
		set_all(s, MRC_CTL_EV_DENIED, 1, s->n - 1);
		set_all(s, MRC_CTL_EV_GOOD, 1, s->n - 1);
		rounds++;
		if (rounds % 16 == 0)
			hear(s);
		while (pause > 0 && seconds() < start + pause * (double)rounds)
			usleep(500);
	}
	*took = seconds() - start;
	return rounds;
}

/* What was dropped last comes with the next. */
static void hear_the_last(struct storm *s)
{
	hear(s);
	set_all(s, MRC_CTL_EV_DENIED, 1, 1);
	hear(s);
	set_all(s, MRC_CTL_EV_GOOD, 1, 1);
	hear(s);
}

int main(int argc, char **argv)
{
	static struct storm s = { .profile = 1 };
	const char *device = NULL;
	uint64_t rounds, each, want;
	double took, pause = 0;
	int c, secs = 5, rate = 0;
	struct ibv_context *v;

	while ((c = getopt(argc, argv, "Dd:i:r:t:")) != -1) {
		switch (c) {
		case 'D': s.deaf = true; break;
		case 'd': device = optarg; break;
		case 'i': s.profile = strtoull(optarg, NULL, 0); break;
		case 'r': rate = (int)number(optarg, 1, INT32_MAX); break;
		case 't': secs = (int)number(optarg, 1, 86400); break;
		default: return 2;
		}
	}
	v = open_device(device);
	s.ctx = mrc_create_context(v, NULL);
	s.hears = mrc_create_context(v, NULL);
	if (!s.ctx || !s.hears)
		die("mrc_create_context");
	list_evs(&s);
	if (!s.deaf)
		listen_to(&s);
	each = news_of_one(&s);
	if (rate > 0)
		pause = 2.0 * (double)(s.n - 1) * (double)each / rate;	/* denied and allowed */
	rounds = rage(&s, secs, pause, &took);
	hear_the_last(&s);
	want = each * (2 + rounds * (uint64_t)(s.n - 1));
	printf("%.0f changes a second; of %llu good news told %llu, dropped %llu\n",
	       2.0 * (double)want / took, (unsigned long long)want, (unsigned long long)s.told,
	       (unsigned long long)s.dropped);
	if ((s.cq && mrc_destroy_cq(s.cq)) || mrc_destroy_context(s.hears) || mrc_destroy_context(s.ctx))
		die("something is left");
	ibv_close_device(v);
	return !s.deaf && s.told + s.dropped < want;
}
