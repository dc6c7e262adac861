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

/* State of the refused packet whose retransmission asks for receives; FREE: it was accepted. */
static enum mrc_rec_state mrc_rnr_asking(const struct mrc_conn *c)
{
	if (!mrc_psn_out(c, c->rnr.first))
		return MRC_REC_FREE;
	return (enum mrc_rec_state)c->snd.rec[c->rnr.first & c->snd.mask].state;
}

/*
 * May a packet leave? Yes if there is room, and always the packet that asks. And yes if none is in flight,
 * so that there is always an answer to wait for.
 */
static bool mrc_rnr_room(const struct mrc_conn *c)
{
	return c->rnr.room || !c->snd.out || mrc_rnr_asking(c) == MRC_REC_LOST;
}

/* May no packet leave now that may need a receive? */
bool mrc_rnr_pauses(const struct mrc_conn *c, u64 now_ns)
{
	return now_ns < c->rnr_until_ns || (c->rnr.on && (c->rnr.over || !mrc_rnr_room(c)));
}

void mrc_rnr_sent(struct mrc_conn *c)
{
	if (c->rnr.room)
		c->rnr.room--;
}

/* una has advanced: no PSN before it waits. */
static void mrc_rnr_raise(struct mrc_conn *c)
{
	if ((s16)(c->rnr.low - (u16)c->snd.una) < 0)
		c->rnr.low = (u16)c->snd.una;
}

/*
 * The slot of the lowest PSN that waits for retransmission, or MRC_NONE16. The lost list is not in PSN order,
 * so PSNs are searched from the last result on. Each loss is passed once, so the cost is proportional to
 * the number of refusals. @pause: only packets before the refused one, or a response; responses are at
 * the head of the lost list.
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

/* No retries left: the refused message fails when it is the oldest; earlier ones complete normally. */
static void mrc_rnr_give_up(struct mrc_conn *c)
{
	u16 msg = c->snd.rec[c->rnr.first & c->snd.mask].msg;

	c->rnr.over = true;
	if (msg & MRC_REC_RESP || !mrc_psn_out(c, c->rnr.first))	/* a refusal that is invalid */
		mrc_conn_failing(c, MRC_ST_RNR_EXC);
	else
		mrc_msg_at(c, msg)->error = MRC_ST_RNR_EXC;
}

/* The receiver has no receive posted for @psn, which counts as lost: pause, then retransmit it. */
void mrc_rnr_refused(struct mrc_conn *c, u32 psn, u8 code, u64 now_ns)
{
	if (!c->rnr.on)
		c->rnr.low = (u16)c->snd.una;
	if (!c->rnr.on || mrc_rnr_asking(c) == MRC_REC_FREE ||
	    mrc_psn_diff(psn, c->rnr.first) < 0)
		c->rnr.first = psn;
	c->rnr.on = true;
	c->rnr.room = 1;
	mrc_budget_restore(c);	/* the peer is alive */
	if (c->rnr.over)
		mrc_rnr_give_up(c);
	if (now_ns < c->rnr_until_ns || c->rnr.over)
		return;		/* one retry per pause */
	if (c->snd.una != c->rnr.psn)	/* progress since the last retry */
		c->rnr.tries = 0;
	c->rnr.psn = c->snd.una & MRC_PSN_MASK;
	if (c->tx.rnr_retry != MRC_RNR_FOREVER && c->rnr.tries++ >= c->tx.rnr_retry) {
		mrc_rnr_give_up(c);
		return;
	}
	c->rnr_until_ns = now_ns + mrc_rnr_timer_ns(code);
	c->budget.rto_at_ns = mrc_time_after(c->rnr_until_ns, mrc_budget_rto_ns(c));
}

/* @pkts packets were accepted. They count only once the packet that asks has been accepted. */
void mrc_rnr_taken(struct mrc_conn *c, u32 pkts)
{
	u32 room = c->rnr.room + 2 * pkts;

	mrc_rnr_raise(c);
	if (mrc_rnr_asking(c) != MRC_REC_FREE || c->rnr.over)
		return;
	c->rnr.on = (room <= c->snd.range) & 1u;
	c->rnr.room = (u16)min_t(u32, room, c->snd.range);
}
