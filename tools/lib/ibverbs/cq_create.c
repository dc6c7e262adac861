// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cq_create.c - creates, resizes and destroys completion queues.
 */
#include <errno.h>
#include <stdlib.h>
#include "mrc_prov.h"

/* Parameters of a new queue; @flags: MRC_UCQ_*. */
struct cq_want {
	int cqe;
	struct ibv_comp_channel *channel;
	int comp_vector;
	uint32_t flags;
};

static struct mrc_cq *cq_create(struct ibv_context *context, const struct cq_want *want)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct mrc_ucreate_cq_resp drv;
	} resp = {};
	struct {
		struct ibv_create_cq core;
		struct mrc_ucreate_cq drv;
	} cmd = { .drv.flags = want->flags };
	struct mrc_cq *cq;
	int ret;

	if (want->cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	ret = ibv_cmd_create_cq(context, want->cqe, want->channel, want->comp_vector, &cq->v.cq,
				&cmd.core, sizeof(cmd), &resp.core, sizeof(resp));
	if (ret)
		goto err_free;
	ret = mrc_ring_map(&cq->ring, context->cmd_fd, resp.drv.mmap_key, resp.drv.mmap_len,
		       resp.drv.entries, sizeof(struct mrc_cqe));
	if (ret)
		goto err_destroy;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return cq;

err_destroy:
	/* libibverbs' wait for unacknowledged events needs these; there are no events yet. */
	pthread_mutex_init(&cq->v.cq.mutex, NULL);
	pthread_cond_init(&cq->v.cq.cond, NULL);
	ibv_cmd_destroy_cq(&cq->v.cq);
err_free:
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *mrc_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	const struct cq_want want = { cqe, channel, comp_vector, 0 };
	struct mrc_cq *cq = cq_create(context, &want);

	return cq ? &cq->v.cq : NULL;
}

#define MRC_WC_STAMPS	(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |			\
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

/* A parent domain may be given; its thread domain changes nothing (pd.c). */
static bool cq_attr_known(const struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t masks = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return false;
	return !(attr->comp_mask & ~masks) &&
	       !(attr->wc_flags & ~(uint64_t)(IBV_WC_STANDARD_FLAGS | MRC_WC_STAMPS));
}

struct ibv_cq_ex *mrc_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr)
{
	const struct cq_want want = {
		.cqe = (int)attr->cqe,
		.channel = attr->channel,
		.comp_vector = (int)attr->comp_vector,
		.flags = attr->wc_flags & MRC_WC_STAMPS ? MRC_UCQ_TIMESTAMP : 0,
	};
	struct mrc_cq *cq;

	if (!cq_attr_known(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = cq_create(context, &want);
	if (!cq)
		return NULL;
	cq->single_threaded = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
			      attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	mrc_cq_set_poll_ops(cq, attr->wc_flags);
	return &cq->v.cq_ex;
}

/*
 * The kernel has copied unpolled completions into the new ring, at the same indices. If the ring
 * cannot be mapped the queue is lost: it fails as after an overrun.
 */
static int cq_remap(struct mrc_cq *cq, const struct mrc_ucreate_cq_resp *resp)
{
	struct mrc_uring ring = { .idx = cq->ring.idx };
	int ret;

	ret = mrc_ring_map(&ring, cq->v.cq.context->cmd_fd, resp->mmap_key, resp->mmap_len,
			   resp->entries, sizeof(struct mrc_cqe));
	if (ret) {
		cq->ring.hdr->error = 1;
		return ret;
	}
	mrc_ring_unmap(&cq->ring);
	cq->ring = ring;
	return 0;
}

int mrc_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct {
		struct ib_uverbs_resize_cq_resp core;
		struct mrc_ucreate_cq_resp drv;
	} resp = {};
	struct mrc_cq *cq = to_mcq(ibcq);
	struct ibv_resize_cq cmd = {};
	int ret;

	if (cqe <= 0)
		return EINVAL;
	mrc_cq_lock(cq);
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
	if (!ret)
		ret = cq_remap(cq, &resp.drv);
	mrc_cq_unlock(cq);
	return ret;
}

int mrc_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

int mrc_destroy_cq(struct ibv_cq *ibcq)
{
	struct mrc_cq *cq = to_mcq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	mrc_ring_unmap(&cq->ring);
	pthread_spin_destroy(&cq->lock);
	free(cq);
	return 0;
}
