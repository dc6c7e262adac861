// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_use.c - objects used: resized, asked, polled, registered anew. Queue pairs: fuzz_qp.c.
 *
 * What must be: a command that is refused changes nothing, and one that is taken does what it says; what is out of
 * range is refused.
 */
#include <fcntl.h>
#include <poll.h>
#include "fuzz.h"

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
	struct ibv_mr *mr = fuzz_any_mr();
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
	struct ibv_counters_init_attr counters = { };
	struct ibv_flow_attr flow = { .size = sizeof(flow), .port = 1 };
	struct obj *qp = fuzz_any(QP);

	FUZZ_MUST(!ibv_open_xrcd(fuzz.dev.ctx, &xrcd), "an XRC domain was opened");
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
	case QP: fuzz_use_qp(o->p); break;
	case CQ: use_cq(o->p); break;
	case SRQ: use_srq(o->p); break;
	case MR: use_mr(o); break;
	case MW: use_mw(o->p); break;
	default: break;
	}
}
