/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_plane.h - the shared state of one plane: its round trip, its reordering window, and whether
 * it is suspect.
 *
 * MRC 1.0 sections 3, 4, 6. Planes differ: one may be 2 ms longer, or have a quarter of the rate of
 * the others. So each plane has its own round trip, and loss detection waits for the plane of the
 * packet. A plane can also fail as a whole: if several of its EVs lose packets while later packets
 * on other planes arrive, the plane is suspect. Then only probes use it until one delivery clears
 * it.
 *
 * Part of the path set (mrc_ev.h). Functions named mrc_evset_* use state that all QPs to a peer
 * share; the caller serialises them. Times are in ns; a tick is 2^MRC_TICK_SHIFT ns.
 */
#ifndef MRC_PLANE_H
#define MRC_PLANE_H

#include "clock/mrc_clock.h"

struct mrc_evset;

/* Shares of planes are 1/256. */
#define MRC_SHARE_FULL	256u

#define MRC_REO_MIN	5	/* reordering window of a plane, eighths of its round trip */

struct mrc_evplane {
	union {
		struct mrc_clock clock;
		struct {
			u32 srtt_ns, var_ns;	/* 0: no sample yet */
		};
	};
	u32 base_ns;		/* windowed minimum; ~0: no sample yet */
	u32 base_next_ns;	/* shortest since base_tick */
	u32 base_tick;
	u32 ok_tick;		/* latest send known as delivered, if ok */
	u32 reo_tick;		/* latest false alarm, or decay */
	u32 alarm_tick;		/* latest false alarm */
	u16 alarm_ev;		/* and its EV, or MRC_NONE16 */
	u32 rx_tick;		/* time of the peer's latest packet by this plane */
	u32 rx_pkts;		/* mrc_evset.rx_pkts at that time */
	/* suspicion (mrc_suspect.c) */
	u32 lost_tick;		/* when the lost packet of lost_ev was sent */
	u32 suspect_tick;	/* suspect: latest send known as late or lost */
	u64 suspect_ns;		/* suspect: since when */
	u64 over_ns;		/* when an answer last cleared it; 0: never, or the port changed */
	u64 ask_ns;		/* suspect, or lost_ev: when to probe next */
	u32 ask_pkts;		/* suspect: mrc_probe_credit.pkts at the latest probe */
	u16 lost_ev;		/* EV of the first loss since a delivery, or MRC_NONE16 */
	u16 query_ev;		/* other EV, probed because of lost_ev, unanswered; or MRC_NONE16 */
	u32 query_tick;		/* when query_ev was probed */
	/* correlated losses (mrc_correlate.c) */
	u32 fell_tick;		/* when the first of these losses was found */
	u16 fell, proved;	/* EVs with a loss within a round trip; deliveries since */
	u8 spoke;		/* EVs put aside that answered late, in a row */
	/* probes of EVs (mrc_probe.c) */
	u16 probe_pos;		/* where the search for an EV to probe continues */
	u32 streak_tick;	/* when the first probe of the streak was sent */
	u8 streak;		/* bad EVs that answered in a row, with no lost probe between */
	u8 relapses;		/* suspect: how often in a row soon after it was cleared */
	u8 asks;		/* suspect: probes to send at once */
	/* verification (mrc_verify.c) */
	u16 verify_ev;		/* probed, not answered so far; or MRC_NONE16 */
	u16 doubt_ev;		/* did not answer: no acknowledgements by this plane; or MRC_NONE16 */
	u16 mute_ev;		/* the latest EV demoted for that; or MRC_NONE16 */
	u32 verify_tick;	/* when verify_ev was probed */
	u32 doubt_tick;		/* when doubt_ev was probed */
	/* capacity (mrc_share.c) */
	u16 weight;		/* of MRC_SHARE_FULL */
	u16 arrived, signs, marks;	/* in this round trip */
	u32 round_tick;		/* when it began */
	u32 low_ns;		/* shortest sample since the last look for a queue */
	u32 stood_ns;		/* standing queue at that look: shortest sample minus base */
	u32 rtt_ns;		/* the latest sample */
	u32 rtt_tick;		/* and when */
	u32 len_ns;		/* length of the plane (mrc_ecf.c); ~0: not known from data */
	u32 len_next_ns;	/* shortest round trip of the looks so far */
	u8 len_looks;		/* number of these looks */
	u8 samples;
	u8 reo;			/* reordering window, eighths of srtt */
	bool ok;
	bool suspect;		/* only probes use it */
	bool queue;		/* the last look found a standing queue here and not on others */
	bool slow;		/* congested in the last round trip */
	bool narrow;		/* data took long and a probe did not: slower, not longer (mrc_ecf.c) */
};

/* An unambiguous round trip of a packet that left by plane @p. */
void mrc_evset_rtt(struct mrc_evset *s, u8 p, u64 rtt_ns, u64 now_ns);

/*
 * The round trip of a probe. A probe is short, and on a slow link much faster than data. So it must not lower the
 * base, or the plane would look congested.
 */
void mrc_evset_probe_rtt(struct mrc_evset *s, u8 p, u64 rtt_ns, u64 now_ns);

/* Mean base round trip of the planes in use, weighted by their shares; 0: none known. */
u32 mrc_evset_mean_base_ns(const struct mrc_evset *s);

/*
 * Age from which a packet of plane @p that later ones overtook counts as
 *	late	reported to mrc_evset_overdue()
 *	lost	retransmitted: round trip plus reordering window, which grows with false alarms and is
 *		short on a plane that is suspect or down
 * 0: no sample of this plane; the caller uses its own round trip or default.
 */
u64 mrc_evset_late_ns(const struct mrc_evset *s, u8 p);
u64 mrc_evset_lost_ns(const struct mrc_evset *s, u8 p);

/*
 * How long an answer may take on the slowest plane in use. 0: not known. Costs O(planes); patience_most_ns is an
 * upper bound that costs nothing.
 */
u64 mrc_evset_patience_ns(struct mrc_evset *s);

/*
 * Packets of plane @p by at least two EVs, the oldest sent at @tick, are late. True: the plane
 * is suspect now. Not if anything sent by it later has arrived, nor if no plane would be left.
 */
bool mrc_evset_overdue(struct mrc_evset *s, u8 p, u32 tick, u64 now_ns);

/*
 * A packet sent at @tick by EV @idx was declared lost. @trims: the fabric trims, so a silent loss is no congestion.
 * Attributes the loss to the plane, to the EV, or to neither (mrc_blame.c).
 */
void mrc_evset_lost(struct mrc_evset *s, u16 idx, u32 tick, bool trims, u64 now_ns);

/*
 * A packet declared lost, sent at @tick, arrived @late_ns later (0: unknown). Undoes the blame. Widens the plane's
 * reordering window, unless only this path is slow; then it returns true.
 */
bool mrc_evset_false_alarm(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 late_ns, u64 now_ns);

#endif
