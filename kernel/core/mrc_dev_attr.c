// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dev_attr.c - see mrc_dev_attr.h.
 */
#include "engine/wire/mrc_wire.h"
#include "compat/mrc_compat_net.h"
#include "core/mrc_dev_attr.h"

const struct mrc_dev_attr mrc_dev_attr_default = {
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
	.burst = 0,		/* Documentation/lab/2026-11.md, Bursts */
	.profile_id = 1,
	.damp_ms = 2000,
	.trim_nack = true,
	.timestamps = true,
	.incast = true,
};

static const char *const attr_dscp_names[MRC_TCLASSES] = {
	[MRC_TC_DATA] = "data",
	[MRC_TC_RTX] = "rtx",
	[MRC_TC_CONTROL] = "control",
	[MRC_TC_NO_TRIM] = "no-trim",
};

/*
 * Our own packets must not carry a mark of trimmed packets, or the peer would answer each by a
 * NACK. The two marks must differ, or congestion at the last hop would be blamed on paths.
 */
int mrc_dev_attr_check(const struct mrc_dev_attr *a, struct netlink_ext_ack *extack)
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
				    attr_dscp_names[i], a->dscp[i] == a->dscp_trimmed ?
				    "trimmed" : "trimmed-lasthop");
			return -EINVAL;
		}
	}
	return 0;
}

void mrc_dev_attr_damp(const struct mrc_dev_attr *a, struct mrc_damp_cfg *cfg)
{
	u32 ms = READ_ONCE(a->damp_ms);

	*cfg = (struct mrc_damp_cfg) {
		.half_life_ns = (u64)ms * NSEC_PER_MSEC,
		.off = !ms,
	};
}
