// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_plane.c - see mrc_dev_plane.h.
 */
#include <linux/hash.h>
#include <linux/rtnetlink.h>
#include "core/mrc_dev_plane.h"
#include "core/mrc_xa_cache.h"
#include "core/mrc_net.h"

/*
 * One cache for all namespaces. Indices are hashes of ports' addresses, because ifindexes repeat.
 */
static struct mrc_xa_cache planes_cache;

static u32 front_index(const struct net_device *port)
{
	return hash_ptr(port, 32);
}

int mrc_dev_plane_publish(struct mrc_dev_plane *plane)
{
	const struct net_device *port = plane->ndev;
	int err = xa_err(xa_store(&plane->dev->mnet->planes, (unsigned long)port->ifindex, plane,
				  GFP_KERNEL));

	if (!err)
		mrc_xa_cache_set(&planes_cache, front_index(port), plane);
	return err;
}

void mrc_dev_plane_withdraw(struct mrc_dev_plane *plane)
{
	xa_erase(&plane->dev->mnet->planes, (unsigned long)plane->ndev->ifindex);
	mrc_xa_cache_drop(&planes_cache, front_index(plane->ndev), plane);
}

struct mrc_dev_plane *mrc_dev_plane_of(const struct net_device *port)
{
	struct mrc_dev_plane *plane = mrc_xa_cache_lookup(&planes_cache, front_index(port));
	struct mrc_net *mnet;

	if (likely(plane && plane->ndev == port))
		return plane;
	mnet = mrc_net_of(dev_net(port));
	return mnet ? xa_load(&mnet->planes, (unsigned long)port->ifindex) : NULL;
}

enum mrc_log_cause mrc_dev_plane_cause(const struct mrc_dev_plane *p)
{
	ASSERT_RTNL();
	if (mrc_dev_plane_up(p))
		return MRC_WHY_NONE;
	if (p->dev->down)
		return MRC_WHY_DEV_DOWN;
	if (!p->admin)
		return MRC_WHY_ADMIN;
	if (!p->carrier)	/* a port that is set down has its carrier for a moment */
		return netif_running(p->ndev) && !netif_carrier_ok(p->ndev) ? MRC_WHY_NO_CARRIER :
									      MRC_WHY_PORT_DOWN;
	return p->held ? MRC_WHY_HELD : MRC_WHY_SMALL;
}

u32 mrc_dev_plane_mask(const struct mrc_dev *dev)
{
	u32 mask = 0, i;

	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (rcu_access_pointer(dev->plane[i]))
			mask |= 1u << i;
	return mask;
}

u32 mrc_dev_plane_speed_mbps(const struct mrc_dev *dev, u32 mask)
{
	u32 up = 0, all = 0, speed;
	struct mrc_dev_plane *plane;
	int i;

	rcu_read_lock();
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		plane = rcu_dereference(dev->plane[i]);
		if (!plane)
			continue;
		speed = READ_ONCE(plane->speed_mbps);
		all += speed;
		if (mrc_dev_plane_up(plane) && mask & (1u << i))
			up += speed;
	}
	rcu_read_unlock();
	return up ? up : all;
}

/* Bytes around the payload of the longest packet, on any EV of the device's profiles. */
static u32 plane_overhead(const struct mrc_dev *dev)
{
	if (READ_ONCE(dev->n_profiles_srh))
		return MRC_OVERHEAD + MRC_OUTER_LEN + MRC_SRH_LEN;
	return READ_ONCE(dev->n_profiles_srv6) ? MRC_OVERHEAD + MRC_OUTER_LEN : MRC_OVERHEAD;
}

/* The smallest plane decides, because any packet may take any plane. */
enum ib_mtu mrc_dev_plane_ib_mtu(const struct mrc_dev *dev)
{
	u32 mtu = U32_MAX, overhead = plane_overhead(dev);
	u32 i;

	rcu_read_lock();
	for (i = 0; i < MRC_PLANES_MAX; i++) {
		const struct mrc_dev_plane *p = rcu_dereference(dev->plane[i]);

		if (p)
			mtu = min(mtu, READ_ONCE(p->ndev->mtu));
	}
	rcu_read_unlock();
	if (mtu == U32_MAX)
		return IB_MTU_4096;	/* no plane yet: no limit known */
	return ib_mtu_int_to_enum(mtu > overhead ? (int)(mtu - overhead) : 0);
}

u32 mrc_dev_plane_mtu_for(const struct mrc_dev *dev, enum ib_mtu mtu)
{
	return (u32)ib_mtu_enum_to_int(mtu) + plane_overhead(dev);
}

enum ib_mtu mrc_dev_plane_mtu_used(const struct mrc_dev *dev)
{
	enum ib_mtu mtu = IB_MTU_4096;

	while (mtu && !atomic_read(&dev->n_mtu[mtu]))
		mtu--;
	return mtu;
}

void mrc_dev_plane_mtu_get(struct mrc_dev *dev, enum ib_mtu mtu)
{
	/*
	 * The MTU of a plane may have fallen since the path MTU was chosen. Each side writes, then
	 * reads the other's value.
	 */
	if (atomic_inc_return(&dev->n_mtu[mtu]) == 1 && mtu > mrc_dev_plane_ib_mtu(dev))
		queue_work(mrc_wq, &dev->carrier_work);
}

void mrc_dev_plane_mtu_put(struct mrc_dev *dev, enum ib_mtu mtu)
{
	/* A plane that was too small may be large enough for the remaining connections. */
	if (atomic_dec_and_test(&dev->n_mtu[mtu]) && mtu > mrc_dev_plane_ib_mtu(dev))
		queue_work(mrc_wq, &dev->carrier_work);
}

/* ---- counters ---- */

void mrc_dev_plane_count_tx(const struct mrc_dev_plane *plane, u32 packets, u32 len)
{
	struct mrc_dev_plane_stats *s = this_cpu_ptr(plane->stats);

	u64_stats_update_begin(&s->sync);
	u64_stats_add(&s->tx_pkts, packets);
	u64_stats_add(&s->tx_bytes, len);
	u64_stats_update_end(&s->sync);
}

void mrc_dev_plane_count_rx(const struct mrc_dev_plane *plane, u32 len)
{
	struct mrc_dev_plane_stats *s = this_cpu_ptr(plane->stats);

	u64_stats_update_begin(&s->sync);
	u64_stats_inc(&s->rx_pkts);
	u64_stats_add(&s->rx_bytes, len);
	u64_stats_update_end(&s->sync);
}

void mrc_dev_plane_sum_up(const struct mrc_dev_plane *plane, struct mrc_dev_plane_sum *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct mrc_dev_plane_stats *s = per_cpu_ptr(plane->stats, cpu);
		struct mrc_dev_plane_sum one;
		unsigned int start;

		do {
			start = u64_stats_fetch_begin(&s->sync);
			one.tx_pkts = u64_stats_read(&s->tx_pkts);
			one.tx_bytes = u64_stats_read(&s->tx_bytes);
			one.rx_pkts = u64_stats_read(&s->rx_pkts);
			one.rx_bytes = u64_stats_read(&s->rx_bytes);
		} while (u64_stats_fetch_retry(&s->sync, start));
		sum->tx_pkts += one.tx_pkts;
		sum->tx_bytes += one.tx_bytes;
		sum->rx_pkts += one.rx_pkts;
		sum->rx_bytes += one.rx_bytes;
	}
}

void mrc_dev_plane_no_carrier(const struct mrc_dev_plane *plane)
{
	if (READ_ONCE(plane->carrier))
		queue_work(mrc_wq, &plane->dev->carrier_work);
}
