/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp.h - a queue pair: an engine connection with its rings, memory
 * references, timer and paths.
 *
 * ib_core's object (struct mrc_ibqp) is a shell that dies in destroy_qp; the
 * QP behind it is refcounted and freed through RCU by a work item, so packets, the timer
 * and the softirq scheduler may hold it as long as they need, and nobody waits.
 *
 * qp->lock (spin_lock_bh) serialises all engine calls on qp->conn. Rings are
 * only touched under it. Order: qp->lock > peer->path_lock, qp->lock > cq->lock.
 */
#ifndef MRC_QP_H
#define MRC_QP_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "engine/mrc_conn.h"
#include "mrc_cq.h"
#include "mrc_dev.h"
#include "mrc_mr.h"
#include "mrc_path.h"
#include "mrc_qpcc.h"
#include "mrc_ring.h"

#define MRC_SQ_INFLIGHT	64	/* work requests inside the engine per QP */
#define MRC_QP_RD	16	/* READs/ATOMICs in flight each way */
#define MRC_QP_RQM	128	/* receive messages in flight */
#define MRC_QP_TAILS	96	/* ends of WRITEs that may wait for what precedes them */

struct mrc_ibqp {
	struct ib_qp ibqp;	/* first */
	struct mrc_qp *qp;
};

/* A send request copied out of the ring and resolved; index = cookie. */
struct mrc_swqe {
	u64 wr_id;
	u8 opcode;		/* enum ib_wr_opcode */
	u8 flags;		/* enum ib_send_flags */
	u8 num_sge;
	u8 status;		/* enum mrc_status: found bad when copied */
	u32 len;
	u32 inline_len;
	struct mrc_sge *sge;	/* max_sge of the QP */
	struct mrc_mr **mr;	/* one per SGE; referenced unless NULL: put, then set NULL */
	u8 *inl;		/* max_inline of the QP */
};

/* A receive request, copied when its first packet arrives. */
struct mrc_rwqe {
	bool valid;
	u8 fail;		/* enum ib_wc_status: why the message for it was refused */
	u64 wr_id;
	u32 num_sge;
	u32 len;		/* sum of the SGEs */
	struct mrc_sge *sge;
};

/* A READ or ATOMIC of the peer being answered; index = exec slot. */
struct mrc_resp {
	struct mrc_mr *mr;	/* referenced while READ responses are sent; else NULL */
	u64 va;
	u32 len;
	__be64 orig;
};

enum {			/* bits of mrc_qp.bh */
	MRC_BH_QUEUED,
};

struct mrc_qp {
	struct kref ref;
	struct rcu_head rcu;
	struct work_struct free_work;
	struct mrc_dev *dev;
	spinlock_t lock;
	struct mutex mutex;		/* modify, query, destroy */
	struct ib_qp *ibqp;		/* NULL once destroyed; under lock. Then nothing is
					 * posted, sent, completed, and the timer not armed */
	struct list_head dev_link;
	u32 qpn;
	u32 pdn;
	u32 pid;
	u32 access;			/* qp_access_flags */
	enum ib_qp_state state;
	bool sq_sig_all;
	bool spec_only;			/* MRC_UQP_ONLY_SPEC */
	bool strict;			/* placed in PSN order */
	u8 mpr;				/* window, both ways */
	struct ib_qp_init_attr init;	/* caps as granted */
	struct ib_qp_attr attr;		/* as modified; query_qp */

	struct mrc_conn conn;
	void *conn_mem;			/* one allocation with wqe_mem */
	struct hrtimer timer;		/* MRC_QP_TIMER_MODE; armed under lock while ibqp */
	u64 timer_ns;			/* armed for; MRC_TIME_NEVER */
	unsigned long bh;
	struct list_head bh_link;
	int bh_cpu;			/* its turns are there, bh_turns so far */
	u32 bh_turns;

	union ib_gid sgid, dgid;
	/* Both NULL before RTR, after RESET and when destroyed; then evs is not to be used. */
	struct mrc_peer *peer;		/* referenced; under lock */
	struct list_head peer_link;	/* under peer->lock */
	struct mrc_pathset *ps;		/* referenced; under lock */
	struct mrc_qpcc *qpcc;		/* counted there; under lock. NULL: a window of its own */
	struct mrc_incast_flow incast;	/* under lock and dev->incast_lock */

	struct mrc_cq *scq, *rcq;	/* referenced */
	struct mrc_ring sq, rq;
	u32 sq_cons, rq_cons;		/* private copies; run on through RESET */
	u32 rq_base;			/* ring index of the engine's rq_idx 0 */
	u32 sq_slots;			/* power of two, = conn sq_max */
	struct mrc_swqe *swqe;		/* sq_slots, index = cookie */
	u32 sq_posted;			/* next cookie, free-running */
	struct mrc_rwqe *rwqe;		/* ring of MRC_QP_RQM copies, by rq_idx */
	void *wqe_mem;
	struct mrc_resp resp[MRC_QP_RD];
	u8 (*tail)[MRC_TAIL_LEN];
	struct sk_buff **hold;		/* strict: by slot of the window, packets to be placed */
	u32 n_hold;
	size_t mem_bytes;		/* all of the above, rings too, for mrcctl */
};

#define MRC_QP_TIMER_MODE	HRTIMER_MODE_ABS	/* CLOCK_MONOTONIC */

/* mrc_qp.c: verbs */
int mrc_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mrc_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int mrc_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int mrc_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int mrc_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int mrc_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

/* Lookup on the packet path: RCU, takes a reference. */
struct mrc_qp *mrc_qp_find(u32 qpn);
static inline void mrc_qp_get(struct mrc_qp *qp) { kref_get(&qp->ref); }
void mrc_qp_put(struct mrc_qp *qp);		/* any context */
int mrc_qp_table_init(void);
void mrc_qp_table_exit(void);
u32 mrc_qp_idle_bytes(void);	/* rings too: 128 WRs each way, 1 SGE, no inline, 8 * 128 PSNs */
/* Under lock: the connection fails, and lets go of what it had in flight. */
void mrc_qp_fail_conn(struct mrc_qp *qp);
/* Between mrc_qp.c and mrc_qp_modify.c: under qp->mutex, without qp->lock. */
void mrc_qp_quiesce(struct mrc_qp *qp, enum ib_qp_state state);

/*
 * mrc_flow.c: the QP at work, BH context.
 * mrc_qp_run: one turn of the softirq scheduler: timer, ring -> engine, tails,
 * execs, completions, packets out, under a budget. True: wants another turn.
 * Between two packets of a batch, too, when not one more NACK can be owed.
 * mrc_qp_rx: one parsed packet with its payload at @off in @skb (ICRC checked).
 * mrc_qp_error: to error from inside (async event, flush).
 */
bool mrc_qp_run(struct mrc_qp *qp);
/* @port: the UDP port of ours that it was sent to. */
void mrc_qp_rx(struct mrc_qp *qp, const struct mrc_pkt *pkt, struct sk_buff *skb, int off,
	       u16 port);
void mrc_qp_error_locked(struct mrc_qp *qp);
enum hrtimer_restart mrc_qp_timer(struct hrtimer *t);

/* mrc_bh.c: per-CPU softirq scheduler; any context; takes its own reference */
void mrc_bh_kick(struct mrc_qp *qp);
int mrc_bh_init(void);
void mrc_bh_exit(void);

#endif
