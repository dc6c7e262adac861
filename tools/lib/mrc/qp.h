/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * qp.h - attributes of queue pairs as sets of bits.
 */
#ifndef MRC_QP_H_INTERNAL
#define MRC_QP_H_INTERNAL

#include "uverbs.h"

/* All attributes of struct mrc_qp_attr. */
#define MRC_QP_ATTRS	(MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST |	\
			 MRC_QP_TIMEOUT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID |	\
			 MRC_QP_HINT | MRC_QP_RETRY_CNT | MRC_QP_CAP | MRC_QP_VENDOR_CFG)

/*
 * qp_modify.c; before the QP is visible. Sets its attributes in RESET, from the limits of its
 * device.
 */
void mrc_qp_attr_start(struct mrc_qp *qp, const struct mrc_uquery_device_resp *limits);

#endif
