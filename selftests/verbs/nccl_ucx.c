// SPDX-License-Identifier: GPL-2.0
/*
 * nccl_ucx.c - a message as UCX sends it: one QP for each link, receives from one SRQ.
 *
 * Small ones are SENDs into any receive of the SRQ, copied from there (eager). Of others a SEND says where
 * they lie (RTS), and the receiver READs them when it knows where to (rendezvous). FIN tells
 * the sender that the message is there; so no more receives are taken than were posted.
 * A message may come before its receive is posted, and waits where it is then. SENDs come in order.
 */
#include <string.h>
#include "nccl.h"

#define EAGER_MAX	4096

enum { WR_CTRL = 0u << 30, WR_RECV = 1u << 30, WR_DATA = 2u << 30, WR_READ = 3u << 30 };
#define WR_KIND		(3u << 30)
#define WR_INDEX	(~WR_KIND)

enum { EAGER = 1, RTS, FIN };

struct hdr {
	uint64_t number;
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
	uint32_t type;
	uint32_t reserved;
};

struct bounce {
	struct hdr hdr;
	uint8_t data[EAGER_MAX];
};

/* Of a link: the heads of eager messages under way, and two receives for each message. */
static size_t link_mem(unsigned int depth)
{
	return depth * (sizeof(struct hdr) + 2 * sizeof(struct bounce));
}

static struct bounce *bounce_of(struct link *l, uint32_t i)
{
	return (struct bounce *)((struct hdr *)l->mem + l->w->depth) + i;
}

/* @l is whose memory it is in; anybody's message may come to it. */
static void post_bounce(struct link *l, uint32_t i)
{
	struct ibv_sge sge = { (uintptr_t)bounce_of(l, i), sizeof(struct bounce), l->w->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = nccl_wr_id(l, 0, WR_RECV | i), .sg_list = &sge, .num_sge = 1,
	};

	if (ibv_post_srq_recv(l->w->srq, &wr, &bad))
		nccl_broken(l->w, "ibv_post_srq_recv");
}

static void free_bounce(struct world *w, void *bounce)
{
	const size_t link = ((size_t)((uint8_t *)bounce - w->mem) - w->data_len) / w->link_mem;
	struct link *l = &w->link[link];

	post_bounce(l, (uint32_t)((struct bounce *)bounce - bounce_of(l, 0)));
}

static void begin(struct world *w)
{
	uint32_t i;
	int j;

	for (j = 0; j < w->n_links; j++)
		for (i = 0; i < 2 * w->depth; i++)
			post_bounce(&w->link[j], i);
}

static void end(struct world *w)
{
	(void)w;
}

static void post(struct link *l, struct ibv_send_wr *wr)
{
	if (!l->sq_free[0]--)
		nccl_broken(l->w, "no room to send");
	nccl_post(l, 0, wr);
}

static void send_ctrl(struct link *l, const struct hdr *hdr)
{
	struct ibv_sge sge = { (uintptr_t)hdr, sizeof(*hdr), 0 };
	struct ibv_send_wr wr = {
		.wr_id = nccl_wr_id(l, 0, WR_CTRL), .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};

	post(l, &wr);
}

static void part_over(struct link *l, uint64_t m)
{
	l->notes[m % l->w->depth].parts--;
	while (l->qp_done[0] < l->begun && !l->notes[l->qp_done[0] % l->w->depth].parts)
		l->qp_done[0]++;
}

static bool ucx_send(struct link *l, uint64_t m, uint8_t *buf, uint32_t len)
{
	struct hdr *hdr = (struct hdr *)l->mem + m % l->w->depth;
	struct ibv_sge sge[2] = {
		{ (uintptr_t)hdr, sizeof(*hdr), l->w->mr->lkey },
		{ (uintptr_t)buf, len, l->w->mr->lkey },
	};
	struct ibv_send_wr wr = {
		.wr_id = nccl_wr_id(l, 0, WR_DATA | (uint32_t)(m % l->w->depth)), .sg_list = sge,
		.num_sge = len ? 2 : 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	struct note *note = &l->notes[m % l->w->depth];

	*hdr = (struct hdr){ m, (uintptr_t)buf, l->w->mr->rkey, len, len > EAGER_MAX ? RTS : EAGER, 0 };
	l->begun = m + 1;
	note->parts = len > EAGER_MAX ? 1 : 2;
	if (len > EAGER_MAX)
		send_ctrl(l, hdr);
	else
		post(l, &wr);
	return true;
}

static void finish(struct link *l, uint64_t m)
{
	const struct hdr fin = { .number = m, .type = FIN };

	send_ctrl(l, &fin);
	part_over(l, m);
}

/* Message @m, which @b brings or tells of, and its receive have met. */
static void consume(struct link *l, uint64_t m, struct bounce *b)
{
	struct note *note = &l->notes[m % l->w->depth];
	struct ibv_sge sge = { (uintptr_t)note->buf, note->len, l->w->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = nccl_wr_id(l, 0, WR_READ | (uint32_t)(m % l->w->depth)), .sg_list = &sge,
		.num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { b->hdr.addr, b->hdr.rkey },
	};

	if (b->hdr.len != note->len)
		nccl_broken(l->w, "message %llu of rank %d has %u bytes, not %u",
			    (unsigned long long)m, l->peer, b->hdr.len, note->len);
	if (b->hdr.type == RTS) {
		l->w->reads++;
		post(l, &wr);
	} else {
		l->w->eagers++;
		memcpy(note->buf, b->data, note->len);
		finish(l, m);
	}
	free_bounce(l->w, b);
}

static bool ucx_recv(struct link *l, uint64_t m, uint8_t *buf, uint32_t len)
{
	struct note *note = &l->notes[m % l->w->depth];
	struct bounce *b = (struct bounce *)note->early;

	(void)buf;
	(void)len;
	note->parts = 1;
	note->early = NULL;
	l->begun = m + 1;
	if (b)
		consume(l, m, b);
	return true;
}

static struct link *link_of(struct world *w, uint32_t qpn)
{
	int i;

	for (i = 0; i < w->n_links; i++)
		if (w->link[i].qp[0]->qp_num == qpn)
			return &w->link[i];
	nccl_broken(w, "a completion of QP %u, which is not ours", qpn);
}

static void came(struct link *l, struct bounce *b, const struct ibv_wc *wc)
{
	const uint64_t m = b->hdr.number;
	const bool eager = b->hdr.type == EAGER;

	if (wc->byte_len != sizeof(b->hdr) + (eager ? b->hdr.len : 0))
		nccl_broken(l->w, "a SEND of %u bytes, type %u", wc->byte_len, b->hdr.type);
	if (l->out) {
		if (b->hdr.type != FIN || m < l->done || m >= l->posted)
			nccl_broken(l->w, "type %u for message %llu", b->hdr.type,
				    (unsigned long long)m);
		part_over(l, m);
		free_bounce(l->w, b);
		return;
	}
	if ((!eager && b->hdr.type != RTS) || m != l->came || m - l->done >= 2 * l->w->depth)
		nccl_broken(l->w, "type %u, message %llu came, %llu was next", b->hdr.type,
			    (unsigned long long)m, (unsigned long long)l->came);
	l->came++;
	if (m < l->posted)
		consume(l, m, b);
	else
		l->notes[m % l->w->depth].early = (uint8_t *)b;
}

static void completed(struct link *l, int q, const struct ibv_wc *wc)
{
	const uint32_t i = (uint32_t)wc->wr_id & WR_INDEX;
	const uint64_t m = l->done + (i + l->w->depth - l->done % l->w->depth) % l->w->depth;

	(void)q;
	if (((uint32_t)wc->wr_id & WR_KIND) == WR_RECV) {
		came(link_of(l->w, wc->qp_num), bounce_of(l, i), wc);
		return;
	}
	l->sq_free[0]++;
	switch ((uint32_t)wc->wr_id & WR_KIND) {
	case WR_DATA:
		part_over(l, m);
		break;
	case WR_READ:
		finish(l, m);
		break;
	}
}

const struct transport nccl_ucx = {
	.name = "ucx", .n_qps = 1, .srq = true, .link_mem = link_mem, .begin = begin, .send = ucx_send,
	.recv = ucx_recv, .completed = completed, .end = end,
};
