/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_cc.h - congestion control: the engine's only table of functions.
 *
 * MRC 1.0 section 5 (8.1-8.7). A controller is one const struct mrc_cc_ops and
 * a state inside struct mrc_cc; it sees samples and answers with a window in
 * bytes. Sending is allowed while inflight < cwnd. NSCC fills this interface;
 * mrc_cc_fixed is the constant window.
 */
#ifndef MRC_CC_H
#define MRC_CC_H

#include "mrc_types.h"

struct mrc_cc_sample {
	u64 now_ns;
	u32 acked_bytes;	/* newly known as delivered */
	u32 lost_bytes;		/* newly known as lost or trimmed */
	u32 inflight_bytes;	/* before this event */
	u64 rtt_ns;		/* 0: no unambiguous sample */
	bool ecn;		/* the answered packet was marked */
	u8 rcv_cwnd_pen;	/* responder's lever, 5.3 */
	bool restore_cwnd;
};

struct mrc_cc;

struct mrc_cc_ops {
	const char *name;
	void (*init)(struct mrc_cc *cc);
	void (*on_ack)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
	void (*on_nack)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
	void (*on_timeout)(struct mrc_cc *cc, const struct mrc_cc_sample *s);
};

struct mrc_cc_cfg {
	u32 window_bytes;	/* initial window; the window of the fixed controller */
	u32 mtu;		/* floor of the window */
};

struct mrc_cc {
	const struct mrc_cc_ops *ops;
	struct mrc_cc_cfg cfg;
	u32 cwnd_bytes;
	u64 priv[16];
};

void mrc_cc_init(struct mrc_cc *cc, const struct mrc_cc_ops *ops,
		 const struct mrc_cc_cfg *cfg);

extern const struct mrc_cc_ops mrc_cc_fixed;

#endif
