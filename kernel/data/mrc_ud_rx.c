// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ud_rx.c - received datagrams: checked, and copied into the next receive.
 *
 * Runs with BH off, in the receive hook. The ICRC is checked regardless of the device's setting,
 * because plain RoCEv2 always has one. No memory is allocated for a packet, so nobody can exhaust a
 * host by sending to its QP 1: without a posted receive the datagram is dropped. A datagram that is
 * longer than the receive is dropped, too, and the receive stays posted: a stranger must not be
 * able to make a QP fail.
 *
 * If a datagram was sent twice, the first to arrive is delivered (data/mrc_ud_dup.h). If that one
 * found no receive, the other may be delivered.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include "engine/wire/mrc_deth.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peers.h"
#include "path/mrc_plain_roce.h"
#include "mem/mrc_sge.h"
#include "data/mrc_icrc.h"
#include "data/mrc_mcast.h"
#include "data/mrc_ud.h"
#include "data/mrc_ud_dup.h"
#include "data/mrc_ud_rx.h"

/*
 * Checks length, ICRC, headers and P_Key, and decodes the datagram. False: counted. All bytes up to the payload are
 * linear.
 */
static bool dgram_decode(const struct mrc_rx_pkt *p, struct mrc_dev *dev,
			 const struct sk_buff *skb, struct mrc_dgram *d)
{
	const struct udphdr *udp = (const struct udphdr *)(skb->data + p->l4);
	u32 len = p->end - p->l4 - sizeof(*udp);

	if (ntohs(udp->len) != p->end - p->l4 || len < MRC_BTH_LEN + MRC_ICRC_LEN)
		goto malformed;
	if (!mrc_rx_icrc_ok(p, skb)) {
		mrc_dev_count(dev, rx_bad_icrc);
		return false;
	}
	if (mrc_deth_parse(udp + 1, len - MRC_ICRC_LEN, d))
		goto malformed;
	if ((d->pkey & 0x7fff) != 0x7fff) {
		mrc_dev_count(dev, rx_bad_pkey);
		return false;
	}
	return true;

malformed:
	mrc_dev_count(dev, rx_malformed);
	return false;
}

/* The 40 bytes in front of the message: the received IP header; IPv4's is in the last 20 (IBTA A17.4.5.2). */
static void dgram_grh(const struct mrc_rx_pkt *p, const struct sk_buff *skb, u8 grh[MRC_UD_GRH])
{
	if (!p->v4) {
		memcpy(grh, skb->data + p->l3, MRC_UD_GRH);
		return;
	}
	memset(grh, 0, MRC_UD_GRH - sizeof(struct iphdr));
	memcpy(grh + MRC_UD_GRH - sizeof(struct iphdr), skb->data + p->l3, sizeof(struct iphdr));
}

static bool ud_listens(const struct mrc_ud *ud)
{
	return ud->ibqp && (ud->state == IB_QPS_RTR || ud->state == IB_QPS_RTS ||
			    ud->state == IB_QPS_SQE);
}

/* Under ud->lock. Reads the next receive of the ring, or takes one from the SRQ. False: there is none. */
static bool ud_take(struct mrc_ud *ud, u64 *wr_id, struct mrc_sge_list *list)
{
	struct mrc_srq_recv r = { .sge = list->sge };
	struct mrc_recv_wqe k;
	const u8 *slot;

	list->dev = ud->dev;
	list->pdn = ud->srq ? ud->srq->pdn : ud->pdn;
	if (ud->srq) {
		if (!mrc_srq_take(ud->srq, &r))
			return false;
		*wr_id = r.wr_id;
		list->num = r.num_sge;
		return true;
	}
	if (!mrc_ring_avail(&ud->rq, ud->rq_cons))
		return false;
	slot = mrc_ring_slot(&ud->rq, ud->rq_cons);
	memcpy(&k, slot, sizeof(k));
	*wr_id = k.wr_id;
	mrc_sge_load(list, slot + sizeof(k), k.num_sge, ud->init.cap.max_recv_sge);
	return true;
}

/* Under ud->lock. Undoes ud_take(): the receive stays posted. One of the QP's own ring was only read. */
static void ud_give_back(struct mrc_ud *ud, u64 wr_id, struct mrc_sge_list *list)
{
	const struct mrc_srq_recv r = { .wr_id = wr_id, .num_sge = list->num, .sge = list->sge };

	if (ud->srq)
		mrc_srq_give_back(ud->srq, &r);
}

/* Under ud->lock. The next receive for @d. False: there is none, or it is too short; counted. */
static bool ud_receive(struct mrc_ud *ud, const struct mrc_dgram *d, u64 *wr_id,
		       struct mrc_sge_list *list)
{
	if (!ud_take(ud, wr_id, list)) {
		mrc_dev_count(ud->dev, rx_dgram_no_recv);
		return false;
	}
	if (mrc_sge_sum(list) < MRC_UD_GRH + (u64)d->payload_len) {
		mrc_dev_count(ud->dev, rx_dgram_too_long);
		ud_give_back(ud, *wr_id, list);
		return false;
	}
	return true;
}

/* Under ud->lock. The receive is used up, with success or error. */
static void ud_consume_recv(struct mrc_ud *ud)
{
	if (ud->srq)
		return;
	ud->rq_cons++;
	smp_store_release(&ud->rq.hdr->cons, ud->rq_cons);
}

/* Under ud->lock. Delivers @d. True: it has used a receive. False: counted. */
static bool ud_deliver(struct mrc_ud *ud, const struct mrc_rx_pkt *p, const struct mrc_dgram *d,
		       const struct sk_buff *skb)
{
	int off = (int)(p->l4 + sizeof(struct udphdr) + d->hdr_len);
	struct mrc_sge_list list;
	u8 grh[MRC_UD_GRH];
	struct mrc_cqe cqe = {
		.qpn = ud->qpn,
		.byte_len = MRC_UD_GRH + d->payload_len,
		.opcode = IB_WC_RECV,
		.status = IB_WC_SUCCESS,
		.wc_flags = IB_WC_GRH,
		.src_qp = d->sqpn,
		.slot = ud->rq_cons,
	};

	/* The QP's next turn moves it to error. Until then it takes no receive, because other QPs share the SRQ. */
	if (mrc_ud_overrun(ud)) {
		mrc_dev_count(ud->dev, rx_unknown_qp);
		mrc_ud_kick(ud);
		return false;
	}
	if (!ud_receive(ud, d, &cqe.wr_id, &list))
		return false;
	dgram_grh(p, skb, grh);
	if (!mrc_sge_write(&list, 0, grh, MRC_UD_GRH) ||
	    !mrc_sge_write_skb(&list, MRC_UD_GRH, skb, off, d->payload_len)) {
		cqe.status = IB_WC_LOC_PROT_ERR;
		ud->state = IB_QPS_ERR;
		mrc_ud_kick(ud);
	}
	if (d->has_imm) {
		cqe.wc_flags |= IB_WC_WITH_IMM;
		cqe.imm_data = (__force u32)cpu_to_be32(d->imm);
	}
	if (p->v4)
		cqe.mark = MRC_CQE_IPV4;
	ud_consume_recv(ud);
	mrc_dev_count(ud->dev, rx_dgrams);
	mrc_cq_post(ud->rcq, &cqe, d->se || cqe.status != IB_WC_SUCCESS);
	return true;
}

/* Under ud->lock. Delivers @d, with @digest, unless its other copy was delivered. */
static void ud_deliver_once(struct mrc_ud *ud, const struct mrc_rx_pkt *p, const struct mrc_dgram *d,
			    u64 digest, const struct sk_buff *skb)
{
	if (!mrc_ud_dup_take(ud->dev, digest, d->copy))
		mrc_dev_count(ud->dev, rx_dgram_copies);
	else if (!ud_deliver(ud, p, d, skb))
		mrc_ud_dup_untake(ud->dev, digest);
}

/*
 * Under ud->lock. A valid management packet arrived; its Q_Key was checked. Programs may send to QP 1, too, but cannot
 * use that Q_Key, so the packet speaks for its host.
 */
static void ud_rx_mgmt(struct mrc_ud *ud, const union ib_gid *from, bool marked)
{
	struct mrc_peer *peer = mrc_peer_find(ud->dev, from);

	mrc_plain_roce_rx(ud->dev, from, marked);
	if (peer)
		mrc_peer_hint_answered(peer);
	mrc_peer_put(peer);
}

/* Under ud->lock. The datagram is valid and for this QP. What it shows about its sender is recorded before delivery. */
static void dgram_accept(struct mrc_ud *ud, const struct mrc_rx_pkt *p, const struct mrc_dgram *d,
			 u64 digest, const struct sk_buff *skb)
{
	if (ud->qpn == MRC_QPN_GSI)
		ud_rx_mgmt(ud, (const union ib_gid *)&p->src, d->marked);
	if (mrc_ud_dup_possible(d))
		ud_deliver_once(ud, p, d, digest, skb);
	else
		ud_deliver(ud, p, d, skb);
}

/* Delivers the datagram to one QP. Counted if the QP cannot take it. */
static void dgram_to(struct mrc_ud *ud, const struct mrc_rx_pkt *p, const struct mrc_dgram *d,
		     u64 digest, const struct sk_buff *skb)
{
	spin_lock(&ud->lock);
	if (!ud_listens(ud))
		mrc_dev_count(ud->dev, rx_unknown_qp);
	else if (d->qkey != ud->qkey)
		mrc_dev_count(ud->dev, rx_dgram_qkey);
	else
		dgram_accept(ud, p, d, digest, skb);
	spin_unlock(&ud->lock);
}

void mrc_ud_rx(const struct mrc_rx_pkt *p, struct mrc_dev *dev, u32 dqpn, struct sk_buff *skb)
{
	struct mrc_ud *ud = mrc_ud_find(dev, dqpn);
	struct mrc_dgram d;
	u64 digest;

	if (!ud) {
		mrc_dev_count(dev, rx_unknown_qp);
		return;
	}
	if (dgram_decode(p, dev, skb, &d)) {
		digest = mrc_ud_dup_possible(&d) ? mrc_ud_dup_digest(dev, p, &d, skb) : 0;
		dgram_to(ud, p, &d, digest, skb);
	}
	mrc_ud_put(ud);
}

/* Did the QP send this itself, and opt out of its own datagrams? Then it is ignored and not counted. */
static bool ud_own_echo(const struct mrc_ud *ud, const struct mrc_rx_pkt *p,
			const struct mrc_dgram *d)
{
	return ud->no_echo && d->sqpn == ud->qpn && mrc_dev_owns_addr(ud->dev, &p->src);
}

void mrc_ud_rx_group(const struct mrc_rx_pkt *p, struct mrc_dev *dev, u32 dqpn,
		     struct sk_buff *skb)
{
	const struct mrc_mcast *g = mrc_mcast_find(dev, (const union ib_gid *)&p->dst);
	struct mrc_mcast_member *m;
	struct mrc_dgram d;

	if (dqpn != MRC_QPN_MCAST) {
		mrc_dev_count(dev, rx_unknown_qp);
		return;
	}
	if (!g) {
		mrc_dev_count(dev, rx_mcast_unknown);
		return;
	}
	if (!dgram_decode(p, dev, skb, &d))
		return;
	if (d.copy) {	/* multicast datagrams are never sent twice */
		mrc_dev_count(dev, rx_malformed);
		return;
	}
	list_for_each_entry_rcu(m, &g->members, link) {
		if (!kref_get_unless_zero(&m->ud->ref))
			continue;	/* detached and destroyed just now */
		if (!ud_own_echo(m->ud, p, &d))
			dgram_to(m->ud, p, &d, 0, skb);
		mrc_ud_put(m->ud);
	}
}
