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
 * Probes that were under way while the host paused are void: they prove nothing.
 */
#ifndef MRC_SELFPROBE_H
#define MRC_SELFPROBE_H

#include "base/mrc_types.h"

#define MRC_SELFPROBE_WINDOW	32	/* bits of the masks */
#define MRC_SELFPROBE_AHEAD	16	/* intervals that a timeout may last: so many are under way */
#define MRC_SELFPROBE_BUCKETS	16
#define MRC_SELFPROBE_CONTROL	0xff	/* DSCP of control packets, whatever it is then */

struct mrc_selfprobe_cfg {	/* no holes: compared as bytes */
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
	u64 late;		/* of lost and voided */
	u64 duplicate;
	u64 trimmed, marked;	/* of received */
	u64 full_sent, full_lost;
	u64 unsent, over_budget;
	u64 last_lost_ns, last_received_ns;	/* 0: never */
	u64 rtt_low_ns, rtt_high_ns, rtt_sum_ns;
	u64 rtt_hist[MRC_SELFPROBE_BUCKETS];
	u32 run;		/* lost one after the other */
};

struct mrc_selfprobe {
	struct mrc_selfprobe_cfg cfg;
	u64 secret;
	u64 due_ns;		/* when the next is sent */
	u64 key_ns;		/* when to look at it: mrc_prober.c, as place */
	u32 place;
	u32 next;		/* number of the next */
	u32 waiting, answered, full;	/* bit: number % WINDOW */
	u64 sent_ns[MRC_SELFPROBE_WINDOW];
	struct mrc_selfprobe_count count;
};

/* A probe that came. */
struct mrc_selfprobe_came {
	u32 id, seq;
	u64 secret;
	u8 plane;		/* that it came by */
	bool corrupt, trimmed, marked;
};

enum mrc_selfprobe_verdict {
	MRC_SELFPROBE_TAKEN,	/* the answer to one that was under way */
	MRC_SELFPROBE_LATE,
	MRC_SELFPROBE_DUPLICATE,
	MRC_SELFPROBE_FORGED,
};

/* @secret: that no stranger guesses. */
void mrc_selfprobe_init(struct mrc_selfprobe *t, const struct mrc_selfprobe_cfg *cfg, u64 secret);
/* Bucket of a histogram: 0 below 1,024 ns, each one twice as far, the last has the rest. */
u32 mrc_selfprobe_bucket(u64 ns);
/* Another one leaves now: its number. */
u32 mrc_selfprobe_send(struct mrc_selfprobe *t, bool full, u64 now_ns);
/* The one that left last, @seq, did not leave. */
void mrc_selfprobe_undo(struct mrc_selfprobe *t, u32 seq);
/* When the oldest that is under way was sent; MRC_TIME_NEVER: none is. */
u64 mrc_selfprobe_oldest_ns(const struct mrc_selfprobe *t);
/* Those that were sent at @before_ns or earlier, and are under way, are lost. */
void mrc_selfprobe_expire(struct mrc_selfprobe *t, u64 before_ns, u64 now_ns);
/* All that are under way are void. */
void mrc_selfprobe_void(struct mrc_selfprobe *t);
/* @rtt_ns: of one that was taken. */
enum mrc_selfprobe_verdict mrc_selfprobe_rx(struct mrc_selfprobe *t, const struct mrc_selfprobe_came *c,
					    u64 now_ns, u64 *rtt_ns);

#endif
