// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_prober.c - shows which paths to a peer are alive: probes the peer by each EV of a profile, and draws a
 * table of planes and paths.
 *
 *	mrc_prober [-d DEVICE] [-i PROFILE] [-n TRIES] [-t MILLISECONDS] [-v] PEER
 *
 * PEER is an IPv6 or IPv4 address to which this host has talked. "+" is a path with an answer, "-" a path without
 * one in TRIES rounds. One missing answer proves nothing, because the peer chooses the path of the answer. -v lists
 * the EVs, too. Exit status 1: a path is dead.
 *
 *	port 1  ++++  210 to 380 us
 *	port 2  ++-+  205 to 344 us
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mrc_ctl.h>
#include "ev_text.h"
#include "example.h"

#define MOST_EVS	4096
#define PORTS_MAX	32

struct path {
	struct mrc_ctl_ev ev;
	bool answered;
	unsigned int rtt_ns;
};

struct prober {
	struct mrc_context *ctx;
	union ibv_gid peer;
	struct path path[MOST_EVS];
	int n;
};

static void die(const char *what)
{
	fprintf(stderr, "mrc_prober: %s: %s (MRC_DEBUG=1 says more)\n", what, strerror(errno));
	exit(2);
}

static void peer_of(union ibv_gid *gid, const char *text)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, text, gid->raw) == 1)
		return;
	gid->raw[10] = gid->raw[11] = 0xff;
	if (inet_pton(AF_INET, text, gid->raw + 12) == 1)
		return;
	fprintf(stderr, "mrc_prober: %s: an IPv6 or IPv4 address\n", text);
	exit(2);
}

/* Adds a path. An EV may be in a profile several times, as a weight. */
static void add_path(struct prober *p, const struct mrc_ctl_ev *ev)
{
	int i;

	for (i = 0; i < p->n; i++)
		if (p->path[i].ev.port == ev->port &&
		    !memcmp(p->path[i].ev.val, ev->val, sizeof(ev->val)))
			return;
	p->path[p->n++].ev = *ev;
}

static void list_paths(struct prober *p, uint64_t profile)
{
	static struct mrc_ctl_ev_op_entry list[MOST_EVS];
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, list, MOST_EVS },
	};
	int i;

	if (mrc_ctl_query_ev_profile(p->ctx, profile, &attr, MRC_CTL_EV_PROFILE_EV_OP))
		die("which EVs the profile has");
	for (i = 0; i < attr.ev_op.entry_count; i++)
		add_path(p, &list[i].ev);
}

/* Probes the paths that have not answered. */
static void ask(struct prober *p, uint32_t timeout_ns)
{
	static struct mrc_ctl_ep_req req[MOST_EVS];
	static struct mrc_ctl_ep_rsp rsp[MOST_EVS];
	int i, n = 0, got = 0;

	for (i = 0; i < p->n; i++) {
		if (p->path[i].answered)
			continue;
		memset(&req[n], 0, sizeof(req[n]));
		req[n].req_id = (uint16_t)i;
		req[n].dgid = p->peer;
		req[n].req_ev = p->path[i].ev;
		req[n++].ev_fmt_mode = ev_is_srv6(&p->path[i].ev) ? MRC_CTL_EV_FMT_MODE_SRV6 :
								   MRC_CTL_EV_FMT_MODE_UDP;
	}
	if (!n)
		return;
	if (mrc_ctl_ep_batch_send_wait(p->ctx, 0, MRC_CTL_EP_OP_EV_PROBE, req, n, timeout_ns, rsp, &got) &&
	    errno != ETIMEDOUT)
		die("to ask the peer");
	for (i = 0; i < got; i++) {
		p->path[rsp[i].req_id].answered = true;
		p->path[rsp[i].req_id].rtt_ns = rsp[i].rtt;
	}
}

/* Prints the paths of a port. Returns how many are dead. */
static int draw(const struct prober *p, uint8_t port, bool lists)
{
	unsigned int least = ~0u, most = 0;
	char text[EV_TEXT_MAX];
	int i, all = 0, dead = 0;

	for (i = 0; i < p->n; i++) {
		const struct path *path = &p->path[i];

		if (path->ev.port != port)
			continue;
		if (!all++)
			printf("port %u  ", port);
		putchar(path->answered ? '+' : '-');
		dead += !path->answered;
		if (path->answered && path->rtt_ns < least)
			least = path->rtt_ns;
		if (path->answered && path->rtt_ns > most)
			most = path->rtt_ns;
	}
	if (dead < all)
		printf("  %u to %u us", least / 1000, most / 1000);
	if (all)
		putchar('\n');
	for (i = 0; lists && i < p->n; i++)
		if (p->path[i].ev.port == port)
			printf("\t%s %s\n", p->path[i].answered ? "+" : "-", ev_text(&p->path[i].ev, text));
	return dead;
}

int main(int argc, char **argv)
{
	static struct prober p;
	uint32_t tries = 3, timeout_ms = 1000;
	const char *device = NULL;
	uint64_t profile = 1;
	bool lists = false;
	struct ibv_context *v;
	int c, dead = 0;
	uint8_t port;

	while ((c = getopt(argc, argv, "d:i:n:t:v")) != -1) {
		switch (c) {
		case 'd': device = optarg; break;
		case 'i': profile = strtoull(optarg, NULL, 0); break;
		case 'n': tries = number(optarg, 1, 100); break;
		case 't': timeout_ms = number(optarg, 1, 4000); break;
		case 'v': lists = true; break;
		default: return 2;
		}
	}
	if (optind != argc - 1) {
		fputs("usage: mrc_prober [-d DEVICE] [-i PROFILE] [-n TRIES] [-t MILLISECONDS] [-v] PEER\n", stderr);
		return 2;
	}
	peer_of(&p.peer, argv[optind]);
	v = open_device(device);
	p.ctx = mrc_create_context(v, NULL);
	if (!p.ctx)
		die("mrc_create_context");
	list_paths(&p, profile);
	for (; tries; tries--)
		ask(&p, timeout_ms * 1000000);
	for (port = 1; port <= PORTS_MAX; port++)
		dead += draw(&p, port, lists);
	if (mrc_destroy_context(p.ctx))
		die("something is left");
	ibv_close_device(v);
	return dead > 0;
}
