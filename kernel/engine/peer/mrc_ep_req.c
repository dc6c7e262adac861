// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ep_req.c - see mrc_ep_req.h.
 */
#include "peer/mrc_ep_req.h"

static struct mrc_ep_req_slot *req_place(struct mrc_ep_req_table *a, u16 id)
{
	return &a->q[id % MRC_EP_REQ_MAX];
}

void mrc_ep_req_init(struct mrc_ep_req_table *a, u32 seed)
{
	BUILD_BUG_ON(MRC_EP_REQ_MAX & (MRC_EP_REQ_MAX - 1));
	memset(a, 0, sizeof(*a));
	a->probe_id = (u16)(MRC_EP_REQ_PROBE | seed);
}

/* Distance from @id to the next free slot, or to that of the oldest request if it is old; 0: none. */
static u16 req_find_slot(struct mrc_ep_req_table *a, u16 id, u64 now_ns)
{
	u64 oldest_ns = MRC_TIME_NEVER;
	u16 i, oldest = 0;

	for (i = 1; i <= MRC_EP_REQ_MAX; i++) {
		const struct mrc_ep_req_slot *q = req_place(a, (u16)(id + i));

		if (!q->waits)
			return i;
		if (q->sent_ns < oldest_ns) {
			oldest_ns = q->sent_ns;
			oldest = i;
		}
	}
	return now_ns >= oldest_ns + MRC_EP_REQ_OLD_NS ? oldest : 0;
}

static void req_put(struct mrc_ep_req_table *a, const struct mrc_ep_req *q, u64 now_ns, u16 id)
{
	struct mrc_ep_req_slot *to = req_place(a, id);

	a->n = (u8)(a->n + !to->waits);
	to->cookie = q->cookie;
	to->sent_ns = now_ns;
	to->id = id;
	to->op = q->op;
	to->via = q->via;
	to->waits = true;
}

int mrc_ep_req_next(struct mrc_ep_req_table *a, const struct mrc_ep_req *q, u64 now_ns, u16 *id)
{
	u16 by = req_find_slot(a, *id, now_ns);

	if (!by)
		return -EBUSY;
	*id = (u16)(*id + by);
	req_put(a, q, now_ns, *id);
	return 0;
}

int mrc_ep_req_probe(struct mrc_ep_req_table *a, const struct mrc_ep_req *q, u64 now_ns, u16 *id)
{
	u16 by = req_find_slot(a, a->probe_id, now_ns);

	if (!by)
		return -EBUSY;
	a->probe_id = (u16)(MRC_EP_REQ_PROBE | (a->probe_id + by));
	*id = a->probe_id;
	req_put(a, q, now_ns, *id);
	return 0;
}

static void req_end(struct mrc_ep_req_table *a, struct mrc_ep_req_slot *q)
{
	q->waits = false;
	a->n--;
}

void mrc_ep_req_undo(struct mrc_ep_req_table *a, u16 id)
{
	struct mrc_ep_req_slot *q = req_place(a, id);

	if (q->waits && q->id == id)
		req_end(a, q);
}

bool mrc_ep_req_rx(struct mrc_ep_req_table *a, const struct mrc_pkt *rsp, u64 now_ns)
{
	u16 id = (u16)rsp->psn;
	struct mrc_ep_req_slot *q = req_place(a, id);

	if (!q->waits || q->id != id || q->op != rsp->u.ep.op)
		return false;
	a->answer.cookie = q->cookie;
	a->answer.rtt_ns = now_ns - q->sent_ns;
	a->answer.op = q->op;
	a->answer.plane = rsp->plane;
	a->answer.via = rsp->u.ep.vendor_info == MRC_EP_RETURN ? q->via : 0;
	a->answered = true;
	req_end(a, q);
	return true;
}

bool mrc_ep_req_take(struct mrc_ep_req_table *a, struct mrc_ep_rsp *answer)
{
	bool answered = a->answered;

	if (answered)
		*answer = a->answer;
	a->answered = false;
	return answered;
}
