// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_set.c - applies settings of a device.
 *
 * A change is made on a copy, checked as a whole and then written field by field. The packet path
 * reads single fields without a lock. Most settings apply to objects and packets that are created
 * later.
 */
#include <linux/rtnetlink.h>
#include "compat/mrc_compat_net.h"
#include "core/mrc_event.h"
#include "path/mrc_cc_profile.h"
#include "path/mrc_path_change.h"
#include "path/mrc_peer_hint.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peers.h"
#include "path/mrc_reach.h"
#include "device/mrc_carrier.h"
#include "device/mrc_dev_set.h"

/* Are the settings valid? The peers of QPs must have a path with the new default profile, too. */
static int dev_set_check(struct mrc_dev *dev, const struct mrc_dev_attr *a,
			 struct netlink_ext_ack *extack)
{
	struct mrc_cc_profile cc;

	if (a->cc_profile_id && !mrc_cc_profile_get(dev, a->cc_profile_id, &cc)) {
		MRC_ERR_MSG(extack, "%s has no CC profile %llu: set that profile first", dev->ndev->name,
			    a->cc_profile_id);
		return -ENOENT;
	}
	return mrc_dev_attr_check(a, extack) ?: mrc_reach_default(dev, a->profile_id, extack);
}

int mrc_dev_set(struct mrc_dev *dev, const struct mrc_dev_attr *new,
		struct netlink_ext_ack *extack)
{
	struct mrc_dev_attr *a = &dev->attr, old = *a;
	int err, i;

	ASSERT_RTNL();
	err = dev_set_check(dev, new, extack);
	if (err)
		return err;
	for (i = 0; i < MRC_TCLASSES; i++)
		WRITE_ONCE(a->dscp[i], new->dscp[i]);
#define TAKE(field) WRITE_ONCE(a->field, new->field)
	TAKE(udp_port);
	TAKE(icrc);
	TAKE(cwnd_bytes);
	TAKE(mpr);
	TAKE(hop_limit);
	TAKE(dscp_trimmed);
	TAKE(dscp_trimmed_lasthop);
	TAKE(active_evs);
	TAKE(profile_id);
	TAKE(cc_profile_id);
	TAKE(damp_ms);
	TAKE(trim_nack);
	TAKE(timestamps);
	TAKE(dyn_mpr);
	TAKE(strict);
	TAKE(sleek);
	TAKE(incast);
	TAKE(oor_nack);
	TAKE(ev_port_low);
	TAKE(mrc_pad);
	TAKE(ep_op_high);
	TAKE(port_bit_1);
	TAKE(burst);
	TAKE(exp_cnt);
#undef TAKE
	if (old.profile_id != new->profile_id || old.ev_port_low != new->ev_port_low)
		mrc_path_change_profiles(dev);
	if (old.icrc != new->icrc || old.udp_port != new->udp_port ||
	    old.hop_limit != new->hop_limit)
		mrc_peers_for_each(dev, mrc_peer_hint_forget);
	if (old.udp_port != new->udp_port || (new->icrc && !old.icrc))
		mrc_peers_for_each(dev, mrc_peer_port_announce);
	if (old.damp_ms != new->damp_ms)
		mrc_carrier_damp(dev);
	if (old.incast != new->incast) {
		spin_lock_bh(&dev->incast_lock);
		mrc_incast_set_off(&dev->incast, !new->incast);
		spin_unlock_bh(&dev->incast_lock);
	}
	if (old.cwnd_bytes != new->cwnd_bytes)
		mrc_path_change_cc(dev);
	if (memcmp(&old, a, sizeof(old)))
		mrc_event_dev(dev, MRC_EVENT_DEV_SET);
	return 0;
}
