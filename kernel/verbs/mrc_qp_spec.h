/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_spec.h - QPs of libmrc (mrc.h): attributes that ib_core does not know.
 *
 * The transition to INIT makes a QP one of these, RESET ends that: struct mrc_umodify_qp.
 * Attributes that are not given have the device's values. All under qp->mutex, except
 * mrc_qp_spec_read().
 */
#ifndef MRC_QP_SPEC_H
#define MRC_QP_SPEC_H

#include <rdma/uverbs_ioctl.h>
#include "rdma/mrc-abi.h"
#include "data/mrc_qp.h"

/* Reads the private data of the call. Without any, *@ask is zero and *@given false. 0 or -errno. */
int mrc_qp_spec_read(struct ib_udata *udata, struct mrc_umodify_qp *ask, bool *given);
/*
 * 0: the QP has the requested attributes, and the transition may follow; if that fails, the caller calls
 * mrc_qp_spec_restore() with the previous ones. -errno: nothing has changed.
 */
int mrc_qp_spec_take(struct mrc_qp *qp, const struct mrc_umodify_qp *ask, bool given,
		     enum ib_qp_state cur, enum ib_qp_state next);
void mrc_qp_spec_restore(struct mrc_qp *qp, const struct mrc_qp_spec *old);
/* RESET: an ordinary QP again. */
void mrc_qp_spec_end(struct mrc_qp *qp);
/* Also under qp->lock. Overrides the device's settings with those of the QP; no effect on other QPs. */
void mrc_qp_spec_rx(const struct mrc_qp *qp, struct mrc_rx_cfg *cfg);
void mrc_qp_spec_tx(const struct mrc_qp *qp, struct mrc_tx_cfg *cfg);
/* Limits of libmrc QPs on this device. */
void mrc_qp_spec_limits(const struct mrc_dev *dev, struct mrc_uquery_device_resp *resp);

#endif
