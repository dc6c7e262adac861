/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_miss.h - planes by which the peer's acknowledgements are missed.
 *
 * An extension; MRC 1.0 section 3.5 has the receiver's verification only. Nobody acknowledges
 * an acknowledgement, so its sender learns of a dead path by probes of its own, which are dear:
 * where a round trip holds 50 packets, it may ask about each of four planes once in eight.
 * But the end that gets them sees at once that one plane brings none while the others do. It says
 * so with one probe by that plane (MRC_PROBE_ID_MISS), which the other end takes as a reason to
 * verify that plane next. One such word for each silence: who leaves a plane out for good reason
 * is not told again and again.
 */
#ifndef MRC_MISS_H
#define MRC_MISS_H

#include "mrc_ev.h"

#define MRC_PROBE_ID_MISS	0xe000u	/* the peer's acknowledgements are missed on its plane */
#define MRC_MISS_TURNS		4u	/* of all planes, while one brings none */

/* Is plane @q to be told of? Out of line, as it is not so nearly always. */
bool mrc_miss_look(struct mrc_evset *s, u8 q);

/*
 * An acknowledgement came by plane @p (< n_planes). Looks at one plane each time, *q: true when
 * that one brought none of late, and the peer is to be told (mrc_evset_miss_told()).
 */
static inline bool mrc_evset_said(struct mrc_evset *s, u8 p, u8 *q)
{
	s->plane[p].said = ++s->said;
	*q = s->miss_at;
	s->miss_at = (u8)(*q + 1 < s->n_planes ? *q + 1 : 0);
	if (likely((s32)(s->said - s->plane[*q].said) <= (s32)(MRC_MISS_TURNS * s->n_planes)))
		return false;
	return mrc_miss_look(s, *q);
}

/* The EV by which to tell the peer about plane @q, or MRC_NONE16: no more reason, or no credit. */
u16 mrc_evset_miss_told(struct mrc_evset *s, struct mrc_rot *r, u8 q, u64 now_ns);

#endif
