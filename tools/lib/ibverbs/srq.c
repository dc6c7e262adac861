// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * srq.c - shared receive queues.
 *
 * Completions of its receives arrive in any order and in any completion queue. So this side counts
 * posted receives (ring.idx, under the lock) and completed ones (ring.done, atomic). The kernel
 * takes receives in ring order; mrc-abi.h explains why the ring then has room.
 */
#include <errno.h>
#include <stdlib.h>
#include "ring.h"

static int srq_map(struct mrc_srq *srq, int fd, const struct mrc_ucreate_srq_resp *resp)
{
	struct mrc_uring ring = {
		.idx = srq->ring.idx,
		.done = __atomic_load_n(&srq->ring.done, __ATOMIC_ACQUIRE),
	};
	int ret;

	if (resp->stride < sizeof(struct mrc_recv_wqe) + srq->max_sge * sizeof(struct mrc_sge))
		return EPROTO;
	ret = mrc_ring_map(&ring, fd, resp->mmap_key, resp->mmap_len, resp->entries,
			   resp->stride);
	if (ret)
		return ret;
	mrc_ring_unmap(&srq->ring);
	/* Copies all fields but done, which other threads change meanwhile. */
	srq->ring.hdr = ring.hdr;
	srq->ring.slots = ring.slots;
	srq->ring.entries = ring.entries;
	srq->ring.stride = ring.stride;
	srq->ring.bytes = ring.bytes;
	return 0;
}

struct ibv_srq *mrc_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct {
		struct ib_uverbs_create_srq_resp core;
		struct mrc_ucreate_srq_resp drv;
	} resp = {};
	struct ibv_create_srq cmd = {};
	struct mrc_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	ret = ibv_cmd_create_srq(pd, &srq->v.srq, attr, &cmd, sizeof(cmd), &resp.core,
				 sizeof(resp));
	if (ret)
		goto err_free;
	srq->max_sge = attr->attr.max_sge;
	ret = srq_map(srq, pd->context->cmd_fd, &resp.drv);
	if (ret)
		goto err_destroy;
	pthread_spin_init(&srq->lock, PTHREAD_PROCESS_PRIVATE);
	return &srq->v.srq;

err_destroy:
	/* libibverbs' wait for unacknowledged events needs these; there are no events yet. */
	pthread_mutex_init(&srq->v.srq.mutex, NULL);
	pthread_cond_init(&srq->v.srq.cond, NULL);
	ibv_cmd_destroy_srq(&srq->v.srq);
err_free:
	free(srq);
	errno = ret;
	return NULL;
}

static int srq_resize(struct mrc_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct mrc_ucreate_srq_resp resp = {};
	struct {
		struct ibv_modify_srq core;
		struct mrc_umodify_srq drv;
	} cmd = { .drv.resp_addr = (uintptr_t)&resp };
	int ret = EINVAL;

	pthread_spin_lock(&srq->lock);
	if (attr->max_wr >= ring_used(&srq->ring))
		ret = ibv_cmd_modify_srq(&srq->v.srq, attr, mask, &cmd.core, sizeof(cmd));
	if (!ret)
		ret = srq_map(srq, srq->v.srq.context->cmd_fd, &resp);
	pthread_spin_unlock(&srq->lock);
	return ret;
}

int mrc_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_modify_srq cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return srq_resize(to_msrq(srq), attr, mask);
	return ibv_cmd_modify_srq(srq, attr, mask, &cmd, sizeof(cmd));
}

int mrc_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int mrc_destroy_srq(struct ibv_srq *ibsrq)
{
	struct mrc_srq *srq = to_msrq(ibsrq);
	int ret = ibv_cmd_destroy_srq(ibsrq);

	if (ret)
		return ret;
	mrc_ring_unmap(&srq->ring);
	pthread_spin_destroy(&srq->lock);
	free(srq);
	return 0;
}

int mrc_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mrc_srq *srq = to_msrq(ibsrq);
	int ret = 0;

	pthread_spin_lock(&srq->lock);
	for (; wr; wr = wr->next) {
		ret = put_recv(&srq->ring, srq->max_sge, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	__atomic_store_n(&srq->ring.hdr->prod, srq->ring.idx, __ATOMIC_RELEASE);
	pthread_spin_unlock(&srq->lock);
	return ret;
}
