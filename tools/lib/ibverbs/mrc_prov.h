/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_prov.h - the plug-in's objects.
 *
 * Each begins with the libibverbs object, so a cast is container_of. A ring's `idx` is this side's
 * private index: of the producer for send and receive, of the consumer for completions. The lock of
 * the object that holds the ring protects it. It equals the published index, except between
 * building work requests and publishing them.
 *
 * Lock order: qp->sq_lock, qp->rq_lock, srq->lock, the lock of a CQ and ctx->qp_lock are each taken
 * alone.
 */
#ifndef MRC_PROV_H
#define MRC_PROV_H

#include <pthread.h>
#include "pabi.h"
#include "rdma/mrc-abi.h"

#define MRC_MAX_MSG	(1u << 31)
#define MRC_MAX_DM	(256u * 1024)	/* of a context, as of adapters */

struct mrc_device {
	struct verbs_device vdev;	/* first */
	uint64_t room[32];		/* newer libraries append */
};

#define MRC_QPN_LOW	12		/* bits of a QP number that choose within a page */
#define MRC_QPN_BITS	24

/* QPs by number. A page comes with its first QP and goes with its last. */
struct mrc_qp_page {
	struct mrc_qp *qp[1 << MRC_QPN_LOW];
	uint32_t n;
};

struct mrc_context {
	struct verbs_context vctx;	/* last member is the ibv_context */
	pthread_mutex_t qp_lock;	/* serialises adding and removing QPs */
	struct mrc_qp_page *qp_page[1 << (MRC_QPN_BITS - MRC_QPN_LOW)];
	uint32_t max_inline;
	uint32_t max_sge;
	uint64_t dm_used;		/* bytes of device memory; atomic */
	bool no_write;			/* the kernel refuses write() (doorbell.c); any thread */
};

struct mrc_uring {
	struct mrc_ring_hdr *hdr;	/* NULL: the object has no such ring */
	uint8_t *slots;
	uint32_t entries;		/* power of two */
	uint32_t stride;
	uint32_t idx;			/* private, free-running */
	uint32_t done;			/* send and receive: slots below are free (ring.h); SRQ:
					 * number of completed receives, in any order */
	size_t bytes;
};

struct mrc_cq {
	union mrc_vcq v;		/* first */
	struct mrc_uring ring;
	pthread_spinlock_t lock;
	bool single_threaded;		/* the program promised it; no lock */
	struct mrc_cqe cur;		/* of the extended poll */
};

struct mrc_srq {
	union mrc_vsrq v;		/* first */
	struct mrc_uring ring;
	pthread_spinlock_t lock;	/* posting and resizing; ring.done is atomic */
	uint32_t max_sge;
};

struct mrc_qp {
	union mrc_vqp v;		/* first */
	struct mrc_uring sq;
	struct mrc_uring rq;		/* none with an SRQ */
	struct mrc_srq *srq;
	pthread_spinlock_t sq_lock;
	pthread_spinlock_t rq_lock;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline;
	bool sq_stuck;			/* the last doorbell failed; any thread */
	/* Between ibv_wr_start and ibv_wr_complete, under sq_lock. */
	uint32_t wr_first;		/* sq.idx to return to on an error */
	int wr_err;
	struct mrc_send_wqe *wr_cur;
};

/* A protection domain; or a parent domain, which is another name of one and has its handle. */
struct mrc_pd {
	struct ibv_pd pd;		/* first */
	struct mrc_pd *of;		/* parent domain: its protection domain, and its thread
					 * domain */
	struct mrc_td *td;
	uint32_t users;			/* parent domains of it; atomic */
};

struct mrc_td {
	struct ibv_td td;		/* first */
	uint32_t users;			/* atomic */
};

struct mrc_ah {
	struct ibv_ah ah;		/* first */
	uint32_t number;		/* by which requests name it */
};

struct mrc_mr {
	struct verbs_mr vmr;		/* first */
	uint64_t room[8];
	uint32_t *dm_mrs;		/* of device memory: its counter of regions */
};

static inline struct mrc_context *to_mctx(struct ibv_context *context)
{
	return (struct mrc_context *)((char *)context -
				      offsetof(struct mrc_context, vctx.context));
}

static inline struct mrc_cq *to_mcq(struct ibv_cq *cq)
{
	return (struct mrc_cq *)cq;
}

static inline struct mrc_qp *to_mqp(struct ibv_qp *qp)
{
	return (struct mrc_qp *)qp;
}

static inline struct mrc_ah *to_mah(struct ibv_ah *ah)
{
	return (struct mrc_ah *)ah;
}

static inline void mrc_cq_lock(struct mrc_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_lock(&cq->lock);
}

static inline void mrc_cq_unlock(struct mrc_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_unlock(&cq->lock);
}

static inline struct mrc_srq *to_msrq(struct ibv_srq *srq)
{
	return (struct mrc_srq *)srq;
}

static inline void *mrc_slot(const struct mrc_uring *r, uint32_t idx)
{
	return r->slots + (size_t)(idx & (r->entries - 1)) * r->stride;
}

/*
 * The QP that a completion names. Under the lock of its CQ: a QP is removed from the table when it
 * has no completions there any more, so neither it nor its page is freed meanwhile.
 */
static inline struct mrc_qp *mrc_qp_find(const struct mrc_context *ctx, uint32_t qpn)
{
	const struct mrc_qp_page *page;

	page = __atomic_load_n(&ctx->qp_page[qpn >> MRC_QPN_LOW &
					     ((1 << (MRC_QPN_BITS - MRC_QPN_LOW)) - 1)],
			       __ATOMIC_ACQUIRE);
	return page ? page->qp[qpn & ((1 << MRC_QPN_LOW) - 1)] : NULL;
}

/* qp_table.c: 0 or ENOMEM. */
int mrc_qp_add(struct mrc_context *ctx, struct mrc_qp *qp);
void mrc_qp_del(struct mrc_context *ctx, struct mrc_qp *qp);

/* provider.c */
void mrc_free_context(struct ibv_context *context);

/* ring.c: maps the ring that the kernel's response describes. 0 or errno. */
int mrc_ring_map(struct mrc_uring *r, int fd, uint64_t key, uint64_t len, uint32_t entries,
		 uint32_t stride);
void mrc_ring_unmap(struct mrc_uring *r);

/* verbs.c */
int mrc_query_device_ex(struct ibv_context *context,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size);
int mrc_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
int mrc_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* pd.c */
struct ibv_pd *mrc_alloc_pd(struct ibv_context *context);
int mrc_dealloc_pd(struct ibv_pd *pd);
struct ibv_td *mrc_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mrc_dealloc_td(struct ibv_td *td);
struct ibv_pd *mrc_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr);

/* dm.c */
struct ibv_dm *mrc_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int mrc_free_dm(struct ibv_dm *dm);
struct ibv_mr *mrc_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			     unsigned int access);

/* import.c */
struct ibv_pd *mrc_import_pd(struct ibv_context *context, uint32_t handle);
void mrc_unimport_pd(struct ibv_pd *pd);
struct ibv_mr *mrc_import_mr(struct ibv_pd *pd, uint32_t handle);
void mrc_unimport_mr(struct ibv_mr *mr);

/* mr.c */
struct ibv_mr *mrc_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			  int access);
struct ibv_mr *mrc_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access);
int mrc_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access);
int mrc_dereg_mr(struct verbs_mr *vmr);
struct ibv_mw *mrc_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int mrc_dealloc_mw(struct ibv_mw *mw);

/* cq_create.c */
struct ibv_cq *mrc_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *mrc_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr);
int mrc_resize_cq(struct ibv_cq *cq, int cqe);
int mrc_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int mrc_destroy_cq(struct ibv_cq *cq);

/* srq.c */
struct ibv_srq *mrc_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int mrc_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int mrc_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int mrc_destroy_srq(struct ibv_srq *srq);
int mrc_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* qp.c */
struct ibv_qp *mrc_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *mrc_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int mrc_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr);
int mrc_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int mrc_destroy_qp(struct ibv_qp *qp);

/* ah.c */
struct ibv_ah *mrc_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int mrc_destroy_ah(struct ibv_ah *ah);

/* lid.c: the LID of the port; and the GID of an address that has only a LID */
uint16_t mrc_lid(struct ibv_context *ctx);
void mrc_lid_resolve(struct ibv_context *ctx, struct ibv_ah_attr *attr);

/* post.c */
int mrc_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int mrc_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int mrc_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
/* Wake the kernel for this send queue; replaced by the unit test. */
int mrc_doorbell(struct ibv_qp *qp);
/* The same, after publishing. If it fails, the next post tries again. */
void mrc_sq_kick(struct mrc_qp *qp);
/* Before a post: rings again if the last doorbell failed. 0, or the errno of this attempt. */
int mrc_sq_unstick(struct mrc_qp *qp);

/* wr.c: fill in the function pointers of ibv_wr_*. */
void mrc_qp_set_wr_ops(struct mrc_qp *qp);

/* cq.c */
int mrc_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int mrc_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/*
 * notify.c: the queue is armed and has completions that no event reported; replaced by the unit
 * test.
 */
void mrc_notify(struct ibv_cq *cq, bool solicited_only);
/* Discards unpolled completions of @qp. */
void mrc_cq_purge(struct mrc_cq *cq, struct mrc_qp *qp);
/* Fill in the function pointers of ibv_start_poll and friends. */
void mrc_cq_set_poll_ops(struct mrc_cq *cq, uint64_t wc_flags);

#endif
