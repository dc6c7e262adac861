// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ring_tcp.c - options of mrc_ring, and the TCP connections over which neighbours exchange QP numbers.
 */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "example.h"
#include "mrc_ring.h"

#define MAX_ELEMENTS	(1u << 28)

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("mrc_ring: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void usage(void)
{
	fputs("mrc_ring [-d DEVICE] [-g GID_INDEX] [-e ELEMENTS] [-n ROUNDS] [-p TCP_PORT] -r RANK HOST HOST ...\n",
	      stderr);
	exit(2);
}

void ring_options(struct ring_options *opt, int argc, char **argv)
{
	int c;

	*opt = (struct ring_options) { .port = "18516", .gid_index = 3, .elements = 1 << 18 };
	while ((c = getopt(argc, argv, "d:e:g:n:p:r:")) != -1) {
		switch (c) {
		case 'd': opt->device = optarg; break;
		case 'e': opt->elements = number(optarg, 1, MAX_ELEMENTS); break;
		case 'g': opt->gid_index = (int)number(optarg, 0, 255); break;
		case 'n': opt->rounds = number(optarg, 1, 1u << 30); break;
		case 'p': opt->port = optarg; break;
		case 'r': opt->rank = number(optarg, 0, 1023); break;
		default: usage();
		}
	}
	opt->hosts = argv + optind;
	opt->n = (unsigned int)(argc - optind);
	if (opt->n < 2 || opt->rank >= opt->n)
		usage();
}

static int listen_here(const struct addrinfo *ai)
{
	const int one = 1;
	int s = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s < 0 || bind(s, ai->ai_addr, ai->ai_addrlen) || listen(s, 1))
		die("cannot listen: %s", strerror(errno));
	return s;
}

static int connect_to(const struct addrinfo *ai)
{
	int tries, s;

	for (tries = 0; tries < 600; tries++) {		/* a minute */
		s = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
		if (s >= 0 && !connect(s, ai->ai_addr, ai->ai_addrlen))
			return s;
		if (s >= 0)
			close(s);
		usleep(100000);
	}
	die("the next rank is not there: %s", strerror(errno));
}

static struct addrinfo *resolve(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	int err = getaddrinfo(host, port, &hints, &ai);

	if (err)
		die("%s: %s", host, gai_strerror(err));
	return ai;
}

/* Each rank listens before it connects to the next one, so no two ranks wait for each other. */
void ring_meet(const struct ring_options *opt, int *next, int *prev)
{
	struct addrinfo *own = resolve(opt->hosts[opt->rank], opt->port);
	struct addrinfo *to = resolve(opt->hosts[(opt->rank + 1) % opt->n], opt->port);
	int listening = listen_here(own);

	*next = connect_to(to);
	*prev = accept(listening, NULL, NULL);
	if (*prev < 0)
		die("accept: %s", strerror(errno));
	close(listening);
	freeaddrinfo(own);
	freeaddrinfo(to);
}

void ring_send(int tcp, const void *data, size_t len)
{
	if (send(tcp, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("a neighbour is gone");
}

void ring_receive(int tcp, void *data, size_t len)
{
	if (recv(tcp, data, len, MSG_WAITALL) != (ssize_t)len)
		die("a neighbour is gone");
}
