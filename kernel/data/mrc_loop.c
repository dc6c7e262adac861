// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_loop.c - see mrc_loop.h.
 *
 * The timer runs in softirq, like the receive path whose delay it measures. A run sends at most
 * LOOP_BATCH probes, each outside the lock. The next run follows after a millisecond or more.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "compat/mrc_compat.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_log.h"
#include "core/mrc_random.h"
#include "data/mrc_loop.h"
#include "data/mrc_loop_send.h"

#define LOOP_BATCH	32
#define LOOP_SHARE	80000		/* default budget: bits per second / LOOP_SHARE = bytes in 0.01 % of the rate */

/* Under the lock. Sets the timer for the time that the engine wants. */
static void loop_arm(struct mrc_loop *l)
{
	u64 at_ns = mrc_prober_arm(&l->prober, ktime_get_ns());

	if (at_ns != MRC_TIME_NEVER && !READ_ONCE(l->dev->dead))
		hrtimer_start(&l->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Under the lock and RCU. Tells the engine the MTU and budget of each plane. A plane that a controller disabled is
 * probed, too, to find out when it works again.
 */
static void loop_planes(struct mrc_loop *l)
{
	const struct mrc_dev_plane *plane;
	u32 i, mtu;
	u64 rate;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rcu_dereference(l->dev->plane[i]);
		mtu = plane && READ_ONCE(plane->carrier) && !READ_ONCE(l->dev->down) ?
			      READ_ONCE(plane->ndev->mtu) : 0;
		rate = l->budget ?: plane ? READ_ONCE(plane->speed_mbps) * 1000000ull / LOOP_SHARE : 0;
		mrc_prober_plane(&l->prober, (u8)i, mtu, rate);
	}
}

static void loop_log(struct mrc_dev *dev, enum mrc_prober_news news)
{
	switch (news) {
	case MRC_PROBER_NOTHING:
		break;
	case MRC_PROBER_STARVED:
		mrc_log_probes(dev, true, MRC_WHY_STARVED);
		break;
	case MRC_PROBER_FED:
		mrc_log_probes(dev, false, MRC_WHY_STARVED);
		break;
	case MRC_PROBER_EXPIRED:
		mrc_log_probes(dev, true, MRC_WHY_EXPIRED);
		break;
	case MRC_PROBER_RENEWED:
		mrc_log_probes(dev, false, MRC_WHY_EXPIRED);
		break;
	}
}

/* BH off. Takes the next probe that is due. False: there is none. */
static bool loop_next(struct mrc_loop *l, struct mrc_prober_op *op)
{
	bool any;

	spin_lock(&l->lock);
	any = mrc_prober_next(&l->prober, ktime_get_ns(), op);
	spin_unlock(&l->lock);
	return any;
}

static void loop_send(struct mrc_loop *l, const struct mrc_prober_op *op)
{
	if (!mrc_loop_send(l->dev, op)) {
		mrc_dev_count(l->dev, self_probes_sent);
		return;
	}
	spin_lock(&l->lock);
	mrc_prober_undo(&l->prober, op);
	spin_unlock(&l->lock);
}

/* BH off, under RCU; the device is not dead. */
static void loop_run(struct mrc_loop *l)
{
	enum mrc_prober_news news;
	struct mrc_prober_op op;
	u64 stalls;
	u32 i;

	spin_lock(&l->lock);
	stalls = l->prober.count.stalls;
	loop_planes(l);
	news = mrc_prober_tick(&l->prober, ktime_get_ns());
	stalls = l->prober.count.stalls - stalls;
	spin_unlock(&l->lock);
	atomic64_add(stalls, &l->dev->stats.self_probe_stalls);
	loop_log(l->dev, news);
	for (i = 0; i < LOOP_BATCH && loop_next(l, &op); i++)
		loop_send(l, &op);
	spin_lock(&l->lock);
	loop_arm(l);
	spin_unlock(&l->lock);
}

static enum hrtimer_restart loop_timer(struct hrtimer *t)
{
	struct mrc_loop *l = container_of(t, struct mrc_loop, timer);

	rcu_read_lock();
	if (!READ_ONCE(l->dev->dead))	/* a dead device's namespace may be ending */
		loop_run(l);
	rcu_read_unlock();
	return HRTIMER_NORESTART;	/* loop_arm() has restarted it if necessary */
}

/* ---- tests are set ---- */

static void loop_free(struct mrc_prober_table *t)
{
	u32 i;

	for (i = 0; i < t->n; i++)
		kfree(t->test[i]);
	kvfree(t->test);
	kvfree(t->heap);
	memset(t, 0, sizeof(*t));
}

static bool loop_fill(struct mrc_prober_table *t, const struct mrc_selfprobe_cfg *tests, u32 n)
{
	for (; t->n < n; t->n++) {
		t->test[t->n] = kmalloc(sizeof(**t->test), GFP_KERNEL_ACCOUNT);
		if (!t->test[t->n])
			return false;
		mrc_selfprobe_init(t->test[t->n], &tests[t->n], mrc_random_u64());
	}
	return true;
}

static int loop_alloc(struct mrc_prober_table *t, const struct mrc_selfprobe_cfg *tests, u32 n)
{
	memset(t, 0, sizeof(*t));
	t->test = kvcalloc(n ?: 1, sizeof(*t->test), GFP_KERNEL_ACCOUNT);
	t->heap = kvcalloc(n ?: 1, sizeof(*t->heap), GFP_KERNEL_ACCOUNT);
	if (t->test && t->heap && loop_fill(t, tests, n))
		return 0;
	loop_free(t);
	return -ENOMEM;
}

int mrc_loop_set(struct mrc_dev *dev, const struct mrc_prober_cfg *cfg, u64 budget,
		 const struct mrc_selfprobe_cfg *tests, u32 n)
{
	struct mrc_loop *l = dev->loop;
	enum mrc_prober_news news;
	struct mrc_prober_table t;
	int err;

	ASSERT_RTNL();
	err = loop_alloc(&t, tests, n);
	if (err)
		return err;
	spin_lock_bh(&l->lock);
	l->budget = budget;
	news = mrc_prober_replace(&l->prober, cfg, &t, ktime_get_ns());
	loop_arm(l);
	spin_unlock_bh(&l->lock);
	loop_log(dev, news);
	loop_free(&t);
	return 0;
}

int mrc_loop_init(struct mrc_dev *dev)
{
	struct mrc_loop *l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);

	if (!l)
		return -ENOMEM;
	l->dev = dev;
	spin_lock_init(&l->lock);
	mrc_hrtimer_setup(&l->timer, loop_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	mrc_prober_init(&l->prober, mrc_random_u64(), MRC_LOOP_LEAST);
	dev->loop = l;
	return 0;
}

void mrc_loop_exit(struct mrc_dev *dev)
{
	hrtimer_cancel(&dev->loop->timer);
	loop_free(&dev->loop->prober.t);
	kfree(dev->loop);
}

/* ---- results ---- */

void mrc_loop_get_info(struct mrc_dev *dev, struct mrc_loop_info *info)
{
	struct mrc_loop *l = dev->loop;

	spin_lock_bh(&l->lock);
	*info = (struct mrc_loop_info) {
		.cfg = l->prober.cfg, .budget = l->budget, .n = l->prober.t.n, .paused = l->prober.paused,
		.left_ns = mrc_prober_left_ns(&l->prober, ktime_get_ns()), .count = l->prober.count,
	};
	spin_unlock_bh(&l->lock);
}

bool mrc_loop_get_test(struct mrc_dev *dev, u64 id, struct mrc_selfprobe *test)
{
	const struct mrc_selfprobe *t;

	spin_lock_bh(&dev->loop->lock);
	t = mrc_prober_from(&dev->loop->prober, id);
	if (t)
		*test = *t;
	spin_unlock_bh(&dev->loop->lock);
	return t;
}
