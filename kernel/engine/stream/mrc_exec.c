// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_exec.c - READs and ATOMICs of the peer: held until all before them has been placed, executed
 * once, in PSN order, and answered in our send stream.
 *
 * Not in MRC 1.0: a project extension (Documentation/reference/protocol.md). The receive bitmap
 * ensures that each request executes once, so no replay buffer is needed. A slot is in use from the
 * arrival of the request until the response is known as delivered. The sender keeps to the agreed
 * number of requests; further ones get a NACK (NO_PKT_BUFFER).
 */
#include "conn/mrc_conn.h"

void mrc_exec_reset(struct mrc_conn *c)
{
	memset(c->execs.rec, 0, c->cfg.rd_max * sizeof(*c->execs.rec));
	c->execs.waiting = 0;
	c->execs.used = 0;
	c->execs.done = 0;
	c->execs.hint = 0;
	c->execs.first = 0;
	c->execs.drops = 0;
}

/* A request no longer waits: find the lowest PSN of the others. */
static void mrc_exec_passed(struct mrc_conn *c)
{
	u16 i, n = 0;

	if (!--c->execs.waiting)
		return;
	for (i = 0; n < c->execs.waiting && i < c->cfg.rd_max; i++) {
		const struct mrc_exec_rec *x = &c->execs.rec[i];

		if (x->state != MRC_EXEC_WAIT)
			continue;
		if (!n++ || mrc_psn_diff(x->psn, c->execs.rec[c->execs.first].psn) < 0)
			c->execs.first = i;
	}
}

/*
 * All slots are in use, by waiting requests and by responses that are not acknowledged. The peer counts its
 * requests from the oldest unanswered one on, and has at most rd_atomic of them, no more than there are
 * slots. A further request therefore proves that the oldest response has arrived.
 */
static void mrc_exec_settle(struct mrc_conn *c, u64 now_ns)
{
	mrc_msg_response_settle(c, now_ns);
	mrc_exec_responses(c);
}

/*
 * A slot for a request of the peer: a free one, or a finished one whose references are still held. They are
 * dropped before the request is executed (mrc_conn_next()). False: the peer exceeds the agreed number.
 */
bool mrc_exec_admit(struct mrc_conn *c, u16 *slot, u64 now_ns)
{
	u8 state = MRC_EXEC_FREE;
	u16 i = c->execs.hint;

	if (unlikely(mrc_exec_full(c))) {
		if (!c->execs.done)
			mrc_exec_settle(c, now_ns);
		if (!c->execs.done)
			return false;
		state = MRC_EXEC_DONE;
	}
	while (c->execs.rec[i].state != state)
		i = (u16)((i + 1) & (c->cfg.rd_max - 1));
	*slot = i;
	return true;
}

static u8 mrc_exec_op(u8 opcode)
{
	switch (opcode) {
	case MRC_OPC_CMP_SWAP:
		return MRC_OP_CMP_SWAP;
	case MRC_OPC_FETCH_ADD:
		return MRC_OP_FETCH_ADD;
	default:
		return MRC_OP_READ;
	}
}

void mrc_exec_store(struct mrc_conn *c, u16 slot, const struct mrc_pkt *p)
{
	struct mrc_exec_rec *x = &c->execs.rec[slot];

	if (mrc_assert(x->state == MRC_EXEC_FREE || x->state == MRC_EXEC_DONE))
		return;
	if (unlikely(x->state == MRC_EXEC_DONE)) {
		x->drop = true;
		c->execs.drops++;
		c->execs.done--;
	} else {
		c->execs.used++;
	}
	x->state = MRC_EXEC_WAIT;
	x->op = mrc_exec_op(p->opcode);
	x->msn = p->msn;
	x->psn = p->psn;
	x->va = p->va;
	x->rkey = p->rkey;
	x->len = p->dmalen;
	x->swap_add = p->swap_add;
	x->compare = p->compare;
	if (!c->execs.waiting || mrc_psn_diff(x->psn, c->execs.rec[c->execs.first].psn) < 0)
		c->execs.first = slot;
	c->execs.waiting++;
	c->execs.hint = (u8)((slot + 1) & (c->cfg.rd_max - 1));
}

/* Is a request being executed by the caller? */
bool mrc_exec_running(const struct mrc_conn *c)
{
	return c->execs.waiting && !c->fail && c->execs.rec[c->execs.first].state == MRC_EXEC_RUN;
}

bool mrc_exec_next(struct mrc_conn *c, struct mrc_exec *out)
{
	struct mrc_exec_rec *first = &c->execs.rec[c->execs.first];

	if (!c->execs.waiting || c->fail)
		return false;
	/* One at a time, in PSN order, and after all earlier packets have been placed. */
	if (first->state == MRC_EXEC_RUN || mrc_psn_diff(first->psn, c->rcv.cack) > 0)
		return false;
	if (c->rcv.nak != MRC_NAK_NONE && mrc_psn_diff(first->psn, c->rcv.nak_psn) >= 0)
		return false;
	first->state = MRC_EXEC_RUN;
	out->op = (enum mrc_op)first->op;
	out->slot = c->execs.first;
	out->va = first->va;
	out->rkey = first->rkey;
	out->len = first->len;
	out->swap_add = first->swap_add;
	out->compare = first->compare;
	return true;
}

void mrc_exec_done(struct mrc_conn *c, u16 slot, u64 orig, u64 now_ns)
{
	struct mrc_exec_rec *x = &c->execs.rec[slot];
	struct mrc_msg *m = &c->msgs.rs[c->msgs.rs_tail & (c->cfg.rd_max - 1u)];

	if (mrc_assert(x->state == MRC_EXEC_RUN) ||
	    mrc_assert(c->msgs.rs_tail - c->msgs.rs_head < c->cfg.rd_max))
		return;
	x->state = MRC_EXEC_RESP;
	mrc_exec_passed(c);
	c->ctl.ack_owed = true;	/* the ACK waited for the execution */
	memset(m, 0, sizeof(*m));
	m->op = x->op == MRC_OP_READ ? MRC_OP_READ_RESP : MRC_OP_ATOMIC_RESP;
	m->cookie = slot;
	m->msn = x->msn;
	m->len = x->op == MRC_OP_READ ? x->len : 0;
	m->src = m->len ? MRC_SRC_RESP : MRC_SRC_NONE;
	m->swap_add = orig;
	m->resp_pkts = mrc_msg_pkts_of(c, m->len);
	c->msgs.rs_tail++;
	if (!c->snd.known) {	/* RTR: probe the peer for our first PSN */
		c->pto.owed |= MRC_OWED_TAIL;
		mrc_pto_sent(c, now_ns);
	}
}

void mrc_exec_fail(struct mrc_conn *c, u16 slot, enum mrc_nak why)
{
	struct mrc_exec_rec *x = &c->execs.rec[slot];

	if (mrc_assert(x->state == MRC_EXEC_RUN))
		return;
	x->state = MRC_EXEC_DONE;
	c->execs.done++;
	mrc_exec_passed(c);
	mrc_rcv_refuse(c, x->psn, why);
}

/*
 * The memory of a response is gone while packets of it have yet to be sent or retransmitted. The request is
 * refused instead.
 */
void mrc_exec_revoke(struct mrc_conn *c, u16 slot, enum mrc_nak why)
{
	const struct mrc_exec_rec *x = &c->execs.rec[slot];

	if (!mrc_assert(x->state == MRC_EXEC_RESP))
		mrc_rcv_refuse(c, x->psn, why);
}

/* Is there a request before @psn whose response has not been delivered? */
static bool mrc_exec_pending(const struct mrc_conn *c, u32 psn)
{
	u16 i;

	for (i = 0; c->execs.used != c->execs.done && i < c->cfg.rd_max; i++) {
		const struct mrc_exec_rec *x = &c->execs.rec[i];

		if (x->state != MRC_EXEC_FREE && x->state != MRC_EXEC_DONE &&
		    mrc_psn_diff(x->psn, psn) < 0)
			return true;
	}
	return false;
}

/*
 * May the NAK leave? It fails the QP, so all packets before the refused one must have been placed, and all
 * requests before it answered.
 */
bool mrc_exec_nak_ripe(const struct mrc_conn *c)
{
	return mrc_psn_diff(c->rcv.nak_psn, mrc_psn_add(c->rcv.cack, 1)) <= 0 &&
	       !mrc_exec_pending(c, c->rcv.nak_psn);
}

/* After deliveries: finish the responses that are delivered completely. */
void mrc_exec_responses(struct mrc_conn *c)
{
	u16 slot;

	while (mrc_msg_response_next(c, &slot)) {
		c->execs.rec[slot].state = MRC_EXEC_DONE;
		c->execs.done++;
	}
}

/* A slot whose references must be dropped: reused by another request already, or finished and free then. */
bool mrc_exec_free_next(struct mrc_conn *c, u16 *slot)
{
	struct mrc_exec_rec *x = c->execs.rec;

	if (likely(!(c->execs.done | c->execs.drops)))
		return false;
	while (!x->drop && x->state != MRC_EXEC_DONE)
		x++;
	*slot = (u16)(x - c->execs.rec);
	if (x->drop) {
		x->drop = false;
		c->execs.drops--;
		return true;
	}
	x->state = MRC_EXEC_FREE;
	c->execs.done--;
	c->execs.used--;
	return true;
}

/* ---- invariants ---- */

/* The counts are those of the slots, and the lowest PSN that waits is first. */
int mrc_exec_check(const struct mrc_conn *c)
{
	u32 used = 0, waiting = 0, done = 0, drops = 0, i;

	for (i = 0; i < c->cfg.rd_max; i++) {
		const struct mrc_exec_rec *x = &c->execs.rec[i];
		bool waits = x->state == MRC_EXEC_WAIT || x->state == MRC_EXEC_RUN;

		used += x->state != MRC_EXEC_FREE;
		waiting += waits;
		done += x->state == MRC_EXEC_DONE;
		drops += x->drop;
		if (x->drop && x->state != MRC_EXEC_WAIT)	/* dropped before it is executed */
			return __LINE__;
		if (waits && mrc_psn_diff(x->psn, c->execs.rec[c->execs.first].psn) < 0)
			return __LINE__;
	}
	return used == c->execs.used && waiting == c->execs.waiting && done == c->execs.done &&
	       drops == c->execs.drops ? 0 : __LINE__;
}
