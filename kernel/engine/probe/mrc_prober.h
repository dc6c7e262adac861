/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_prober.h - all self-probes of a device: their schedule, the budget of each plane, and whether
 * this host is fit to measure.
 *
 * One timer. Each run first measures its own lateness. If the timer, or a probe through the host's
 * own stack, is late by stall_ns or more, the host is starved: answers may wait in its own queues.
 * Then probes under way are void, and none are sent over planes, until the timer was on time
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
#define MRC_PROBER_RATE		32000u		/* probes a second of all tests */
#define MRC_PROBER_TICK_NS	1000000ull	/* the timer runs no more often */
#define MRC_PROBER_REST		4		/* and rests so many times as long as it ran: a fifth of a CPU at most */
#define MRC_PROBER_IDLE_NS	10000000ull	/* and this often in a pause */
#define MRC_PROBER_CALM		10
#define MRC_PROBER_TOLD_NS	1000000000ull
#define MRC_PROBER_LOOK		64		/* tests in a call */
#define MRC_PROBER_FRAME	38		/* Ethernet's share of a packet: preamble to gap */
#define MRC_PROBER_PURSE	16384		/* bytes that a plane may always spend at once */
#define MRC_PROBER_BUDGET_MAX	10000000000ull	/* bytes a second */

struct mrc_prober_cfg {
	u64 expiry_ns, timeout_ns, stall_ns;
	u32 full_every;		/* one in so many is as long as the MTU; 0: none */
};

/* By id, no two the same. heap: room for as many. */
struct mrc_prober_table {
	struct mrc_selfprobe **test;
	struct mrc_selfprobe **heap;
	u32 n;
};

struct mrc_prober_plane {
	u32 mtu;		/* 0: nothing can be sent */
	u64 rate;		/* bytes a second for probes */
	u64 purse;		/* bytes that it may spend now */
	u64 purse_ns;		/* purse was right then */
};

enum mrc_prober_news {
	MRC_PROBER_NOTHING,
	MRC_PROBER_STARVED,	/* for MRC_PROBER_TOLD_NS */
	MRC_PROBER_FED,
	MRC_PROBER_EXPIRED,
	MRC_PROBER_RENEWED,	/* had expired */
};

/* A probe to be sent. */
struct mrc_prober_op {
	struct mrc_selfprobe_cfg cfg;
	u64 secret;
	u32 seq;
	u32 size;		/* of the IP packet; it may have to be longer */
};

struct mrc_prober_count {
	u64 stalls, forged;
	u64 lag_high_ns, lag_hist[MRC_SELFPROBE_BUCKETS];
};

struct mrc_prober {
	struct mrc_prober_cfg cfg;
	struct mrc_prober_table t;
	struct mrc_selfprobe *host;	/* the one through the host's own stack, if there is one */
	struct mrc_prober_plane plane[MRC_PLANES_MAX];
	struct mrc_prng rand;
	u64 tick_ns;		/* when the timer is to run; MRC_TIME_NEVER: it is off */
	u64 began_ns;		/* when it began to run; 0: it does not */
	u64 until_ns;		/* when the tests expire */
	u64 paused_ns;		/* since when */
	u32 least;		/* bytes of the shortest probe */
	u8 calm;		/* times in time, since the last that was not */
	bool slow;		/* the host's own probe was, since the timer ran */
	bool paused, told, expired;
	struct mrc_prober_count count;
};

/* @least: bytes of the shortest probe that can be built. */
void mrc_prober_init(struct mrc_prober *p, u64 seed, u32 least);
/*
 * From now on the tests are those of @t. Those that the prober has by the same cfg go on in the place of their equals;
 * what it does not need any more is in @t afterwards.
 */
enum mrc_prober_news mrc_prober_replace(struct mrc_prober *p, const struct mrc_prober_cfg *cfg,
					struct mrc_prober_table *t, u64 now_ns);
/* What plane @num takes now; @mtu 0: nothing. */
void mrc_prober_plane(struct mrc_prober *p, u8 num, u32 mtu, u64 rate);
/* The timer runs. */
enum mrc_prober_news mrc_prober_tick(struct mrc_prober *p, u64 now_ns);
/* The next probe to be sent now; false: none, or enough was looked at. */
bool mrc_prober_next(struct mrc_prober *p, u64 now_ns, struct mrc_prober_op *op);
/* It could not be sent. */
void mrc_prober_undo(struct mrc_prober *p, const struct mrc_prober_op *op);
/* When the timer is to run next, MRC_TIME_NEVER: not at all. It measures against that. */
u64 mrc_prober_arm(struct mrc_prober *p, u64 now_ns);
enum mrc_selfprobe_verdict mrc_prober_rx(struct mrc_prober *p, const struct mrc_selfprobe_came *c, u64 now_ns);
/* The test with the smallest id that is not below @id; NULL: there is none. */
struct mrc_selfprobe *mrc_prober_from(const struct mrc_prober *p, u64 id);
/* Until they expire; 0: they have, or there are none. */
u64 mrc_prober_left_ns(const struct mrc_prober *p, u64 now_ns);

#endif
