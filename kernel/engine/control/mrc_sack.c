// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_sack.c - pending SACKs, and their contents.
 *
 * MRC 1.0 sections 1.7, 3.5, 4 (7.5). The trigger of a SACK (data, a mark, a probe) is kept as a
 * small record. The contents come from the receive stream when the SACK leaves, so it carries the
 * latest state. mrc_ctl.c decides when it leaves and by which path.
 */
#include "conn/mrc_conn.h"

#define MRC_SACK_STEPS	5u

/* ---- what is pending ---- */

static struct mrc_owed_sack *mrc_sack_at(const struct mrc_conn *c, u8 i)
{
	return &c->ctl.sack_q[(c->ctl.sack_first + i) % MRC_OWED_SACKS];
}

/*
 * The queue is full: the caller ignores mrc_conn_answers_full(). An ECN mark is one of many then and is
 * dropped. A probe is not repeated soon, so its answer replaces the latest SACK that is no answer. An
 * answer never replaces another answer.
 */
static mrc_noinline struct mrc_owed_sack *mrc_sack_crowded(struct mrc_conn *c, bool answer)
{
	u8 i = c->ctl.sack_n;

	c->stats.owed_full++;
	while (answer && i--)
		if (!mrc_sack_at(c, i)->pr)
			return mrc_sack_at(c, i);
	return NULL;
}

enum mrc_sack_kind { MRC_SACK_PLAIN, MRC_SACK_MARK, MRC_SACK_ANSWER };

/* The entry for a new SACK. NULL: a pending one suffices, or the queue is full. */
static struct mrc_owed_sack *mrc_sack_slot(struct mrc_conn *c, enum mrc_sack_kind kind, u32 psn)
{
	struct mrc_owed_sack *last = mrc_sack_at(c, (u8)(c->ctl.sack_n - 1u));

	/*
	 * A plain SACK replaces a plain one if one bitmap can show the triggers of both: a batch of
	 * one plane may span many PSNs. SACKs with an ECN mark and probe answers each name an EV.
	 */
	if (kind == MRC_SACK_PLAIN && c->ctl.sack_n && !last->pr && last->m == MRC_M_NONE) {
		s32 d = mrc_psn_diff(psn, last->psn);

		if (d <= 0 && d > -32)
			return NULL;
		if (d > 0 && mrc_psn_diff(psn, last->since) < 32)
			return last;
	}
	if (likely(c->ctl.sack_n < MRC_OWED_SACKS)) {
		last = mrc_sack_at(c, c->ctl.sack_n++);
		last->since = psn;
		return last;
	}
	if (kind == MRC_SACK_PLAIN)
		return NULL;	/* pending ones report the arrivals, too */
	return mrc_sack_crowded(c, kind == MRC_SACK_ANSWER);
}

/* @again: @p is a duplicate, so an acknowledgement was lost or a loss was spurious. */
void mrc_sack_owe(struct mrc_conn *c, const struct mrc_pkt *p, bool again, u64 now_ns)
{
	struct mrc_owed_sack *s = mrc_sack_slot(c, p->ecn_ce ? MRC_SACK_MARK : MRC_SACK_PLAIN,
						p->psn);

	c->ctl.sack_needed |= again | p->rtx | p->ecn_ce;
	mrc_rcv_sacked(c);
	if (!s)
		return;
	s->psn = p->psn;
	s->ev = p->ev;
	s->came = mrc_tick(now_ns);
	s->tx_ts = p->tx_ts;
	s->probe_id = 0;
	s->m = p->ecn_ce ? MRC_M_SKIP_ONCE : MRC_M_NONE;
	s->pr = false;
	s->ts = p->has_ts;
	s->back = MRC_PLANES_MAX;
}

/*
 * An ACK of everything leaves. If nothing is missing, a pending plain SACK would say the same and is
 * dropped, which saves a packet. Never two in a row: a SACK names its trigger and gives the peer a
 * round-trip sample. Not on QPs of the mrc.h API (7.5.2), nor if SACKs carry the live window or a
 * penalty.
 */
void mrc_sack_spare(struct mrc_conn *c)
{
	if (c->ctl.sack_n != 1 || c->ctl.sack_needed || c->ctl.sack_spared)
		return;
	if (c->rcv.held || c->rx.mrc_only || c->rx.dyn_mpr || c->ctl.pen || c->ctl.restore)
		return;
	c->ctl.sack_n = 0;
	c->ctl.sack_spared = true;
}

/* Answer probe @p with a SACK that names its EV. @back: plane for the answer; MRC_PLANES_MAX: any. */
void mrc_sack_owe_answer(struct mrc_conn *c, const struct mrc_pkt *p, u8 back, u64 now_ns)
{
	struct mrc_owed_sack *s = mrc_sack_slot(c, MRC_SACK_ANSWER, 0);

	c->ctl.sack_needed = true;
	if (!s)
		return;
	s->psn = 0;
	s->ev = p->ev;
	s->came = mrc_tick(now_ns);
	s->tx_ts = p->u.probe.tx_ts;
	s->probe_id = p->u.probe.probe_id;
	s->m = p->ecn_ce ? MRC_M_SKIP_ONCE : MRC_M_NONE;
	s->pr = true;
	s->ts = true;
	s->back = back;
}

/* Plane for the next SACK; MRC_PLANES_MAX: any. */
u8 mrc_sack_back(const struct mrc_conn *c)
{
	return c->ctl.sack_n ? mrc_sack_at(c, 0)->back : MRC_PLANES_MAX;
}

/* The answer to a probe that left last leaves once more, by any plane. */
void mrc_sack_owe_again(struct mrc_conn *c)
{
	c->ctl.sack_first = (u8)((c->ctl.sack_first + MRC_OWED_SACKS - 1u) % MRC_OWED_SACKS);
	c->ctl.sack_n++;
	c->ctl.sack_needed = true;
	mrc_sack_at(c, 0)->back = MRC_PLANES_MAX;
}

/*
 * A SACK that no packet triggered: perhaps none has arrived whole. Its trigger PSN is too old to be in
 * flight, so the sender takes no round-trip sample.
 */
static void mrc_sack_owe_word(struct mrc_conn *c)
{
	c->ctl.sack_needed = true;
	if (c->ctl.sack_n)
		return;		/* a pending SACK carries it, too */
	memset(mrc_sack_at(c, 0), 0, sizeof(*c->ctl.sack_q));
	mrc_sack_at(c, 0)->psn = mrc_psn_add(c->rcv.cack, -32768);
	mrc_sack_at(c, 0)->back = MRC_PLANES_MAX;
	c->ctl.sack_n = 1;
}

/*
 * Every SACK carries the penalty until it changes, because SACKs may be lost. A new penalty is sent at
 * once: a sender in an incast may be far from the SACK threshold.
 */
void mrc_conn_set_penalty(struct mrc_conn *c, u8 rcv_cwnd_pen, bool restore)
{
	if (rcv_cwnd_pen && !c->ctl.pen && c->rx_ready)
		mrc_sack_owe_word(c);
	c->ctl.pen = min_t(u32, rcv_cwnd_pen, 127u) & 127u;
	c->ctl.restore = restore & 1;
}

/* ---- contents ---- */

/*
 * 64 bits from @base on, which lies beyond the left edge. PSNs beyond the window read as zero, although
 * the ring wraps to its start there.
 */
static u64 mrc_sack_bits(const struct mrc_conn *c, u32 base)
{
	u32 i = mrc_rcv_slot(c, base), w = i >> 6, sh = i & 63;
	u32 words = (c->rcv_mask + 1) >> 6;
	s32 left = (s32)c->rcv_mask + 2 - mrc_psn_diff(base, c->rcv.cack);
	u64 bits = c->rcv.bits[w] >> sh;

	if (sh)
		bits |= c->rcv.bits[(w + 1) & (words - 1)] << (64 - sh);
	return left < 64 ? bits & ((1ull << left) - 1) : bits;
}

/*
 * Advances *at to the next block of 64 PSNs with an arrival that no SACK has shown, if there is one. After
 * the last block it continues at @first.
 */
static void mrc_sack_unreported(struct mrc_conn *c, u32 first, u32 *at)
{
	u64 *news = mrc_rcv_unreported(c);
	u32 word = *at >> 6 & 63, base, low, n;

	while (*news) {
		n = mrc_ffs64(*news >> word | (word ? *news << (64 - word) : 0));
		base = mrc_psn_add(*at & ~63u, (s32)(n * 64));
		low = mrc_psn_add(base, -64 * 64);	/* has the same bit */
		if (mrc_psn_diff(low, first) <= -64 || mrc_psn_diff(base, c->rcv.max) > 0)
			*news &= ~(1ull << ((word + n) & 63));
		if (mrc_psn_diff(base, c->rcv.max) > 0)
			base = low;
		if (mrc_psn_diff(base, first) <= -64)
			continue;	/* below the left edge */
		*at = mrc_psn_diff(base, first) < 0 ? first : base;
		if (mrc_sack_bits(c, *at))
			return;
		*news &= ~(1ull << ((word + n) & 63));
	}
}

/*
 * Start of a bitmap that ends with the latest arrival: at the trigger, or at the highest PSN (@top). A
 * long plane triggers SACKs far behind what other planes delivered, so the two take turns.
 */
static u32 mrc_sack_edge(const struct mrc_conn *c, const struct mrc_owed_sack *o, bool top)
{
	/* A duplicate from half of the PSN space behind looks ahead once the left edge advances. */
	bool shown = !o->pr && mrc_psn_diff(o->psn, c->rcv.cack) > 64 &&
		     mrc_psn_diff(o->psn, c->rcv.max) <= 0;

	if (top && mrc_psn_diff(c->rcv.max, o->psn) >= 64)
		shown = false;
	return mrc_psn_add(shown ? o->psn : c->rcv.max, -63);
}

/*
 * Start of the 64-bit bitmap. A window may hold many more packets out of order than one SACK can show. Of
 * ten SACKs, four show the latest arrivals, five show arrivals not shown before, and one walks over all
 * packets out of order, skipping empty blocks. So each packet is reported soon, and repeatedly, since
 * SACKs may be lost. The cycle is odd (5), because SACKs alternate between planes: with two planes, one
 * of them long, that plane must not carry all SACKs of one kind.
 */
static u32 mrc_sack_base(struct mrc_conn *c, const struct mrc_owed_sack *o)
{
	u32 first = mrc_psn_add(c->rcv.cack, 1), at = c->ctl.sack_at;
	u8 turn = c->ctl.sack_turn, step = turn % MRC_SACK_STEPS;

	if (mrc_psn_diff(c->rcv.max, c->rcv.cack) <= 64) {
		*mrc_rcv_unreported(c) = 0;
		return first;
	}
	c->ctl.sack_turn = (u8)((turn + 1u) % (2 * MRC_SACK_STEPS));
	if (step == 0 || step == 2)
		return mrc_sack_edge(c, o, (step == 2) != (turn >= MRC_SACK_STEPS));
	if (mrc_psn_diff(at, first) < 0 || mrc_psn_diff(at, c->rcv.max) > 0)
		at = first;
	if (turn != MRC_SACK_STEPS - 1)
		mrc_sack_unreported(c, first, &at);
	while (!mrc_sack_bits(c, at)) {		/* ends at the latest at rcv.max, whose bit is set */
		at = mrc_psn_add(at, 64);
		if (mrc_psn_diff(at, c->rcv.max) > 0)
			at = first;
	}
	c->ctl.sack_at = mrc_psn_add(at, 64);
	return at;
}

/* Fill in the oldest pending SACK, which leaves now. */
void mrc_sack_build(struct mrc_conn *c, struct mrc_sack *s, u64 now_ns)
{
	const struct mrc_owed_sack *o = mrc_sack_at(c, 0);
	u32 base = mrc_sack_base(c, o), cack = c->rcv.cack;

	s->m = o->m;
	s->pr = o->pr;
	s->ack_psn_offset = o->pr ? 0 : (s16)clamp_t(s32, mrc_psn_diff(o->psn, cack), -32768, 32767);
	s->probe_id = o->probe_id;
	s->ev = o->ev;
	s->spdcid = (u16)c->rx.sqpn;
	s->dpdcid = (u16)c->rx.dqpn;
	s->cack = cack;
	s->cc_type = MRC_CC_TYPE_SACK;
	s->cc_fl = 0;
	s->mpr = c->rx.dyn_mpr ? c->mpr.live : 0;
	s->sack_offset = (s16)mrc_psn_diff(base, cack);
	s->bitmap = c->rcv.held ? mrc_sack_bits(c, base) : 0;
	s->tx_ts = mrc_ts_reflect(c, o->tx_ts, o->ts, o->came, now_ns);
	s->ooo_count = (u16)min_t(u32, c->rcv.held, 0x7fff);
	s->restore_cwnd = c->ctl.restore;
	s->rcv_cwnd_pen = c->ctl.pen;
	s->rcvd_bytes = ((c->rcv.bytes + 255ull) >> 8) & 0xffffff;
	mrc_rcv_sacked(c);
	c->stats.sacks_sent++;
	c->stats.pens_sent += c->ctl.pen != 0;
	c->stats.probes_answered += o->pr;
	c->ctl.sack_spared &= o->pr;
	c->ctl.sack_n--;
	c->ctl.sack_needed &= c->ctl.sack_n != 0;
	c->ctl.sack_first = (u8)((c->ctl.sack_first + 1u) % MRC_OWED_SACKS);
}
