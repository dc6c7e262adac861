/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ucontext.h - the user context, the private data of uverbs calls, and the limits per device.
 *
 * query_device() reports these limits and the create verbs enforce them.
 */
#ifndef MRC_UCONTEXT_H
#define MRC_UCONTEXT_H

#include <rdma/uverbs_ioctl.h>
#include "rdma/mrc-abi.h"

#define MRC_MAX_QP	65536
#define MRC_MAX_CQ	65536
#define MRC_MAX_MR	(1 << 17)
#define MRC_MAX_MR_SIZE	(1ull << 39)	/* bytes; the array of its pages takes 1 GiB */
#define MRC_MAX_PD	65536
#define MRC_MAX_AH	65536
#define MRC_MAX_QP_WR	16384
#define MRC_MAX_MW	65536
#define MRC_MAX_SRQ	65536
#define MRC_MAX_SRQ_WR	32768
#define MRC_MIN_CQE	32
#define MRC_MAX_CQE	(1 << 20)

struct mrc_ucontext {
	struct ib_ucontext ibuc;	/* first */
};

/* The calling program's context; NULL for a kernel caller. */
static inline struct ib_ucontext *mrc_ucontext_of(struct ib_udata *udata)
{
	struct mrc_ucontext *uc;

	uc = rdma_udata_to_drv_context(udata, struct mrc_ucontext, ibuc);
	return uc ? &uc->ibuc : NULL;
}

/*
 * Checks the sizes of a call's private data. @in: bytes of input that this module knows; the input
 * must have at least these, and further bytes must be zero. @out: bytes needed for the response. 0;
 * -EINVAL: too short; -EOPNOTSUPP: unknown input.
 */
static inline int mrc_ucontext_check(struct ib_udata *udata, size_t in, size_t out)
{
	if (udata->inlen < in || udata->outlen < out)
		return -EINVAL;
	if (udata->inlen > in && !ib_is_udata_cleared(udata, in, udata->inlen - in))
		return -EOPNOTSUPP;
	return 0;
}

#endif
