// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_bw_tcp.c - see mrc_bw.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "example.h"
#include "mrc_bw.h"

static void usage(void)
{
	fputs("mrc_bw [-d DEVICE] [-e] [-g GID_INDEX] [-m MTU] [-n WRITES] [-s MIN] [-S MAX]\n"
	      "       [-M MPR] [-Q MODERATION] [-t TIMEOUT] [-p TCP_PORT] [SERVER]\n", stderr);
	exit(2);
}

static enum ibv_mtu mtu_of(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 256u << (mtu - IBV_MTU_256) < bytes)
		mtu++;
	return mtu;
}

void bw_options(struct bw_options *opt, int argc, char **argv)
{
	int c;

	*opt = (struct bw_options) {
		.port = "18515", .gid_index = 3, .min_size = 1, .max_size = 64 << 20, .count = 1000,
		.mtu = IBV_MTU_4096, .mpr = 8, .moderation = 1, .timeout = 8,
	};
	while ((c = getopt(argc, argv, "d:eg:m:n:s:S:M:Q:t:p:")) != -1) {
		switch (c) {
		case 'd': opt->device = optarg; break;
		case 'e': opt->events = true; break;
		case 'g': opt->gid_index = (int)number(optarg, 0, 255); break;
		case 'm': opt->mtu = mtu_of(number(optarg, 256, 4096)); break;
		case 'n': opt->count = number(optarg, 1, 1u << 30); break;
		case 's': opt->min_size = number(optarg, 1, 1u << 30); break;
		case 'S': opt->max_size = number(optarg, 1, 1u << 30); break;
		case 'M': opt->mpr = (uint8_t)number(optarg, 1, 255); break;
		case 'Q': opt->moderation = number(optarg, 1, BW_WINDOW); break;
		case 't': opt->timeout = (uint8_t)number(optarg, 0, 24); break;
		case 'p': opt->port = optarg; break;
		default: usage();
		}
	}
	if (optind < argc)
		opt->server = argv[optind++];
	if (optind < argc)
		usage();
}

static int tcp_try(const struct addrinfo *ai, bool listens)
{
	const int one = 1;
	int s = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol), c;

	if (s < 0)
		return -1;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!listens && !connect(s, ai->ai_addr, ai->ai_addrlen))
		return s;
	c = listens && !bind(s, ai->ai_addr, ai->ai_addrlen) && !listen(s, 1) ?
	    accept(s, NULL, NULL) : -1;
	close(s);
	return c;
}

int bw_meet(const struct bw_options *opt)
{
	struct addrinfo hints = { .ai_family = AF_INET6, .ai_socktype = SOCK_STREAM };
	int err, tries, s = -1;
	struct addrinfo *ai;

	if (opt->server)
		hints.ai_family = AF_UNSPEC;
	else
		hints.ai_flags = AI_PASSIVE;	/* "::" accepts IPv4, too */
	err = getaddrinfo(opt->server, opt->port, &hints, &ai);
	if (err)
		die("%s: %s", opt->server ? opt->server : opt->port, gai_strerror(err));
	for (tries = 0; s < 0 && tries < 300; tries++) {	/* half a minute */
		s = tcp_try(ai, !opt->server);
		if (s < 0)
			usleep(100000);
	}
	freeaddrinfo(ai);
	if (s < 0)
		die("nobody at TCP port %s: %s", opt->port, strerror(errno));
	return s;
}

static void tcp_send(int tcp, const void *data, size_t len)
{
	if (send(tcp, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("the other end is gone");
}

static void tcp_receive(int tcp, void *data, size_t len)
{
	if (recv(tcp, data, len, MSG_WAITALL) != (ssize_t)len)
		die("the other end is gone");
}

static void swap_order(struct bw_end *e, bool to_host)
{
	uint32_t *words[] = { &e->qpn, &e->psn, &e->rkey, &e->max_size };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		*words[i] = to_host ? ntohl(*words[i]) : htonl(*words[i]);
	e->address = to_host ? be64toh(e->address) : htobe64(e->address);
}

void bw_swap(int tcp, const struct bw_end *own, struct bw_end *peer)
{
	struct bw_end wire = *own;

	swap_order(&wire, false);
	tcp_send(tcp, &wire, sizeof(wire));
	tcp_receive(tcp, peer, sizeof(*peer));
	swap_order(peer, true);
}

void bw_together(int tcp)
{
	char c = 'x';

	tcp_send(tcp, &c, 1);
	tcp_receive(tcp, &c, 1);
}
