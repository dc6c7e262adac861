// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_use.c - objects used: modified with any mask, resized, asked, posted to, polled.
 *
 * What must be: a command that is refused changes nothing, and one that is taken does what it says; what is out of
 * range is refused.
 */
#include <fcntl.h>
#include <poll.h>
#include "fuzz.h"

static struct ibv_mr *any_mr(void)
{
	struct obj *o = fuzz_any(MR);

	return o ? o->p : NULL;
}

/* ---- queue pairs */

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
		.path_mtu = IBV_MTU_1024, .qkey = 0x11111111, .dest_qp_num = peer->qp_num, .port_num = 1,
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
		FUZZ_MUST(!err, "a QP of type %d to state %d: %s", (int)qp->qp_type, (int)way[i], strerror(err));
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
		wr->wr.ud.remote_qpn = (uint32_t)fuzz_draw(1 << 24);
		wr->wr.ud.remote_qkey = (uint32_t)fuzz_draw(1ull << 32);
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
	struct ibv_mr *mr = any_mr(), *other = any_mr();
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

static void use_qp(struct ibv_qp *qp)
{
	struct obj *peer = fuzz_any(QP);
	int n = (int)fuzz_draw(12);

	if (fuzz_once_in(5)) {
		connect_to(qp, peer->p);
		connect_to(peer->p, qp);
		n += 8;
	} else if (fuzz_once_in(6)) {
		modify_any(qp);
	} else if (fuzz_once_in(6)) {
		advance(qp);
	}
	while (n-- > 0)
		post(qp);
}

/* ---- queues of completions and receives */

static void use_cq(struct ibv_cq *cq)
{
	struct ibv_modify_cq_attr moderate = {
		IBV_CQ_ATTR_MODERATE, { (uint16_t)fuzz_draw(65536), (uint16_t)fuzz_draw(65536) },
	};
	const int cqe = (int)fuzz_draw(600) - 20, ask = (int)fuzz_draw(17);
	struct ibv_wc wc[16];
	int n, err;

	n = ibv_poll_cq(cq, ask, wc);	/* negative: it has overrun */
	FUZZ_MUST(n <= ask, "ibv_poll_cq of %d: %d", ask, n);
	fuzz.completed += n > 0 ? (uint64_t)n : 0;
	ibv_req_notify_cq(cq, (int)fuzz_draw(2));
	if (fuzz_once_in(3)) {
		err = ibv_resize_cq(cq, cqe);
		FUZZ_MUST(cqe > 0 || err, "ibv_resize_cq to %d", cqe);
		FUZZ_MUST(!err || fuzz_known_errno(err), "ibv_resize_cq to %d: %d", cqe, err);
		FUZZ_MUST(err || cq->cqe >= cqe, "%d entries, %d asked for", cq->cqe, cqe);
	}
	if (fuzz_once_in(3)) {
		err = ibv_modify_cq(cq, &moderate);
		FUZZ_MUST(!err || fuzz_known_errno(err), "ibv_modify_cq: %d", err);
	}
}

static void use_srq(struct ibv_srq *srq)
{
	struct ibv_srq_attr before = { }, after = { }, a = {
		.max_wr = (uint32_t)fuzz_draw(600), .srq_limit = (uint32_t)fuzz_draw(600),
	};
	int err = ibv_query_srq(srq, &before);

	FUZZ_MUST(!err, "ibv_query_srq: %s", strerror(err));
	err = ibv_modify_srq(srq, &a, (int)fuzz_draw(fuzz_once_in(4) ? 1 << 30 : 4));
	FUZZ_MUST(!err || fuzz_known_errno(err), "ibv_modify_srq: %d", err);
	ibv_query_srq(srq, &after);
	if (err)
		FUZZ_MUST(before.max_wr == after.max_wr, "refused, but %u became %u", before.max_wr,
			  after.max_wr);
}

/* ---- regions and windows */

static void use_mr(struct obj *o)
{
	const int flags = (int)fuzz_draw(fuzz_once_in(5) ? 64 : 8);
	struct obj *pd = fuzz_any(PD);
	const uint64_t at = fuzz_draw(FUZZ_AREA);
	const int access = (int)fuzz_draw(fuzz_once_in(5) ? 1ull << 20 : 16);
	const int err = ibv_rereg_mr(o->p, flags, pd->p, fuzz.area + at,
				     1 + fuzz_draw(FUZZ_AREA - at + (fuzz_once_in(5) ? 9000 : 0)), access);

	FUZZ_MUST(!err || (err >= IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW && err < 0),
		  "ibv_rereg_mr flags %x: %d", flags, err);
	if (!err && flags & IBV_REREG_MR_CHANGE_PD)
		fuzz_needs(o, 0, pd);
}

static void use_mw(struct ibv_mw *mw)
{
	struct obj *qp = fuzz_any(QP);
	struct ibv_mr *mr = any_mr();
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	int err;

	if (!qp || !mr || ((struct ibv_qp *)qp->p)->qp_type != IBV_QPT_RC)
		return;
	bind.bind_info = (struct ibv_mw_bind_info){
		mr, (uintptr_t)mr->addr + fuzz_draw(mr->length), fuzz_draw(mr->length), (unsigned int)fuzz_draw(32),
	};
	err = ibv_bind_mw(qp->p, mw, &bind);
	FUZZ_MUST(!err || fuzz_known_errno(err), "ibv_bind_mw: %d", err);
}

/* ---- the device */

static void ask_device(void)
{
	const int index = (int)fuzz_draw(fuzz_once_in(2) ? 200 : 1 << 20);
	const uint8_t port = (uint8_t)fuzz_draw(fuzz_once_in(2) ? 3 : 256);
	struct ibv_device_attr_ex ex;
	struct ibv_port_attr attr;
	union ibv_gid gid;
	__be16 pkey;
	int err;

	err = ibv_query_port(fuzz.dev.ctx, port, &attr);
	FUZZ_MUST((port == 1) == !err, "ibv_query_port %u: %d", port, err);
	err = ibv_query_gid(fuzz.dev.ctx, port, index, &gid);
	FUZZ_MUST((port == 1 && index < fuzz.dev.port.gid_tbl_len) == !err, "ibv_query_gid %u %d: %d",
		  port, index, err);
	err = ibv_query_pkey(fuzz.dev.ctx, port, index, &pkey);
	FUZZ_MUST((port == 1 && index < fuzz.dev.port.pkey_tbl_len) == !err, "ibv_query_pkey %u %d: %d",
		  port, index, err);
	err = ibv_query_device_ex(fuzz.dev.ctx, NULL, &ex);
	FUZZ_MUST(!err, "ibv_query_device_ex: %d", err);
}

static bool readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

static void hear_events(void)
{
	struct ibv_async_event event;
	struct obj *o = fuzz_any(CHANNEL);
	struct ibv_cq *cq;
	void *context;

	while (readable(fuzz.dev.ctx->async_fd) && !ibv_get_async_event(fuzz.dev.ctx, &event))
		ibv_ack_async_event(&event);
	if (!o)
		return;
	while (readable(((struct ibv_comp_channel *)o->p)->fd) &&
	       !ibv_get_cq_event(o->p, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}

/* What this device has not: never made, and no crash. */
static void ask_for_others(void)
{
	struct ibv_xrcd_init_attr xrcd = { .comp_mask = 3, .fd = -1, .oflags = O_CREAT };
	struct ibv_alloc_dm_attr dm = { .length = 4096 };
	struct ibv_counters_init_attr counters = { };
	struct ibv_flow_attr flow = { .size = sizeof(flow), .port = 1 };
	struct obj *qp = fuzz_any(QP);

	FUZZ_MUST(!ibv_open_xrcd(fuzz.dev.ctx, &xrcd), "an XRC domain was opened");
	FUZZ_MUST(!ibv_alloc_dm(fuzz.dev.ctx, &dm), "device memory was allocated");
	FUZZ_MUST(!ibv_create_counters(fuzz.dev.ctx, &counters), "counters were made");
	if (qp)
		FUZZ_MUST(!ibv_create_flow(qp->p, &flow), "a flow was made");
}

void fuzz_use(void)
{
	struct obj *o = fuzz_any((enum kind)fuzz_draw(N_KINDS));

	if (fuzz_once_in(2))
		o = fuzz_any(QP);
	if (fuzz_once_in(40))
		ask_for_others();
	if (fuzz_once_in(10))
		ask_device();
	hear_events();
	if (!o)
		return;
	switch (o->kind) {
	case QP: use_qp(o->p); break;
	case CQ: use_cq(o->p); break;
	case SRQ: use_srq(o->p); break;
	case MR: use_mr(o); break;
	case MW: use_mw(o->p); break;
	default: break;
	}
}
