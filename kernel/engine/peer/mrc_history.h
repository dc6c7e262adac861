/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_history.h - a ring of event records that a storm of events does not flush.
 *
 * An event with the kind, cause, plane and peer of a record less than a second old is counted in
 * that record. Once MRC_HISTORY_CROWD peers have the same event within a second, the others share
 * one record without a peer. Records cost credit: a burst at first, then a rate per second. Events
 * without credit are counted as lost. A demotion of 120,000 EVs of a plane makes nine records.
 *
 * The caller owns memory and lock, and defines the numbers of kinds and causes.
 */
#ifndef MRC_HISTORY_H
#define MRC_HISTORY_H

#include "base/mrc_types.h"

#define MRC_HISTORY_MERGE_NS	1000000000ull
#define MRC_HISTORY_CROWD	8
#define MRC_HISTORY_BURST	512		/* records */
#define MRC_HISTORY_RATE	16		/* records per second */
#define MRC_HISTORY_NO_PLANE	0xff
#define MRC_HISTORY_NO_EV	MRC_NONE16

struct mrc_history_event {
	u8 kind, cause;
	u8 plane;		/* 0-based, or MRC_HISTORY_NO_PLANE */
	u16 ev;			/* index of the first EV, or MRC_HISTORY_NO_EV */
	u32 value;		/* and its value */
	u32 count;		/* number of events, at least 1 */
	u8 peer[16];		/* GID; all zero: no peer, or many */
};

struct mrc_history_rec {
	u64 at_ns, last_ns;	/* time of the first and the latest event */
	u64 real_ns;		/* time of the first, wall clock */
	u32 reported;		/* count at the last mrc_history_report() */
	struct mrc_history_event event;
};

struct mrc_history {
	struct mrc_history_rec *rec;
	u32 size;		/* records; a power of two */
	u32 credit;		/* records that may be added now */
	u64 credit_ns;
	u64 next;		/* number of the next record */
	u64 untold;		/* all records before it are reported and closed */
	u64 lost;		/* events without credit */
};

/* @mem: @size records, @size a power of two. */
void mrc_history_init(struct mrc_history *h, void *mem, u32 size, u64 now_ns);
static inline size_t mrc_history_mem_size(u32 size)
{
	return size * sizeof(struct mrc_history_rec);
}

/* True: a new record; false: counted in an older one, or lost. */
bool mrc_history_add(struct mrc_history *h, const struct mrc_history_event *event, u64 now_ns, u64 real_ns);

/* Number of the oldest record in the ring. */
static inline u64 mrc_history_first(const struct mrc_history *h)
{
	return h->next > h->size ? h->next - h->size : 0;
}

/* Record @n, mrc_history_first() <= n < next. */
static inline const struct mrc_history_rec *mrc_history_at(const struct mrc_history *h, u64 n)
{
	return &h->rec[n & (h->size - 1)];
}

/*
 * The next record to report: a new one, or one whose count grew since its report and is final now.
 * False: there is none; *again_ns is when to call again, or MRC_TIME_NEVER.
 */
bool mrc_history_report(struct mrc_history *h, u64 now_ns, u64 *n, u64 *again_ns);

#endif
