/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* mrc_bw.h - options of mrc_bw, and the TCP connection over which the two ends exchange QP numbers. */
#ifndef MRC_BW_H
#define MRC_BW_H

#include <stdbool.h>
#include <mrc.h>

#define BW_WINDOW	128	/* WRITEs posted at once */

struct bw_options {
	const char *device;		/* NULL: the first */
	const char *server;		/* NULL: we are it */
	const char *port;		/* of TCP */
	int gid_index;
	uint32_t min_size, max_size;	/* bytes */
	unsigned int count;		/* writes of each size */
	unsigned int moderation;	/* one completion for so many of them, at most BW_WINDOW */
	enum ibv_mtu mtu;
	uint8_t mpr, timeout;
	bool events;			/* sleep until there is a completion */
};

/* What the ends tell each other; network order on the wire. */
struct bw_end {
	uint32_t qpn, psn, rkey, max_size;
	uint64_t address;
	uint8_t gid[16];
};

void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Exits with the usage when they are wrong. */
void bw_options(struct bw_options *opt, int argc, char **argv);
/* Connected; exits when nobody comes. */
int bw_meet(const struct bw_options *opt);
void bw_swap(int tcp, const struct bw_end *own, struct bw_end *peer);
/* Returns when the other end has called it, too. */
void bw_together(int tcp);

#endif
