/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_down_check.h - checks whether a port that the peer announced as down is really down.
 *
 * A Port Status Update does not prove its sender (MRC 1.0 sections 3.6, 7.4.7): any host with a
 * forged address can send one. So a "down" takes effect at once, and a probe is sent to the peer by
 * that plane. A port that is down cannot answer, and a peer that drains a port does not answer
 * (mrc_port.c). An answer therefore shows that the notice was forged.
 *
 * Probes repeat with doubling pauses, MRC_DOWN_CHECK_TRIES rounds in all. Without an answer the
 * notice stands.
 */
#ifndef MRC_DOWN_CHECK_H
#define MRC_DOWN_CHECK_H

#include "base/mrc_types.h"

#define MRC_DOWN_CHECK_TRIES		8
#define MRC_DOWN_CHECK_WAIT_NS	200000ull	/* before the second round; doubles: 51 ms in all */

struct mrc_down_check {
	u64 next_ns;		/* start of the next round, if open is not 0 */
	u32 open;		/* planes under check */
	u32 due;		/* planes whose probe of this round has not left yet */
	u8 tries;
	u8 gen[MRC_PLANES_MAX];	/* part of a probe's id: answers to older checks are ignored */
};

/* Ports in @planes were announced as down: check them. */
void mrc_down_check_start(struct mrc_down_check *c, u32 planes, u64 now_ns);
/* Ports in @planes were announced as up: end their check. */
void mrc_down_check_end(struct mrc_down_check *c, u32 planes);
/* True: send a probe by *plane (one of @usable) with *id now. */
bool mrc_down_check_next(struct mrc_down_check *c, u32 usable, u64 now_ns, u8 *plane, u16 *id);
/* The probe @id was answered. Return: mask of the plane that is not down after all, or 0. */
u32 mrc_down_check_rx(struct mrc_down_check *c, u16 id);
u64 mrc_down_check_deadline_ns(const struct mrc_down_check *c);

/* Rounds so far. */
static inline u8 mrc_down_check_tries(const struct mrc_down_check *c)
{
	return c->tries;
}

#endif
