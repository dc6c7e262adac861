/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pair.h - what the tests of a user of RDMA in the kernel stand on: pairs of connected QPs of one
 * device, and requests whose completions are waited for.
 */
#ifndef KU_PAIR_H
#define KU_PAIR_H

#include <linux/completion.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#define KU_LEN		20000		/* several packets at any MTU */
#define KU_DEPTH	32
#define KU_WAIT		(120 * HZ)	/* an emulated machine, busy with others */

struct ku_op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

struct ku {
	struct ib_device *ibdev;
	int gid;
	enum ib_poll_context poll;
	bool shared;			/* receives are an SRQ's */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct completion limit;	/* of the SRQ was reached */
	struct ib_qp *qp[4];		/* 0 and 1 are connected, and 2 and 3 */
	int n_qp;
	u8 *from;			/* kmalloc */
	u8 *to;				/* vmalloc */
	struct ku_op s, r;		/* of the message under way; outlive the QPs */
};

#define ku_check(cond) ({							\
	bool ok_ = (cond);							\
	if (!ok_)								\
		pr_err("mrc_kuser: %s:%d: %s is not so\n", kbasename(__FILE__),	\
		       __LINE__, #cond);					\
	ok_;									\
})

void ku_op_init(struct ku_op *op);
bool ku_wait(struct ku *k, struct ku_op *op);
/* Waits; true: it ended with that status. */
bool ku_ended(struct ku *k, struct ku_op *op, enum ib_wc_status status);

int ku_make(struct ku *k);
void ku_end(struct ku *k);
/* From whatever state, error too. */
int ku_reconnect(struct ku *k, int a);

/* The tests: true if all was so. */
bool ku_messages(struct ku *k);
bool ku_fastreg(struct ku *k);
bool ku_race(struct ku *k);
bool ku_srq(struct ku *k);

#endif
