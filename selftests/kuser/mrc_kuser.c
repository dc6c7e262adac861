// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_kuser.c - a user of RDMA in the kernel, for tests only: two connected QPs of one device.
 *
 *	insmod mrc_kuser.ko dev=mrc1 gid=1	loads if all went well, says in the log what did not
 *
 * What it holds the device to: messages by SEND, inline, from several pieces, from vmalloc'ed memory;
 * completions by work queue (ib_alloc_cq) with wr_cqe and wc->qp; a bad key; what is posted with
 * interrupts off; ib_drain_qp(). All is undone before it returns, but the module stays.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define KU_LEN		20000		/* several packets at any MTU */
#define KU_DEPTH	32
#define KU_WAIT		(120 * HZ)	/* an emulated machine, busy with others */

static char *dev = "mrc0";
module_param(dev, charp, 0444);
static int gid = 1;
module_param(gid, int, 0444);

struct ku_op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

struct ku {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp[2];
	u8 *from;			/* kmalloc */
	u8 *to;				/* vmalloc */
	struct ku_op s, r;		/* of the message under way; outlive the QPs */
};

#define ku_check(cond) ({							\
	bool ok_ = (cond);							\
	if (!ok_)								\
		pr_err("mrc_kuser: line %d: %s is not so\n", __LINE__, #cond);	\
	ok_;									\
})

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ku_op *op = container_of(wc->wr_cqe, struct ku_op, cqe);

	op->wc = *wc;
	complete(&op->done);
}

static void op_init(struct ku_op *op)
{
	op->cqe.done = op_done;
	init_completion(&op->done);
}

/* ---- the pair ---- */

static int ku_qp(struct ku *k, int i)
{
	struct ib_qp_init_attr init = {
		.send_cq = k->cq, .recv_cq = k->cq, .qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = KU_DEPTH, .max_recv_wr = KU_DEPTH, .max_send_sge = 3,
			 .max_recv_sge = 1, .max_inline_data = 64 },
	};

	k->qp[i] = ib_create_qp(k->pd, &init);
	return PTR_ERR_OR_ZERO(k->qp[i]);
}

static int ku_connect(struct ku *k, struct ib_qp *qp, u32 dest)
{
	const struct ib_gid_attr *sgid = rdma_get_gid_attr(k->ibdev, 1, gid);
	struct ib_qp_attr a = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .qp_access_flags = IB_ACCESS_REMOTE_WRITE,
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

static int ku_make(struct ku *k)
{
	int i, err = 0;

	k->from = kmalloc(KU_LEN, GFP_KERNEL);
	k->to = vzalloc(KU_LEN);
	k->pd = ib_alloc_pd(k->ibdev, 0);
	k->cq = ib_alloc_cq(k->ibdev, k, 4 * KU_DEPTH, 0, IB_POLL_WORKQUEUE);
	if (!k->from || !k->to || IS_ERR(k->pd) || IS_ERR(k->cq))
		return -ENOMEM;
	for (i = 0; i < KU_LEN; i++)
		k->from[i] = (u8)(i * 13 + 5);
	for (i = 0; i < 2 && !err; i++)
		err = ku_qp(k, i);
	err = err ?: ku_connect(k, k->qp[0], k->qp[1]->qp_num);
	return err ?: ku_connect(k, k->qp[1], k->qp[0]->qp_num);
}

static void ku_end(struct ku *k)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(k->qp[i]))
			ib_destroy_qp(k->qp[i]);
	if (!IS_ERR_OR_NULL(k->cq))
		ib_free_cq(k->cq);
	if (!IS_ERR_OR_NULL(k->pd))
		ib_dealloc_pd(k->pd);
	kfree(k->from);
	vfree(k->to);
}

/* ---- messages ---- */

static int ku_recv(struct ku *k, struct ku_op *op)
{
	struct ib_sge sge = { (u64)(uintptr_t)k->to, KU_LEN, k->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &op->cqe, .sg_list = &sge, .num_sge = 1 };

	op_init(op);
	memset(k->to, 0xee, KU_LEN);
	return ib_post_recv(k->qp[1], &wr, NULL);
}

/* All of it in three pieces, or @len of it inline; with interrupts off, as ib_mad does. */
static int ku_send(struct ku *k, struct ku_op *op, u32 len, u32 lkey)
{
	struct ib_sge sge[3] = {
		{ (u64)(uintptr_t)k->from, len / 3, lkey },
		{ (u64)(uintptr_t)k->from + len / 3, len / 3, lkey },
		{ (u64)(uintptr_t)k->from + len / 3 * 2, len - len / 3 * 2, lkey },
	};
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe, .sg_list = sge, .num_sge = 3, .opcode = IB_WR_SEND_WITH_IMM,
		.ex.imm_data = cpu_to_be32(len),
		.send_flags = IB_SEND_SIGNALED | (len <= 64 ? IB_SEND_INLINE : 0),
	};
	unsigned long flags;
	int err;

	op_init(op);
	local_irq_save(flags);
	err = ib_post_send(k->qp[0], &wr, NULL);
	local_irq_restore(flags);
	return err;
}

static bool ku_message(struct ku *k, u32 len)
{
	return ku_check(!ku_recv(k, &k->r)) &&
	       ku_check(!ku_send(k, &k->s, len, k->pd->local_dma_lkey)) &&
	       ku_check(wait_for_completion_timeout(&k->s.done, KU_WAIT)) &&
	       ku_check(wait_for_completion_timeout(&k->r.done, KU_WAIT)) &&
	       ku_check(k->s.wc.status == IB_WC_SUCCESS && k->s.wc.qp == k->qp[0]) &&
	       ku_check(k->r.wc.status == IB_WC_SUCCESS && k->r.wc.qp == k->qp[1]) &&
	       ku_check(k->r.wc.byte_len == len && k->r.wc.wc_flags & IB_WC_WITH_IMM) &&
	       ku_check(k->r.wc.ex.imm_data == cpu_to_be32(len)) &&
	       ku_check(!memcmp(k->to, k->from, len)) &&
	       ku_check(len == KU_LEN || k->to[len] == 0xee);
}

/* What is refused ends the QP; what was posted is flushed, and drained. */
static bool ku_error(struct ku *k)
{
	if (!ku_check(!ku_recv(k, &k->r)) ||
	    !ku_check(!ku_send(k, &k->s, KU_LEN, k->pd->local_dma_lkey ^ 0x100)) ||
	    !ku_check(wait_for_completion_timeout(&k->s.done, KU_WAIT)) ||
	    !ku_check(k->s.wc.status == IB_WC_LOC_PROT_ERR))
		return false;
	ib_drain_qp(k->qp[0]);
	ib_drain_qp(k->qp[1]);
	return ku_check(completion_done(&k->r.done)) && ku_check(k->r.wc.status == IB_WC_WR_FLUSH_ERR);
}

static int ku_run(struct ku *k)
{
	static const u32 lens[] = { 0, 1, 3, 64, 65, 1000, 4096, 4097, KU_LEN };
	int i, err = ku_make(k);

	if (err) {
		pr_err("mrc_kuser: no pair of QPs on %s: %d\n", dev, err);
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		if (!ku_message(k, lens[i]))
			return -EIO;
	for (i = 0; i < 500; i++)
		if (!ku_message(k, (u32)i * 17 % KU_LEN))
			return -EIO;
	return ku_error(k) ? 0 : -EIO;
}

static int __init ku_init(void)
{
	struct ku k = { .ibdev = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN) };
	int err;

	if (!k.ibdev) {
		pr_err("mrc_kuser: no RDMA device %s\n", dev);
		return -ENODEV;
	}
	err = ku_run(&k);
	ku_end(&k);
	ib_device_put(k.ibdev);
	return err;
}

static void __exit ku_exit(void)
{
}

module_init(ku_init);
module_exit(ku_exit);
MODULE_DESCRIPTION("test: a user of RDMA in the kernel");
MODULE_LICENSE("GPL");
