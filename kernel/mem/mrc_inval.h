/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_inval.h - invalidates a remote key, by a work request or by the peer: of a memory window
 * (mrc_mw.h) or of a fast registration (mrc_fr.h). Softirq, under the QP's lock.
 */
#ifndef MRC_INVAL_H
#define MRC_INVAL_H

#include <linux/types.h>

struct mrc_dev;

/*
 * May QP @qpn of domain @pdn, or its peer, invalidate @key? mrc_inval() does it; false: it may not.
 */
bool mrc_inval_allowed(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key);
bool mrc_inval(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 key);

#endif
