// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_port.c - see mrc_dev_port.h.
 */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev_kept.h"
#include "core/mrc_event.h"
#include "core/mrc_log.h"
#include "core/mrc_net.h"
#include "path/mrc_peers.h"
#include "data/mrc_mcast.h"
#include "device/mrc_carrier.h"
#include "device/mrc_dev_port.h"
#include "device/mrc_parent.h"

#define MRC_PORT_MTU_GOOD	(4096 + MRC_OVERHEAD)	/* for packets of the largest path MTU, without SRv6 */

static void plane_free_rcu(struct rcu_head *rcu)
{
	struct mrc_dev_plane *plane = container_of(rcu, struct mrc_dev_plane, rcu);

	netdev_put(plane->ndev, &plane->tracker);
	free_percpu(plane->stats);
	kfree(plane);
}

void mrc_dev_port_off(struct mrc_dev_plane *plane)
{
	struct mrc_dev *dev = plane->dev;
	u8 n = 0, i;

	RCU_INIT_POINTER(dev->plane[plane->num], NULL);
	mrc_mcast_plane_off(plane);
	mrc_dev_kept_save(plane);
	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (rtnl_dereference(dev->plane[i]))
			n = i + 1;
	WRITE_ONCE(dev->n_planes, n);
	mrc_dev_plane_withdraw(plane);
	if (dev->own_netdev)
		netdev_upper_dev_unlink(plane->ndev, dev->ndev);
	mrc_parent_follow(dev);
	mrc_carrier_forget(dev, plane->num);
	call_rcu(&plane->rcu, plane_free_rcu);
}

/* Checks @number (1-based), or chooses one for @port (0). Returns the plane number (0-based) or -errno with extack. */
static int plane_number(struct mrc_dev *dev, const struct net_device *port, u8 number,
			struct netlink_ext_ack *extack)
{
	int num;

	if (number > MRC_PLANES_MAX) {
		MRC_ERR_MSG(extack, "plane %u: numbers go from 1 to %u", number, MRC_PLANES_MAX);
		return -EINVAL;
	}
	if (number) {
		if (!rtnl_dereference(dev->plane[number - 1]))
			return number - 1;
		MRC_ERR_MSG(extack, "plane %u of %s exists already", number, dev->ndev->name);
		return -EEXIST;
	}
	num = mrc_dev_kept_number(dev, port);
	if (num >= 0)
		return num;
	MRC_ERR_MSG(extack, "%s has %u planes already", dev->ndev->name, MRC_PLANES_MAX);
	return -ENOSPC;
}

/* Notes in extack for the caller, who has added @port. */
static void port_note(struct mrc_dev *dev, const struct net_device *port, int num,
		      struct netlink_ext_ack *extack)
{
	int i;

	if (port->mtu < MRC_PORT_MTU_GOOD + MRC_OUTER_LEN + MRC_SRH_LEN)
		MRC_ERR_MSG(extack, "Note: MTU %u of %s: 4096 bytes a packet need %u, in SRv6 %u",
			    port->mtu, port->name, MRC_PORT_MTU_GOOD,
			    MRC_PORT_MTU_GOOD + MRC_OUTER_LEN + MRC_SRH_LEN);
	for (i = 0; i < num; i++)
		if (mrc_dev_kept_for(dev, (u8)i))
			MRC_ERR_MSG(extack, "Note: %s is plane %d: %d is kept for %s, which left",
				    port->name, num + 1, i + 1, mrc_dev_kept_for(dev, (u8)i));
}

/* Restores the kept settings of the plane, and logs that. */
static void plane_restore(struct mrc_dev_plane *plane)
{
	const struct net_device *ndev = plane->dev->ndev;
	const char *was = mrc_dev_kept_for(plane->dev, plane->num);

	if (was && strcmp(was, plane->ndev->name))
		netdev_info(ndev, "all plane numbers are taken: %s becomes plane %u, the settings kept for %s are dropped\n",
			    plane->ndev->name, plane->num + 1, was);
	if (!mrc_dev_kept_take(plane))
		return;
	if (plane->has_sid)
		netdev_info(ndev, "%s is plane %u again, admin %s, SID %pI6c\n", plane->ndev->name,
			    plane->num + 1, plane->admin ? "on" : "off", &plane->sid);
	else
		netdev_info(ndev, "%s is plane %u again, admin %s\n", plane->ndev->name,
			    plane->num + 1, plane->admin ? "on" : "off");
}

/* May @port be a plane of @dev? */
static int port_check(struct mrc_dev *dev, struct net_device *port,
		      struct netlink_ext_ack *extack)
{
	struct net_device *upper = netdev_master_upper_dev_get(port);
	struct mrc_dev_plane *other;
	struct mrc_dev *owner;

	if (dev->dead)
		return -ENODEV;
	if (port->flags & IFF_LOOPBACK) {
		MRC_ERR_MSG(extack, "%s is a loopback device: a plane is an Ethernet port", port->name);
		return -EINVAL;
	}
	/* A VRF has the type of Ethernet, but sends nothing. */
	if (port->type != ARPHRD_ETHER || netif_is_l3_master(port)) {
		MRC_ERR_MSG(extack, "%s carries no Ethernet frames, so no RoCE", port->name);
		return -EOPNOTSUPP;
	}
	owner = mrc_dev_of_owner(port);
	if (owner && owner->own_netdev) {
		MRC_ERR_MSG(extack, "%s is an MRC device itself", port->name);
		return -ELOOP;
	}
	if (!net_eq(dev_net(port), dev->net)) {
		MRC_ERR_MSG(extack, "%s is in another network namespace than %s", port->name,
			    dev->ndev->name);
		return -EXDEV;
	}
	other = mrc_dev_plane_of(port);
	if (other) {
		MRC_ERR_MSG(extack, "%s is plane %u of %s already", port->name, other->num + 1,
			    other->dev->ndev->name);
		return -EBUSY;
	}
	if (upper && dev->own_netdev) {
		MRC_ERR_MSG(extack, "%s is enslaved to %s: remove it from there first", port->name, upper->name);
		return -EBUSY;
	}
	return 0;
}

static struct mrc_dev_plane *plane_alloc(struct mrc_dev *dev, struct net_device *port, u8 num)
{
	struct mrc_dev_plane *plane = kzalloc(sizeof(*plane), GFP_KERNEL);
	int cpu;

	if (!plane)
		return NULL;
	plane->stats = alloc_percpu(struct mrc_dev_plane_stats);
	if (!plane->stats) {
		kfree(plane);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(plane->stats, cpu)->sync);
	plane->dev = dev;
	plane->ndev = port;
	plane->num = num;
	plane->admin = true;
	plane->cause = MRC_WHY_NEW;
	plane->carrier = netif_running(port) && netif_carrier_ok(port);
	plane->speed_mbps = mrc_carrier_speed(port);
	netdev_hold(port, &plane->tracker, GFP_KERNEL);
	return plane;
}

int mrc_dev_port_add(struct mrc_dev *dev, struct net_device *port, u8 number,
		     struct netlink_ext_ack *extack)
{
	struct mrc_dev_plane *plane;
	int num, err;

	ASSERT_RTNL();
	err = port_check(dev, port, extack);
	if (err)
		return err;
	num = plane_number(dev, port, number, extack);
	if (num < 0)
		return num;
	plane = plane_alloc(dev, port, (u8)num);
	if (!plane)
		return -ENOMEM;
	err = mrc_dev_plane_publish(plane);
	if (err)
		goto err_free;
	if (dev->own_netdev) {
		/* Without IFF_SLAVE, so that the port keeps its own IPv6. */
		err = netdev_master_upper_dev_link(port, dev->ndev, NULL, NULL, extack);
		if (err)
			goto err_index;
	}
	plane_restore(plane);
	rcu_assign_pointer(dev->plane[num], plane);
	if (num >= dev->n_planes)
		WRITE_ONCE(dev->n_planes, num + 1);
	mrc_mcast_plane_on(plane);
	mrc_parent_follow(dev);
	port_note(dev, port, num, extack);
	mrc_carrier_changed(dev);
	mrc_event_plane(dev, (u8)num);
	return 0;

err_index:
	mrc_dev_plane_withdraw(plane);
err_free:
	call_rcu(&plane->rcu, plane_free_rcu);
	return err;
}

/* Can number @num (0-based) be reserved for @port? Neither may be in use in @dev. */
static int port_assign_check(struct mrc_dev *dev, u8 num, struct net_device *port,
			     struct netlink_ext_ack *extack)
{
	struct mrc_dev_plane *plane = rtnl_dereference(dev->plane[num]);

	if (!dev->own_netdev) {
		MRC_ERR_MSG(extack, "%s was made by rdma link add: its only plane is itself",
			    dev->ndev->name);
		return -EOPNOTSUPP;
	}
	if (plane) {
		MRC_ERR_MSG(extack, "plane %u is %s: ip link set %s nomaster first", num + 1,
			    plane->ndev->name, plane->ndev->name);
		return -EBUSY;
	}
	plane = mrc_dev_plane_of(port);
	if (plane && plane->dev == dev) {
		MRC_ERR_MSG(extack, "%s is plane %u: ip link set %s nomaster first", port->name,
			    plane->num + 1, port->name);
		return -EBUSY;
	}
	return 0;
}

int mrc_dev_port_assign(struct mrc_dev *dev, u8 num, const char *name,
			struct netlink_ext_ack *extack)
{
	struct mrc_dev_plane *plane = rtnl_dereference(dev->plane[num]);
	struct net_device *port = __dev_get_by_name(dev->net, name);
	int err;

	ASSERT_RTNL();
	if (!port) {
		MRC_ERR_MSG(extack, "there is no netdev %s in the namespace of %s", name,
			    dev->ndev->name);
		return -ENODEV;
	}
	if (plane && plane->ndev == port)
		return 0;
	err = port_assign_check(dev, num, port, extack);
	if (!err)
		mrc_dev_kept_assign(dev, num, port);
	return err;
}

static bool port_peer_used(struct mrc_peer *peer, void *arg)
{
	return !peer->local && READ_ONCE(peer->n_users);
}

/*
 * The port may be removed while QPs use it, even if it is the last one: it becomes the same plane again when it
 * returns. And the deletion of a netdev could not be refused.
 */
int mrc_dev_port_del(struct mrc_dev *dev, struct net_device *port)
{
	struct mrc_dev_plane *plane = mrc_dev_plane_of(port);
	u8 num;

	ASSERT_RTNL();
	if (!plane || plane->dev != dev)
		return -ENOENT;
	num = plane->num;
	mrc_log_plane_gone(plane);
	mrc_dev_port_off(plane);
	if (!dev->n_planes && mrc_peers_any(dev, port_peer_used, NULL))
		netdev_warn(dev->ndev, "%s was the last plane: QPs have no path until a port is back\n",
			    port->name);
	mrc_carrier_changed(dev);
	mrc_event_plane(dev, num);
	return 0;
}
