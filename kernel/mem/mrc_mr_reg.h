/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr_reg.h - registration and deregistration of regions. Called by ib_core in process context;
 * they sleep.
 */
#ifndef MRC_MR_REG_H
#define MRC_MR_REG_H

#include <rdma/ib_verbs.h>
#include "compat/mrc_compat.h"

/*
 * Registers user memory at @start, which the key's users address from @iova on. ERR_PTR: -EINVAL,
 * -EOPNOTSUPP: length, address or rights; -ENOSPC: MRC_MAX_MR regions exist; -ENOMEM, also: the
 * memlock limit is reached; -ENODEV.
 */
struct ib_mr *mrc_mr_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			 MRC_DMAH_ARG struct ib_udata *udata);
/* Registers the dma-buf of @fd from @offset on. Further errors: mrc_dmabuf_map(). */
struct ib_mr *mrc_mr_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				int access, MRC_DMAH_ARG mrc_reg_dmabuf_arg *arg);
/* For kernel users: a region of all kernel addresses, for local access only. */
struct ib_mr *mrc_mr_get_dma(struct ib_pd *ibpd, int access);
/*
 * Changes what @flags say and keeps the key. NULL, or an ERR_PTR and nothing has changed.
 * -EOPNOTSUPP: the region is a dma-buf's, and IB_MR_REREG_TRANS is not set.
 */
struct ib_mr *mrc_mr_rereg(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
			   int access, struct ib_pd *ibpd, struct ib_udata *udata);
/* When it returns, nobody accesses the memory any more. */
int mrc_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);

#endif
