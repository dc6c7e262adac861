// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ud_tx.c - sends datagrams.
 *
 * A request is copied out of its ring and checked, as for connections. Its payload is copied into
 * the packet, so the request completes when the packet is built. The engine chooses the EV and
 * which datagrams are sent twice, by two planes (engine/paths/mrc_flowlet.h): an undetected dead
 * plane must not delay a connection manager.
 *
 * A datagram without a path is lost, and its request completes: the service is unreliable. An error
 * of the program moves the send queue to SQE, as IBTA demands. Later requests are flushed until the
 * program returns the QP to RTS.
 */
#include <linux/ktime.h>
#include <rdma/ib_user_verbs.h>
#include "engine/wire/mrc_deth.h"
#include "core/mrc_dev_plane.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peers.h"
#include "mem/mrc_sge.h"
#include "data/mrc_av.h"
#include "data/mrc_tx.h"
#include "data/mrc_ud_tx.h"

#define MRC_UD_BUDGET	64	/* datagrams per turn */
#define MRC_UD_FLUSH	256	/* requests flushed per turn */

/* One send request, copied and checked. */
struct ud_req {
	struct mrc_send_wqe k;
	const void *inl;		/* inline payload in the ring, which is read only once; or NULL */
	struct mrc_sge_list list;
	u32 len;
};

/* ---- the request ---- */

/* Copies and checks the request at ring index @idx. */
static enum ib_wc_status req_load(struct mrc_ud *ud, u32 idx, struct ud_req *r)
{
	const u8 *slot = mrc_ring_slot(&ud->sq, idx);
	u64 sum;

	memcpy(&r->k, slot, sizeof(r->k));
	r->inl = NULL;
	r->len = 0;	/* the completion of a refused request reports it, too */
	if (r->k.opcode != IB_UVERBS_WR_SEND && r->k.opcode != IB_UVERBS_WR_SEND_WITH_IMM)
		return IB_WC_LOC_QP_OP_ERR;
	if (r->k.send_flags & IB_SEND_INLINE) {
		if (r->k.inline_len > ud->init.cap.max_inline_data)
			return IB_WC_LOC_LEN_ERR;
		r->inl = slot + sizeof(r->k);
		r->len = r->k.inline_len;
		return IB_WC_SUCCESS;
	}
	if (r->k.num_sge > ud->init.cap.max_send_sge)
		return IB_WC_LOC_QP_OP_ERR;
	r->list.dev = ud->dev;
	r->list.pdn = ud->pdn;
	sum = mrc_sge_load(&r->list, slot + sizeof(r->k), r->k.num_sge,
			   ud->init.cap.max_send_sge);
	if (sum > (u32)ib_mtu_enum_to_int(mrc_dev_plane_ib_mtu(ud->dev)))
		return IB_WC_LOC_LEN_ERR;
	r->len = (u32)sum;
	return IB_WC_SUCCESS;
}

/* ---- the packet ---- */

/* The headers of the datagram. @twice: a copy is sent, too. */
static struct mrc_dgram ud_head(struct mrc_ud *ud, const struct ud_req *r, bool twice)
{
	return (struct mrc_dgram) {
		.se = r->k.send_flags & IB_SEND_SOLICITED,
		.has_imm = r->k.opcode == IB_UVERBS_WR_SEND_WITH_IMM,
		.imm = be32_to_cpu((__force __be32)r->k.imm_data),
		.marked = twice || ud->qpn == MRC_QPN_GSI,
		.pkey = 0xffff,
		.dqpn = r->k.remote_qpn,
		.sqpn = ud->qpn,
		.psn = ud->psn++,
		.qkey = mrc_deth_qkey(r->k.remote_qkey, ud->qkey),
		.payload_len = (u16)r->len,
	};
}

/* Builds BTH to ICRC. NULL: no memory, or the program has no right to the payload (*@status). */
static struct sk_buff *ud_body(struct mrc_ud *ud, const struct ud_req *r, bool twice,
			       struct mrc_tx_hdrs *e, enum ib_wc_status *status)
{
	struct mrc_dgram d = ud_head(ud, r, twice);
	u32 room = mrc_tx_room(&e->way);
	struct sk_buff *skb;
	u8 *payload;

	skb = alloc_skb(room + MRC_DETH_HDR_MAX + r->len + 3 + MRC_ICRC_LEN, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, (int)room);
	skb_put(skb, mrc_deth_build(skb->data, &d));
	payload = skb_put(skb, r->len);
	if (r->inl) {
		memcpy(payload, r->inl, r->len);
	} else if (!mrc_sge_read(&r->list, payload)) {
		*status = IB_WC_LOC_PROT_ERR;
		kfree_skb(skb);
		return NULL;
	}
	e->icrc = (u8 *)skb_put_zero(skb, d.pad + MRC_ICRC_LEN) + d.pad;
	return skb;
}

/* Chooses the EV of the datagram and finds its route. False: there is none, on any plane. */
static bool ud_way(struct mrc_ud *ud, struct mrc_av *av, struct mrc_pathset *ps,
		   struct mrc_tx_hdrs *e)
{
	u64 gap = ud->qpn == MRC_QPN_GSI ? 0 : MRC_FLOWLET_GAP_NS;
	u8 tries = mrc_evset_n_planes(&ps->evs);
	u16 idx;

	/* If the EV has no route, try another plane. */
	while (tries--) {
		spin_lock_bh(&ps->peer->path_lock);
		idx = mrc_flowlet_pick(&av->flowlet, &ps->ip_rot, &ps->evs, ktime_get_ns(), gap);
		spin_unlock_bh(&ps->peer->path_lock);
		if (idx == MRC_NONE16)
			return false;
		e->ev = mrc_evset_value(&ps->evs, idx);
		e->plane = mrc_tx_plane(ps, idx);
		if (!mrc_route_find(ud->dev, ps, idx, &e->way))
			return true;
		spin_lock_bh(&ps->peer->path_lock);
		mrc_flowlet_leave(&av->flowlet);
		spin_unlock_bh(&ps->peer->path_lock);
	}
	return false;
}

/* Chooses the EV and route of a copy. False: none is wanted or possible. Multicast datagrams are never sent twice. */
static bool ud_copy_way(struct mrc_ud *ud, struct mrc_av *av, struct mrc_pathset *ps,
			struct mrc_tx_hdrs *e)
{
	u16 idx;

	if (ps->local || ps->peer->group)
		return false;
	spin_lock_bh(&ps->peer->path_lock);
	idx = mrc_flowlet_copy(&av->flowlet, &ps->ip_rot, &ps->evs, ktime_get_ns(),
			       ud->qpn == MRC_QPN_GSI);
	spin_unlock_bh(&ps->peer->path_lock);
	if (idx == MRC_NONE16)
		return false;
	e->ev = mrc_evset_value(&ps->evs, idx);
	e->plane = mrc_tx_plane(ps, idx);
	return !mrc_route_find(ud->dev, ps, idx, &e->way);
}

/* The copy of @skb, whose ICRC is stored at @icrc, for the route in @e. NULL: no memory. */
static struct sk_buff *ud_copy(const struct sk_buff *skb, const u8 *icrc, struct mrc_tx_hdrs *e)
{
	struct sk_buff *copy = skb_copy_expand(skb, (int)mrc_tx_room(&e->way), 0, GFP_ATOMIC);

	if (!copy)
		return NULL;
	mrc_deth_make_copy(copy->data);
	e->icrc = copy->data + (icrc - skb->data);
	return copy;
}

/* The bit of @plane for mrc_peer_hint_requested(), where bit 0 means lo. */
static u64 ud_plane_bit(u8 plane)
{
	return plane == MRC_PLANE_NONE ? 1 : 2ull << plane;
}

/*
 * Builds the datagram, and its copy if one is wanted, into @out. Returns the planes by which they leave
 * (ud_plane_bit()). 0: not built; if the program caused that, *@status is the error.
 */
static u64 ud_build(struct mrc_ud *ud, struct mrc_av *av, struct mrc_pathset *ps,
		    const struct ud_req *r, struct sk_buff_head *out, enum ib_wc_status *status)
{
	static const struct mrc_pkt no_stream;	/* a datagram belongs to no stream, and is not retransmitted */
	struct mrc_tx_hdrs e = {
		.sgid = &av->sgid, .dgid = &av->dgid,
		.tclass = ud->qpn == MRC_QPN_GSI ? MRC_TC_CONTROL : MRC_TC_NO_TRIM,
		.port = mrc_udp_dest(&ps->peer->udp, READ_ONCE(ud->dev->attr.udp_port), &no_stream),
		.hops = av->hops,
	}, e2;
	struct sk_buff *skb, *copy = NULL;
	bool twice;

	if (!ud_way(ud, av, ps, &e))
		return 0;
	e2 = e;
	twice = ud_copy_way(ud, av, ps, &e2);
	skb = ud_body(ud, r, twice, &e, status);
	if (!skb)
		return 0;
	if (twice)
		copy = ud_copy(skb, e.icrc, &e2);
	mrc_tx_wrap(ps->peer->dev, ps->peer->v4, skb, &e);
	__skb_queue_tail(out, skb);
	if (!copy)
		return ud_plane_bit(e.plane);
	mrc_tx_wrap(ps->peer->dev, ps->peer->v4, copy, &e2);
	__skb_queue_tail(out, copy);
	mrc_dev_count(ud->dev, tx_dgram_copies);
	return ud_plane_bit(e.plane) | ud_plane_bit(e2.plane);
}

static enum ib_wc_status ud_send(struct mrc_ud *ud, const struct ud_req *r,
				 struct sk_buff_head *out)
{
	struct mrc_av *av = mrc_av_find(ud->dev, ud->pdn, r->k.ah);
	enum ib_wc_status status = IB_WC_SUCCESS;
	struct mrc_pathset *ps;
	struct mrc_peer *peer;
	u64 planes = 0;

	if (!av)
		return IB_WC_LOC_QP_OP_ERR;
	peer = mrc_peer_get(ud->dev, &av->dgid, GFP_ATOMIC);
	if (peer) {
		ps = mrc_peer_paths_get(peer);
		planes = ud_build(ud, av, ps, r, out, &status);
		if (planes && ud->qpn == MRC_QPN_GSI)
			mrc_peer_hint_requested(peer, planes);
		mrc_pathset_put(ps);
		mrc_peer_put(peer);
	}
	if (planes)
		mrc_dev_count(ud->dev, tx_dgrams);
	else if (status == IB_WC_SUCCESS)
		mrc_dev_count(ud->dev, tx_dgram_dropped);
	return status;
}

/* ---- the turn; under ud->lock ---- */

static void ud_complete(struct mrc_ud *ud, u64 wr_id, u8 flags, u32 len, enum ib_wc_status status)
{
	struct mrc_cqe cqe = {
		.wr_id = wr_id,
		.qpn = ud->qpn,
		.byte_len = len,
		.opcode = IB_WC_SEND,
		.status = status,
		.slot = ud->sq_cons,
	};

	ud->sq_cons++;
	smp_store_release(&ud->sq.hdr->cons, ud->sq_cons);
	if (ud->sq_sig_all || flags & IB_SEND_SIGNALED || status != IB_WC_SUCCESS)
		mrc_cq_post(ud->scq, &cqe, status != IB_WC_SUCCESS);
}

/* Sends requests. True: the budget is used up. */
static bool ud_pull(struct mrc_ud *ud, struct sk_buff_head *out)
{
	enum ib_wc_status status;
	struct ud_req r;
	int n;

	for (n = 0; n < MRC_UD_BUDGET && ud->state == IB_QPS_RTS; n++) {
		if (!mrc_ring_avail(&ud->sq, ud->sq_cons))
			return false;
		status = req_load(ud, ud->sq_cons, &r);
		if (status == IB_WC_SUCCESS)
			status = ud_send(ud, &r, out);
		if (status != IB_WC_SUCCESS)
			ud->state = IB_QPS_SQE;
		ud_complete(ud, r.k.wr_id, r.k.send_flags, r.len, status);
	}
	return n == MRC_UD_BUDGET;
}

static void ud_flush_recv(struct mrc_ud *ud)
{
	struct mrc_cqe cqe = {
		.qpn = ud->qpn,
		.opcode = IB_WC_RECV,
		.status = IB_WC_WR_FLUSH_ERR,
		.slot = ud->rq_cons,
	};
	struct mrc_recv_wqe k;

	memcpy(&k, mrc_ring_slot(&ud->rq, ud->rq_cons), sizeof(k));
	cqe.wr_id = k.wr_id;
	ud->rq_cons++;
	smp_store_release(&ud->rq.hdr->cons, ud->rq_cons);
	mrc_cq_post(ud->rcq, &cqe, true);
}

static void ud_event(struct mrc_ud *ud, enum ib_event_type event)
{
	struct ib_event ev = {
		.event = event,
		.device = ud->ibqp->device,
		.element.qp = ud->ibqp,
	};

	if (ud->ibqp->event_handler)
		ud->ibqp->event_handler(&ev, ud->ibqp->qp_context);
}

/* In ERR the QP takes no more receives from its SRQ. Those that are posted stay for other QPs. */
static void ud_last_wqe(struct mrc_ud *ud)
{
	if (ud->last_wqe_raised)
		return;
	ud->last_wqe_raised = true;
	ud_event(ud, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* A completion queue has overrun. An event reports it, because a completion may be lost. */
static void ud_fatal(struct mrc_ud *ud)
{
	if (ud->state == IB_QPS_ERR || ud->state == IB_QPS_RESET)
		return;
	ud->state = IB_QPS_ERR;
	ud_event(ud, IB_EVENT_QP_FATAL);
}

/* True: the budget is used up. */
static bool ud_flush_recvs(struct mrc_ud *ud, int budget)
{
	/* Receives that are posted from here on ring a doorbell, so that they are flushed. */
	WRITE_ONCE(ud->rq.hdr->need_kick, 1);
	smp_mb();	/* pairs with the barrier after publishing prod */
	while (budget && mrc_ring_avail(&ud->rq, ud->rq_cons)) {
		budget--;
		ud_flush_recv(ud);
	}
	return !budget;
}

/* Flushes requests in SQE and ERR. True: the budget is used up. */
static bool ud_flush(struct mrc_ud *ud)
{
	int budget = MRC_UD_FLUSH;
	struct mrc_send_wqe k;

	while (budget && mrc_ring_avail(&ud->sq, ud->sq_cons)) {
		budget--;
		memcpy(&k, mrc_ring_slot(&ud->sq, ud->sq_cons), sizeof(k));
		ud_complete(ud, k.wr_id, k.send_flags, 0, IB_WC_WR_FLUSH_ERR);
	}
	if (ud->state != IB_QPS_ERR)
		return !budget;
	if (!ud->srq)
		return ud_flush_recvs(ud, budget);
	if (budget)
		ud_last_wqe(ud);
	return !budget;
}

/* As for connections (mrc-abi.h): requests a doorbell, then checks the ring once more. True: a request was posted. */
static bool ud_sleep(struct mrc_ud *ud)
{
	WRITE_ONCE(ud->sq.hdr->need_kick, 1);
	smp_mb();
	return mrc_ring_avail(&ud->sq, ud->sq_cons) &&
	       (ud->state == IB_QPS_RTS || ud->state == IB_QPS_SQE || ud->state == IB_QPS_ERR);
}

static bool ud_turn(struct mrc_ud *ud, struct sk_buff_head *out)
{
	bool more = false;

	if (!ud->ibqp)
		return false;
	if (mrc_ud_overrun(ud))
		ud_fatal(ud);
	if (ud->state == IB_QPS_RTS)
		more = ud_pull(ud, out);
	if (ud->state == IB_QPS_SQE || ud->state == IB_QPS_ERR)
		more |= ud_flush(ud);
	return more || ud_sleep(ud);
}

void mrc_ud_tx_turn(struct mrc_bhwork *w)
{
	struct mrc_ud *ud = container_of(w, struct mrc_ud, turn);
	struct sk_buff_head out;
	struct sk_buff *skb;
	bool more;

	__skb_queue_head_init(&out);
	rcu_read_lock();	/* from the lookup of the address handle to the hand-over to the plane */
	spin_lock(&ud->lock);
	more = ud_turn(ud, &out);
	spin_unlock(&ud->lock);
	while ((skb = __skb_dequeue(&out)))
		mrc_tx_xmit(skb);
	rcu_read_unlock();
	if (more)
		mrc_bhwork_again(w);
}
