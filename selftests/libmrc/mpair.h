/* SPDX-License-Identifier: GPL-2.0 */
/* mpair.h - two queue pairs of mrc.h, of one device, and what they need to reach RTS. */
#ifndef MPAIR_H
#define MPAIR_H

#include <mrc_ctl.h>
#include "vcommon.h"

#define MPAIR_LEN	4096

/* One end. */
struct mend {
	struct mrc_cq *cq;
	struct mrc_qp *qp;
	uint32_t qpn;
};

struct mpair {
	struct vc_dev dev;
	struct mrc_context *ctx;
	struct mrc_comp_channel *channel;	/* of both ends */
	struct mend end[2];
	struct mrc_qp_attr attr;		/* that ends are connected with */
	struct ibv_mr *mr;
	uint8_t area[2 * MPAIR_LEN];		/* end 0 writes from its half into the other */
};

enum { MPAIR_INIT_V = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
       MPAIR_RTR_V = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
       MPAIR_RTS_V = IBV_QP_STATE | IBV_QP_SQ_PSN,
       MPAIR_INIT = MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID,
       MPAIR_RTR = MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP,
       MPAIR_RTS = MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT };

/* Both ends in RESET; the device is that of MRC_TEST_DEV. Failures end the program. */
void mpair_open(struct mpair *p);
void mpair_close(struct mpair *p);
struct mrc_qp *mpair_qp(struct mpair *p, struct mend *end);

/* What libibverbs wants for the transition to @to, towards QP @dest. */
void mpair_vattr(const struct mpair *p, enum ibv_qp_state to, uint32_t dest,
		 struct ibv_qp_attr *v);
/* 0 or errno: one transition with all that it needs. */
int mpair_step(struct mpair *p, struct mrc_qp *qp, enum ibv_qp_state to, uint32_t dest);
/* 0 or errno: to RTS. */
int mpair_up(struct mpair *p, struct mrc_qp *qp, uint32_t dest);
/* Both ends, to each other. */
int mpair_connect(struct mpair *p);

/* From end 0 to the other half. 0 or errno. */
int mpair_post(struct mpair *p, enum ibv_wr_opcode opcode, uint32_t len, uint32_t imm);
int mpair_recv(struct mpair *p, int end);
/* Within half a minute. */
bool mpair_wc(struct mend *end, struct ibv_wc *wc);

#endif
