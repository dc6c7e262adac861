/* SPDX-License-Identifier: GPL-2.0 */
/*
 * failover.h - mrc_failover: traffic over one QP, its packets, and what goes wrong when.
 *
 * One process does all of it, sleeping between events, because in virtual time
 * computing takes no time but a program that spins stops the clock:
 *   traffic.c  both ends of the QP; WRITEs, and when each was done
 *   trace.c    what the planes carried: packet sockets in their namespaces
 *   main.c     options, the commands that break and mend the network, the loop
 * All times are CLOCK_REALTIME, because packet sockets stamp with it.
 */
#ifndef FAILOVER_H
#define FAILOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

uint64_t fo_now_ns(void);

/* ---- traffic ---- */

struct fo_traffic_opts {
	const char *from, *to;		/* RDMA devices */
	uint32_t size;			/* bytes of a WRITE */
	uint32_t depth;			/* WRITEs posted at a time; 1 with an interval */
	uint64_t interval_ns;		/* one each so often; 0: as many as @depth allows */
};

void fo_traffic_open(const struct fo_traffic_opts *o);
/* Waits for completions: becomes readable. */
int fo_traffic_fd(void);
void fo_traffic_start(void);
/* The fd is readable: note what was done, post anew. False: a completion in error. */
bool fo_traffic_completions(void);
/* With an interval: the next one is due. */
void fo_traffic_due(void);
/* "message POSTED DONE" for each; one under way was done at 0. */
void fo_traffic_write(FILE *f);
void fo_traffic_close(void);

/* ---- trace ---- */

enum fo_point {
	FO_FROM_A,	/* the sender's packet enters the plane */
	FO_TO_B,	/* and leaves it */
	FO_FROM_B,
	FO_TO_A,
};

/* One packet at one point; packets.py reads these. */
struct fo_record {
	uint64_t ns;
	uint32_t psn;
	uint32_t ev;
	uint16_t payload;	/* bytes */
	uint16_t sid;		/* second uSID of the outer destination */
	uint8_t plane;		/* from 1 */
	uint8_t point;		/* enum fo_point */
	uint8_t opcode;
	uint8_t rtx;
};

/* A namespace p<plane> has the netdevs h1 and h2, towards both ends. */
void fo_trace_open(unsigned int planes);
/* Take what the rings hold; often enough that none runs over. */
void fo_trace_drain(void);
/* False: a ring ran over, and packets are missing. */
bool fo_trace_write(const char *path);

#endif
