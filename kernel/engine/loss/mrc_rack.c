// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rack.c - loss detection by time (RACK, RFC 8985), with the round trip of each plane.
 *
 * MRC 1.0 section 4 (7.4, Table 7-1). A packet is lost when a packet that was sent later, on any
 * path, is known as delivered, and the packet has been out longer than its plane may take
 * (mrc_evset_lost_ns()). Only time counts: the number of packets on other paths says nothing. The
 * lists of sent packets are kept per plane, oldest first, so only their heads are examined:
 * O(planes). An examination finds the time at which a head can be old enough. That time is used for
 * one round trip, because estimates may shrink meanwhile.
 *
 * If two packets by different EVs of one plane are late while packets of other planes were
 * answered, the plane becomes suspect (mrc_evset_overdue()). Its other packets are then
 * retransmitted soon.
 *
 * Packets on a plane that is known to be down need no later delivery: they wait about one round
 * trip for their answer and are then retransmitted.
 */
#include "conn/mrc_conn.h"

#define MRC_RACK_LOOK	4	/* packets behind the head examined for another EV */
#define MRC_RACK_SKIP	16	/* packets at the head that may be skipped, see mrc_rack_skips() */
#define MRC_RACK_NEAR	3u	/* quarters of the PSN window: it is nearly used up */
#define MRC_REO_SLACK_NS	1064u	/* minimum reordering window plus a tick */
#define MRC_TICK_NS	(1u << MRC_TICK_SHIFT)
#define MRC_RACK_AGES	(1u << 26)	/* ticks: longer than any round trip */

void mrc_rack_reset(struct mrc_conn *c)
{
	c->rack.at_ns = MRC_TIME_NEVER;
}

/* Ages of an overtaken packet: late makes its plane suspect, lost makes it retransmitted. */
struct mrc_rack_wait {
	u64 late_ns, lost_ns;
};

/* Will the PSN window soon stall because of the hole at its left edge? */
static bool mrc_rack_near_end(const struct mrc_conn *c)
{
	return 4 * ((c->snd.next - c->snd.una) & MRC_PSN_MASK) >= MRC_RACK_NEAR * c->snd.range;
}

static struct mrc_rack_wait mrc_rack_waits(const struct mrc_conn *c, u8 p)
{
	struct mrc_rack_wait w = { mrc_evset_late_ns(c->evs, p), mrc_evset_lost_ns(c->evs, p) };
	u32 srtt = mrc_evset_srtt_ns(c->evs, p);

	if (unlikely(!mrc_evset_base_ns(c->evs, p))) {	/* only probes so far, which wait in no queue of data */
		w.lost_ns = max_t(u64, w.lost_ns, mrc_rtt_patience_ns(c));
		w.late_ns = w.lost_ns;
	}
	/*
	 * A stalled PSN window stops all paths. So the wait is shorter near its end, unless the plane
	 * is known to reorder much (RFC 8985 6.2).
	 */
	if (mrc_rack_near_end(c) && w.lost_ns <= (u64)srtt + 3ull * (srtt / 4) + MRC_REO_SLACK_NS)
		w.lost_ns = min_t(u64, w.lost_ns, w.late_ns);
	w.late_ns += c->last_delivered.late_ns;
	w.lost_ns += c->last_delivered.late_ns;
	return w;
}

/*
 * The head of plane @p's list is late. If a packet by another EV is late, too, report the plane to the path
 * set. True: the plane is suspect now. *at: lowered to the time of the next check.
 */
static bool mrc_rack_overdue(struct mrc_conn *c, u8 p, u64 late_ns, u64 now_ns, u64 *at)
{
	const struct mrc_rec *head = &c->snd.rec[c->snd.sent[p].head];
	u16 slot = head->next;
	u32 n;

	for (n = 0; n < MRC_RACK_LOOK && slot != MRC_NONE16; n++, slot = c->snd.rec[slot].next) {
		const struct mrc_rec *r = &c->snd.rec[slot];
		u64 age = mrc_tick_age_ns(now_ns, r->sent);

		if (r->ev == head->ev)
			continue;
		if (!mrc_last_delivered_before(c, r->sent, mrc_rec_psn(c, slot)))
			return false;
		if (age >= late_ns)
			return mrc_evset_overdue(c->evs, p, head->sent, now_ns);
		*at = min_t(u64, *at, now_ns + late_ns - age + MRC_TICK_NS);
		return false;
	}
	return false;
}

/*
 * Must time not declare the packet in @slot lost? With SLEEK, packets that were sent once. And PSNs that no
 * bitmap has covered, unless their plane is down.
 */
static bool mrc_rack_skips(const struct mrc_conn *c, u16 slot, bool down)
{
	return (c->tx.sleek && c->snd.rec[slot].tries == 1) ||
	       (!down && !mrc_report_shows(c, mrc_rec_psn(c, slot)));
}

/* The oldest packet of plane @p that time may declare lost. */
static u16 mrc_rack_head(const struct mrc_conn *c, u8 p, bool down)
{
	u16 slot = c->snd.sent[p].head;
	u32 n;

	for (n = 0; slot != MRC_NONE16 && mrc_rack_skips(c, slot, down); n++) {
		if (n == MRC_RACK_SKIP)
			return MRC_NONE16;
		slot = c->snd.rec[slot].next;
	}
	return slot;
}

/*
 * Has plane @p delivered a packet that was sent half a round trip after the packet of @age? If the window is
 * about to stall, that packet is lost without waiting for the reordering window, which may be several
 * round trips on a plane with long queues: the later packet has passed the same queues.
 */
static bool mrc_rack_passed(const struct mrc_conn *c, u8 p, u64 age, u64 now_ns)
{
	const struct mrc_evplane *pl = &c->evs->plane[p];
	u64 ok = mrc_ev_age_ns(now_ns, pl->ok_tick);

	return pl->ok && age >= ok + pl->srtt_ns / 2 + MRC_REO_SLACK_NS && pl->srtt_ns &&
	       mrc_rack_near_end(c);
}

/*
 * @psn of plane @p is lost. Returns the bytes to report to the controller. 0 if a plane or path has failed,
 * which is no congestion, or if the plane has a reduced share, which already answers its losses.
 */
static u32 mrc_rack_lose(struct mrc_conn *c, u32 psn, u8 p, bool down, u64 now_ns)
{
	struct mrc_rec *r = &c->snd.rec[psn & c->snd.mask];
	u32 bytes = mrc_snd_lose(c, psn, down ? MRC_CAUSE_PLANE : MRC_CAUSE_RACK, now_ns);

	if (!down && !c->evs->plane[p].suspect && mrc_evset_share(c->evs, p) == MRC_SHARE_FULL &&
	    (r->ev >= c->evs->n || c->evs->ev[r->ev].state <= MRC_EV_SKIP))
		return bytes;
	r->charged = 0;
	return 0;
}

/*
 * Find losses on plane @p. Returns the time of the next check. *after: lowered to the time after which a delivery
 * must check.
 */
static u64 mrc_rack_plane(struct mrc_conn *c, u8 p, u64 now_ns, u32 *lost, u64 *after)
{
	bool down = !mrc_evset_plane_live(c->evs, p), told = false;
	struct mrc_rack_wait w = mrc_rack_waits(c, p);
	u64 at = MRC_TIME_NEVER;
	u16 slot;

	while ((slot = mrc_rack_head(c, p, down)) != MRC_NONE16) {
		const struct mrc_rec *r = &c->snd.rec[slot];
		u64 age = mrc_tick_age_ns(now_ns, r->sent);
		u32 psn = mrc_rec_psn(c, slot);

		if (!down && !mrc_last_delivered_before(c, r->sent, psn)) {
			if (age < w.late_ns)
				*after = min_t(u64, *after, now_ns + w.late_ns - age + MRC_TICK_NS);
			else	/* old enough: check again at the next delivery */
				c->rack.looked -= MRC_RACK_AGES;
			return at;
		}
		if (age >= w.lost_ns || (age >= w.late_ns && mrc_rack_passed(c, p, age, now_ns))) {
			*lost += mrc_rack_lose(c, psn, p, down, now_ns);
			if (!told && (down || c->evs->plane[p].suspect))
				w = mrc_rack_waits(c, p);
			told |= c->evs->plane[p].suspect;
			continue;
		}
		/* Round up: at that time the age in ticks must suffice. */
		at = now_ns + w.lost_ns - age + MRC_TICK_NS;
		if (down || c->tx.sleek)
			return at;
		if (age < w.late_ns)	/* late_ns may exceed lost_ns on a suspect plane */
			return min_t(u64, at, now_ns + w.late_ns - age + MRC_TICK_NS);
		if (told || slot != c->snd.sent[p].head || !mrc_rack_overdue(c, p, w.late_ns, now_ns, &at))
			return at;
		told = true;	/* suspect: the waits are shorter now */
		w = mrc_rack_waits(c, p);
	}
	return MRC_TIME_NEVER;
}

/*
 * The packet at the left edge is known to be missing from cack alone. On its plane's list it may be behind many
 * packets that no bitmap has covered, so it is checked separately. Returns the time of the next check.
 */
static u64 mrc_rack_edge(struct mrc_conn *c, u64 now_ns, u32 *lost)
{
	const struct mrc_rec *r = &c->snd.rec[c->snd.una & c->snd.mask];
	struct mrc_rack_wait w;
	u64 age;

	if (c->report.far || c->tx.sleek || r->state != MRC_REC_SENT ||
	    !mrc_last_delivered_before(c, r->sent, c->snd.una))
		return MRC_TIME_NEVER;
	w = mrc_rack_waits(c, r->plane);
	age = mrc_tick_age_ns(now_ns, r->sent);
	if (age < w.lost_ns)
		return now_ns + w.lost_ns - age + MRC_TICK_NS;
	*lost += mrc_rack_lose(c, c->snd.una, r->plane, !mrc_evset_plane_live(c->evs, r->plane), now_ns);
	return MRC_TIME_NEVER;
}

/* Examine all packets in flight, regardless of rack.at_ns. */
void mrc_rack_look(struct mrc_conn *c, u64 now_ns)
{
	u64 after = MRC_TIME_NEVER;
	u32 left, lost = 0;
	u8 p;

	c->rack.at_ns = MRC_TIME_NEVER;
	c->rack.looked = mrc_tick(now_ns);
	for (p = 0, left = c->snd.busy; left; p++, left >>= 1)
		if (left & 1 && (c->last_delivered.valid || !mrc_evset_plane_live(c->evs, p)))
			c->rack.at_ns = min_t(u64, c->rack.at_ns, mrc_rack_plane(c, p, now_ns, &lost, &after));
	if (unlikely(!c->report.far) && c->last_delivered.valid && c->snd.out)
		c->rack.at_ns = min_t(u64, c->rack.at_ns, mrc_rack_edge(c, now_ns, &lost));
	c->rack.idle = c->rack.at_ns == MRC_TIME_NEVER;
	c->rack.at_ns = min_t(u64, c->rack.at_ns, after);
	if (unlikely(lost))
		mrc_snd_report_lost(c, lost, now_ns);
	if (unlikely(c->resent.blamed != c->evs->blamed))
		mrc_resent_excuse(c, now_ns);
}

/* Has a packet been delivered that was sent later than the oldest one of a plane? */
static bool mrc_rack_overtaken(const struct mrc_conn *c)
{
	u32 left;
	u16 head;
	u8 p;

	for (p = 0, left = c->snd.busy; left; p++, left >>= 1) {
		head = left & 1 ? mrc_rack_head(c, p, false) : MRC_NONE16;
		if (head != MRC_NONE16 &&
		    mrc_last_delivered_before(c, c->snd.rec[head].sent, mrc_rec_psn(c, head)))
			return true;
	}
	return false;
}

/*
 * After a delivery. The heads of the lists only get younger, so nothing is lost before rack.at_ns, which is
 * valid for one round trip. A check shortly before that time saves the timer. The delivery may be the first that
 * overtook a packet: then rack.at_ns needs a timer.
 */
void mrc_rack_detect(struct mrc_conn *c, u64 now_ns)
{
	if (!c->snd.busy)
		c->rack.at_ns = MRC_TIME_NEVER;
	else if (mrc_tick_age_ns(now_ns, c->rack.looked) >= c->rtt.srtt_ns || c->rack.at_ns == MRC_TIME_NEVER ||
		 now_ns + c->rtt.srtt_ns / 16 >= c->rack.at_ns)
		mrc_rack_look(c, now_ns);
	else if (c->rack.idle && mrc_rack_overtaken(c))
		c->rack.idle = 0;
}
