// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rnr.c - the peer has no receive posted (RNR): pauses, retries, and how the sender resumes.
 *
 * A project extension on verbs QPs; MRC 1.0 has no RNR (section 2.1). Timer and retry count follow
 * IBTA 9.7.5.2.8. Receives are consumed in message order, so one packet stands for all that wait:
 * the lowest PSN that was refused. Otherwise each pause (some programs ask for 10 us) would end
 * with the whole window and one NACK per packet. Each packet that is accepted then lets two more
 * leave. A peer that posts receives one by one refuses little; a peer with many gets the full rate
 * after a few round trips.
 *
 * Responses to READs and ATOMICs of the peer consume no receive and do not wait: the peer may post
 * receives only after it has its response. They leave as far as the window reaches; its first
 * packet is the one that was refused.
 */
#include "conn/mrc_conn.h"

void mrc_rnr_reset(struct mrc_conn *c)
{
	c->rnr_until_ns = 0;
	c->rnr.tries = 0;
	c->rnr.room = 0;
	c->rnr.on = false;
	c->rnr.over = false;
}

u64 mrc_rnr_timer_ns(u8 code)
{
	/* IBTA table 45, in units of 10 us; code 0 is the longest. */
	static const u32 tens_of_us[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152,
	};

	return tens_of_us[code & 31] * 10000ull;
}

/* The state of the packet that asks; FREE: it was taken. */
static enum mrc_rec_state mrc_rnr_asking(const struct mrc_conn *c)
{
	if (!mrc_psn_out(c, c->rnr.first))
		return MRC_REC_FREE;
	return (enum mrc_rec_state)c->snd.rec[c->rnr.first & c->snd.mask].state;
}

/*
 * May a packet leave? The one that asks always; and whatever became of those before, there
 * must be one on its way.
 */
static bool mrc_rnr_room(const struct mrc_conn *c)
{
	return c->rnr.room || !c->snd.out || mrc_rnr_asking(c) == MRC_REC_LOST;
}

/* Nothing leaves now that may need a receive. */
bool mrc_rnr_pauses(const struct mrc_conn *c, u64 now_ns)
{
	return now_ns < c->rnr_until_ns || (c->rnr.on && (c->rnr.over || !mrc_rnr_room(c)));
}

void mrc_rnr_sent(struct mrc_conn *c)
{
	if (c->rnr.room)
		c->rnr.room--;
}

/* una has moved on: PSNs before it wait for nothing. */
static void mrc_rnr_raise(struct mrc_conn *c)
{
	if ((s16)(c->rnr.low - (u16)c->snd.una) < 0)
		c->rnr.low = (u16)c->snd.una;
}

/*
 * The slot of the lowest PSN that waits to be resent, or MRC_NONE16: losses are not in the order of PSNs, so it is
 * searched, from the last find on. Each packet is passed once for each time that it is lost, so what a peer refuses
 * costs no more than its refusals. @pause: of what needs no receive, what precedes the packet that was refused, or
 * an answer: answers are first in the list of what is lost.
 */
u16 mrc_rnr_next(struct mrc_conn *c, bool pause)
{
	u16 head = c->snd.lost.head;
	u32 psn, end = c->snd.next;

	mrc_rnr_raise(c);
	psn = mrc_psn_add(c->snd.una, (u16)(c->rnr.low - (u16)c->snd.una));
	if (pause)
		end = mrc_psn_diff(c->rnr.first, c->snd.una) > 0 ? c->rnr.first : c->snd.una;
	if (mrc_psn_diff(end, mrc_psn_add(c->snd.una, c->snd.range)) > 0)
		end = mrc_psn_add(c->snd.una, c->snd.range);
	for (; mrc_psn_diff(psn, end) < 0; psn = mrc_psn_add(psn, 1), c->rnr.low++)
		if (c->snd.rec[psn & c->snd.mask].state == MRC_REC_LOST)
			return (u16)(psn & c->snd.mask);
	return pause && head != MRC_NONE16 && c->snd.rec[head].msg & MRC_REC_RESP ? head : MRC_NONE16;
}

/* No more tries: the message that was refused fails in its turn, and what precedes it completes as it was. */
static void mrc_rnr_give_up(struct mrc_conn *c)
{
	u16 msg = c->snd.rec[c->rnr.first & c->snd.mask].msg;

	c->rnr.over = true;
	if (msg & MRC_REC_RESP || !mrc_psn_out(c, c->rnr.first))	/* a refusal that cannot be */
		mrc_conn_failing(c, MRC_ST_RNR_EXC);
	else
		mrc_msg_at(c, msg)->error = MRC_ST_RNR_EXC;
}

/* The receiver has no receive for @psn, which is lost: pause, then ask. */
void mrc_rnr_refused(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns)
{
	if (!c->rnr.on)
		c->rnr.low = (u16)c->snd.una;
	if (!c->rnr.on || mrc_rnr_asking(c) == MRC_REC_FREE ||
	    mrc_psn_diff(psn, c->rnr.first) < 0)
		c->rnr.first = psn;
	c->rnr.on = true;
	c->rnr.room = 1;
	mrc_budget_restore(c);	/* it lives, and takes its time */
	if (c->rnr.over)
		mrc_rnr_give_up(c);
	if (now_ns < c->rnr_until_ns || c->rnr.over)
		return;		/* one pause, one try */
	if (c->snd.una != c->rnr.psn)	/* got on since the last try */
		c->rnr.tries = 0;
	c->rnr.psn = c->snd.una & MRC_PSN_MASK;
	if (c->tx.rnr_retry != MRC_RNR_FOREVER && c->rnr.tries++ >= c->tx.rnr_retry) {
		mrc_rnr_give_up(c);
		return;
	}
	c->rnr_until_ns = now_ns + mrc_rnr_timer_ns(code);
	c->budget.rto_at_ns = mrc_time_after(c->rnr_until_ns, mrc_budget_rto_ns(c));
}

/* @pkts of what was out arrived. What left before the one that asks says nothing. */
void mrc_rnr_taken(struct mrc_conn *c, u32 pkts)
{
	u32 room = c->rnr.room + 2 * pkts;

	mrc_rnr_raise(c);
	if (mrc_rnr_asking(c) != MRC_REC_FREE || c->rnr.over)
		return;
	c->rnr.on = (room <= c->snd.range) & 1u;
	c->rnr.room = (u16)min_t(u32, room, c->snd.range);
}
