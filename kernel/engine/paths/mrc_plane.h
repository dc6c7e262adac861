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
	u32 rx_tick;		/* the peer's latest packet by it, and its number */
	u32 rx_pkts;
	/* suspicion (mrc_suspect.c) */
	u32 lost_tick;		/* of lost_ev: when its packet was sent */
	u32 suspect_tick;	/* suspect: latest send known as late or lost */
	u64 suspect_ns;		/* suspect: since when */
	u64 over_ns;		/* when an answer last ended that; 0: never, or the port did */
	u64 ask_ns;		/* suspect, or lost_ev: when to probe next */
	u32 ask_pkts;		/* suspect: packets counted up to the latest probe */
	u16 lost_ev;		/* EV of the first loss since a delivery, or MRC_NONE16 */
	u16 query_ev;		/* another EV, probed for that and not answered; or MRC_NONE16 */
	u32 query_tick;		/* when */
	/* company (mrc_correlate.c) */
	u32 fell_tick;		/* when the first of these losses was found */
	u16 fell, proved;	/* EVs that lost within a round trip; deliveries since */
	u8 spoke;		/* EVs put aside that answered in a row, late */
	/* probes of EVs (mrc_probe.c) */
	u16 probe_pos;		/* where the search for an EV to probe goes on */
	u32 streak_tick;	/* when the first probe of that run was sent */
	u8 streak;		/* bad EVs whose first probes were answered, none lost between */
	u8 relapses;		/* suspect: so many in a row soon after it was over */
	u8 asks;		/* suspect: probes to send at once */
	/* verification (mrc_verify.c) */
	u16 verify_ev;		/* probed, not answered so far; or MRC_NONE16 */
	u16 doubt_ev;		/* did not answer: no acknowledgements by it; or MRC_NONE16 */
	u16 mute_ev;		/* the latest one called bad for that; or MRC_NONE16 */
	u32 verify_tick;	/* when verify_ev was probed */
	u32 doubt_tick;
	/* capacity (mrc_share.c) */
	u16 weight;		/* of MRC_SHARE_FULL */
	u16 arrived, signs, marks;	/* in this round */
	u32 round_tick;		/* when it began */
	u32 low_ns;		/* shortest of so many samples since a queue was last looked for */
	u32 stood_ns;		/* the queue that stood then: what the shortest was longer than the base */
	u32 rtt_ns;		/* the latest sample */
	u32 rtt_tick;		/* and when */
	u32 len_ns;		/* its length (mrc_ecf.c); ~0: no data went by it */
	u32 len_next_ns;	/* the least round trip of the looks at it, so far */
	u8 len_looks;		/* how many */
	u8 samples;
	u8 reo;			/* reordering window, eighths of srtt */
	bool ok;
	bool suspect;		/* nothing but probes leaves by it */
	bool queue;		/* one stood when last looked for, and not on others */
	bool slow;		/* congested in the last round */
	bool narrow;		/* data took long and a probe did not: slower, not longer (mrc_ecf.c) */
};

/* An unambiguous round trip of a packet that left by plane @p. */
void mrc_evset_rtt(struct mrc_evset *s, u8 p, u64 rtt_ns, u64 now_ns);

/*
 * Likewise of a probe. It is short, and on a slow link much faster than data: no base for it, or
 * the plane looks congested beside one that had no probe lately.
 */
void mrc_evset_probe_rtt(struct mrc_evset *s, u8 p, u64 rtt_ns, u64 now_ns);

/* Mean base round trip of the planes in use, weighted by their shares; 0: none known. */
u32 mrc_evset_mean_base_ns(const struct mrc_evset *s);

/*
 * Age from which a packet of plane @p that later ones overtook is
 *	late	worth a suspicion (mrc_evset_overdue())
 *	lost	resent: its round trip plus the reordering window, which grows with false alarms
 *		and is short on a plane that is suspect or down
 * 0: no sample of this plane; the caller uses its own round trip or default.
 */
u64 mrc_evset_late_ns(const struct mrc_evset *s, u8 p);
u64 mrc_evset_lost_ns(const struct mrc_evset *s, u8 p);

/*
 * How long an answer may take: that of the slowest plane in use. 0: none known. Asked by every
 * burst, so nobody asks where patience_most_ns says enough: no plane, in use or not, takes longer.
 */
u64 mrc_evset_patience_ns(struct mrc_evset *s);

/*
 * Packets of plane @p by at least two EVs, the oldest sent at @tick, are late. True: the plane
 * is suspect now. Not if anything sent by it later has arrived, nor if no plane would be left.
 */
bool mrc_evset_overdue(struct mrc_evset *s, u8 p, u32 tick, u64 now_ns);

/*
 * A packet sent at @tick by EV @idx is called lost. @trims: the fabric trims, so silence is no
 * congestion. Decides whom to blame: the plane, the EV, or nobody.
 */
void mrc_evset_lost(struct mrc_evset *s, u16 idx, u32 tick, bool trims, u64 now_ns);

/*
 * What was called lost had been on its way: sent at @tick, it arrived @late_ns later (0: unknown).
 * The blame is taken back and the plane's reordering window grows.
 */
bool mrc_evset_false_alarm(struct mrc_evset *s, u8 p, u16 idx, u32 tick, u64 late_ns, u64 now_ns);

#endif
