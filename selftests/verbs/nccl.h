/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nccl.h - the parts of mrc_nccl: ranks and their links (nccl_world.c), the loop
 * that moves messages (nccl_run.c), how net_ib finds a device and connects a link (nccl_ib.c), how a message passes a link as
 * NCCL's net_ib has it (nccl_net.c) and as UCX has it (nccl_ucx.c), collectives (nccl_coll.c), and
 * the program.
 *
 * A link is one direction between two ranks. Its messages are numbered from 0; number m is the m-th that
 * the one posts a receive for and the m-th that the other sends.
 */
#ifndef NCCL_H
#define NCCL_H

#include "vcommon.h"

#define NCCL_MAX_RANKS	16
#define NCCL_QPS	2
#define NCCL_GUARD	64	/* bytes behind each landing place, which nobody may touch */

struct world;

struct link {
	struct world *w;
	int peer;			/* rank */
	bool out;			/* we send */
	struct ibv_qp *qp[NCCL_QPS];
	struct vc_peer remote;		/* of qp[0]; addr and rkey: of link memory */
	int fd;				/* to the peer, out of band */
	uint64_t base;			/* first message of the job */
	uint64_t posted, done;		/* messages; what is between is under way */
	uint64_t qp_done[NCCL_QPS];	/* messages whose part on this QP is over */
	unsigned int sq_free[NCCL_QPS];
	uint64_t came;			/* UCX: messages that came, posted or not */
	uint64_t begun;			/* UCX: messages whose parts are counted */
	void *mem;			/* link memory: w->link_mem bytes, of the transport */
	/* NCCL's; of UCX only cq, which all share: */
	struct ibv_cq *cq;
	struct ibv_mr *mr;		/* of link memory */
	struct ibv_qp *flush;		/* NULL: none */
	struct ibv_mr *flush_mr;
	uint64_t flushed;		/* messages that are known to be there */
	int flush_mem, fatal;		/* fatal events */
	struct note *notes;		/* of the receiver or sender, by message % depth */
};

/* What an end remembers of a message under way. */
struct note {
	uint8_t *buf;
	uint32_t len;
	uint8_t *early;			/* UCX: it came before its receive was posted */
	int parts;			/* UCX: of it that are not over */
};

/* What a collective is made of: messages of links, in any order of time that ready() allows. */
struct job {
	uint64_t n;			/* messages of each link */
	void (*place)(struct link *l, uint64_t i, uint8_t **buf, uint32_t *len);
	bool (*ready)(struct link *l, uint64_t i);
	void (*arrived)(struct link *l, uint64_t i);
	bool (*takes_part)(struct link *l);
};

struct transport {
	const char *name;
	int n_qps;
	bool srq;
	bool as_ib;			/* opened and connected by nccl_ib.c */
	size_t (*link_mem)(unsigned int depth);
	void (*begin)(struct world *w);		/* links and memory are there, no QP is connected */
	/* false: not now. */
	bool (*send)(struct link *l, uint64_t m, uint8_t *buf, uint32_t len);
	bool (*recv)(struct link *l, uint64_t m, uint8_t *buf, uint32_t len);
	/* The receiver has said where to; NULL: a sender does not wait for that. */
	bool (*invited)(struct link *l, uint64_t m);
	void (*completed)(struct link *l, int q, const struct ibv_wc *wc);
	void (*end)(struct world *w);
};

struct world {
	struct vc_dev dev;
	const struct transport *t;
	const char *dir;		/* where ranks meet */
	int rank, n;
	unsigned int depth;		/* messages under way on a link, at most */
	uint32_t piece;			/* bytes of a message, at most */
	unsigned int pieces;
	struct ibv_cq *cq;		/* UCX: of all links */
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	bool want_v4, flushes, use_dmabuf;
	bool relaxed, dmabufs;		/* the device or its library has these */
	int dmabuf;			/* memory is this one; -1: the program's own */
	uint8_t *mem;			/* of the collective: data_len bytes, then each link's */
	size_t mem_len, data_len, link_mem;
	struct link link[2 * NCCL_MAX_RANKS];
	int n_links;
	unsigned int stall_s;
	/* Told at the end: */
	uint64_t bytes, messages, deepest, empty_imms, reads, eagers, flushed;	/* deepest: sent ones */
};

extern const struct transport nccl_net, nccl_ucx;

/* Upper half of a wr_id: which link and QP; the lower half is the transport's. */
static inline uint64_t nccl_wr_id(const struct link *l, int q, uint32_t low)
{
	return (uint64_t)(l - l->w->link) << 40 | (uint64_t)q << 32 | low;
}

/* nccl_run.c. Something is wrong: said, and the program ends. */
void nccl_broken(const struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* nccl_ib.c */
void nccl_ib_open(struct world *w, const struct vc_opts *opts);
struct ibv_mr *nccl_ib_reg(struct world *w);
void nccl_ib_connect(struct link *l);
void nccl_ib_disconnect(struct link *l);

/* nccl_run.c */
void nccl_run(struct world *w, const struct job *job);
void nccl_post(struct link *l, int q, struct ibv_send_wr *wr);

/* nccl_world.c */
void nccl_begin(struct world *w, const struct vc_opts *opts, bool ring);
void nccl_end(struct world *w);
struct link *nccl_link(struct world *w, int peer, bool out);

/* nccl_coll.c */
size_t nccl_ring_bytes(const struct world *w);
size_t nccl_all2all_bytes(const struct world *w);
void nccl_ring(struct world *w, uint64_t iteration);
void nccl_all2all(struct world *w, uint64_t iteration);

#endif
