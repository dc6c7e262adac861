// SPDX-License-Identifier: GPL-2.0
/*
 * nccl_net.c - a message as NCCL's net_ib sends it.
 *
 * Two QPs for each link. The receiver posts a receive without memory on each, then WRITEs inline where
 * the data shall go into a FIFO in the sender's memory ("clear to send"), whose last word is the number of the message.
 * The sender polls its memory for that word. It WRITEs one half by each QP, and behind it on each a
 * WRITE_IMM of no bytes; small messages go as two WRITE_IMMs with the halves. The receiver has the message when
 * both WRITE_IMMs have completed: all bytes must be there then, and by each QP messages complete
 * in order.
 *
 * WRITEs complete silently; every CTS_SIGNALED-th CTS of a QP tells that its send queue has room again.
 */
#include <arpa/inet.h>
#include <string.h>
#include "nccl.h"

#define CTS_SIGNALED	16
#define SMALL		8192	/* NCCL's threshold of adaptive routing: above, data and IMM are two requests */
#define ALIGN_TO	128	/* of the halves */

enum { WR_FLUSH = 0, WR_CTS = 1u << 30, WR_RECV = 2u << 30, WR_DATA = 3u << 30, WR_KIND = 3u << 30 };

struct cts {
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
	uint64_t reserved;
	uint64_t number;	/* of the message + 1; in the last bytes, which are visible last */
};

static size_t link_mem(unsigned int depth)
{
	return depth * sizeof(struct cts);
}

static void begin(struct world *w)
{
	(void)w;
}

static void end(struct world *w)
{
	(void)w;
}

static uint32_t half_of(uint32_t len, int q)
{
	const uint32_t first = (len / NCCL_QPS + ALIGN_TO - 1) / ALIGN_TO * ALIGN_TO;

	if (first >= len)
		return q ? 0 : len;
	return q ? len - first : first;
}

/* Number @m may come to @buf. */
static bool net_recv(struct link *l, uint64_t m, uint8_t *buf, uint32_t len)
{
	const int q = (int)(m % NCCL_QPS);
	const bool signaled = m / NCCL_QPS % CTS_SIGNALED == CTS_SIGNALED - 1;
	struct cts *cts = (struct cts *)l->mem + m % l->w->depth;
	struct ibv_sge sge = { (uintptr_t)cts, sizeof(*cts), l->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = nccl_wr_id(l, q, WR_CTS), .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE | (signaled ? IBV_SEND_SIGNALED : 0),
		.wr.rdma = { l->remote.addr + m % l->w->depth * sizeof(*cts), l->remote.rkey },
	};
	struct ibv_recv_wr *bad, recv = { };
	int i;

	if (!l->sq_free[q])
		return false;
	for (i = 0; i < NCCL_QPS; i++) {
		recv.wr_id = nccl_wr_id(l, i, WR_RECV);
		if (ibv_post_recv(l->qp[i], &recv, &bad))
			nccl_broken(l->w, "ibv_post_recv of message %llu", (unsigned long long)m);
	}
	*cts = (struct cts){ (uintptr_t)buf, l->w->mr->rkey, len, 0, m + 1 };
	l->sq_free[q]--;
	nccl_post(l, q, &wr);
	return true;
}

/* What the sender may send next, or NULL. The number is read first: the rest is older than it. */
static const struct cts *cleared(struct link *l, uint64_t m)
{
	struct cts *cts = (struct cts *)l->mem + m % l->w->depth;
	const uint64_t number = __atomic_load_n(&cts->number, __ATOMIC_ACQUIRE);

	if (number == m + 1)
		return cts;
	if (number && number != m + 1 - l->w->depth)
		nccl_broken(l->w, "FIFO of rank %d: message %llu says %llu", l->peer,
			    (unsigned long long)m, (unsigned long long)number);
	return NULL;
}

static bool net_invited(struct link *l, uint64_t m)
{
	return cleared(l, m);
}

static void send_half(struct link *l, int q, uint64_t m, const struct cts *cts, uint8_t *buf)
{
	const uint32_t from = q ? half_of(cts->len, 0) : 0, len = half_of(cts->len, q);
	struct ibv_sge sge = { (uintptr_t)buf + from, len, l->w->mr->lkey };
	struct ibv_send_wr imm = {
		.wr_id = nccl_wr_id(l, q, WR_DATA), .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl((uint32_t)m),
		.wr.rdma = { cts->addr + from, cts->rkey },
	};
	struct ibv_send_wr data = imm;

	data.opcode = IBV_WR_RDMA_WRITE;
	data.send_flags = 0;
	data.sg_list = &sge;
	data.num_sge = 1;
	data.next = &imm;
	l->sq_free[q] -= 2;
	if (cts->len > SMALL) {
		l->w->empty_imms++;
		nccl_post(l, q, &data);
		return;
	}
	imm.sg_list = len ? &sge : NULL;
	imm.num_sge = len ? 1 : 0;
	l->w->empty_imms += !len;
	nccl_post(l, q, &imm);
}

static bool net_send(struct link *l, uint64_t m, uint8_t *buf, uint32_t len)
{
	const struct cts *cts = cleared(l, m);
	int q;

	for (q = 0; q < NCCL_QPS; q++)
		if (!cts || l->sq_free[q] < 2)
			return false;
	if (cts->len != len)
		nccl_broken(l->w, "FIFO of rank %d: message %llu has %u bytes, not %u", l->peer,
			    (unsigned long long)m, len, cts->len);
	for (q = 0; q < NCCL_QPS; q++)
		send_half(l, q, m, cts, buf);
	return true;
}

/* Message @m came whole: a byte of it is read, behind all that was written. */
static void flush(struct link *l, uint64_t m)
{
	struct ibv_sge sge = { (uintptr_t)&l->flush_mem, 1, l->flush_mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = nccl_wr_id(l, 0, WR_FLUSH), .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)l->notes[m % l->w->depth].buf, l->w->mr->rkey },
	};

	if (ibv_post_send(l->flush, &wr, &bad))
		nccl_broken(l->w, "flush of message %llu", (unsigned long long)m);
}

static void came(struct link *l, int q, const struct ibv_wc *wc)
{
	const uint64_t m = l->qp_done[q]++;
	const uint32_t len = l->notes[m % l->w->depth].len;
	const uint32_t want = len > SMALL ? 0 : half_of(len, q);

	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM || !(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    ntohl(wc->imm_data) != (uint32_t)m || wc->byte_len != want)
		nccl_broken(l->w, "QP %d of rank %d: message %u of %u bytes came, %u of %u was next",
			    q, l->peer, ntohl(wc->imm_data), wc->byte_len, (uint32_t)m, want);
	if (l->flush && l->qp_done[1 - q] > m)
		flush(l, m);
}

static void completed(struct link *l, int q, const struct ibv_wc *wc)
{
	switch ((uint32_t)wc->wr_id & WR_KIND) {
	case WR_FLUSH:
		l->flushed++;
		l->w->flushed++;
		break;
	case WR_CTS:
		l->sq_free[q] += CTS_SIGNALED;
		break;
	case WR_RECV:
		came(l, q, wc);
		break;
	case WR_DATA:
		l->sq_free[q] += 2;
		l->qp_done[q]++;
		break;
	}
}

const struct transport nccl_net = {
	.name = "nccl", .n_qps = NCCL_QPS, .as_ib = true, .link_mem = link_mem, .begin = begin, .send = net_send,
	.recv = net_recv, .invited = net_invited, .completed = completed, .end = end,
};
