/* SPDX-License-Identifier: GPL-2.0 */
/* vpair.h - two queue pairs of one device, connected to each other. */
#ifndef VPAIR_H
#define VPAIR_H

#include "vcommon.h"

struct vpair {
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct vc_peer peer;	/* of qp[0] */
	bool lent;		/* the queues are another pair's */
	/* Set before the pair is made, or zero: */
	struct ibv_srq *srq;	/* of both */
	uint64_t send_ops;	/* of ibv_wr_*, IBV_QP_EX_WITH_* */
	int access;		/* of both besides remote write */
};

/* Any completion within @ms; false: none. */
bool vpair_wc(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms);

/* @mr: what each tells the other of. Failures end the program, as in vcommon.h. */
void vpair_make(struct vpair *p, struct vc_dev *d, const struct ibv_qp_cap *cap, int cqe,
		const struct ibv_mr *mr);
/* Likewise, with the completion queues of @of. */
void vpair_make_beside(struct vpair *p, const struct vpair *of, struct vc_dev *d,
		       const struct ibv_qp_cap *cap, const struct ibv_mr *mr);
/* Both, which are in RESET or INIT, to RTS. */
void vpair_connect(struct vpair *p, struct vc_dev *d, const struct ibv_mr *mr);
void vpair_end(struct vpair *p);

#endif
