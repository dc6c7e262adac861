// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ask.c - see mrc_ask.h.
 */
#include "peer/mrc_ask.h"

static struct mrc_asked *ask_place(struct mrc_ask *a, u16 id)
{
	return &a->q[id % MRC_ASK_MAX];
}

void mrc_ask_init(struct mrc_ask *a, u32 seed)
{
	BUILD_BUG_ON(MRC_ASK_MAX & (MRC_ASK_MAX - 1));
	memset(a, 0, sizeof(*a));
	a->probe_id = (u16)(MRC_ASK_PROBE | seed);
}

/* The first free place behind @id, else that of the oldest if it is old: how far behind; 0: none. */
static u16 ask_room(struct mrc_ask *a, u16 id, u64 now_ns)
{
	u64 oldest_ns = MRC_TIME_NEVER;
	u16 i, oldest = 0;

	for (i = 1; i <= MRC_ASK_MAX; i++) {
		const struct mrc_asked *q = ask_place(a, (u16)(id + i));

		if (!q->waits)
			return i;
		if (q->sent_ns < oldest_ns) {
			oldest_ns = q->sent_ns;
			oldest = i;
		}
	}
	return now_ns >= oldest_ns + MRC_ASK_OLD_NS ? oldest : 0;
}

static void ask_put(struct mrc_ask *a, const struct mrc_question *q, u64 now_ns, u16 id)
{
	struct mrc_asked *to = ask_place(a, id);

	a->n = (u8)(a->n + !to->waits);
	to->cookie = q->cookie;
	to->sent_ns = now_ns;
	to->id = id;
	to->op = q->op;
	to->waits = true;
}

int mrc_ask_next(struct mrc_ask *a, const struct mrc_question *q, u64 now_ns, u16 *id)
{
	u16 by = ask_room(a, *id, now_ns);

	if (!by)
		return -EBUSY;
	*id = (u16)(*id + by);
	ask_put(a, q, now_ns, *id);
	return 0;
}

int mrc_ask_probe(struct mrc_ask *a, const struct mrc_question *q, u64 now_ns, u16 *id)
{
	u16 by = ask_room(a, a->probe_id, now_ns);

	if (!by)
		return -EBUSY;
	a->probe_id = (u16)(MRC_ASK_PROBE | (a->probe_id + by));
	*id = a->probe_id;
	ask_put(a, q, now_ns, *id);
	return 0;
}

static void ask_end(struct mrc_ask *a, struct mrc_asked *q)
{
	q->waits = false;
	a->n--;
}

void mrc_ask_undo(struct mrc_ask *a, u16 id)
{
	struct mrc_asked *q = ask_place(a, id);

	if (q->waits && q->id == id)
		ask_end(a, q);
}

bool mrc_ask_rx(struct mrc_ask *a, const struct mrc_pkt *rsp, u64 now_ns)
{
	u16 id = (u16)rsp->psn;
	struct mrc_asked *q = ask_place(a, id);

	if (!q->waits || q->id != id || q->op != rsp->u.ep.op)
		return false;
	a->answer.cookie = q->cookie;
	a->answer.rtt_ns = now_ns - q->sent_ns;
	a->answer.op = q->op;
	a->answer.plane = rsp->plane;
	a->answered = true;
	ask_end(a, q);
	return true;
}

bool mrc_ask_take(struct mrc_ask *a, struct mrc_answer *answer)
{
	bool answered = a->answered;

	if (answered)
		*answer = a->answer;
	a->answered = false;
	return answered;
}
