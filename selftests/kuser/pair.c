// SPDX-License-Identifier: GPL-2.0
/* pair.c - see pair.h. */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>
#include "pair.h"

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ku_op *op = container_of(wc->wr_cqe, struct ku_op, cqe);

	op->wc = *wc;
	complete(&op->done);
}

void ku_op_init(struct ku_op *op)
{
	op->cqe.done = op_done;
	init_completion(&op->done);
}

bool ku_wait(struct ku *k, struct ku_op *op)
{
	unsigned long end = jiffies + KU_WAIT;

	if (k->poll != IB_POLL_DIRECT)
		return wait_for_completion_timeout(&op->done, KU_WAIT);
	while (!completion_done(&op->done) && time_before(jiffies, end)) {
		ib_process_cq_direct(k->cq, -1);
		usleep_range(100, 200);
	}
	return completion_done(&op->done);
}

bool ku_ended(struct ku *k, struct ku_op *op, enum ib_wc_status status)
{
	if (!ku_wait(k, op)) {
		pr_err("mrc_kuser: a request did not complete\n");
		return false;
	}
	if (op->wc.status != status)
		pr_err("mrc_kuser: status %d, not %d\n", op->wc.status, status);
	return op->wc.status == status;
}

static int pair_qp(struct ku *k, int i)
{
	struct ib_qp_init_attr init = {
		.send_cq = k->cq, .recv_cq = k->cq, .srq = k->srq, .qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = KU_DEPTH, .max_recv_wr = KU_DEPTH, .max_send_sge = 3,
			 .max_recv_sge = 1, .max_inline_data = 64 },
	};

	k->qp[i] = ib_create_qp(k->pd, &init);
	return PTR_ERR_OR_ZERO(k->qp[i]);
}

static int pair_connect(struct ku *k, struct ib_qp *qp, u32 dest)
{
	const struct ib_gid_attr *sgid = rdma_get_gid_attr(k->ibdev, 1, k->gid);
	struct ib_qp_attr a = {
		.qp_state = IB_QPS_INIT, .port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		.path_mtu = IB_MTU_1024, .dest_qp_num = dest, .max_dest_rd_atomic = 1,
		.max_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 18, .retry_cnt = 7,
		.rnr_retry = 7, .ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE,
	};
	union ib_gid dgid;
	int err;

	if (IS_ERR(sgid))
		return PTR_ERR(sgid);
	dgid = sgid->gid;
	rdma_ah_set_port_num(&a.ah_attr, 1);
	rdma_move_grh_sgid_attr(&a.ah_attr, &dgid, 0, 64, 0, sgid);
	err = ib_modify_qp(qp, &a, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	a.qp_state = IB_QPS_RTR;
	err = err ?: ib_modify_qp(qp, &a, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
				  IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				  IB_QP_MIN_RNR_TIMER);
	a.qp_state = IB_QPS_RTS;
	err = err ?: ib_modify_qp(qp, &a, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				  IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
	rdma_destroy_ah_attr(&a.ah_attr);
	return err;
}

int ku_reconnect(struct ku *k, int a)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	int err = ib_modify_qp(k->qp[a], &reset, IB_QP_STATE);

	err = err ?: ib_modify_qp(k->qp[a + 1], &reset, IB_QP_STATE);
	err = err ?: pair_connect(k, k->qp[a], k->qp[a + 1]->qp_num);
	return err ?: pair_connect(k, k->qp[a + 1], k->qp[a]->qp_num);
}

static void pair_srq_event(struct ib_event *event, void *context)
{
	struct ku *k = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		complete(&k->limit);
}

int ku_make(struct ku *k)
{
	struct ib_srq_init_attr srq = {
		.srq_type = IB_SRQT_BASIC, .srq_context = k, .event_handler = pair_srq_event,
		.attr = { .max_wr = KU_DEPTH, .max_sge = 1 },
	};
	int i, err = 0;

	init_completion(&k->limit);
	k->from = kmalloc(KU_LEN, GFP_KERNEL);
	k->to = vzalloc(KU_LEN);
	k->pd = ib_alloc_pd(k->ibdev, 0);
	k->cq = ib_alloc_cq(k->ibdev, k, 8 * KU_DEPTH, 0, k->poll);
	if (!k->from || !k->to || IS_ERR(k->pd) || IS_ERR(k->cq))
		return -ENOMEM;
	if (k->shared)
		k->srq = ib_create_srq(k->pd, &srq);
	if (IS_ERR(k->srq))
		return PTR_ERR(k->srq);
	for (i = 0; i < KU_LEN; i++)
		k->from[i] = (u8)(i * 13 + 5);
	for (i = 0; i < k->n_qp && !err; i++)
		err = pair_qp(k, i);
	for (i = 0; i < k->n_qp && !err; i += 2)
		err = ku_reconnect(k, i);
	return err;
}

void ku_end(struct ku *k)
{
	int i;

	for (i = 0; i < k->n_qp; i++)
		if (!IS_ERR_OR_NULL(k->qp[i]))
			ib_destroy_qp(k->qp[i]);
	if (!IS_ERR_OR_NULL(k->srq))
		ib_destroy_srq(k->srq);
	if (!IS_ERR_OR_NULL(k->cq))
		ib_free_cq(k->cq);
	if (!IS_ERR_OR_NULL(k->pd))
		ib_dealloc_pd(k->pd);
	kfree(k->from);
	vfree(k->to);
}
