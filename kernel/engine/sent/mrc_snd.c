// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_snd.c - the send window: the record of each sent packet, and its state.
 *
 * MRC 1.0 sections 2.1, 4 (6.3, 7.4). Each PSN between una and next has a record: in flight (on the
 * sent list of its plane, oldest first), waiting for retransmission (lost, or paced after a
 * refusal), or delivered. This file changes records. The decisions come from mrc_rack.c (time),
 * mrc_budget.c (timeout), mrc_sleek.c (count) and mrc_ack.c (reports of the peer).
 */
#include "conn/mrc_conn.h"

void mrc_snd_reset(struct mrc_conn *c)
{
	u8 p;

	c->snd.known = false;
	memset(c->snd.rec, 0, (c->snd.mask + 1u) * sizeof(*c->snd.rec));
	for (p = 0; p < MRC_PLANES_MAX; p++)
		mrc_list_init(&c->snd.sent[p]);
	mrc_list_init(&c->snd.lost);
	mrc_list_init(&c->snd.paced);
	c->snd.out = 0;
	c->snd.busy = 0;
	c->snd.full = 0;
	if (c->snd.inflight)
		mrc_tx_inflight(c, -(s32)c->snd.inflight);
}

/* ---- in flight ---- */

static mrc_inline void mrc_snd_unlink(struct mrc_conn *c, u8 p, u16 slot)
{
	struct mrc_list *l = &c->snd.sent[p];

	mrc_list_del(c->snd.rec, l, slot);
	c->snd.out--;
	if (!l->count)
		c->snd.busy &= ~(1u << p);
}

/* Is three quarters of the congestion window or of the PSN window in use? */
bool mrc_snd_tight(const struct mrc_conn *c)
{
	return 4 * (u64)c->cc->inflight_bytes >= 3 * (u64)c->cc->cwnd_bytes ||
	       4 * ((c->snd.next - c->snd.una) & MRC_PSN_MASK) >= 3u * c->snd.range;
}

/*
 * Bit per plane that gets no new packets now: it holds more than twice its part of the packets in flight
 * (an even part, scaled by its share), or three quarters of all. Otherwise the whole window would
 * gather on a slow plane. While there is room in the window, a plane that is merely long is not
 * excluded: with equal rates, one of 170 us beside three of 20 us holds three quarters of all packets.
 */
u32 mrc_snd_full(struct mrc_conn *c)
{
	u32 live = c->evs->local_up & c->evs->remote_up, planes = 0;
	u8 p;

	for (p = 0; p < c->evs->n_planes; p++)
		planes += live >> p & 1;
	for (p = 0; p < c->evs->n_planes; p++)
		if (c->snd.full >> p & 1 &&
		    !mrc_snd_overfull(c->snd.sent[p].count, planes, c->snd.out,
				      c->evs->share[p]))
			c->snd.full &= ~(1u << p);
	if (planes < 2)
		return 0;
	return mrc_snd_tight(c) ? c->snd.full : c->snd.full & ~c->evs->full;
}

/* The packet in @slot is no longer in flight. The caller sets the state of its record. */
void mrc_snd_take_back(struct mrc_conn *c, u16 slot)
{
	struct mrc_rec *r = &c->snd.rec[slot];

	mrc_tx_inflight(c, -(s32)mrc_rec_bytes(r));
	mrc_snd_unlink(c, r->plane, slot);
}

/* The oldest send in flight, or MRC_NONE16. */
u16 mrc_snd_oldest(const struct mrc_conn *c)
{
	u16 oldest = MRC_NONE16, slot;
	u8 p;

	for (p = 0; p < MRC_PLANES_MAX; p++) {
		slot = c->snd.sent[p].head;
		if (slot == MRC_NONE16)
			continue;
		if (oldest == MRC_NONE16 || (s32)(c->snd.rec[oldest].sent - c->snd.rec[slot].sent) > 0 ||
		    (c->snd.rec[oldest].sent == c->snd.rec[slot].sent &&
		     mrc_psn_diff(mrc_rec_psn(c, oldest), mrc_rec_psn(c, slot)) > 0))
			oldest = slot;
	}
	return oldest;
}

/* ---- delivery ---- */

/* A packet arrived while it waited for retransmission. */
static void mrc_snd_land_queued(struct mrc_conn *c, u32 psn, struct mrc_rec *r, u64 now_ns)
{
	mrc_list_del(c->snd.rec, r->state == MRC_REC_PACED ? &c->snd.paced : &c->snd.lost,
		     (u16)(psn & c->snd.mask));
	mrc_resent_queued(c, r, psn, now_ns);
}

/* A retransmitted packet arrived: find out which copy, and credit its path. */
static void mrc_snd_land_resent(struct mrc_conn *c, u32 psn, struct mrc_rec *r, u64 now_ns)
{
	struct mrc_copy copy;

	mrc_snd_unlink(c, r->plane, (u16)(psn & c->snd.mask));
	if (!mrc_resent_which(c, psn, r, now_ns, &copy))
		return;
	if (copy.ev < c->evs->n)
		mrc_evset_delivered(c->evs, copy.plane, copy.ev, copy.tick, now_ns);
	mrc_last_delivered_learn(c, copy.tick, psn, copy.plane, now_ns);
}

/* Free the record of a delivered packet. */
static mrc_inline void mrc_snd_free(struct mrc_conn *c, struct mrc_rec *r)
{
	r->state = MRC_REC_FREE;
	if (unlikely(r->msg & MRC_REC_RESP))
		mrc_msg_at(c, r->msg)->resp_pkts--;
}

/* The slow path of mrc_snd_land(): @psn was retransmitted, declared lost, or delivered before. */
static mrc_noinline void mrc_snd_land_again(struct mrc_conn *c, u32 psn, u64 now_ns,
					    struct mrc_delivered *l)
{
	struct mrc_rec *r = &c->snd.rec[psn & c->snd.mask];

	if (r->state == MRC_REC_FREE)
		return;
	mrc_trace(recovered, c->rx.sqpn, psn, r->cause, r->plane, r->tries,
		  r->state != MRC_REC_SENT);
	if (r->state == MRC_REC_SENT) {
		l->inflight += mrc_rec_bytes(r);
		mrc_snd_land_resent(c, psn, r, now_ns);
	} else {
		l->late += mrc_rec_bytes(r);
		mrc_snd_land_queued(c, psn, r, now_ns);
	}
	mrc_snd_free(c, r);
}

/* @psn is known as delivered. Called in the order of PSNs. */
static mrc_inline void mrc_snd_land(struct mrc_conn *c, u32 psn, u64 now_ns, struct mrc_delivered *l)
{
	u16 slot = (u16)(psn & c->snd.mask);
	struct mrc_rec *r = &c->snd.rec[slot];

	if (unlikely(r->state != MRC_REC_SENT || r->tries != 1)) {
		mrc_snd_land_again(c, psn, now_ns, l);
		return;
	}
	mrc_snd_unlink(c, r->plane, slot);
	l->inflight += mrc_rec_bytes(r);
	if (!l->latest || (s32)(r->sent - l->latest->sent) >= 0) {
		l->latest = r;
		l->psn = psn;
	}
	if (likely(r->ev < c->evs->n))
		mrc_evset_delivered(c->evs, r->plane, r->ev, r->sent, now_ns);
	mrc_snd_free(c, r);
}

/* Returns the bytes newly delivered. */
static u32 mrc_snd_landed(struct mrc_conn *c, const struct mrc_delivered *l, u64 now_ns)
{
	if (l->inflight)
		mrc_tx_inflight(c, -(s32)l->inflight);
	if (l->latest)
		mrc_last_delivered_learn(c, l->latest->sent, l->psn, l->latest->plane, now_ns);
	return l->inflight + l->late;
}

/* @psn is known as delivered. Returns the bytes newly delivered. */
u32 mrc_snd_deliver(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	struct mrc_delivered l = { 0 };

	mrc_snd_land(c, psn, now_ns, &l);
	return mrc_snd_landed(c, &l, now_ns);
}

void mrc_snd_delivered(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	if (!mrc_psn_out(c, psn))
		return;
	mrc_snd_deliver(c, psn, now_ns);
	mrc_snd_advance(c);
}

/* All packets up to @psn are delivered. Does nothing if @psn is before una or was never sent. */
u32 mrc_snd_deliver_upto(struct mrc_conn *c, u32 psn, u64 now_ns)
{
	u32 p = c->snd.una, end = mrc_psn_add(psn, 1);
	struct mrc_delivered l = { 0 };

	if (!mrc_psn_out(c, psn))
		return 0;
	for (; p != end; p = mrc_psn_add(p, 1))
		mrc_snd_land(c, p, now_ns, &l);
	c->snd.una = end;
	return mrc_snd_landed(c, &l, now_ns);
}

/* ---- loss ---- */

/* Queue @slot for retransmission, at the @head or at the tail. Responses always go to the head. */
void mrc_snd_queue(struct mrc_conn *c, u16 slot, bool head)
{
	struct mrc_rec *r = &c->snd.rec[slot];
	u16 psn = (u16)mrc_rec_psn(c, slot);

	r->state = MRC_REC_LOST;
	if ((s16)(psn - c->rnr.low) < 0)
		c->rnr.low = psn;
	if (head || r->msg & MRC_REC_RESP)
		mrc_list_add_head(c->snd.rec, &c->snd.lost, slot);
	else
		mrc_list_add_tail(c->snd.rec, &c->snd.lost, slot);
}

/* Was the loss inferred, that is, not reported by a NACK or caused by a plane that went down? */
bool mrc_cause_silent(enum mrc_cause cause)
{
	return cause == MRC_CAUSE_RACK || cause == MRC_CAUSE_RTO || cause == MRC_CAUSE_SLEEK;
}

/*
 * Declare @psn, which is in flight, lost. Returns its bytes. The caller reports them to the controller,
 * unless the plane went down, which is no congestion.
 */
u32 mrc_snd_lose(struct mrc_conn *c, u32 psn, enum mrc_cause cause, u64 now_ns)
{
	u16 slot = (u16)(psn & c->snd.mask);
	struct mrc_rec *r = &c->snd.rec[slot];

	if (mrc_assert(r->state == MRC_REC_SENT))
		return 0;
	mrc_snd_take_back(c, slot);
	r->cause = (unsigned int)cause & 7u;
	r->charged = cause != MRC_CAUSE_PLANE;
	if (cause == MRC_CAUSE_NACK) {
		r->state = MRC_REC_PACED;
		mrc_list_add_tail(c->snd.rec, &c->snd.paced, slot);
	} else {
		mrc_snd_queue(c, slot, false);
	}
	mrc_trace(loss, c->rx.sqpn, psn, r->cause, r->plane, r->tries,
		  mrc_tick_age_ns(now_ns, r->sent));
	if (mrc_cause_silent(cause) && c->evs && r->ev < c->evs->n)
		mrc_evset_lost(c->evs, r->ev, r->sent, c->tx.trim_nack, now_ns);
	return mrc_rec_bytes(r);
}

/* Report @bytes that were just inferred as lost to the controller. */
void mrc_snd_report_lost(struct mrc_conn *c, u32 bytes, u64 now_ns)
{
	struct mrc_cc_sample cc = { 0 };

	if (!bytes)
		return;
	cc.now_ns = now_ns;
	cc.lost_bytes = bytes;
	cc.inflight_bytes = c->cc->inflight_bytes + bytes;
	c->cc->ops->on_loss(c->cc, &cc);
	mrc_tx_hold(c);
}

/* Move all packets in flight to the lost list. */
void mrc_snd_withdraw(struct mrc_conn *c)
{
	u32 psn;

	for (psn = c->snd.una; c->snd.out && psn != c->snd.next; psn = mrc_psn_add(psn, 1)) {
		u16 slot = (u16)(psn & c->snd.mask);

		if (c->snd.rec[slot].state != MRC_REC_SENT)
			continue;
		mrc_snd_take_back(c, slot);
		c->snd.rec[slot].cause = MRC_CAUSE_PLANE;
		c->snd.rec[slot].charged = 0;
		mrc_snd_queue(c, slot, false);
	}
}

/* Packets that the peer refused for lack of resources have waited long enough. */
void mrc_snd_unpace(struct mrc_conn *c)
{
	while (c->snd.paced.count) {
		u16 slot = c->snd.paced.head;

		mrc_list_del(c->snd.rec, &c->snd.paced, slot);
		mrc_snd_queue(c, slot, false);
	}
}

/* ---- invariants ---- */

/* The bytes in flight agree with the controller's sum. */
static int mrc_snd_check_cc(const struct mrc_conn *c)
{
	if (c->cc == &c->own_cc->cc)
		return c->cc->inflight_bytes == c->snd.inflight &&
		       c->cc->n_active == !!c->snd.inflight ? 0 : __LINE__;
	if (c->fail && c->snd.inflight)
		return __LINE__;
	return c->cc->inflight_bytes >= c->snd.inflight &&
	       c->cc->n_active >= !!c->snd.inflight ? 0 : __LINE__;
}

/* Each sent list holds the packets in flight of its plane, oldest first. */
static int mrc_snd_check_lists(const struct mrc_conn *c, u32 sent)
{
	u32 n = 0, left;
	u16 slot;
	u8 p;

	for (p = 0; p < MRC_PLANES_MAX; p++) {
		const struct mrc_list *l = &c->snd.sent[p];

		left = l->count;
		if (!left != !(c->snd.busy >> p & 1))
			return __LINE__;
		for (slot = l->head; slot != MRC_NONE16; slot = c->snd.rec[slot].next) {
			const struct mrc_rec *r = &c->snd.rec[slot];

			if (!left-- || r->state != MRC_REC_SENT || r->plane != p)
				return __LINE__;
			if (r->prev != MRC_NONE16 && (s32)(r->sent - c->snd.rec[r->prev].sent) < 0)
				return __LINE__;
		}
		if (left)
			return __LINE__;
		n += l->count;
	}
	return n == sent && n == c->snd.out ? 0 : __LINE__;
}

int mrc_snd_check(const struct mrc_conn *c)
{
	u32 n = (u32)mrc_psn_diff(c->snd.next, c->snd.una), bytes = 0, i;
	u32 count[MRC_REC_PACED + 1] = { 0 };
	int err;

	if (n > c->snd.window || n > c->snd.mask + 1u || c->snd.range > c->snd.mask + 1u)
		return __LINE__;
	for (i = 0; i < n; i++) {
		const struct mrc_rec *r = &c->snd.rec[mrc_psn_add(c->snd.una, (s32)i) & c->snd.mask];

		count[r->state]++;
		if (r->state == MRC_REC_SENT)
			bytes += mrc_rec_bytes(r);
		else if (r->state == MRC_REC_FREE && i == 0)
			return __LINE__;	/* una should have moved */
	}
	if (count[MRC_REC_LOST] != c->snd.lost.count || count[MRC_REC_PACED] != c->snd.paced.count)
		return __LINE__;
	if (bytes != c->snd.inflight)
		return __LINE__;
	err = mrc_snd_check_lists(c, count[MRC_REC_SENT]);
	return err ? err : mrc_snd_check_cc(c);
}
