/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * qp.h - attributes of queue pairs as sets of bits.
 */
#ifndef MRC_QP_H_INTERNAL
#define MRC_QP_H_INTERNAL

#include "object.h"

/* All that struct mrc_qp_attr has. */
#define MRC_QP_ATTRS	(MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST |	\
			 MRC_QP_TIMEOUT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID |	\
			 MRC_QP_HINT | MRC_QP_RETRY_CNT | MRC_QP_CAP | MRC_QP_VENDOR_CFG)

#endif
