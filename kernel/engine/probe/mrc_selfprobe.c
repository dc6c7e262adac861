// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_selfprobe.c - see mrc_selfprobe.h.
 */
#include "probe/mrc_selfprobe.h"

static u32 selfprobe_bit(u32 seq)
{
	return 1u << (seq % MRC_SELFPROBE_WINDOW);
}

u32 mrc_selfprobe_bucket(u64 ns)
{
	u32 i = 0;

	for (ns >>= 10; ns && i < MRC_SELFPROBE_BUCKETS - 1; ns >>= 1)
		i++;
	return i;
}

void mrc_selfprobe_init(struct mrc_selfprobe *t, const struct mrc_selfprobe_cfg *cfg, u64 secret)
{
	memset(t, 0, sizeof(*t));
	t->cfg = *cfg;
	t->secret = secret;
	t->answered = ~0u;	/* no answer is expected */
}

static void selfprobe_lose(struct mrc_selfprobe *t, u32 bit, u64 now_ns)
{
	t->waiting &= ~bit;
	t->count.lost++;
	t->count.full_lost += !!(t->full & bit);
	t->count.run++;
	t->count.last_lost_ns = now_ns;
}

u32 mrc_selfprobe_send(struct mrc_selfprobe *t, bool full, u64 now_ns)
{
	u32 seq = t->next++, bit = selfprobe_bit(seq);

	if (t->waiting & bit)	/* the probe WINDOW numbers ago, not expired yet */
		selfprobe_lose(t, bit, now_ns);
	t->waiting |= bit;
	t->answered &= ~bit;
	t->full = full ? t->full | bit : t->full & ~bit;
	t->sent_ns[seq % MRC_SELFPROBE_WINDOW] = now_ns;
	t->count.sent++;
	t->count.full_sent += full;
	return seq;
}

void mrc_selfprobe_undo(struct mrc_selfprobe *t, u32 seq)
{
	u32 bit = selfprobe_bit(seq);

	if (seq + 1 != t->next || !(t->waiting & bit))
		return;
	t->next--;
	t->waiting &= ~bit;
	t->answered |= bit;
	t->count.sent--;
	t->count.full_sent -= !!(t->full & bit);
	t->count.unsent++;
}

/* Number of the oldest outstanding probe; false: there is none. */
static bool selfprobe_oldest(const struct mrc_selfprobe *t, u32 *seq)
{
	u32 first = t->next - MRC_SELFPROBE_WINDOW, i;

	for (i = 0; t->waiting && i < MRC_SELFPROBE_WINDOW; i++) {
		*seq = first + i;
		if (t->waiting & selfprobe_bit(*seq))
			return true;
	}
	return false;
}

u64 mrc_selfprobe_oldest_ns(const struct mrc_selfprobe *t)
{
	u32 seq;

	return selfprobe_oldest(t, &seq) ? t->sent_ns[seq % MRC_SELFPROBE_WINDOW] : MRC_TIME_NEVER;
}

void mrc_selfprobe_expire(struct mrc_selfprobe *t, u64 before_ns, u64 now_ns)
{
	u32 seq;

	while (selfprobe_oldest(t, &seq) && t->sent_ns[seq % MRC_SELFPROBE_WINDOW] <= before_ns)
		selfprobe_lose(t, selfprobe_bit(seq), now_ns);
}

void mrc_selfprobe_void(struct mrc_selfprobe *t)
{
	t->count.voided += hweight64((u64)t->waiting);
	t->waiting = 0;
}

static void selfprobe_round_trip(struct mrc_selfprobe_count *n, u64 rtt_ns)
{
	if (!n->rtt_low_ns || rtt_ns < n->rtt_low_ns)
		n->rtt_low_ns = rtt_ns;
	n->rtt_high_ns = max_t(u64, n->rtt_high_ns, rtt_ns);
	n->rtt_sum_ns += rtt_ns;
	n->rtt_hist[mrc_selfprobe_bucket(rtt_ns)]++;
}

/* An outstanding probe has returned. */
static void selfprobe_take(struct mrc_selfprobe *t, const struct mrc_selfprobe_arrival *c, u64 now_ns, u64 rtt_ns)
{
	struct mrc_selfprobe_count *n = &t->count;

	n->run = 0;
	if (c->corrupt) {
		n->corrupt++;
		return;
	}
	if (c->plane != t->cfg.plane) {
		n->other_plane++;
		return;
	}
	n->received++;
	n->last_received_ns = now_ns;
	n->trimmed += c->trimmed;
	n->marked += c->marked;
	if (!c->trimmed)
		selfprobe_round_trip(n, rtt_ns);
}

enum mrc_selfprobe_verdict mrc_selfprobe_rx(struct mrc_selfprobe *t, const struct mrc_selfprobe_arrival *c,
					    u64 now_ns, u64 *rtt_ns)
{
	u32 age = t->next - c->seq, bit = selfprobe_bit(c->seq);

	if (c->secret != t->secret || !age || age > MRC_SELFPROBE_WINDOW)
		return MRC_SELFPROBE_FORGED;
	if (t->answered & bit) {
		t->count.duplicate++;
		return MRC_SELFPROBE_DUPLICATE;
	}
	t->answered |= bit;
	if (!(t->waiting & bit)) {
		t->count.late++;
		return MRC_SELFPROBE_LATE;
	}
	t->waiting &= ~bit;
	*rtt_ns = now_ns - t->sent_ns[c->seq % MRC_SELFPROBE_WINDOW];
	selfprobe_take(t, c, now_ns, *rtt_ns);
	return MRC_SELFPROBE_TAKEN;
}
