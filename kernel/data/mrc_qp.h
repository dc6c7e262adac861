/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp.h - a queue pair: an engine connection with its rings, memory references, timer and paths.
 *
 * ib_core's object (struct mrc_ibqp) is a shell that ends in destroy_qp. The QP behind it is
 * refcounted, and a work item frees it after RCU. So packets, the timer and the softirq scheduler
 * may use it as long as they need to, and destroy_qp does not wait for them.
 *
 * qp->lock (spin_lock_bh) serialises all engine calls on qp->conn and all accesses to the rings.
 * Lock order: qp->lock > peer->path_lock, qp->lock > cq->lock, qp->lock > srq->lock.
 */
#ifndef MRC_QP_H
#define MRC_QP_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "engine/conn/mrc_conn.h"
#include "core/mrc_dev.h"
#include "path/mrc_claim.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_qpcc.h"
#include "mem/mrc_cq.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_ring.h"
#include "mem/mrc_srq.h"

#define MRC_SQ_INFLIGHT	64	/* work requests inside the engine per QP */
#define MRC_QP_RD	16	/* READs/ATOMICs in flight each way */
#define MRC_QP_RQM	128	/* receive messages in flight */
#define MRC_QP_TAILS	96	/* WRITE tails that may wait for earlier packets */

struct mrc_counter_binding;
struct mrc_ud;

struct mrc_ibqp {
	struct ib_qp ibqp;	/* first */
	union {			/* NULL once destroyed; late users read it under RCU */
		struct mrc_qp *qp;	/* RC */
		struct mrc_ud *ud;	/* UD and GSI: data/mrc_ud.h */
	};
};

/* A send request: copied out of the ring, its memory looked up. Index: cookie. */
struct mrc_swqe {
	u64 wr_id;
	u32 slot;		/* its index in the ring */
	u8 opcode;		/* enum ib_wr_opcode */
	u8 flags;		/* enum ib_send_flags */
	u8 num_sge;
	bool gone;		/* its memory was invalidated before it was sent */
	u32 len;
	u32 inline_len;
	struct mrc_sge *sge;	/* max_sge of the QP */
	struct mrc_mr **mr;	/* one per SGE; referenced, or NULL */
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

/* A READ or ATOMIC of the peer that is being answered. Index: exec slot. */
struct mrc_resp {
	struct mrc_mr *mr;	/* referenced while READ responses are sent; else NULL */
	u64 va;
	u32 len;
};

/* Attributes of a libmrc QP, in the units of struct mrc_umodify_qp. */
struct mrc_qp_spec {
	bool on;				/* it is a libmrc QP */
	u64 ev_profile_id, cc_profile_id;	/* 0: the device's default */
	u32 cap;				/* MRC_UCAP_* */
	u16 wimm, wimm_dest;
	u8 mpr, mpr_dest;
	u8 timeout, linear_cnt, exp_cnt;
};

enum {			/* bits of mrc_qp.bh */
	MRC_BH_QUEUED,
	MRC_BH_ARMS,	/* its timer must be set: it is in the scheduler's list for that */
};

struct mrc_qp {
	struct kref ref;
	struct rcu_work free_work;
	struct mrc_dev *dev;
	spinlock_t lock;		/* the connection, and the fields marked below */
	struct mutex mutex;		/* modify, query, destroy */
	struct ib_qp *ibqp;		/* NULL once destroyed; under lock. Then nothing is
					 * posted, sent or completed, and the timer is not armed */
	u64 sum_id;			/* latest sum of counters that includes this QP; under lock */
	struct mrc_qp_stats stats;	/* in addition to those of conn; under lock */
	struct mrc_counter_binding *counted;	/* its counter of rdma(8), or NULL; mutex and dev->sum_mutex */
	u32 qpn;
	u32 pdn;
	struct pid *pid;		/* its creator; referenced */
	u32 access;			/* qp_access_flags */
	enum ib_qp_state state;
	bool sq_sig_all;
	bool made_spec;			/* created with MRC_UQP_ONLY_SPEC */
	bool strict;			/* packets are placed in PSN order */
	u8 mpr;				/* window of each direction, units of 128 PSNs */
	struct ib_qp_init_attr init;	/* caps as granted */
	struct ib_qp_attr attr;		/* as modified; query_qp */
	struct mrc_qp_spec spec;	/* changes under mutex and lock */
	enum ib_mtu mtu;		/* counted in dev->n_mtu, or 0; under mutex */

	struct mrc_conn conn;
	void *conn_mem;			/* memory of conn, followed by wqe_mem; mem/mrc_pages.h */
	size_t conn_bytes;
	void *room;			/* additional memory of conn, or NULL: data/mrc_qp_grow.c; under lock */
	size_t room_bytes;
	struct work_struct grow_work;	/* holds a reference */
	unsigned long grow_at;		/* jiffies: not before; 0: any time */
	struct mem_cgroup *memcg;	/* the cgroup that is charged; referenced, or NULL */
	bool growing;			/* grow_work was queued, or has run */
	struct hrtimer timer;		/* MRC_QP_TIMER_MODE; armed under lock while ibqp */
	u64 timer_ns;			/* when the timer fires; MRC_TIME_NEVER: it is not armed */
	u64 timer_at;			/* deadline of the QP, or MRC_TIME_NEVER; under lock */
	bool timer_deferred;		/* the timer must be set (mrc_qp_timer.h) */
	unsigned long bh;		/* bits MRC_BH_* */
	struct list_head bh_link, bh_arms;	/* lists of the scheduler (mrc_bh.c) */
	int bh_cpu;			/* the CPU that takes its turns */
	int arms_cpu;			/* MRC_BH_ARMS: the CPU whose list it is in */
	u32 bh_turns;			/* turns on bh_cpu so far */

	union ib_gid sgid, dgid;
	/* peer, paths and ps are NULL before RTR, after RESET and when destroyed; conn's evs must not be used then. */
	struct mrc_peer *peer;		/* referenced; under lock */
	struct mrc_peer_user user;	/* entry in the peer's list of users */
	struct mrc_peer_paths *paths;	/* of that peer, for the profile that this QP named; referenced; under lock */
	struct mrc_pathset *ps;		/* referenced; under lock */
	struct mrc_claim *claim;	/* from RTR until the QP fails, or NULL; under lock */
	bool claims;			/* take the claim when the peer's QP confirms the connection */
	struct mrc_claim_owner owner;
	struct mrc_qpcc *qpcc;		/* congestion controller; referenced; under lock. NULL: a window of its own */
	struct mrc_incast_flow incast;	/* under lock and dev->incast_lock */

	struct mrc_cq *scq, *rcq;	/* referenced */
	struct mrc_srq *srq;		/* referenced; NULL: receives are in rq */
	u32 recv_pdn, recv_sge;		/* protection domain and maximum SGEs of receives */
	u32 rq_taken;			/* SRQ: receives [rq_cons, rq_taken) were taken from it */
	bool last_wqe_raised;		/* IB_EVENT_QP_LAST_WQE_REACHED was raised */
	struct mrc_ring sq, rq;
	u32 sq_cons, rq_cons;		/* private copies; RESET does not set them to 0 */
	u32 rq_base;			/* ring index of the engine's rq_idx 0 */
	u32 sq_slots;			/* power of two, = conn sq_max */
	struct mrc_swqe *swqe;		/* sq_slots, index = cookie */
	u32 sq_posted;			/* next cookie, free-running */
	u32 sq_done;			/* number of completed ones; those in between are in the engine */
	bool sqd_notify, sqd_raised;	/* SQD: IB_EVENT_SQ_DRAINED is requested; was raised */
	u32 rq_slots;			/* power of two; 0 if there was no memory */
	struct mrc_rwqe *rwqe;		/* ring of rq_slots copies, by rq_idx */
	void *wqe_mem;
	struct mrc_resp *resp;		/* MRC_QP_RD */
	u8 (*tail)[MRC_TAIL_LEN];	/* MRC_QP_TAILS */
	struct sk_buff **hold;		/* strict: held packets, by slot of the window */
	u32 n_hold;
	size_t mem_bytes;		/* all of the above, rings too, for mrcctl */
};

/* Under qp->lock. Have all requests that were taken from the ring completed? */
static inline bool mrc_qp_drained(const struct mrc_qp *qp) { return qp->sq_done == qp->sq_posted; }

/* Under qp->lock or mutex. Is the QP restricted to MRC 1.0, without extensions? */
static inline bool mrc_qp_only_spec(const struct mrc_qp *qp)
{
	return qp->made_spec || qp->spec.on;
}

#define MRC_QP_TIMER_MODE	HRTIMER_MODE_ABS	/* CLOCK_MONOTONIC */

/*
 * Under RCU. The QP with this number, or NULL. Its memory and its device remain valid until the RCU section ends. There
 * may be no reference left, so the caller takes one with mrc_qp_try_get().
 */
struct mrc_qp *mrc_qp_look(u32 qpn);
/* Any context. The QP with this number, with a reference; or NULL. */
struct mrc_qp *mrc_qp_find(u32 qpn);
/* Process context. The QP of @dev with the lowest number >= @from, with a reference; or NULL. */
struct mrc_qp *mrc_qp_next(const struct mrc_dev *dev, u32 from);
static inline void mrc_qp_get(struct mrc_qp *qp) { kref_get(&qp->ref); }
static inline bool mrc_qp_try_get(struct mrc_qp *qp) { return kref_get_unless_zero(&qp->ref); }
void mrc_qp_put(struct mrc_qp *qp);		/* any context */

/*
 * Process context. Reserves a number for a QP of another kind (data/mrc_ud.h), which mrc_qp_find() does not find: 0, or
 * -errno. mrc_qp_release() returns it.
 */
int mrc_qp_reserve(u32 *qpn);
void mrc_qp_release(u32 qpn);
/* Process context. Reserves a number; the QP is not yet found by it: 0, or -errno. */
int mrc_qp_number(struct mrc_qp *qp);
void mrc_qp_publish(struct mrc_qp *qp);		/* from now on lookups find it */
void mrc_qp_withdraw(struct mrc_qp *qp);	/* lookups find it no longer */
void mrc_qp_free(struct mrc_qp *qp);		/* process context; no other references */
void mrc_qp_free_work(struct work_struct *work);	/* for INIT_RCU_WORK() */

#define mrc_qp_count(qp, name) ((qp)->stats.name++)	/* under qp->lock */
/* Under qp->lock. Reads all counters of the QP. */
void mrc_qp_get_stats(struct mrc_qp *qp, struct mrc_statset *t);
/* Under qp->lock. Sets all counters to 0; the caller has added them to another object. */
void mrc_qp_clear_stats(struct mrc_qp *qp);

/* Under qp->lock, or without other users of @qp: drops the references of requests that will never finish. */
void mrc_qp_put_mrs(struct mrc_qp *qp);
/* Under qp->lock: drops the claim, so another user may connect to the peer's QP. */
void mrc_qp_unclaim(struct mrc_qp *qp);
/*
 * Under qp->lock; takes path_lock. Drops the claim and fails the connection. A turn then completes all requests as
 * flushed, which drops their references to memory.
 */
void mrc_qp_fail_conn(struct mrc_qp *qp);

int mrc_qp_init(void);		/* module start. Returns 0 */
void mrc_qp_exit(void);		/* module end; all QP numbers are released */

#endif
