/* SPDX-License-Identifier: GPL-2.0 */
/*
 * prog.h - what the programs of published patterns (prog_*.c) share: options, a TCP connection, messages
 * whose every byte is compared, and nothing of how they use the device.
 *
 *	prog_X [-d DEVICE] [-x GID_INDEX] [-p TCP_PORT] [-n ROUNDS] [SERVER]
 *
 * Without SERVER it receives. SIGINT ends the sender after the round that it is in.
 */
#ifndef PROG_H
#define PROG_H

#include "vcommon.h"

#define PROG_AREA	(256 << 10)	/* the longest message */

struct prog {
	struct vc_opts opts;
	uint32_t rounds;	/* 0: until it is interrupted */
	int fd;			/* to the other end */
	uint8_t *area;		/* PROG_AREA bytes, of pages of their own */
};

void prog_begin(struct prog *p, int argc, char **argv);

/* What the ends tell each other, once for each QP. */
struct prog_qp {
	uint32_t qpn, psn, rkey;
	uint32_t gid_index;	/* the teller's own */
	uint64_t addr;
	union ibv_gid gid;
};
void prog_swap(const struct prog *p, const struct prog_qp *mine, struct prog_qp *theirs);

/*
 * The sender: @send(@ctx, @len) has the first bytes of the area in the receiver's. The receiver: @arrived has
 * waited for what tells that they came, or is NULL. Returns the program's exit status: 0, and every byte was
 * right.
 */
int prog_run(struct prog *p, void *ctx, void (*send)(void *ctx, uint32_t len),
	     void (*arrived)(void *ctx, uint32_t len));

#endif
