// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_resent.c - recent retransmissions, and losses that prove to be false alarms.
 *
 * MRC 1.0 section 4 (7.4); the idea is that of Eifel (RFC 3522) and DSACK (RFC 3708). For each
 * packet that was retransmitted after silence, a small table keeps the send time and path of both
 * copies. The first copy had arrived after all when
 *	- a SACK names its EV or echoes its timestamp,
 *	- the second copy triggers a SACK, and the PSN was known as delivered before that copy could be
 *	  answered: the peer saw a duplicate,
 *	- without timestamps, the PSN is known as delivered much sooner than the second copy could be,
 *	- or it is acknowledged while it waits for retransmission.
 * Then all consequences of the loss are undone: the blame of the path, the reordering window of the
 * plane (the round trip of the first copy counts), and the reduction of the congestion window.
 *
 * A peer that lies about timestamps and duplicates makes us more patient with its own planes. It
 * regains at most what its losses cost.
 */
#include "conn/mrc_conn.h"

#define MRC_RESENT_LATELY	8u	/* round trips */
#define MRC_RESENT_KEEP_NS	1000000000ull	/* entries expire, because PSNs wrap around */

void mrc_resent_reset(struct mrc_conn *c)
{
	memset(c->resent.tab, 0, c->resent.n * sizeof(*c->resent.tab));
	c->resent.undone = 0;
}

/*
 * The bucket of @psn. A lookup examines only a few entries, so that an acknowledgement of a whole window
 * of retransmitted packets is cheap. The hash spreads the regular strides of losses (every n-th
 * packet uses the same plane) evenly.
 */
static struct mrc_resend *mrc_resent_ways(const struct mrc_conn *c, u32 psn)
{
	return &c->resent.tab[(psn * 2654435769u >> c->resent.shift) * MRC_RESEND_WAYS];
}

/* Can the loss be spurious? Not if the peer reported it by a NACK. */
static bool mrc_resent_silent(u8 cause)
{
	return cause == MRC_CAUSE_RACK || cause == MRC_CAUSE_RTO || cause == MRC_CAUSE_SLEEK ||
	       cause == MRC_CAUSE_PLANE;
}

/* Bytes that were reported to the controller for the latest loss of @r; on_spurious may restore them. */
static u32 mrc_resent_bytes(const struct mrc_rec *r)
{
	return r->charged ? mrc_rec_bytes(r) : 0;
}

/* Set the table's size: @n entries, a power of two. */
void mrc_resent_size(struct mrc_conn *c, u16 n)
{
	c->resent.n = n;
	for (c->resent.shift = 31; n > 2 * MRC_RESEND_WAYS; n /= 2)
		c->resent.shift--;
}

/*
 * Move the entries of @old to the larger table. No bucket overflows: entries that share a bucket of the
 * new table shared one of @old.
 */
void mrc_resent_move(struct mrc_conn *c, const struct mrc_resend *old, u16 n)
{
	struct mrc_resend *way;
	u32 i, k;

	memset(c->resent.tab, 0, c->resent.n * sizeof(*c->resent.tab));
	for (i = 0; i < n; i++) {
		if (!old[i].used)
			continue;
		way = mrc_resent_ways(c, old[i].psn);
		for (k = 0; k < MRC_RESEND_WAYS - 1 && way[k].used; k++)
			;
		way[k] = old[i];
	}
}

/* The lost packet @psn leaves again by EV @ev. @r still describes its previous copy. */
void mrc_resent_note(struct mrc_conn *c, const struct mrc_rec *r, u32 psn, u16 ev, u64 now_ns)
{
	struct mrc_resend *way = mrc_resent_ways(c, psn), *e = way;
	u32 i;

	if (!mrc_resent_silent(r->cause))
		return;
	for (i = 0; i < MRC_RESEND_WAYS && e->used && e->psn != psn; i++)
		if (!way[i].used || way[i].psn == psn || (s32)(way[i].second - e->second) < 0)
			e = &way[i];
	c->crowded |= e->used && e->psn != psn &&
		     mrc_tick_age_ns(now_ns, e->second) <= MRC_RESENT_KEEP_NS;
	memset(e, 0, sizeof(*e));
	e->used = true;
	e->psn = psn;
	e->first = r->sent;
	e->ev_first = r->ev;
	e->plane_first = r->plane;
	e->second = mrc_tick(now_ns);
	e->ev_second = ev;
	e->plane_second = c->evs->ev[ev].plane;
	e->cause = r->cause;
	e->bytes = mrc_resent_bytes(r);
	e->older = r->tries > 1;
}

/* The retransmission of @psn could not be sent. */
void mrc_resent_take_back(struct mrc_conn *c, u32 psn)
{
	struct mrc_resend *way = mrc_resent_ways(c, psn);
	u32 i;

	for (i = 0; i < MRC_RESEND_WAYS; i++)
		if (way[i].psn == psn)
			way[i].used = false;
}

/* The path set is replaced: EV indices in the table are void. */
void mrc_resent_forget_evs(struct mrc_conn *c)
{
	u32 i;

	for (i = 0; i < c->resent.n; i++) {
		c->resent.tab[i].ev_first = MRC_NONE16;
		c->resent.tab[i].ev_second = MRC_NONE16;
	}
}

/* The latest retransmission of @psn, or NULL if there is none or it has expired. */
static struct mrc_resend *mrc_resent_find(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	struct mrc_resend *way = mrc_resent_ways(c, psn);
	u32 i;

	for (i = 0; i < MRC_RESEND_WAYS; i++)
		if (way[i].used && way[i].psn == psn)
			return mrc_tick_age_ns(now_ns, way[i].second) > MRC_RESENT_KEEP_NS ?
			       NULL : &way[i];
	return NULL;
}

/* ---- false alarms ---- */

/*
 * A loss by @cause was spurious: the packet left at @tick and arrived @late_ns later (0: not known). After
 * a timeout, or if a tail probe left meanwhile, the peer was silent, and the delay says nothing about the plane.
 */
static void mrc_resent_undo(struct mrc_conn *c, u8 cause, u8 plane, u16 ev, u32 tick,
			    u64 late_ns, u32 bytes, u64 now_ns)
{
	c->resent.undone += bytes;
	if (cause == MRC_CAUSE_RTO || mrc_pto_since(c, tick, now_ns))
		late_ns = 0;
	if (cause != MRC_CAUSE_PLANE && mrc_evset_false_alarm(c->evs, plane, ev, tick, late_ns, now_ns))
		late_ns = 0;
	if (late_ns)
		mrc_rtt_sample(c, plane, late_ns, now_ns);
}

/*
 * Delay of the first copy, known as delivered at @tick, when only the time tells that it was not the
 * second one. 0 (not known) if there were earlier copies, which may be the ones that arrived.
 */
static u64 mrc_resent_late_ns(const struct mrc_resend *e, u32 tick)
{
	return e->older ? 0 : (u64)(tick - e->first) << MRC_TICK_SHIFT;
}

static void mrc_resent_alarm(struct mrc_conn *c, struct mrc_resend *e, u64 late_ns, u64 now_ns)
{
	if (e->first_arrived)
		return;
	e->first_arrived = true;
	c->stats.rtx_spurious++;
	mrc_resent_undo(c, e->cause, e->plane_first, e->ev_first, e->first, late_ns, e->bytes,
			now_ns);
}

/* @psn arrived while it waited for retransmission. Its path is known if it was sent only once. */
void mrc_resent_queued(struct mrc_conn *c, const struct mrc_rec *r, u32 psn, u64 now_ns)
{
	u64 late = r->tries == 1 ? max_t(u64, mrc_tick_age_ns(now_ns, r->sent), 1) : 0;

	if (r->tries == 1)
		mrc_last_delivered_learn(c, r->sent, psn, r->plane, now_ns);
	if (mrc_resent_silent(r->cause))
		mrc_resent_undo(c, r->cause, r->plane, r->ev, r->sent, late, mrc_resent_bytes(r),
				now_ns);
}

/* ---- paths that died ---- */

static bool mrc_resent_dead(const struct mrc_conn *c, u16 ev)
{
	return ev < c->evs->n && c->evs->ev[ev].state == MRC_EV_ASSUMED_BAD;
}

/*
 * EVs were marked bad because of losses. So these losses were no congestion, and the controller restores
 * what they took recently. Each time EVs are marked bad this costs O(table size + lost packets).
 */
void mrc_resent_excuse(struct mrc_conn *c, u64 now_ns)
{
	u64 lately = MRC_RESENT_LATELY * (u64)c->rtt.srtt_ns;
	u16 slot;
	u32 i;

	c->resent.blamed = c->evs->blamed;
	for (i = 0; i < c->resent.n; i++) {
		struct mrc_resend *e = &c->resent.tab[i];

		if (!e->used || e->first_arrived || !mrc_resent_dead(c, e->ev_first) ||
		    mrc_tick_age_ns(now_ns, e->second) > lately)
			continue;
		c->resent.undone += e->bytes;
		e->bytes = 0;
	}
	for (slot = c->snd.lost.head; slot != MRC_NONE16; slot = c->snd.rec[slot].next) {
		struct mrc_rec *r = &c->snd.rec[slot];

		if (!mrc_resent_silent(r->cause) || !mrc_resent_dead(c, r->ev))
			continue;
		c->resent.undone += mrc_resent_bytes(r);
		r->charged = 0;
	}
}

/* Shortest round trip of packets that left by @plane. */
static u32 mrc_resent_base_ns(const struct mrc_conn *c, u8 plane)
{
	u32 base = mrc_evset_base_ns(c->evs, plane);

	return base ? base : c->rack.min_rtt_ns;
}

/*
 * Was the packet known as delivered too early for the second copy to be the reason? An ACK may overtake
 * the SACK of the same packet, so the order of reports proves nothing. The shortest round trip seen so
 * far may include queues that have drained since a failure, so the limit is half of it.
 */
static bool mrc_resent_knew(const struct mrc_conn *c, const struct mrc_resend *e)
{
	return e->done && (u64)(e->done_tick - e->second) << MRC_TICK_SHIFT <
			  mrc_resent_base_ns(c, e->plane_second) / 2;
}

/* Does EV @idx have the entropy value that the SACK names? */
static bool mrc_resent_ev_is(const struct mrc_conn *c, u16 idx, u32 ev)
{
	return idx < c->evs->n && c->evs->ev[idx].value == ev;
}

/* Is @ts the unmodified timestamp of a packet sent at @tick? */
static bool mrc_resent_stamp_is(const struct mrc_conn *c, u32 tick, u16 ts)
{
	return c->tx.timestamps && ts && ts == mrc_tick_ts16(tick);
}

/*
 * A SACK was triggered by @psn, which was retransmitted. @r is the record of its latest copy, or NULL if
 * @psn is known as delivered; @again: known from an earlier packet of the peer.
 * Return: true if the trigger certainly was the latest copy.
 */
bool mrc_resent_trigger(struct mrc_conn *c, u32 psn, const struct mrc_rec *r,
			const struct mrc_sack *s, bool again, u64 now_ns)
{
	struct mrc_resend *e = mrc_resent_find(c, psn, now_ns);
	bool first, second, stamped = c->tx.timestamps && s->tx_ts;
	u64 late;

	if (!e || (r && r->sent != e->second))	/* no entry: a NACK reported the earlier copy as lost */
		return r && mrc_resent_stamp_is(c, r->sent, s->tx_ts) && r->cause != MRC_CAUSE_RTO;
	first = mrc_resent_ev_is(c, e->ev_first, s->ev);
	second = mrc_resent_ev_is(c, e->ev_second, s->ev);
	if (first == second) {
		first = mrc_resent_stamp_is(c, e->first, s->tx_ts);
		second = mrc_resent_stamp_is(c, e->second, s->tx_ts);
	}
	if (first && second)	/* sent exactly one wrap of the timestamp apart */
		return false;
	/* An even older copy by the same EV is possible: only an exact timestamp identifies the second one. */
	if (second && e->older && !mrc_resent_stamp_is(c, e->second, s->tx_ts))
		return false;
	if (second) {
		e->second_arrived = true;
		if (again && mrc_resent_knew(c, e))
			mrc_resent_alarm(c, e, mrc_resent_late_ns(e, e->done_tick), now_ns);
		return true;
	}
	/* The peer may have added its service time to the timestamp, but never subtracts from it. */
	late = stamped ? mrc_rtt_of_stamp(e->first, s->tx_ts, now_ns) :
			 mrc_tick_age_ns(now_ns, e->first);
	if (first || (stamped && late && mrc_tick_age_ns(now_ns, e->second) < MRC_TS_WRAP_NS &&
		      !mrc_rtt_of_stamp(e->second, s->tx_ts, now_ns)))
		mrc_resent_alarm(c, e, !e->older || mrc_resent_stamp_is(c, e->first, s->tx_ts) ? late : 0, now_ns);
	return false;
}

/*
 * @psn, in flight and retransmitted, is known as delivered: by which copy? Earlier than the shortest
 * round trip after the latest send, it was not the latest copy. After a timeout it need not be either: a
 * peer that was silent answers everything at once. In doubt it counts as the first copy, which makes no
 * other packet look overtaken. False: nothing can be concluded.
 */
bool mrc_resent_which(struct mrc_conn *c, u32 psn, const struct mrc_rec *r, u64 now_ns,
		      struct mrc_copy *copy)
{
	struct mrc_resend *e = mrc_resent_find(c, psn, now_ns);
	u64 age = mrc_tick_age_ns(now_ns, r->sent);
	bool soon = age < mrc_resent_base_ns(c, r->plane);

	copy->tick = r->sent;
	copy->plane = r->plane;
	copy->ev = r->ev;
	if (!e || e->second != r->sent)
		return !soon && r->cause != MRC_CAUSE_RTO;
	e->done = true;
	e->done_tick = mrc_tick(now_ns);
	/*
	 * The time alone counts as proof only without timestamps, since with them the duplicate will be
	 * reported with its own. And only if it is far too early: the shortest round trip so far may
	 * include queues that have drained since a failure.
	 */
	if (age < mrc_resent_base_ns(c, r->plane) / 2 && !mrc_report_stamps(c) && c->rtt.srtt_ns)
		mrc_resent_alarm(c, e, mrc_resent_late_ns(e, e->done_tick), now_ns);
	if (e->first_arrived || (!e->second_arrived && (soon || e->cause == MRC_CAUSE_RTO))) {
		copy->tick = e->first;
		copy->plane = e->plane_first;
		/* A guess is no proof for a path: the plane of the first copy may be dead. */
		copy->ev = e->first_arrived ? e->ev_first : MRC_NONE16;
	}
	return true;
}
