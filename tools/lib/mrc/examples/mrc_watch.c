// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_watch.c - prints events of EVs, as a controller receives them through mrc_ctl.h.
 *
 *	mrc_watch -d mrc0 [-t SECONDS] PROFILE...
 *
 * Prints a line for each EV of these profiles that becomes assumed bad or good again, for SECONDS or until
 * it is interrupted. Needs CAP_NET_ADMIN.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <mrc_ctl.h>
#include "ev_text.h"
#include "example.h"

#define AT_ONCE		64

static void die(const char *what)
{
	fprintf(stderr, "mrc_watch: %s: %s (MRC_DEBUG=1 says more)\n", what, strerror(errno));
	exit(1);
}

static void want_events(struct mrc_context *ctx, const char *profile)
{
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD,
	};

	if (mrc_ctl_modify_ev_profile(ctx, strtoull(profile, NULL, 0), &attr,
				      MRC_CTL_EV_PROFILE_EVENT_MASK))
		die(profile);
}

static void print_event(const struct mrc_ctl_ev_event *e)
{
	char text[EV_TEXT_MAX];

	if (e->drop_count)
		printf("%u events were lost\n", e->drop_count);
	printf("profile %llu port %u ev %s %s\n", (unsigned long long)e->profile_id, e->ev.port,
	       ev_text(&e->ev, text), e->state == MRC_CTL_EV_GOOD ? "good" : "assumed bad");
	fflush(stdout);
}

/* Prints all events of the queue. */
static void print_all(struct mrc_cq *cq)
{
	struct mrc_ctl_ev_event events[AT_ONCE];
	int n, i;

	do {
		n = mrc_ctl_poll_ev_event(cq, AT_ONCE, events);
		if (n < 0)
			die("mrc_ctl_poll_ev_event");
		for (i = 0; i < n; i++)
			print_event(&events[i]);
	} while (n);
}

/*
 * Sleeps while nothing changes. The queue is armed before it is polled, so no event is missed in
 * between.
 */
static void watch(struct mrc_comp_channel *channel, struct mrc_cq *cq, time_t until)
{
	struct pollfd p = { .events = POLLIN };
	struct mrc_cq *got;
	void *user;

	if (mrc_get_comp_channel_fd(channel, &p.fd))
		die("mrc_get_comp_channel_fd");
	while (!until || time(NULL) < until) {
		if (mrc_req_notify_cq(cq, 0))
			die("mrc_req_notify_cq");
		print_all(cq);
		if (poll(&p, 1, until ? 1000 : -1) < 1)
			continue;
		if (mrc_get_cq_event(channel, &got, &user))
			die("mrc_get_cq_event");
		mrc_ack_cq_events(got, 1);
	}
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	struct ibv_context *v;
	struct mrc_comp_channel *channel;
	struct mrc_context *ctx;
	struct mrc_cq *cq;
	time_t until = 0;
	int c;

	while ((c = getopt(argc, argv, "d:t:")) != -1) {
		if (c == 'd')
			device = optarg;
		else if (c == 't')
			until = time(NULL) + number(optarg, 1, 1u << 30);
		else
			return 2;
	}
	v = open_device(device);
	ctx = mrc_create_context(v, NULL);
	if (!ctx)
		die("mrc_create_context");
	for (; optind < argc; optind++)
		want_events(ctx, argv[optind]);
	errno = mrc_create_comp_channel(ctx, &channel);
	if (errno)
		die("mrc_create_comp_channel");
	cq = mrc_ctl_create_ev_event_cq(ctx, 4096, NULL, channel, 0);
	if (!cq)
		die("mrc_ctl_create_ev_event_cq");
	puts("watching");
	fflush(stdout);
	watch(channel, cq, until);
	if (mrc_destroy_cq(cq) || mrc_destroy_comp_channel(channel) || mrc_destroy_context(ctx))
		die("something is left");
	ibv_close_device(v);
	return 0;
}
