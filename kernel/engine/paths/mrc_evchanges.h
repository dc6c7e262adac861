/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_evchanges.h - a queue of changes of EV states, with their causes, for events and logs.
 *
 * Changes of the same kind, cause and plane are merged into one entry with a count: a plane of 512
 * EVs makes one entry. The caller takes the entries after each turn. Changes that find the queue
 * full are counted.
 */
#ifndef MRC_EVCHANGES_H
#define MRC_EVCHANGES_H

#include "base/mrc_types.h"

enum mrc_ev_why {
	MRC_EV_WHY_LOST,	/* packets or probes were lost */
	MRC_EV_WHY_PEER,	/* the peer reported it */
	MRC_EV_WHY_CORRELATED,	/* put aside because of other EVs of its plane */
	MRC_EV_WHY_CONTROLLER,	/* a controller set it */
	MRC_EV_WHY_ANSWERED,	/* its probes were answered */
	MRC_EV_WHY_LATE,	/* a packet declared lost arrived late */
	MRC_EV_WHY_FORGIVEN,	/* the EV was not at fault */
	MRC_EV_WHY_PLANE_BACK,	/* its plane came back */
	MRC_EV_WHY_FLOOR,	/* too few usable EVs were left */
	MRC_EV_WHY_AVOIDED,	/* a controller avoids its link, or no longer does */
};

#define MRC_EV_CHANGES	8

struct mrc_ev_change {
	u32 value;		/* of the first EV, as in struct mrc_ev */
	u32 count;		/* changes */
	u16 idx;		/* of the first EV */
	u8 plane;		/* 0-based */
	u8 state;		/* new enum mrc_ev_state: GOOD, ASSUMED_BAD or DENIED */
	u8 why;			/* enum mrc_ev_why */
};

/* How often EVs became ASSUMED_BAD, and usable again. Exact under the lock, a hint without. */
struct mrc_ev_turns {
	u64 bad, good;
	u32 news_lost;		/* changes that found no room */
	u8 n_news;
	struct mrc_ev_change news[MRC_EV_CHANGES];
};

void mrc_evchanges_add(struct mrc_ev_turns *t, const struct mrc_ev_change *one);
/* Takes the oldest entry. False: the queue is empty. */
bool mrc_evchanges_take(struct mrc_ev_turns *t, struct mrc_ev_change *one);

#endif
