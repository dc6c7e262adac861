/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mr_reg.h - registration and deregistration of regions, called by ib_core in process context.
 */
#ifndef MRC_MR_REG_H
#define MRC_MR_REG_H

#include <rdma/ib_verbs.h>
#include "compat/mrc_compat.h"

struct ib_mr *mrc_mr_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			 MRC_DMAH_ARG struct ib_udata *udata);
/* Registers the dma-buf of @fd, from @offset on. */
struct ib_mr *mrc_mr_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				int access, MRC_DMAH_ARG mrc_reg_dmabuf_arg *arg);
/* For users in the kernel: every address of theirs, local access only. */
struct ib_mr *mrc_mr_get_dma(struct ib_pd *ibpd, int access);
struct ib_mr *mrc_mr_rereg(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
			   int access, struct ib_pd *ibpd, struct ib_udata *udata);
int mrc_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);

#endif
