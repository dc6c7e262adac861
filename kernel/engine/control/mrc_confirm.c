// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_confirm.c - confirms that the peer's QP is connected to this one.
 *
 * A data packet does not name its sender: the receiver accepts it from any QP of the right host. So
 * a host must not let its QP write to a QP that is connected to another local QP. Control packets
 * name both ends (spdcid and dpdcid, the low 16 bits of the QP numbers), and a QP sends them only
 * to the QP that it is connected to. One control packet from the expected QP to this QP therefore
 * confirms the connection.
 *
 * Before that, a mute connection sends nothing but probes. Its probe requests a control packet; a
 * probe of the peer confirms as well. A probe changes nothing at a QP of somebody else, because
 * that QP answers to its own peer.
 */
#include "conn/mrc_conn.h"

/* If there is something to send, a probe asks for the peer's first packet, within the retry budget. */
void mrc_confirm_probe(struct mrc_conn *c, u64 now_ns)
{
	if (!mrc_tx_waiting(c) || c->fail)
		return;
	if (c->pto.at_ns == MRC_TIME_NEVER)
		c->pto.owed |= MRC_OWED_TAIL;
	mrc_pto_arm(c, now_ns);
}

/* Some implementations leave both fields zero; this one always sets them. */
static bool mrc_confirm_names(const struct mrc_conn *c, u16 spdcid, u16 dpdcid)
{
	return (spdcid == (u16)c->rx.dqpn && dpdcid == (u16)c->rx.sqpn) || !(spdcid | dpdcid);
}

/* Control packet @p arrived before the connection was confirmed. False: it must be dropped. */
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
