/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_compat.h - hides the differences between kernels from the rest of the module.
 *
 * Decided by feature: probe.sh, called by Kbuild, compiles each file of compat/probe/ against the
 * target kernel. If foo_bar.c compiles, mrc_have.h defines MRC_HAVE_FOO_BAR. Code outside compat/
 * contains no such #ifdef. It uses the names defined here, which follow the newest kernel's form
 * where possible.
 */
#ifndef MRC_COMPAT_H
#define MRC_COMPAT_H

#include <linux/hrtimer.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "mrc_have.h"

/* Last argument of ib_device_ops.create_cq. */
#ifdef MRC_HAVE_CREATE_CQ_ATTRS
typedef struct uverbs_attr_bundle mrc_create_cq_arg;

static inline struct ib_udata *mrc_create_cq_udata(mrc_create_cq_arg *arg)
{
	return arg ? &arg->driver_udata : NULL;
}
#else
typedef struct ib_udata mrc_create_cq_arg;

static inline struct ib_udata *mrc_create_cq_udata(mrc_create_cq_arg *arg)
{
	return arg;
}
#endif

/* unused */
#ifdef MRC_HAVE_REG_DMABUF_ATTRS
typedef struct uverbs_attr_bundle mrc_reg_dmabuf_arg;
#else
typedef struct ib_udata mrc_reg_dmabuf_arg;
#endif

/* For reg_user_mr and reg_user_mr_dmabuf: steering hints, which a device without DMA ignores. */
#ifdef MRC_HAVE_REG_MR_DMAH
#define MRC_DMAH_ARG struct ib_dmah *dmah,
#else
#define MRC_DMAH_ARG
#endif

#ifdef MRC_HAVE_UMEM_GET_VA
#define mrc_umem_get ib_umem_get_va
#else
#define mrc_umem_get ib_umem_get
#endif

/* In a table of ib_device_ops: the operation that resizes a program's completion queue. */
#ifdef MRC_HAVE_RESIZE_USER_CQ
#define MRC_RESIZE_CQ(fn) .resize_user_cq = (fn),
typedef unsigned int mrc_resize_cq_arg;
#else
#define MRC_RESIZE_CQ(fn) .resize_cq = (fn),
typedef int mrc_resize_cq_arg;
#endif

/* In a table of ib_device_ops: the operation that describes an SRQ for rdma(8), where it exists. */
#ifdef MRC_HAVE_FILL_RES_SRQ
#define MRC_FILL_RES_SRQ(fn) .fill_res_srq_entry = (fn),
#else
#define MRC_FILL_RES_SRQ(fn)
#endif

/*
 * For ib_device_ops.counter_bind_qp and counter_unbind_qp. Kernels with this form also want the
 * size of a counter.
 */
#ifdef MRC_HAVE_COUNTER_PORT
#define MRC_COUNTER_PORT_ARG , u32 port
#define MRC_COUNTER_OBJ_SIZE .size_rdma_counter = sizeof(struct rdma_counter),
#else
#define MRC_COUNTER_PORT_ARG
#define MRC_COUNTER_OBJ_SIZE
#endif

/* In a table of ib_device_ops: the operation for each new counter, where it exists. */
#ifdef MRC_HAVE_COUNTER_INIT
#define MRC_COUNTER_INIT(fn) .counter_init = (fn),
#else
#define MRC_COUNTER_INIT(fn)
#endif

#ifdef MRC_HAVE_HRTIMER_SETUP
#define mrc_hrtimer_setup hrtimer_setup
#else
static inline void mrc_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*fn)(struct hrtimer *),
				     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#endif

#endif
