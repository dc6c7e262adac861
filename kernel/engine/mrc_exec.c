// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_exec.c - READs and ATOMICs of the peer: held until everything before
 * them has landed, executed once each in PSN order, answered in our send stream.
 *
 * design.md section 3. The receive bitmap makes each request execute once, so
 * there is no replay buffer. A slot lives from the request's arrival until its
 * response is known as delivered.
 */
#include "mrc_conn.h"

void mrc_exec_reset(struct mrc_conn *c)
{
	memset(c->exec, 0, c->cfg.rd_max * sizeof(*c->exec));
	c->exec_waiting = 0;
	c->exec_used = 0;
	c->exec_done = 0;
	c->exec_hint = 0;
	c->exec_first = 0;
}

/* One that waited is out of the way: the lowest PSN of the others. */
static void mrc_exec_passed(struct mrc_conn *c)
{
	u16 i, n = 0;

	if (!--c->exec_waiting)
		return;
	for (i = 0; n < c->exec_waiting && i < c->cfg.rd_max; i++) {
		const struct mrc_exec_rec *x = &c->exec[i];

		if (x->state != MRC_EXEC_WAIT)
			continue;
		if (!n++ || mrc_psn_diff(x->psn, c->exec[c->exec_first].psn) < 0)
			c->exec_first = i;
	}
}

/*
 * A free slot for the request at @psn.
 *
 * Requests that overtook it may hold all slots while the answers to earlier
 * ones are not acknowledged; the peer can be in the same state, and neither
 * window moves. But the peer has at most rd_atomic requests out in order, so
 * when the left edge's own request finds no slot, the oldest answer must have
 * arrived: settle it, and the next copy of the request finds a slot.
 */
bool mrc_exec_admit(struct mrc_conn *c, u32 psn, u64 now_ns, u16 *slot)
{
	u16 i = c->exec_hint;

	if (c->exec_used < c->cfg.rd_max) {
		while (c->exec[i].state != MRC_EXEC_FREE)
			i = (u16)((i + 1) & (c->cfg.rd_max - 1));
		*slot = i;
		return true;
	}
	if (mrc_psn_diff(psn, c->rx_cack) == 1 &&
	    c->exec_used - c->exec_done >= c->rx.rd_atomic)
		mrc_tx_response_settle(c, now_ns);
	return false;
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
	struct mrc_exec_rec *x = &c->exec[slot];

	if (mrc_assert(x->state == MRC_EXEC_FREE))
		return;
	x->state = MRC_EXEC_WAIT;
	x->op = mrc_exec_op(p->opcode);
	x->msn = p->msn;
	x->psn = p->psn;
	x->va = p->va;
	x->rkey = p->rkey;
	x->len = p->dmalen;
	x->swap_add = p->swap_add;
	x->compare = p->compare;
	if (!c->exec_waiting || mrc_psn_diff(x->psn, c->exec[c->exec_first].psn) < 0)
		c->exec_first = slot;
	c->exec_waiting++;
	c->exec_used++;
	c->exec_hint = (u8)((slot + 1) & (c->cfg.rd_max - 1));
}

bool mrc_conn_exec_next(struct mrc_conn *c, struct mrc_exec *out)
{
	struct mrc_exec_rec *first = &c->exec[c->exec_first];

	if (!c->exec_waiting || c->fail)
		return false;
	/* One at a time, in order, and after all that precedes it has landed. */
	if (first->state == MRC_EXEC_RUN || mrc_psn_diff(first->psn, c->rx_cack) > 0)
		return false;
	if (c->nak != MRC_NAK_NONE && mrc_psn_diff(first->psn, c->nak_psn) >= 0)
		return false;
	first->state = MRC_EXEC_RUN;
	out->op = (enum mrc_op)first->op;
	out->slot = c->exec_first;
	out->va = first->va;
	out->rkey = first->rkey;
	out->len = first->len;
	out->swap_add = first->swap_add;
	out->compare = first->compare;
	return true;
}

void mrc_conn_exec_done(struct mrc_conn *c, u16 slot, u64 orig, u64 now_ns)
{
	struct mrc_exec_rec *x = &c->exec[slot];
	struct mrc_msg *m = &c->rs[c->rs_tail & (c->cfg.rd_max - 1u)];

	if (mrc_assert(x->state == MRC_EXEC_RUN) ||
	    mrc_assert(c->rs_tail - c->rs_head < c->cfg.rd_max))
		return;
	x->state = MRC_EXEC_RESP;
	mrc_exec_passed(c);
	c->ack_owed = true;	/* the ACK waited for the execution */
	memset(m, 0, sizeof(*m));
	m->op = x->op == MRC_OP_READ ? MRC_OP_READ_RESP : MRC_OP_ATOMIC_RESP;
	m->cookie = slot;
	m->msn = x->msn;
	m->len = x->op == MRC_OP_READ ? x->len : 0;
	m->src = m->len ? MRC_SRC_RESP : MRC_SRC_NONE;
	m->swap_add = orig;
	m->resp_pkts = mrc_tx_pkts(c, m->len);
	c->rs_tail++;
	if (!c->psn_known) {	/* ask the peer where our stream begins */
		c->probe_owed = true;
		mrc_loss_sent(c, now_ns);
	}
}

void mrc_conn_exec_fail(struct mrc_conn *c, u16 slot, enum mrc_nak why, u64 now_ns)
{
	struct mrc_exec_rec *x = &c->exec[slot];

	(void)now_ns;
	if (mrc_assert(x->state == MRC_EXEC_RUN))
		return;
	x->state = MRC_EXEC_DONE;
	c->exec_done++;
	mrc_exec_passed(c);
	mrc_rx_refuse(c, x->psn, why);
}

/* Is a request before @psn not yet answered, the answer delivered? */
bool mrc_exec_pending(const struct mrc_conn *c, u32 psn)
{
	u16 i;

	for (i = 0; c->exec_used != c->exec_done && i < c->cfg.rd_max; i++) {
		const struct mrc_exec_rec *x = &c->exec[i];

		if (x->state != MRC_EXEC_FREE && x->state != MRC_EXEC_DONE &&
		    mrc_psn_diff(x->psn, psn) < 0)
			return true;
	}
	return false;
}

/* The response message of this slot has been delivered. */
void mrc_exec_resp_done(struct mrc_conn *c, u16 slot)
{
	c->exec[slot].state = MRC_EXEC_DONE;
	c->exec_done++;
	if (mrc_rx_nak_due(c) && !c->nak_sent)
		c->ack_owed = true;
}

bool mrc_conn_exec_free_next(struct mrc_conn *c, u16 *slot)
{
	u16 i = 0;

	if (!c->exec_done)
		return false;
	while (c->exec[i].state != MRC_EXEC_DONE)
		i++;
	c->exec[i].state = MRC_EXEC_FREE;
	c->exec_done--;
	c->exec_used--;
	*slot = i;
	return true;
}
