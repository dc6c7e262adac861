/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_selfprobe.h - one test of a path: packets that a host sends to itself along it, and their
 * outcome.
 *
 * Each probe carries a number and the secret of the test. The last MRC_SELFPROBE_WINDOW probes are
 * remembered with their send time and state. So a probe counts once, whoever repeats it. A packet
 * with another secret, or with a number that was not sent, is forged. Older probes exist only as
 * counts.
 *
 * A probe that does not return in time is lost. If it returns later, it is also counted as late.
 * Probes that were outstanding while the host paused are void: they prove nothing.
 */
#ifndef MRC_SELFPROBE_H
#define MRC_SELFPROBE_H

#include "base/mrc_types.h"

#define MRC_SELFPROBE_WINDOW	32	/* bits of the masks */
#define MRC_SELFPROBE_AHEAD	16	/* limit of a timeout in intervals, so of outstanding probes */
#define MRC_SELFPROBE_BUCKETS	16
#define MRC_SELFPROBE_CONTROL	0xff	/* use the device's DSCP of control packets */

struct mrc_selfprobe_cfg {	/* without padding, because it is compared as bytes */
	u32 id;
	u32 interval_us;
	u16 size;		/* bytes of the IP packet; 0: the shortest */
	u8 kind;		/* a label */
	u8 plane;		/* 0-based; MRC_PLANE_NONE: through the host's own stack */
	u8 dscp;		/* or MRC_SELFPROBE_CONTROL */
	u8 zero[3];
	u8 path[16];		/* outer destination */
};

struct mrc_selfprobe_count {
	u64 sent, received, lost, corrupt, other_plane, voided;
	u64 late;		/* returned after they were counted as lost or voided */
	u64 duplicate;
	u64 trimmed, marked;	/* part of received */
	u64 full_sent, full_lost;
	u64 unsent, over_budget;
	u64 last_lost_ns, last_received_ns;	/* 0: never */
	u64 rtt_low_ns, rtt_high_ns, rtt_sum_ns;
	u64 rtt_hist[MRC_SELFPROBE_BUCKETS];
	u32 run;		/* lost in a row */
};

struct mrc_selfprobe {
	struct mrc_selfprobe_cfg cfg;
	u64 secret;
	u64 due_ns;		/* when the next probe is due */
	u64 key_ns;		/* for mrc_prober.c: time of the next event, and place in its heap */
	u32 place;
	u32 next;		/* number of the next probe */
	u32 waiting, answered, full;	/* bit: number % WINDOW */
	u64 sent_ns[MRC_SELFPROBE_WINDOW];
	struct mrc_selfprobe_count count;
};

/* A probe that arrived. */
struct mrc_selfprobe_arrival {
	u32 id, seq;
	u64 secret;
	u8 plane;		/* arrival plane */
	bool corrupt, trimmed, marked;
};

enum mrc_selfprobe_verdict {
	MRC_SELFPROBE_TAKEN,	/* an outstanding probe has returned */
	MRC_SELFPROBE_LATE,
	MRC_SELFPROBE_DUPLICATE,
	MRC_SELFPROBE_FORGED,
};

/* @secret: a random number that proves who sent a probe. */
void mrc_selfprobe_init(struct mrc_selfprobe *t, const struct mrc_selfprobe_cfg *cfg, u64 secret);
/* Bucket of a histogram: 0 is below 1,024 ns, each next one ends at twice the time, the last has the rest. */
u32 mrc_selfprobe_bucket(u64 ns);
/* A probe leaves now. Returns its number. */
u32 mrc_selfprobe_send(struct mrc_selfprobe *t, bool full, u64 now_ns);
/* The latest probe, @seq, could not be sent. */
void mrc_selfprobe_undo(struct mrc_selfprobe *t, u32 seq);
/* Send time of the oldest outstanding probe; MRC_TIME_NEVER: there is none. */
u64 mrc_selfprobe_oldest_ns(const struct mrc_selfprobe *t);
/* Outstanding probes that were sent at @before_ns or earlier are lost. */
void mrc_selfprobe_expire(struct mrc_selfprobe *t, u64 before_ns, u64 now_ns);
/* All outstanding probes are void. */
void mrc_selfprobe_void(struct mrc_selfprobe *t);
/* A probe arrived. *@rtt_ns is set only for MRC_SELFPROBE_TAKEN. */
enum mrc_selfprobe_verdict mrc_selfprobe_rx(struct mrc_selfprobe *t, const struct mrc_selfprobe_arrival *c,
					    u64 now_ns, u64 *rtt_ns);

#endif
