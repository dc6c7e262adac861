/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_loop.h - self-probes of a device: packets that a source route leads back to this host.
 *
 * The engine decides when a probe leaves and what its outcome means (engine/probe/mrc_prober.h).
 * This file owns the engine object's lock, timer and memory, one of each per device.
 */
#ifndef MRC_LOOP_H
#define MRC_LOOP_H

#include <linux/hrtimer.h>
#include "engine/probe/mrc_prober.h"
#include "core/mrc_dev.h"

struct mrc_loop {
	struct mrc_dev *dev;
	spinlock_t lock;		/* innermost, softirq-safe */
	struct mrc_prober prober;
	u64 budget;			/* bytes per second and plane; 0: a share of the plane's rate */
	struct hrtimer timer;		/* softirq */
};

/* Process context. 0 or -ENOMEM. */
int mrc_loop_init(struct mrc_dev *dev);
/* Process context, no lock held. The device is dead and has no users. */
void mrc_loop_exit(struct mrc_dev *dev);

/*
 * Under rtnl. Replaces all tests by @n @tests, in ascending order of id, without duplicates. @budget: bytes per second
 * and plane; 0: the default. 0, or -ENOMEM: nothing has changed.
 */
int mrc_loop_set(struct mrc_dev *dev, const struct mrc_prober_cfg *cfg, u64 budget,
		 const struct mrc_selfprobe_cfg *tests, u32 n);

struct mrc_loop_info {
	struct mrc_prober_cfg cfg;
	u64 budget, left_ns;
	u32 n;
	bool paused;
	struct mrc_prober_count count;
};

/* Any context. */
void mrc_loop_get_info(struct mrc_dev *dev, struct mrc_loop_info *info);
/* Any context. Copies the test with the smallest id >= @id. False: there is none. */
bool mrc_loop_get_test(struct mrc_dev *dev, u64 id, struct mrc_selfprobe *test);

#endif
