/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_no_acks.h - planes by which the peer's acknowledgements are missed.
 *
 * An extension; MRC 1.0 section 3.5 has the receiver's verification only. Nobody acknowledges
 * an acknowledgement, so its sender learns of a dead path by probes of its own, which are dear:
 * where a round trip holds 50 packets, it may ask about each of four planes once in eight.
 * But the end that gets them sees at once that one plane brings none while the others do. It says
 * so with one probe by that plane (MRC_PROBE_ID_NO_ACKS), which the other end takes as a reason to
 * verify that plane next. One such word for each silence, and in four round trips: chance may have
 * left the plane out before it died, and who leaves it out for good reason is not told each time.
 */
#ifndef MRC_NO_ACKS_H
#define MRC_NO_ACKS_H

#include "paths/mrc_ev.h"

#define MRC_PROBE_ID_NO_ACKS	0xe000u	/* the peer's acknowledgements are missed on its plane */
#define MRC_NO_ACKS_TURNS		4u	/* of all planes, in which one brings none */
#define MRC_NO_ACKS_AGAIN_RTTS	4u

/* So many turns are over. The plane to tell the peer of, or MRC_PLANES_MAX. */
u8 mrc_no_acks_look(struct mrc_evset *s);

/*
 * An acknowledgement came by plane @p (< n_planes). Returns the plane that brought none in the
 * last turns while others did, of which the peer is to be told (mrc_evset_no_acks_reported()); nearly
 * always MRC_PLANES_MAX: none.
 */
static inline u8 mrc_evset_acked_by(struct mrc_evset *s, u8 p)
{
	s->ack_planes |= 1u << p;
	s->ack_by = p;
	return likely(--s->ack_turns_left) ? MRC_PLANES_MAX : mrc_no_acks_look(s);
}

/* The EV by which to tell the peer about plane @q, or MRC_NONE16: no more reason, or no credit. */
u16 mrc_evset_no_acks_reported(struct mrc_evset *s, struct mrc_spray *r, u8 q, u64 now_ns);

#endif
