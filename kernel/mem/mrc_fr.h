/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_fr.h - fast registration: regions that kernel users register and invalidate by work requests.
 *
 * A user fills the region with pages (ib_map_mr_sg()), registers it (IB_WR_REG_MR) and invalidates
 * it by another request, millions of times. The peer may also invalidate it (SEND with invalidate).
 */
#ifndef MRC_FR_H
#define MRC_FR_H

#include <rdma/ib_verbs.h>

struct mrc_dev;

#define MRC_MAX_FR_PAGES	1024	/* of one region: 4 MiB with pages of 4 KiB */

/* The parameters of IB_WR_REG_MR; the pages are those that were mapped last. */
struct mrc_fr_reg {
	u32 key;		/* the region's from now on */
	u32 pdn;		/* of the QP */
	u64 iova, length;
	int access;		/* enum ib_access_flags */
};

/*
 * Softirq, under the QP's lock. 0; -EAGAIN: no memory now; -EINVAL: not allowed. On an error
 * nothing has changed.
 */
int mrc_fr_register(struct mrc_dev *dev, const struct mrc_fr_reg *r);
/*
 * Softirq, under the QP's lock. Is @key the latest key of a region of the domain, which the QP or
 * its peer may invalidate? When mrc_fr_invalidate() returns true, nothing is written through the
 * key any more. Invalidating an invalid key is no error.
 */
bool mrc_fr_may_invalidate(struct mrc_dev *dev, u32 pdn, u32 key);
bool mrc_fr_invalidate(struct mrc_dev *dev, u32 pdn, u32 key);

/* Called by ib_core in process context; they sleep. */
struct ib_mr *mrc_fr_alloc(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_pages);
int mrc_fr_dereg(struct ib_mr *ibmr);
/*
 * Called by ib_core, any context. Maps the pages of @sg; returns how many entries fit, or -errno.
 */
int mrc_fr_map(struct ib_mr *ibmr, struct scatterlist *sg, int n, unsigned int *offset);

#endif
