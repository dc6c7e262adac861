// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_port.c - Port Status Updates and EV probes between endpoints (mrc_port.h).
 */
#include "mrc_port.h"
#include "mrc_psn.h"

void mrc_port_init(struct mrc_port *p, u32 up)
{
	memset(p, 0, sizeof(*p));
	p->up = up;
	p->remote_up = ~0u;
}

void mrc_port_set(struct mrc_port *p, u32 up, u64 now_ns)
{
	if (p->up == up)
		return;
	p->up = up;
	p->req_id++;
	p->tries = 0;
	p->announcing = true;
	p->next_ns = now_ns;
}

static void mrc_port_owe_rsp(struct mrc_port *p, const struct mrc_pkt *req)
{
	memset(&p->rsp, 0, sizeof(p->rsp));
	p->rsp.opcode = MRC_OPC_EP_RSP;
	p->rsp.pkey = 0xffff;
	p->rsp.dqpn = MRC_QPN_ENDPOINT;
	p->rsp.psn = req->psn & 0xffff;
	p->rsp.u.ep.op = req->u.ep.op;
	p->rsp.u.ep.tx_ts = req->u.ep.tx_ts;
	p->rsp_owed = true;
}

/*
 * A repeat of what was said before the latest word, by a longer path. Ids of a
 * peer that began anew may look old too, so only for as long as repeats last.
 */
static bool mrc_port_stale(const struct mrc_port *p, u16 id, u64 now_ns)
{
	return p->heard_ns && (s16)(u16)(id - p->heard_id) < 0 &&
	       now_ns - p->heard_ns < MRC_PORT_WAIT_NS << MRC_PORT_TRIES;
}

bool mrc_port_rx(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns)
{
	if (pkt->opcode == MRC_OPC_EP_RSP) {
		if (p->announcing && pkt->u.ep.op == MRC_EP_PORT_STATUS &&
		    (pkt->psn & 0xffff) == p->req_id)
			p->announcing = false;
		return false;
	}
	if (pkt->opcode != MRC_OPC_EP_REQ)
		return false;
	/* One answer at a time: a flood of requests costs one packet per turn. */
	mrc_port_owe_rsp(p, pkt);
	if (pkt->u.ep.op != MRC_EP_PORT_STATUS || mrc_port_stale(p, (u16)pkt->psn, now_ns))
		return false;
	p->heard_id = (u16)pkt->psn;
	p->heard_ns = now_ns;
	if (pkt->u.ep.port_status_mask == p->remote_up)
		return false;
	p->remote_up = pkt->u.ep.port_status_mask;
	return true;
}

bool mrc_port_tx_next(struct mrc_port *p, u64 now_ns, struct mrc_pkt *pkt)
{
	if (p->rsp_owed) {
		*pkt = p->rsp;
		p->rsp_owed = false;
		return true;
	}
	if (!p->announcing || now_ns < p->next_ns)
		return false;
	if (p->tries == MRC_PORT_TRIES) {
		p->announcing = false;
		return false;
	}
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = MRC_OPC_EP_REQ;
	pkt->pkey = 0xffff;
	pkt->dqpn = MRC_QPN_ENDPOINT;
	pkt->psn = p->req_id;
	pkt->u.ep.op = MRC_EP_PORT_STATUS;
	pkt->u.ep.port_status_mask = p->up;
	p->next_ns = now_ns + (MRC_PORT_WAIT_NS << p->tries);
	p->tries++;
	return true;
}

u64 mrc_port_deadline_ns(const struct mrc_port *p)
{
	return p->announcing ? p->next_ns : MRC_TIME_NEVER;
}
