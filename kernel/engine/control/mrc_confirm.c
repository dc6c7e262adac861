// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_confirm.c - has the peer's QP spoken to this one?
 *
 * A data packet does not name its sender: the receiver takes it from every QP of the right host. So a host
 * must not let a QP write to a QP that is connected to another one of its own. Control packets name both ends
 * (spdcid, dpdcid: the low halves of the QP numbers). A QP sends its control packets to the QP that it is
 * connected to. So one from the QP that this one is for, to this one, says that the two belong together.
 *
 * A mute connection sends nothing but probes until such a packet comes. Its probe asks for one, or the
 * peer's probe is one. A probe changes nothing at a QP of somebody else: the answer goes to that QP's peer.
 */
#include "conn/mrc_conn.h"

/* Something is to be said. A probe asks for the peer's first word, within the retry budget. */
void mrc_confirm_probe(struct mrc_conn *c, u64 now_ns)
{
	if (!mrc_tx_waiting(c) || c->fail)
		return;
	if (c->pto.at_ns == MRC_TIME_NEVER)
		c->pto.owed |= MRC_OWED_TAIL;
	mrc_pto_arm(c, now_ns);
}

/* Some implementations name nobody: zeros. Ours always does. */
static bool mrc_confirm_names(const struct mrc_conn *c, u16 spdcid, u16 dpdcid)
{
	return (spdcid == (u16)c->rx.dqpn && dpdcid == (u16)c->rx.sqpn) || !(spdcid | dpdcid);
}

/* Control packet @p came, and no earlier one named both ends. False: it is not to be believed. */
bool mrc_confirm_rx(struct mrc_conn *c, const struct mrc_pkt *p)
{
	bool named = false;

	if (p->opcode == MRC_OPC_SACK)
		named = mrc_confirm_names(c, p->u.sack.spdcid, p->u.sack.dpdcid);
	else if (p->opcode == MRC_OPC_PROBE)
		named = mrc_confirm_names(c, p->u.probe.spdcid, p->u.probe.dpdcid);
	if (named)
		c->confirm = MRC_CONFIRM_DONE;
	if (!mrc_confirm_mute(c))
		return true;
	c->stats.rx_not_ready++;
	return false;
}
