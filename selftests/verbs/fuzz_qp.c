// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_qp.c - queue pairs used: modified with any mask, connected, posted to.
 *
 * What must be: a change that is refused leaves the state, one that is taken leads to the state asked for; the way from
 * RESET to RTS is open with good attributes.
 */
#include "fuzz.h"

#define QKEY	0x11111111	/* of those that are connected as they should be */

static struct ibv_qp_attr random_attr(const struct ibv_qp *qp)
{
	struct obj *peer = fuzz_any(QP);
	struct ibv_qp_attr a = {
		.qp_state = (enum ibv_qp_state)fuzz_draw(8), .path_mtu = (enum ibv_mtu)(1 + fuzz_draw(5)),
		.qkey = (uint32_t)fuzz_draw(1ull << 32), .rq_psn = (uint32_t)fuzz_draw(1 << 24),
		.sq_psn = (uint32_t)fuzz_draw(1 << 24), .port_num = 1, .timeout = 10,
		.dest_qp_num = peer ? ((struct ibv_qp *)peer->p)->qp_num : qp->qp_num,
		.qp_access_flags = (unsigned int)fuzz_draw(16), .retry_cnt = (uint8_t)fuzz_draw(8),
		.rnr_retry = (uint8_t)fuzz_draw(8), .max_rd_atomic = (uint8_t)fuzz_draw(20),
		.max_dest_rd_atomic = (uint8_t)fuzz_draw(20), .min_rnr_timer = (uint8_t)fuzz_draw(32),
		.ah_attr = {
			.is_global = 1, .port_num = 1, .grh = {
				.sgid_index = (uint8_t)fuzz.dev.gid_index, .dgid = fuzz.dev.gid,
				.hop_limit = 64,
			},
		},
		.en_sqd_async_notify = (uint8_t)fuzz_draw(2), .cur_qp_state = (enum ibv_qp_state)fuzz_draw(8),
	};

	switch (fuzz_draw(24)) {
	case 0: a.port_num = (uint8_t)fuzz_draw(256); break;
	case 1: a.pkey_index = (uint16_t)fuzz_draw(65536); break;
	case 2: a.ah_attr.port_num = (uint8_t)fuzz_draw(256); break;
	case 3: a.ah_attr.is_global = 0; break;
	case 4: a.ah_attr.grh.sgid_index = (uint8_t)fuzz_draw(256); break;
	case 5: a.path_mtu = (enum ibv_mtu)fuzz_draw(1 << 20); break;
	case 6: a.timeout = (uint8_t)fuzz_draw(256); a.min_rnr_timer = (uint8_t)fuzz_draw(256); break;
	case 7: a.qp_access_flags = (unsigned int)fuzz_draw(1ull << 32); break;
	case 8: a.rq_psn = a.sq_psn = a.dest_qp_num = ~0u; break;
	}
	return a;
}

/* What each step wants, of RC and UD. */
static int mask_of(const struct ibv_qp *qp, enum ibv_qp_state to)
{
	const bool rc = qp->qp_type == IBV_QPT_RC;

	switch (to) {
	case IBV_QPS_INIT:
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (rc ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
	case IBV_QPS_RTR:
		return rc ? IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : IBV_QP_STATE;
	case IBV_QPS_RTS:
		return rc ? IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC : IBV_QP_STATE | IBV_QP_SQ_PSN;
	default:
		return IBV_QP_STATE;
	}
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = { };
	int err = ibv_query_qp(qp, &a, IBV_QP_STATE, &init);

	FUZZ_MUST(!err, "ibv_query_qp: %s", strerror(err));
	return a.qp_state;
}

/* Traffic may end in error at any time. */
static void modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	const enum ibv_qp_state before = state_of(qp);
	const int err = ibv_modify_qp(qp, a, mask);
	const enum ibv_qp_state after = state_of(qp);

	if (err) {
		FUZZ_MUST(fuzz_known_errno(err), "ibv_modify_qp mask %x: %d", mask, err);
		FUZZ_MUST(after == before || after == IBV_QPS_ERR,
			  "ibv_modify_qp mask %x: %s, but %d became %d", mask, strerror(err), before, after);
		fuzz.refused++;
	} else if (mask & IBV_QP_STATE) {
		FUZZ_MUST(after == a->qp_state || after == IBV_QPS_ERR,
			  "ibv_modify_qp mask %x: asked for %d, is %d", mask, a->qp_state, after);
	}
}

/* The next of its states; an odd bit now and then. */
static void advance(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = random_attr(qp);

	a.qp_state = state_of(qp) + 1;
	if (a.qp_state > IBV_QPS_RTS)
		a.qp_state = fuzz_once_in(3) ? (enum ibv_qp_state)fuzz_draw(7) : IBV_QPS_RESET;
	modify_qp(qp, &a, mask_of(qp, a.qp_state) ^ (fuzz_once_in(6) ? 1 << fuzz_draw(26) : 0));
}

/* From RESET to RTS, as it should be: for requests that move data. */
static void connect_to(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	static const enum ibv_qp_state way[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
	struct ibv_qp_attr a = {
		.path_mtu = IBV_MTU_1024, .qkey = QKEY, .dest_qp_num = peer->qp_num, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 2, .min_rnr_timer = 2, .max_rd_atomic = 4,
		.max_dest_rd_atomic = 4, .ah_attr = {
			.is_global = 1, .port_num = 1, .grh = {
				.sgid_index = (uint8_t)fuzz.dev.gid_index, .dgid = fuzz.dev.gid,
				.hop_limit = 64,
			},
		},
	};
	int i, err;

	for (i = 0; i < 4; i++) {
		a.qp_state = way[i];
		err = ibv_modify_qp(qp, &a, mask_of(qp, way[i]));
		/* What a peer of before has posted may reach it, and be refused. */
		FUZZ_MUST(!err || state_of(qp) == IBV_QPS_ERR, "a QP of type %d to state %d: %s",
			  (int)qp->qp_type, (int)way[i], strerror(err));
		if (err)
			return;
	}
}

static void modify_any(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = random_attr(qp);

	modify_qp(qp, &a, (int)fuzz_draw(1 << (fuzz_once_in(4) ? 31 : 22)));
}

/* ---- requests */

static void fill_wr(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_sge *sge, struct ibv_mr *mr)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_SEND_WITH_INV,
	};
	struct obj *mw = fuzz_any(MW), *ah = fuzz_any(AH);

	wr->opcode = fuzz_once_in(20) ? (enum ibv_wr_opcode)fuzz_draw(64) : ops[fuzz_draw(10)];
	wr->send_flags = (unsigned int)fuzz_draw(fuzz_once_in(9) ? 64 : 16);
	wr->wr_id = fuzz.step;
	if (qp->qp_type == IBV_QPT_UD) {
		wr->wr.ud.ah = ah ? ah->p : NULL;
		wr->wr.ud.remote_qpn = fuzz_once_in(3) ? 0xffffff : (uint32_t)fuzz_draw(1 << 24);
		wr->wr.ud.remote_qkey = fuzz_once_in(3) ? QKEY : (uint32_t)fuzz_draw(1ull << 32);
		if (fuzz_preys(2))
			fuzz_prey_datagram(wr);
		if (!ah)	/* libibverbs would read it */
			wr->opcode = IBV_WR_RDMA_READ;
		return;
	}
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge->length = 8;
		wr->wr.atomic.remote_addr = (uintptr_t)mr->addr + fuzz_draw(mr->length) / 8 * 8;
		wr->wr.atomic.rkey = mr->rkey;
	} else if (wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_SEND_WITH_INV) {
		wr->invalidate_rkey = mw ? ((struct ibv_mw *)mw->p)->rkey : mr->rkey;
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		wr->bind_mw.mw = mw ? mw->p : NULL;
		if (!mw)
			wr->opcode = IBV_WR_SEND;
		wr->bind_mw.rkey = mw ? ibv_inc_rkey(((struct ibv_mw *)mw->p)->rkey) : 0;
		wr->bind_mw.bind_info = (struct ibv_mw_bind_info){
			mr, (uintptr_t)mr->addr + fuzz_draw(mr->length), fuzz_draw(mr->length),
			(unsigned int)fuzz_draw(32),
		};
	} else {
		wr->wr.rdma.remote_addr = (uintptr_t)mr->addr + fuzz_draw(mr->length);
		wr->wr.rdma.rkey = mr->rkey + (fuzz_once_in(20) ? 1 : 0);
	}
}

static void post(struct ibv_qp *qp)
{
	struct ibv_mr *mr = fuzz_any_mr(), *other = fuzz_any_mr();
	struct ibv_send_wr *bad, wr = { };
	struct ibv_recv_wr *bad_recv, recv = { };
	struct ibv_sge sge[4];
	int i, err;

	if (!mr)
		return;
	for (i = 0; i < 4; i++)
		sge[i] = (struct ibv_sge){
			(uintptr_t)mr->addr + fuzz_draw(mr->length),
			(uint32_t)fuzz_draw(fuzz_once_in(30) ? ~0u : 5000), mr->lkey,
		};
	wr.sg_list = recv.sg_list = sge;
	wr.num_sge = (int)fuzz_draw(fuzz_once_in(20) ? 40 : 4);
	if (wr.num_sge > 4)	/* more than the list has: too many for any queue here */
		wr.num_sge = 1000;
	recv.num_sge = (int)fuzz_draw(4);
	fill_wr(qp, &wr, sge, other ? other : mr);
	if (wr.send_flags & IBV_SEND_INLINE)	/* they are read at once: memory that is there */
		for (i = 0; i < 4; i++) {
			sge[i].addr = (uintptr_t)fuzz.area;
			sge[i].length %= 300;
		}
	err = ibv_post_send(qp, &wr, &bad);
	FUZZ_MUST(!err || fuzz_known_errno(err), "ibv_post_send: %d", err);
	fuzz.posted += !err;
	if (!qp->srq)
		err = ibv_post_recv(qp, &recv, &bad_recv);
	else
		err = ibv_post_srq_recv(qp->srq, &recv, &bad_recv);
	FUZZ_MUST(!err || fuzz_known_errno(err), "a receive: %d", err);
}

/* In a group for some requests: while it is, it cannot be destroyed. */
static void post_in_group(struct ibv_qp *qp, int n)
{
	const uint8_t scope = (uint8_t)fuzz_draw(16);
	const union ibv_gid group = fuzz_group(scope);
	const uint16_t lid = (uint16_t)fuzz_draw(1 << 16);	/* RoCE has none; ib_core compares them */
	const int err = ibv_attach_mcast(qp, &group, lid);

	FUZZ_MUST(!err || fuzz_known_errno(err), "ibv_attach_mcast: %d", err);
	FUZZ_MUST((qp->qp_type == IBV_QPT_UD && scope > 1) == !err, "a QP of type %d to scope %u: %d",
		  (int)qp->qp_type, scope, err);
	while (n-- > 0)
		post(qp);
	if (err)
		return;
	/* A damaged command might destroy it, and it is used on. */
	FUZZ_MUST(ibv_destroy_qp(qp) == EBUSY, "a QP in a group was destroyed");
	FUZZ_MUST(!ibv_detach_mcast(qp, &group, lid), "it stays in its group");
	if (!fuzz.strict)
		ibv_detach_mcast(qp, &group, lid);
}

void fuzz_use_qp(struct ibv_qp *qp)
{
	struct obj *peer = fuzz_any(QP);
	int n = (int)fuzz_draw(12);

	if (fuzz_preys(2)) {
		fuzz_prey_hunt(qp);
		return;
	}
	if (fuzz_once_in(5)) {
		connect_to(qp, peer->p);
		connect_to(peer->p, qp);
		n += 8;
	} else if (fuzz_once_in(6)) {
		modify_any(qp);
	} else if (fuzz_once_in(6)) {
		advance(qp);
	}
	if (fuzz_once_in(6)) {
		post_in_group(qp, n);
		return;
	}
	while (n-- > 0)
		post(qp);
}
