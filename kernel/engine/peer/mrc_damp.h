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
	u32 up;			/* as it is */
	u32 held;		/* not believed until its penalty has decayed; up or not */
	u32 ceiling;		/* of penalties */
	u32 penalty[MRC_PLANES_MAX];
	u64 at_ns[MRC_PLANES_MAX];	/* the last failure: penalty was right then */
};

void mrc_damp_init(struct mrc_damp *d, const struct mrc_damp_cfg *cfg, u32 up);

/* The ports are now as in @up. Return: the mask to be believed. */
u32 mrc_damp_set(struct mrc_damp *d, u32 up, u64 now_ns);

/* The latest failure of @port was none. */
void mrc_damp_forgive(struct mrc_damp *d, u8 port);

/* Look again, at or after the deadline: the mask to be believed now. */
u32 mrc_damp_poll(struct mrc_damp *d, u64 now_ns);

/* When mrc_damp_poll() will believe a port more; MRC_TIME_NEVER: not by itself. */
u64 mrc_damp_deadline_ns(const struct mrc_damp *d);

/* Ports that are up and not believed. */
static inline u32 mrc_damp_held(const struct mrc_damp *d)
{
	return d->up & d->held;
}

/*
 * Those not to be used of the ports that are up, when of these only @usable may be: a port
 * that flaps beats none.
 */
u32 mrc_damp_suppressed(const struct mrc_damp *d, u32 usable);

/* The port is another one from now on: what the old one did is forgotten. */
static inline void mrc_damp_forget(struct mrc_damp *d, u8 port)
{
	d->penalty[port] = 0;
}

#endif
