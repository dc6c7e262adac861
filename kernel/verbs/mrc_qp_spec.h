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

/* What came with the call; without anything *@ask is zero and *@given false. 0 or -errno. */
int mrc_qp_spec_read(struct ib_udata *udata, struct mrc_umodify_qp *ask, bool *given);
/*
 * 0, and the QP is what was asked for: the step of the transition may follow, and if that fails
 * mrc_qp_spec_restore() with what was before. Or -errno, and nothing has changed.
 */
int mrc_qp_spec_take(struct mrc_qp *qp, const struct mrc_umodify_qp *ask, bool given,
		     enum ib_qp_state cur, enum ib_qp_state next);
void mrc_qp_spec_restore(struct mrc_qp *qp, const struct mrc_qp_spec *old);
/* RESET: an ordinary QP again. */
void mrc_qp_spec_end(struct mrc_qp *qp);
/* Also under qp->lock. What counts instead of the device's settings; nothing for other QPs. */
void mrc_qp_spec_rx(const struct mrc_qp *qp, struct mrc_rx_cfg *cfg);
void mrc_qp_spec_tx(const struct mrc_qp *qp, struct mrc_tx_cfg *cfg);
/* What QPs of mrc.h of this device may have. */
void mrc_qp_spec_limits(const struct mrc_dev *dev, struct mrc_uquery_device_resp *resp);

#endif
