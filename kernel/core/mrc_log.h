/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_log.h - the event log of a device: a ring of records about planes, peers and EVs, with
 * causes.
 *
 * Netlink dumps the ring and forwards records as events. Events of planes are also printed to the
 * kernel log.
 *
 * Programs and peers can cause any number of events. So equal events share a record, and the rate
 * of records is bounded (engine/peer/mrc_history.h). Lines in the kernel log are rate-limited too:
 * for the device's own planes per device, for peers all together.
 */
#ifndef MRC_LOG_H
#define MRC_LOG_H

#include "core/mrc_dev_plane.h"

struct mrc_ev_change;

#define MRC_LOG_RECORDS	4096

/* Process context. 0 or -ENOMEM; mrc_log_exit() may be called in both cases. */
int mrc_log_init(struct mrc_dev *dev);
void mrc_log_stop(struct mrc_dev *dev);		/* without rtnl; waits for the work item */
void mrc_log_exit(struct mrc_dev *dev);

/*
 * Under rtnl. @plane went up or down, or is down for another cause. plane->cause is current; @was:
 * the one before.
 */
void mrc_log_plane(const struct mrc_dev_plane *plane, enum mrc_log_cause was);
/* Under rtnl. @plane leaves the device. */
void mrc_log_plane_gone(const struct mrc_dev_plane *plane);
/* Any context. Peer @gid announced that its ports of planes @mask are up, or down. */
void mrc_log_ports(struct mrc_dev *dev, const union ib_gid *gid, u32 mask, bool up);
/*
 * Any context, under any lock. An EV towards @gid changed its state; or a hint about @gid was
 * found.
 */
void mrc_log_ev(struct mrc_dev *dev, const union ib_gid *gid, const struct mrc_ev_change *news);
void mrc_log_hint(struct mrc_dev *dev, const union ib_gid *gid, enum mrc_hint hint);
/* Any context. Self-probes pause or resume for @cause. */
void mrc_log_probes(struct mrc_dev *dev, bool pause, enum mrc_log_cause cause);
/*
 * Any context. The first record with a number from *@n on; *@n becomes its number. *@lost: events
 * without a record so far. False: there is none.
 */
bool mrc_log_next(struct mrc_dev *dev, u64 *n, struct mrc_history_rec *rec, u64 *lost);

#endif
