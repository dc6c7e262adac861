// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_attr.c - settings of a device: defaults, what goes together, taking effect.
 *
 * A change is made on a copy, judged as a whole and then written field by field;
 * the packet path reads single fields without a lock. Most settings concern what is
 * made or sent from then on.
 */
#include <linux/rtnetlink.h>
#include "rdma/mrc-abi.h"
#include "linux/mrc.h"
#include "mrc_compat_net.h"
#include "mrc_net.h"
#include "mrc_path.h"
#include "mrc_qpcc.h"

const struct mrc_dev_attr mrc_attr_default = {
	.udp_port = MRC_UDP_PORT,
	.icrc = true,
	.cwnd_bytes = 512 * 1024,
	.mpr = 8,
	.hop_limit = 64,
	/* names in MRC 1.0 section 8; values as simulators and switch examples have them */
	.dscp = {
		[MRC_TC_DATA] = 8,		/* TRIMMABLE */
		[MRC_TC_RTX] = 12,		/* TRIMMABLE_RETX */
		[MRC_TC_CONTROL] = 46,		/* CONTROL */
		[MRC_TC_NO_TRIM] = 10,		/* NO_TRIM */
	},
	.dscp_trimmed = 16,			/* TRIMMED */
	.dscp_trimmed_lasthop = 18,		/* TRIMMED_LASTHOP */
	.active_evs = 128,
	.profile_id = 1,
	.damp_ms = 2000,
	.trim_nack = true,
	.timestamps = true,
	.incast = true,
};

static const char *const mrc_dscp_names[MRC_TCLASSES] = {
	[MRC_TC_DATA] = "data",
	[MRC_TC_RTX] = "rtx",
	[MRC_TC_CONTROL] = "control",
	[MRC_TC_NO_TRIM] = "no-trim",
};

/*
 * What we send must not look trimmed, or every packet would be answered by a NACK;
 * and the two marks must differ, or congestion of the last hop would be blamed on paths.
 */
static int mrc_check_dscp(const struct mrc_dev_attr *a, struct netlink_ext_ack *extack)
{
	int i;

	if (a->dscp_trimmed == a->dscp_trimmed_lasthop) {
		MRC_ERR_MSG(extack, "DSCP %u: trimmed and trimmed-lasthop must differ",
			    a->dscp_trimmed);
		return -EINVAL;
	}
	for (i = 0; i < MRC_TCLASSES; i++) {
		if (a->dscp[i] == a->dscp_trimmed || a->dscp[i] == a->dscp_trimmed_lasthop) {
			MRC_ERR_MSG(extack, "DSCP %u: %s and %s must differ", a->dscp[i],
				    mrc_dscp_names[i], a->dscp[i] == a->dscp_trimmed ?
				    "trimmed" : "trimmed-lasthop");
			return -EINVAL;
		}
	}
	return 0;
}

static int mrc_check_dev_attr(struct mrc_dev *dev, const struct mrc_dev_attr *a,
			      struct netlink_ext_ack *extack)
{
	struct mrc_cc_profile cc;

	if (a->cc_profile_id && !mrc_cc_profile_get(dev, a->cc_profile_id, &cc)) {
		MRC_ERR_MSG(extack, "%s has no CC profile %llu", dev->ndev->name,
			    a->cc_profile_id);
		return -ENOENT;
	}
	return mrc_check_dscp(a, extack);
}

int mrc_dev_attr_set(struct mrc_dev *dev, const struct mrc_dev_attr *new,
		     struct netlink_ext_ack *extack)
{
	struct mrc_dev_attr *a = &dev->attr, old = *a;
	int err, i;

	ASSERT_RTNL();
	err = mrc_check_dev_attr(dev, new, extack);
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
	TAKE(exp_cnt);
#undef TAKE
	if (old.profile_id != new->profile_id || old.ev_port_low != new->ev_port_low)
		mrc_peers_profiles_changed(dev);
	if (old.damp_ms != new->damp_ms)
		mrc_dev_damp_changed(dev);
	if (old.incast != new->incast) {
		spin_lock_bh(&dev->incast_lock);
		dev->incast.cfg.off = !new->incast;
		spin_unlock_bh(&dev->incast_lock);
	}
	if (old.cwnd_bytes != new->cwnd_bytes)
		mrc_peers_for_each(dev, mrc_qpcc_refresh);
	return 0;
}
