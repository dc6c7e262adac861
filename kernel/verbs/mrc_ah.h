/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ah.h - address handles: ib_core's object for an address vector (data/mrc_av.h).
 *
 * The handle owns its vector; both are created and destroyed together. Datagram requests name the
 * vector by its number.
 */
#ifndef MRC_AH_H
#define MRC_AH_H

#include <rdma/ib_verbs.h>

struct mrc_av;

struct mrc_ah {
	struct ib_ah ibah;	/* first */
	struct mrc_av *av;
	bool counted;			/* a program's: counts against MRC_MAX_AH */
	struct rdma_ah_attr attr;	/* as given at creation, for query_ah */
};

/*
 * Called by ib_core, in process context with the flag RDMA_CREATE_AH_SLEEPABLE, in any context
 * without it. 0; -EINVAL: as mrc_ah_check(); -ENOSPC: MRC_MAX_AH is reached; -ENOMEM.
 */
int mrc_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int mrc_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int mrc_ah_destroy(struct ib_ah *ibah, u32 flags);
/*
 * Any context. 0, or -EINVAL if no packet can be sent there: no GRH, no source GID, an unspecified
 * destination, another address family than the source, or a multicast group. With @groups, groups
 * beyond this host are allowed.
 */
int mrc_ah_check(struct ib_device *ibdev, const struct rdma_ah_attr *attr, bool groups);
/* Any context. The number by which send requests name the handle. */
u32 mrc_ah_number(const struct ib_ah *ibah);

#endif
