/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_damp.h - flap damping: a port that fails repeatedly returns with a delay.
 *
 * MRC 1.0 leaves readmission to the implementation (3.4, 3.6, 9.3). The penalty is that of BGP and
 * of interface dampening (RFC 2439): each failure adds a penalty, which decays by half per
 * half-life. Above the suppress threshold the port counts as down until the penalty has decayed to
 * the reuse threshold. Failures always act at once; only returns are delayed. A first failure is
 * never damped.
 *
 * One object per set of ports: the device's own, or those that a peer announced.
 */
#ifndef MRC_DAMP_H
#define MRC_DAMP_H

#include "base/mrc_types.h"

#define MRC_DAMP_FAILURE	1000u

struct mrc_damp_cfg {
	u64 half_life_ns;	/* 0: 2 s; 1 us ... 1 h */
	/*
	 * In units where one failure is MRC_DAMP_FAILURE; 0: 2500 and 1000. Suppress is
	 * at least one failure, reuse at least 1 and at most suppress.
	 */
	u32 suppress, reuse;
	u64 max_ns;		/* longest suppression after a failure; 0: 4 half-lives */
	bool off;
};

struct mrc_damp {
	struct mrc_damp_cfg cfg;
	u32 up;			/* actual state of the ports */
	u32 held;		/* ports suppressed until their penalty has decayed, up or not */
	u32 ceiling;		/* maximum penalty */
	u32 penalty[MRC_PLANES_MAX];	/* at the time at_ns */
	u64 at_ns[MRC_PLANES_MAX];	/* the latest failure */
};

void mrc_damp_init(struct mrc_damp *d, const struct mrc_damp_cfg *cfg, u32 up);

/* The actual state of the ports is @up. Return: mask of ports that count as up. */
u32 mrc_damp_set(struct mrc_damp *d, u32 up, u64 now_ns);

/* The latest failure of @port was a false alarm: take its penalty back. */
void mrc_damp_forgive(struct mrc_damp *d, u8 port);

/* Call at or after the deadline. Return: mask of ports that count as up now. */
u32 mrc_damp_poll(struct mrc_damp *d, u64 now_ns);

/* When mrc_damp_poll() will release a port; MRC_TIME_NEVER: none is suppressed. */
u64 mrc_damp_deadline_ns(const struct mrc_damp *d);

/* Ports that are up but suppressed. */
static inline u32 mrc_damp_held(const struct mrc_damp *d)
{
	return d->up & d->held;
}

/*
 * Suppressed ports that must not be used, if only @usable ports can be used at all. If all of these are suppressed, they
 * are used anyway: a port that flaps is better than none.
 */
u32 mrc_damp_suppressed(const struct mrc_damp *d, u32 usable);

/* The port was replaced by another one: forget its penalty. */
static inline void mrc_damp_forget(struct mrc_damp *d, u8 port)
{
	d->penalty[port] = 0;
}

#endif
