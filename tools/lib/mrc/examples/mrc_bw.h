/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* mrc_bw.h - options of mrc_bw, and the TCP connection over which the two ends exchange QP numbers. */
#ifndef MRC_BW_H
#define MRC_BW_H

#include <stdbool.h>
#include <mrc.h>

#define BW_WINDOW	128	/* WRITEs posted at once */

struct bw_options {
	const char *device;		/* NULL: the first device */
	const char *server;		/* NULL: this host is the server */
	const char *port;		/* of TCP */
	int gid_index;
	uint32_t min_size, max_size;	/* bytes */
	unsigned int count;		/* writes of each size */
	unsigned int moderation;	/* WRITEs per completion, at most BW_WINDOW */
	enum ibv_mtu mtu;
	uint8_t mpr, timeout;
	bool events;			/* sleep until there is a completion */
};

/* What the ends exchange, in network order. */
struct bw_end {
	uint32_t qpn, psn, rkey, max_size;
	uint64_t address;
	uint8_t gid[16];
};

void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Parses the command line. Prints the usage and exits if it is wrong. */
void bw_options(struct bw_options *opt, int argc, char **argv);
/* Connects the two ends and returns the socket; exits if the other end does not connect. */
int bw_meet(const struct bw_options *opt);
void bw_swap(int tcp, const struct bw_end *own, struct bw_end *peer);
/* Returns when the other end has called it, too. */
void bw_together(int tcp);

#endif
