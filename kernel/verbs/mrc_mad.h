/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_mad.h - management packets that the device answers itself: InfiniBand performance counters,
 * for /sys/class/infiniband/NAME/ports/1/counters.
 *
 * Only this host gets answers. Packets from outside go to ib_core, which does not answer them.
 */
#ifndef MRC_MAD_H
#define MRC_MAD_H

#include <rdma/ib_verbs.h>

/*
 * Called by ib_core in process context; sleeps. Answers a Get of performance counters, and leaves
 * all other packets to ib_core (IB_MAD_RESULT_SUCCESS without IB_MAD_RESULT_REPLY).
 */
int mrc_mad_process(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index);

#endif
