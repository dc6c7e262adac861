/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mw.h - memory windows: a remote key for a part of a region, bound and invalidated by work
 * requests.
 *
 * Type 1 may be bound repeatedly. Type 2 (2B: tied to one QP) must be invalidated before it is
 * bound again.
 */
#ifndef MRC_MW_H
#define MRC_MW_H

#include <rdma/ib_verbs.h>

struct mrc_dev;
struct mrc_mw;

struct mrc_ibmw {
	struct ib_mw ibmw;	/* first */
	struct mrc_mw *mw;
};

/* The parameters of a bind, and its QP. */
struct mrc_mw_bind {
	u32 rkey;		/* the window's from now on */
	u32 lkey;		/* of the region */
	u64 addr, length;	/* type 1: length 0 unbinds */
	int access;		/* enum ib_access_flags */
	u32 pdn, qpn;
};

/* Softirq, under the QP's lock. False: not allowed, and nothing has changed. */
bool mrc_mw_bind(struct mrc_dev *dev, const struct mrc_mw_bind *b);
/*
 * Softirq, under the QP's lock. May QP @qpn or its peer invalidate @rkey: is it a bound type 2
 * window of the QP?
 */
bool mrc_mw_may_invalidate(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 rkey);
bool mrc_mw_invalidate(struct mrc_dev *dev, u32 pdn, u32 qpn, u32 rkey);

/*
 * Called by ib_core in process context; dealloc sleeps until nobody accesses the memory through the
 * window.
 */
int mrc_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
int mrc_mw_dealloc(struct ib_mw *ibmw);

#endif
