/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_spec.h - QPs of libmrc (mrc.h): attributes that ib_core does not know.
 *
 * struct mrc_umodify_qp with the transition to INIT makes a QP a libmrc QP; RESET makes it an
 * ordinary one again. Attributes that are not given have the device's values. All functions run
 * under qp->mutex, except mrc_qp_spec_read() and mrc_qp_spec_limits(), which need no lock.
 */
#ifndef MRC_QP_SPEC_H
#define MRC_QP_SPEC_H

#include <rdma/uverbs_ioctl.h>
#include "rdma/mrc-abi.h"
#include "data/mrc_qp.h"

/*
 * Process context. Reads the private data of a modify call. Without any, *@ask is zero and *@given
 * false. 0 or -errno.
 */
int mrc_qp_spec_read(struct ib_udata *udata, struct mrc_umodify_qp *ask, bool *given);
/*
 * 0: the QP has the requested attributes, and the transition may follow. If the transition fails,
 * the caller restores the previous ones (mrc_qp_spec_restore()). -errno: nothing has changed.
 */
int mrc_qp_spec_take(struct mrc_qp *qp, const struct mrc_umodify_qp *ask, bool given,
		     enum ib_qp_state cur, enum ib_qp_state next);
void mrc_qp_spec_restore(struct mrc_qp *qp, const struct mrc_qp_spec *old);
/* At RESET: the QP is an ordinary one again. */
void mrc_qp_spec_end(struct mrc_qp *qp);
/*
 * Also under qp->lock. For a libmrc QP they replace settings of the device by its own; others keep
 * them.
 */
void mrc_qp_spec_rx(const struct mrc_qp *qp, struct mrc_rx_cfg *cfg);
void mrc_qp_spec_tx(const struct mrc_qp *qp, struct mrc_tx_cfg *cfg);
/* Limits of libmrc QPs on this device. */
void mrc_qp_spec_limits(const struct mrc_dev *dev, struct mrc_uquery_device_resp *resp);

#endif
