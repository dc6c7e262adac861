/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plugin_kernel.h - what stands in for the kernel under the plug-in in test_plugin_ring.c: the uverbs
 * calls that it makes, memory for its rings, and completions.
 */
#ifndef PLUGIN_KERNEL_H
#define PLUGIN_KERNEL_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "mrc_prov.h"

#define SQ_ENTRIES	8
#define RQ_ENTRIES	4
#define CQ_ENTRIES	4
#define SQ_STRIDE	(64 + 256)
#define RQ_STRIDE	(16 + 16 * 16)

static int kicks, kick_error;

static int memfd;
static off_t mem_used;
static int spoil;		/* 1: an odd number of entries, 2: too short */

static uint64_t mem_alloc(uint64_t len)
{
	uint64_t key = mem_used;

	mem_used += (len + 4095) & ~4095ull;
	if (ftruncate(memfd, mem_used))
		abort();
	return key;
}

static int notified;
void mrc_notify(struct ibv_cq *cq, bool solicited_only)
{
	(void)cq; (void)solicited_only;
	notified++;
}

int mrc_doorbell(struct ibv_qp *qp)
{
	(void)qp;
	kicks++;
	return kick_error;
}

int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
		      int comp_vector, struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp, size_t resp_size)
{
	struct mrc_ucreate_cq_resp *drv = (void *)(resp + 1);

	(void)cmd; (void)channel; (void)comp_vector;
	if (cmd_size != 40 + sizeof(struct mrc_ucreate_cq) || resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	cq->context = context;
	cq->cqe = cqe;
	drv->entries = CQ_ENTRIES + (spoil == 1);
	drv->mmap_len = MRC_RING_HDR_SIZE + CQ_ENTRIES * sizeof(struct mrc_cqe) - (spoil == 2);
	drv->mmap_key = mem_alloc(drv->mmap_len);
	return 0;
}

/* Of twice as many entries; what is there goes along, as the kernel does it. */
int ibv_cmd_resize_cq(struct ibv_cq *ibcq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size)
{
	struct mrc_ucreate_cq_resp *drv = (void *)(resp + 1);
	struct mrc_cq *cq = (struct mrc_cq *)ibcq;
	const struct mrc_ring_hdr *old = cq->ring.hdr;
	struct mrc_uring new = { .stride = sizeof(struct mrc_cqe) };
	uint32_t i;

	(void)cmd;
	if (cmd_size != 24 || resp_size != sizeof(*resp) + sizeof(*drv) ||
	    old->prod - old->cons > 2 * CQ_ENTRIES)
		return EINVAL;
	drv->entries = 2 * CQ_ENTRIES;
	drv->mmap_len = MRC_RING_HDR_SIZE + drv->entries * sizeof(struct mrc_cqe);
	drv->mmap_key = mem_alloc(drv->mmap_len);
	if (mrc_ring_map(&new, memfd, drv->mmap_key, drv->mmap_len, drv->entries, new.stride))
		return EINVAL;
	for (i = old->cons; i != old->prod; i++)
		memcpy(mrc_slot(&new, i), mrc_slot(&cq->ring, i), new.stride);
	new.hdr->cons = old->cons;
	new.hdr->prod = old->prod;
	mrc_ring_unmap(&new);
	ibcq->cqe = cqe;
	return 0;
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct mrc_ucreate_srq_resp *drv = (void *)(resp + 1);

	(void)cmd; (void)attr;
	if (cmd_size != 40 || resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	srq->context = pd->context;
	drv->entries = RQ_ENTRIES;
	drv->stride = RQ_STRIDE;
	drv->mmap_len = MRC_RING_HDR_SIZE + RQ_ENTRIES * RQ_STRIDE;
	drv->mmap_key = mem_alloc(drv->mmap_len);
	return 0;
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *vqp,
			 struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct mrc_ucreate_qp_resp *drv = (void *)(resp + 1);

	(void)cmd;
	if (cmd_size != 64 + sizeof(struct mrc_ucreate_qp) ||
	    resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	vqp->qp.context = context;
	vqp->qp.qp_num = 42;
	vqp->qp.state = IBV_QPS_RESET;
	vqp->qp.send_cq = attr->send_cq;
	vqp->qp.recv_cq = attr->recv_cq;
	attr->cap.max_inline_data = 256;
	drv->sq_entries = SQ_ENTRIES;
	drv->sq_stride = SQ_STRIDE;
	drv->sq_mmap_len = MRC_RING_HDR_SIZE + SQ_ENTRIES * SQ_STRIDE;
	drv->sq_mmap_key = mem_alloc(drv->sq_mmap_len);
	if (attr->srq)
		return 0;
	drv->rq_entries = RQ_ENTRIES;
	drv->rq_stride = RQ_STRIDE;
	drv->rq_mmap_len = MRC_RING_HDR_SIZE + RQ_ENTRIES * RQ_STRIDE;
	drv->rq_mmap_key = mem_alloc(drv->rq_mmap_len);
	return 0;
}

static struct ibv_qp_attr modified;	/* as the kernel got it */

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	(void)cmd; (void)mask;
	modified = *attr;
	qp->state = attr->qp_state;
	return cmd_size == 120 ? 0 : EINVAL;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

static void kernel_cqe(struct mrc_cq *cq, struct mrc_cqe cqe)
{
	struct mrc_ring_hdr *hdr = cq->ring.hdr;

	*(struct mrc_cqe *)mrc_slot(&cq->ring, hdr->prod) = cqe;
	__atomic_store_n(&hdr->prod, hdr->prod + 1, __ATOMIC_RELEASE);
}

/* The request at index @slot of the send ring completes. */
static void send_cqe(struct mrc_qp *qp, uint32_t slot)
{
	struct mrc_cqe cqe = { .qpn = 42, .opcode = IBV_WC_RDMA_WRITE, .slot = slot };

	qp->sq.hdr->cons = slot + 1;
	kernel_cqe((struct mrc_cq *)qp->v.qp.send_cq, cqe);
}

#endif
