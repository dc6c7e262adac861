/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_dev_attr.h - settings of a device: values, defaults, and valid combinations.
 *
 * The packet path reads single fields without a lock (READ_ONCE). Only mrc_dev_set() changes them,
 * under rtnl.
 */
#ifndef MRC_DEV_ATTR_H
#define MRC_DEV_ATTR_H

#include <linux/netlink.h>
#include "engine/peer/mrc_damp.h"
#include "engine/base/mrc_types.h"

/* Settings of mrcctl and mrcd (device/mrc_dev_set.c); read without a lock. */
struct mrc_dev_attr {
	u16 udp_port;
	bool icrc;
	u32 cwnd_bytes;		/* fixed window of QPs without a CC profile */
	u8 mpr;			/* window of new QPs, in units of 128 PSNs */
	u8 hop_limit;		/* of outer headers */
	u8 dscp[MRC_TCLASSES];	/* by enum mrc_tclass */
	u8 dscp_trimmed, dscp_trimmed_lasthop;	/* set by switches that trim */
	u16 active_evs;		/* EVs that a new QP sprays over */
	u64 profile_id;		/* default EV profile */
	u64 cc_profile_id;	/* default CC profile; 0: none */
	u32 damp_ms;		/* half-life of flap damping; 0: off */
	bool trim_nack;		/* trimmed packets are NACKed, so data may be trimmed */
	bool timestamps;	/* in data packets */
	bool dyn_mpr;		/* the window changes while QPs run; both ends must agree */
	bool strict;		/* new QPs place data in PSN order */
	bool sleek;		/* new QPs also detect loss by count (mrc_sleek.c) */
	bool incast;		/* when many send, ask them to slow down */
	bool oor_nack;		/* NACK PSNs beyond the window */
	bool ev_port_low;	/* on the wire, the low half of an EV is the UDP source port;
				 * both ends must agree */
	bool mrc_pad;		/* mrc.h QPs pad payload to four bytes */
	bool ep_op_high;	/* op of endpoint responses in bits 5:4; both places are understood */
	bool port_bit_1;	/* bit 1 of port status masks is port 1; both ends must agree. A change
				 * announces nothing: the peer may not have it yet */
	u8 burst;		/* packets that new QPs send in a row by one EV: mrc_burst_of() */
	u8 exp_cnt;		/* retries with doubling timeouts; MRC_EXP_FOREVER: no limit */
};

extern const struct mrc_dev_attr mrc_dev_attr_default;

/* Any context. 0, or -EINVAL with extack: values that contradict each other. */
int mrc_dev_attr_check(const struct mrc_dev_attr *a, struct netlink_ext_ack *extack);
/* Any context. Converts the setting of flap damping for the engine. */
void mrc_dev_attr_damp(const struct mrc_dev_attr *a, struct mrc_damp_cfg *cfg);

#endif
