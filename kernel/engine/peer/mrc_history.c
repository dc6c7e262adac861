// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_history.c - see mrc_history.h.
 */
#include "peer/mrc_history.h"

#define HISTORY_LOOK	64	/* records examined for the same event */

static struct mrc_history_rec *history_rec(struct mrc_history *h, u64 n)
{
	return &h->rec[n & (h->size - 1)];
}

void mrc_history_init(struct mrc_history *h, void *mem, u32 size, u64 now_ns)
{
	memset(h, 0, sizeof(*h));
	memset(mem, 0, mrc_history_mem_size(size));
	h->rec = (struct mrc_history_rec *)mem;
	h->size = size;
	h->credit = MRC_HISTORY_BURST;
	h->credit_ns = now_ns;
}

static bool history_open(const struct mrc_history_rec *r, u64 now_ns)
{
	return now_ns < r->at_ns + MRC_HISTORY_MERGE_NS;
}

static bool history_alike(const struct mrc_history_event *a, const struct mrc_history_event *b)
{
	return a->kind == b->kind && a->cause == b->cause && a->plane == b->plane;
}

/*
 * The record in which event @event is counted, or NULL. *@crowd: MRC_HISTORY_CROWD peers have the same event, and a
 * common record must be created.
 */
static struct mrc_history_rec *history_like(struct mrc_history *h, const struct mrc_history_event *event,
					    u64 now_ns, bool *crowd)
{
	static const u8 nobody[sizeof(event->peer)];
	struct mrc_history_rec *r, *many = NULL;
	u64 n = h->next, end = mrc_history_first(h);
	u32 peers = 0;

	end = n - end > HISTORY_LOOK ? n - HISTORY_LOOK : end;
	while (n-- > end) {
		r = history_rec(h, n);
		if (!history_open(r, now_ns))
			break;
		if (!history_alike(&r->event, event))
			continue;
		if (!memcmp(r->event.peer, event->peer, sizeof(event->peer)))
			return r;
		if (!memcmp(r->event.peer, nobody, sizeof(nobody)))
			many = r;
		peers++;
	}
	*crowd = peers >= MRC_HISTORY_CROWD;
	return many;
}

static bool history_pay(struct mrc_history *h, u64 now_ns)
{
	const u64 one = 1000000000ull / MRC_HISTORY_RATE;

	while (h->credit < MRC_HISTORY_BURST && now_ns >= h->credit_ns + one) {
		h->credit++;
		h->credit_ns += one;
	}
	if (h->credit == MRC_HISTORY_BURST)
		h->credit_ns = now_ns;
	if (!h->credit)
		return false;
	h->credit--;
	return true;
}

bool mrc_history_add(struct mrc_history *h, const struct mrc_history_event *event, u64 now_ns, u64 real_ns)
{
	bool crowd = false;
	struct mrc_history_rec *r = history_like(h, event, now_ns, &crowd);

	if (r) {
		r->last_ns = now_ns;
		r->event.count += event->count;
		return false;
	}
	if (!history_pay(h, now_ns)) {
		h->lost += event->count;
		return false;
	}
	r = history_rec(h, h->next++);
	*r = (struct mrc_history_rec){
		.at_ns = now_ns, .last_ns = now_ns, .real_ns = real_ns, .event = *event,
	};
	if (crowd)
		memset(r->event.peer, 0, sizeof(r->event.peer));
	return true;
}

bool mrc_history_report(struct mrc_history *h, u64 now_ns, u64 *n, u64 *again_ns)
{
	u64 at = h->untold > mrc_history_first(h) ? h->untold : mrc_history_first(h);
	struct mrc_history_rec *r;
	bool all = true;	/* all records before are reported and closed */

	*again_ns = MRC_TIME_NEVER;
	for (; at < h->next; at++) {
		r = history_rec(h, at);
		if (!r->reported || (r->reported != r->event.count && !history_open(r, now_ns))) {
			r->reported = r->event.count;
			*n = at;
			return true;
		}
		if (history_open(r, now_ns)) {
			if (r->reported != r->event.count)
				*again_ns = min_t(u64, *again_ns, r->at_ns + MRC_HISTORY_MERGE_NS);
			all = false;
		}
		if (all)
			h->untold = at + 1;
	}
	return false;
}
