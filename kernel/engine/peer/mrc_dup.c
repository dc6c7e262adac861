// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_dup.c - see mrc_dup.h.
 */
#include "peer/mrc_dup.h"

#define MRC_DUP_SKEW	16u	/* maximum difference of the CPUs' clocks, ticks */

static u32 dup_tick(u64 now_ns)
{
	return (u32)(now_ns >> MRC_DUP_SHIFT);
}

/* A tick slightly in the future comes from another CPU's clock and is young. */
static bool dup_young(u32 tick, u32 now)
{
	u32 age = now - tick;

	return age <= MRC_DUP_TICKS || age >= 0u - MRC_DUP_SKEW;
}

static struct mrc_dup_set *dup_set(struct mrc_dup *t, u64 digest)
{
	return &t->set[(digest >> 32) % MRC_DUP_SETS];
}

/* 0 stands for a free entry. */
static u64 dup_word(u64 digest)
{
	return digest ? digest : 1;
}

static bool dup_knows(const struct mrc_dup_set *set, u64 word, u32 now)
{
	u32 i;

	for (i = 0; i < MRC_DUP_WAYS; i++)
		if (set->digest[i] == word && dup_young(set->tick[i], now))
			return true;
	return false;
}

/* False: the set is full of young ones. */
static bool dup_note(struct mrc_dup_set *set, u64 word, u32 now)
{
	u32 i;

	for (i = 0; i < MRC_DUP_WAYS; i++) {
		if (set->digest[i] && dup_young(set->tick[i], now))
			continue;
		set->digest[i] = word;
		set->tick[i] = now;
		return true;
	}
	return false;
}

/* Did an original pass recently without being recorded? Its copy may follow. */
static bool dup_blind(const struct mrc_dup_set *set, u32 now)
{
	return set->blind && dup_young(set->blind_tick, now);
}

bool mrc_dup_take(struct mrc_dup *t, u64 digest, bool copy, u64 now_ns)
{
	struct mrc_dup_set *set = dup_set(t, digest);
	u64 word = dup_word(digest);
	u32 now = dup_tick(now_ns);

	if (dup_knows(set, word, now) || (copy && dup_blind(set, now)))
		return false;
	if (dup_note(set, word, now))
		return true;
	if (copy)
		return false;
	set->blind = true;
	set->blind_tick = now;
	return true;
}

void mrc_dup_untake(struct mrc_dup *t, u64 digest)
{
	struct mrc_dup_set *set = dup_set(t, digest);
	u64 word = dup_word(digest);
	u32 i;

	for (i = 0; i < MRC_DUP_WAYS; i++)
		if (set->digest[i] == word)
			set->digest[i] = 0;
}
