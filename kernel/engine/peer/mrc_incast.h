/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_incast.h - the receiver's answer to incast: how much each sender should slow down.
 *
 * rcv_cwnd_pen and restore_cwnd of a SACK; MRC 1.0 section 5.3, 7.5.1. MRC defines the fields and
 * leaves the policy open. One object per receiving device sees the arrivals of all its connections:
 * how many peers send at once, and how much the last hop trims.
 *
 * The caller serialises calls on one object. Any context, bounded work.
 */
#ifndef MRC_INCAST_H
#define MRC_INCAST_H

#include "base/mrc_types.h"

struct mrc_incast_note;

struct mrc_incast_cfg {
	u32 rate_mbps;		/* of the planes that are up; 0: unknown, learnt */
	u64 epoch_ns;		/* about a round trip, 10 ms at most; 0: 20 us */
	bool off;		/* send no penalties */
};

/* One sender, embedded in the QP. Zeroed at first. */
struct mrc_incast_flow {
	u32 epoch;		/* latest epoch in which it sent; 0: never */
	u32 bytes, bytes_last;	/* in that epoch, in the one before */
	u8 pen;			/* its penalty in that epoch */
	bool penalised;		/* had a penalty, and no restore since */
	bool restoring;		/* all SACKs of this epoch carry restore, since SACKs may be lost */
};

struct mrc_incast {
	struct mrc_incast_cfg cfg;
	u32 epoch;		/* count, from 1 */
	u64 start_ns;		/* of the epoch; 0: none yet */
	u32 senders, senders_last;	/* in this epoch, in the one before */
	u32 trims;
	u64 bytes;
	u32 share;		/* bytes per sender in the epoch before */
	u64 full;		/* bytes of an epoch in which the last hop is full */
	u32 tokens;		/* senders that may still go without penalty in this epoch */
	bool refill;		/* one of them may restore its window */
	u32 quiet;		/* epochs since the last trim */
	u8 pen;			/* penalty of senders with their share or more; 0: no incast */
};

/* A zero @cfg is valid: the rate is learnt, and an epoch is 20 us. */
void mrc_incast_init(struct mrc_incast *in, const struct mrc_incast_cfg *cfg);

/* Off: no penalties are sent. */
static inline void mrc_incast_set_off(struct mrc_incast *in, bool off)
{
	in->cfg.off = off;
}

/**
 * mrc_incast_update - account for arrivals of one connection
 * Return: rcv_cwnd_pen for its next SACKs; *restore: restore_cwnd of these SACKs.
 */
u8 mrc_incast_update(struct mrc_incast *in, struct mrc_incast_flow *f,
		     const struct mrc_incast_note *note, u64 now_ns, bool *restore);

#endif
