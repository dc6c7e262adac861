/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_no_acks.h - planes on which the peer's acknowledgements stopped.
 *
 * A project extension; MRC 1.0 section 3.5 only has verification by the receiver of data.
 * Acknowledgements are not acknowledged, so their sender finds a dead path only by its own probes,
 * and those are expensive: with 50 packets per round trip it can probe each of four planes once in
 * eight round trips. The other side sees at once that one plane delivers no acknowledgements while
 * the others do. It reports this by one probe on that plane (MRC_PROBE_ID_NO_ACKS). The receiver of
 * the probe then verifies that plane next. There is one report per silence and per four round
 * trips: a plane may have been left out by chance or for a good reason.
 *
 * A period has several acknowledgements per plane and lasts half of a round trip. Many QPs receive that many
 * acknowledgements in a moment, and they often leave a plane out by chance. A false report is not harmless:
 * the receiver avoids the plane until its probe is answered, and the other planes get its acknowledgements.
 */
#ifndef MRC_NO_ACKS_H
#define MRC_NO_ACKS_H

#include "paths/mrc_ev.h"

#define MRC_PROBE_ID_NO_ACKS	0xe000u	/* "no acknowledgements arrive by the plane of this probe" */
#define MRC_NO_ACKS_TURNS		4u	/* a period has so many acknowledgements per plane */
#define MRC_NO_ACKS_AGAIN_RTTS	4u	/* repeat a report after so many round trips */

/* A period is over. The plane to report to the peer, or MRC_PLANES_MAX. */
u8 mrc_no_acks_look(struct mrc_evset *s, u64 now_ns);

/*
 * An acknowledgement arrived by plane @p (< n_planes). Returns a plane that had none in this period while
 * others had, to be reported (mrc_evset_no_acks_reported()); nearly always MRC_PLANES_MAX: none.
 */
static inline u8 mrc_evset_acked_by(struct mrc_evset *s, u8 p, u64 now_ns)
{
	s->ack_planes |= 1u << p;
	s->ack_by = p;
	return likely(--s->ack_turns_left) ? MRC_PLANES_MAX : mrc_no_acks_look(s, now_ns);
}

/* The EV for the report about plane @q, or MRC_NONE16: no longer needed, or no credit. */
u16 mrc_evset_no_acks_reported(struct mrc_evset *s, struct mrc_spray *r, u8 q, u64 now_ns);

#endif
