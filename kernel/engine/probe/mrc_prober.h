/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_prober.h - all self-probes of a device: their schedule, the budget of each plane, and whether
 * this host is fit to measure.
 *
 * One timer. Each run first measures its own lateness. If the timer, or a probe through the host's
 * own stack, is late by stall_ns or more, the host is starved: answers may wait in its own queues.
 * Then outstanding probes are void, and none are sent over planes, until the timer was on time
 * MRC_PROBER_CALM times. A pause of MRC_PROBER_TOLD_NS is reported.
 *
 * Probes stop when nobody renews them: a controller that died leaves no traffic behind.
 *
 * The caller owns memory and lock. The work of a call is bounded by MRC_PROBER_LOOK tests. A heap
 * holds the next test.
 */
#ifndef MRC_PROBER_H
#define MRC_PROBER_H

#include "base/mrc_prng.h"
#include "probe/mrc_selfprobe.h"

#define MRC_PROBER_TESTS	1024
#define MRC_PROBER_RATE		32000u		/* limit of probes per second, all tests together */
#define MRC_PROBER_TICK_NS	1000000ull	/* shortest interval of the timer */
#define MRC_PROBER_REST		4		/* it pauses for 4 times its run time: at most 1/5 of a CPU */
#define MRC_PROBER_IDLE_NS	10000000ull	/* interval of the timer while the host is starved */
#define MRC_PROBER_CALM		10
#define MRC_PROBER_TOLD_NS	1000000000ull
#define MRC_PROBER_LOOK		64		/* tests examined per call */
#define MRC_PROBER_FRAME	38		/* bytes of Ethernet framing per packet: preamble to gap */
#define MRC_PROBER_PURSE	16384		/* minimum burst of a plane, bytes */
#define MRC_PROBER_BUDGET_MAX	10000000000ull	/* bytes per second */

struct mrc_prober_cfg {
	u64 expiry_ns, timeout_ns, stall_ns;
	u32 full_every;		/* every full_every-th probe has the size of the MTU; 0: none */
};

/* Tests in ascending order of id, without duplicates. heap: n entries for the prober's use. */
struct mrc_prober_table {
	struct mrc_selfprobe **test;
	struct mrc_selfprobe **heap;
	u32 n;
};

struct mrc_prober_plane {
	u32 mtu;		/* 0: nothing can be sent */
	u64 rate;		/* budget for probes, bytes per second */
	u64 purse;		/* bytes that may be sent at time purse_ns */
	u64 purse_ns;
};

enum mrc_prober_news {
	MRC_PROBER_NOTHING,
	MRC_PROBER_STARVED,	/* the host has been starved for MRC_PROBER_TOLD_NS */
	MRC_PROBER_FED,		/* a starved host has recovered */
	MRC_PROBER_EXPIRED,
	MRC_PROBER_RENEWED,	/* expired tests were set again */
};

/* A probe to send. */
struct mrc_prober_op {
	struct mrc_selfprobe_cfg cfg;
	u64 secret;
	u32 seq;
	u32 size;		/* wanted size of the IP packet; the caller may have to send more */
};

struct mrc_prober_count {
	u64 stalls, forged;
	u64 lag_high_ns, lag_hist[MRC_SELFPROBE_BUCKETS];
};

struct mrc_prober {
	struct mrc_prober_cfg cfg;
	struct mrc_prober_table t;
	struct mrc_selfprobe *host;	/* the test through the host's own stack, or NULL */
	struct mrc_prober_plane plane[MRC_PLANES_MAX];
	struct mrc_prng rand;
	u64 tick_ns;		/* when the timer should run; MRC_TIME_NEVER: it is off */
	u64 began_ns;		/* start of the timer's current run; 0: it does not run */
	u64 until_ns;		/* when the tests expire */
	u64 paused_ns;		/* starved: since when */
	u32 least;		/* bytes of the shortest probe */
	u8 calm;		/* runs on time since the last late one */
	bool slow;		/* the host's own probe was slow since the timer's last run */
	bool paused, told, expired;	/* starved; and reported; tests expired */
	struct mrc_prober_count count;
};

/* @least: bytes of the shortest probe that can be built. */
void mrc_prober_init(struct mrc_prober *p, u64 seed, u32 least);
/*
 * Replace all tests by those of @t. A test with the same cfg as an old one is not used: the old one continues. After
 * the call @t contains what the prober no longer uses; the caller frees it.
 */
enum mrc_prober_news mrc_prober_replace(struct mrc_prober *p, const struct mrc_prober_cfg *cfg,
					struct mrc_prober_table *t, u64 now_ns);
/* Set MTU (0: nothing can be sent) and budget (bytes per second) of plane @num. */
void mrc_prober_plane(struct mrc_prober *p, u8 num, u32 mtu, u64 rate);
/* The timer has expired. Called first in each run. */
enum mrc_prober_news mrc_prober_tick(struct mrc_prober *p, u64 now_ns);
/* The next probe to send now. False: none, or the limit of work per call is reached. */
bool mrc_prober_next(struct mrc_prober *p, u64 now_ns, struct mrc_prober_op *op);
/* The probe could not be sent. */
void mrc_prober_undo(struct mrc_prober *p, const struct mrc_prober_op *op);
/* When the timer must run next; MRC_TIME_NEVER: not at all. Its lateness is measured against that. */
u64 mrc_prober_arm(struct mrc_prober *p, u64 now_ns);
enum mrc_selfprobe_verdict mrc_prober_rx(struct mrc_prober *p, const struct mrc_selfprobe_arrival *c, u64 now_ns);
/* The test with the smallest id >= @id; NULL: there is none. */
struct mrc_selfprobe *mrc_prober_from(const struct mrc_prober *p, u64 id);
/* Time until the tests expire; 0: they have expired, or there are none. */
u64 mrc_prober_left_ns(const struct mrc_prober *p, u64 now_ns);

#endif
