// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_port.c - Port Status Updates and EV probes between endpoints (mrc_port.h).
 */
#include "peer/mrc_port.h"
#include "base/mrc_psn.h"

void mrc_port_init(struct mrc_port *p, u32 up)
{
	memset(p, 0, sizeof(*p));
	p->up = up;
	p->said = up;
	p->remote_up = ~0u;
}

void mrc_port_announce(struct mrc_port *p, u64 now_ns)
{
	p->req_id++;
	p->said = p->up;
	p->tries = 0;
	p->announcing = true;
	p->greeting = false;
	p->next_ns = now_ns;
	p->announced_ns = now_ns;
}

void mrc_port_remind(struct mrc_port *p, u64 now_ns)
{
	if (!p->announcing)
		mrc_port_announce(p, now_ns);
}

void mrc_port_stray(struct mrc_port *p, u8 plane, u64 now_ns)
{
	if (plane < MRC_PLANES_MAX && !(p->up >> plane & 1) && mrc_port_left(p, now_ns))
		mrc_port_remind(p, now_ns);
}

void mrc_port_set(struct mrc_port *p, u32 up, u64 now_ns)
{
	if (p->up == up)
		return;
	p->up = up;
	mrc_port_announce(p, now_ns);
}

void mrc_port_meet(struct mrc_port *p, u32 all, bool first, u64 at_ns)
{
	if (p->up != all && first) {
		mrc_port_announce(p, at_ns);
	} else if (p->up != all) {
		mrc_port_remind(p, at_ns);
	} else if (first) {
		p->announcing = false;
		p->greeting = true;
	}
}

void mrc_port_peer_alive(struct mrc_port *p, u64 now_ns)
{
	if (p->greeting)
		mrc_port_announce(p, now_ns);
}

/* ---- packets of the peer ---- */

/*
 * Is announcement @id an old repeat that took a longer path? Ids of a peer that restarted may look old, too, so this
 * applies only for as long as repeats last.
 */
static bool mrc_port_stale(const struct mrc_port *p, u16 id, u64 now_ns)
{
	return p->heard && (s16)(u16)(id - p->heard_id) < 0 &&
	       now_ns - p->heard_ns < MRC_PORT_STALE_NS;
}

/* Ports that @up announces as newly down, and that are up here. */
static u32 mrc_port_gone(const struct mrc_port *p, u32 up)
{
	return p->remote_up & ~up & p->up;
}

/* Was the "down" of one of @planes disproved recently? */
static bool mrc_port_doubts(struct mrc_port *p, u32 planes, u64 now_ns)
{
	if (now_ns - p->denied_ns >= MRC_PORT_DOUBT_NS)
		p->doubted = 0;
	return planes & p->doubted;
}

/* May a change to @up be accepted now? */
static bool mrc_port_change(struct mrc_port *p, u32 up, u64 now_ns)
{
	u64 at = max_t(u64, p->change_ns, now_ns);

	if (!(up & p->up)) {
		p->severed++;
		return false;
	}
	if (at - now_ns >= MRC_PORT_CHANGES * MRC_PORT_CHANGE_NS ||
	    mrc_port_doubts(p, mrc_port_gone(p, up), now_ns)) {
		p->limited++;
		return false;
	}
	p->change_ns = at + MRC_PORT_CHANGE_NS;
	return true;
}

static struct mrc_port_answer mrc_port_answer_to(const struct mrc_pkt *req)
{
	struct mrc_port_answer a = { 0 };

	a.id = (u16)req->psn;
	a.tx_ts = req->u.ep.tx_ts;
	a.op = req->u.ep.op;
	a.plane = req->plane;
	if (a.op == MRC_EP_EV_PROBE && req->u.ep.vendor_info == MRC_EP_RETURN && a.plane < MRC_PLANES_MAX)
		a.via = (u16)req->ev;
	return a;
}

static void mrc_port_rx_probe(struct mrc_port *p, const struct mrc_pkt *pkt)
{
	u8 n = (u8)(p->rsp_owed - p->status_owed);

	/* An answer would prove the port to be up, even if it left by another one. */
	if (pkt->plane < MRC_PLANES_MAX && !(p->said >> pkt->plane & 1)) {
		p->withheld++;
		return;
	}
	if (n == MRC_PORT_ANSWERS) {
		p->limited++;
		return;
	}
	p->answer[(p->first + n) % MRC_PORT_ANSWERS] = mrc_port_answer_to(pkt);
	p->rsp_owed++;
}

static bool mrc_port_rx_status(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns)
{
	u32 up = pkt->u.ep.port_status_mask;
	bool change = up != p->remote_up;

	if (mrc_port_stale(p, (u16)pkt->psn, now_ns)) {
		p->stale++;	/* not answered: a restarted peer repeats it until it is accepted */
		return false;
	}
	if (change && !mrc_port_change(p, up, now_ns))
		return false;
	mrc_down_check_end(&p->doubt, up);
	mrc_down_check_start(&p->doubt, mrc_port_gone(p, up), now_ns);
	/* Only the latest is answered: the peer has repeated or replaced earlier ones. */
	p->status = mrc_port_answer_to(pkt);
	p->rsp_owed = (u8)(p->rsp_owed + !p->status_owed);
	p->status_owed = true;
	p->heard = true;
	p->heard_id = (u16)pkt->psn;
	p->heard_ns = now_ns;
	p->remote_up = up;
	return change;
}

/*
 * The peer answered by a port that was announced as down. The announcement was forged and is dropped. So is its id,
 * which may lie far ahead of the peer's own ids.
 */
static bool mrc_port_rx_checked(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns)
{
	u32 plane = 0;

	if (pkt->u.ep.op == MRC_EP_EV_PROBE)
		plane = mrc_down_check_rx(&p->doubt, (u16)pkt->psn);
	if (!plane)
		return false;
	p->denied++;
	p->denied_ns = now_ns;
	p->doubted |= plane;
	p->heard = false;
	p->remote_up |= plane;
	return true;
}

/* Is @pkt an answer to the latest announcement? Each of its repeats may be answered. */
static bool mrc_port_answers_us(const struct mrc_port *p, const struct mrc_pkt *pkt)
{
	return p->tries && pkt->u.ep.op == MRC_EP_PORT_STATUS && (pkt->psn & 0xffff) == p->req_id;
}

/* A response to the own announcement or to a controller's request. */
static void mrc_port_rx_response(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns)
{
	if (mrc_port_answers_us(p, pkt))
		p->announcing = false;
	else if (!p->ask || !mrc_ep_req_rx(p->ask, pkt, now_ns))
		p->unasked++;
}

bool mrc_port_rx(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns)
{
	if (pkt->opcode == MRC_OPC_EP_RSP) {
		if (mrc_port_rx_checked(p, pkt, now_ns))
			return true;
		mrc_port_rx_response(p, pkt, now_ns);
		return false;
	}
	if (pkt->opcode != MRC_OPC_EP_REQ)
		return false;
	if (pkt->u.ep.op == MRC_EP_PORT_STATUS)
		return mrc_port_rx_status(p, pkt, now_ns);
	if (pkt->u.ep.op == MRC_EP_EV_PROBE)
		mrc_port_rx_probe(p, pkt);
	return false;
}

/* ---- packets to the peer ---- */

static void mrc_port_pkt(struct mrc_pkt *pkt, u8 opcode, u16 id, u8 op)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = opcode;
	pkt->pkey = 0xffff;
	pkt->plane = MRC_PLANE_NONE;
	pkt->dqpn = MRC_QPN_ENDPOINT;
	pkt->psn = id;
	pkt->u.ep.op = op;
}

static void mrc_port_tx_answer(struct mrc_port *p, struct mrc_pkt *pkt)
{
	const struct mrc_port_answer *a = &p->status;

	if (!p->status_owed) {
		a = &p->answer[p->first];
		p->first = (u8)((p->first + 1) % MRC_PORT_ANSWERS);
	}
	p->status_owed = false;
	p->rsp_owed--;
	mrc_port_pkt(pkt, MRC_OPC_EP_RSP, a->id, a->op);
	pkt->u.ep.tx_ts = a->tx_ts;
	if (!a->via)
		return;
	pkt->plane = a->plane;
	pkt->u.ep.via = a->via;
	pkt->u.ep.vendor_info = MRC_EP_RETURN;
}

static bool mrc_port_tx_check(struct mrc_port *p, u64 now_ns, struct mrc_pkt *pkt)
{
	u8 plane;
	u16 id;

	if (!mrc_down_check_next(&p->doubt, p->up, now_ns, &plane, &id))
		return false;
	mrc_port_pkt(pkt, MRC_OPC_EP_REQ, id, MRC_EP_EV_PROBE);
	pkt->plane = plane;
	pkt->ev = mrc_down_check_tries(&p->doubt);
	pkt->u.ep.tx_ts = mrc_ts16(now_ns);
	return true;
}

bool mrc_port_tx_next(struct mrc_port *p, u64 now_ns, struct mrc_pkt *pkt)
{
	if (p->rsp_owed) {
		mrc_port_tx_answer(p, pkt);
		return true;
	}
	if (mrc_port_tx_check(p, now_ns, pkt))
		return true;
	if (!p->announcing || now_ns < p->next_ns)
		return false;
	if (p->tries == MRC_PORT_TRIES) {
		p->announcing = false;
		return false;
	}
	mrc_port_pkt(pkt, MRC_OPC_EP_REQ, p->req_id, MRC_EP_PORT_STATUS);
	pkt->u.ep.port_status_mask = p->up;
	p->next_ns = now_ns + (MRC_PORT_WAIT_NS << p->tries);
	p->tries++;
	return true;
}

u64 mrc_port_deadline_ns(const struct mrc_port *p)
{
	return min_t(u64, p->announcing ? p->next_ns : MRC_TIME_NEVER,
		     mrc_down_check_deadline_ns(&p->doubt));
}

/* ---- requests of controllers ---- */

void mrc_port_set_reqs(struct mrc_port *p, struct mrc_ep_req_table *ask)
{
	WRITE_ONCE(p->ask, ask);
}

/*
 * A controller's announcement uses the same sequence of ids as the own ones, because the peer accepts only the latest. So
 * it is refused while an own announcement is in progress, which would then look older and be lost.
 */
static int mrc_port_request_status(struct mrc_port *p, const struct mrc_ep_req *q, u64 now_ns, u16 *id)
{
	int err;

	if (p->announcing)
		return -EBUSY;
	*id = p->req_id;
	err = mrc_ep_req_next(p->ask, q, now_ns, id);
	if (err)
		return err;
	p->req_id = *id;
	p->said = q->ports_up;
	p->tries = 0;
	p->greeting = false;	/* the peer is informed, and the controller's announcement stays valid */
	return 0;
}

int mrc_port_request(struct mrc_port *p, const struct mrc_ep_req *q, u64 now_ns,
		     struct mrc_pkt *pkt)
{
	bool status = q->op == MRC_EP_PORT_STATUS;
	u16 id;
	int err;

	if (!p->ask)
		return -EBUSY;
	err = status ? mrc_port_request_status(p, q, now_ns, &id) :
		       mrc_ep_req_probe(p->ask, q, now_ns, &id);
	if (err)
		return err;
	mrc_port_pkt(pkt, MRC_OPC_EP_REQ, id, q->op);
	if (status) {
		pkt->u.ep.port_status_mask = q->ports_up;
	} else if (q->via) {
		pkt->u.ep.vendor_info = MRC_EP_RETURN;
		pkt->ev = q->via;
	}
	pkt->u.ep.tx_ts = mrc_ts16(now_ns);
	return 0;
}

void mrc_port_request_undo(struct mrc_port *p, const struct mrc_pkt *pkt)
{
	mrc_ep_req_undo(p->ask, (u16)pkt->psn);
}

bool mrc_port_take_rsp(struct mrc_port *p, struct mrc_ep_rsp *answer)
{
	return p->ask && mrc_ep_req_take(p->ask, answer);
}
