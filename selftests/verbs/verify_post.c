// SPDX-License-Identifier: GPL-2.0
/*
 * verify_post.c - mrc_verify's work requests.
 */
#include <arpa/inet.h>
#include <string.h>
#include "verify.h"

struct ibv_qp *qp;
struct ibv_mr *mr;
struct vc_peer peer;
uint32_t max_inline;
uint64_t spoiled = UINT64_MAX;

static uint64_t remote(const void *local)
{
	return peer.addr + ((const uint8_t *)local - mem);
}

static uint64_t wr_id_of(enum wr_kind kind, uint64_t n)
{
	return (uint64_t)kind << 32 | (uint32_t)n;
}

static void post(struct ibv_send_wr *wr, const char *what)
{
	struct ibv_send_wr *bad;
	int err;

	wr->send_flags |= IBV_SEND_SIGNALED;
	err = ibv_post_send(qp, wr, &bad);
	if (err) {
		fprintf(stderr, "mrc_verify: ibv_post_send %s: %s\n", what, strerror(err));
		broken("ibv_post_send");
	}
}

void post_imm(uint32_t imm)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id_of(WR_NOTICE, 0),
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SOLICITED,
		.imm_data = htonl(imm),
		.wr.rdma = { .remote_addr = peer.addr, .rkey = peer.rkey },
	};

	post(&wr, "notice");
}

void post_receive(uint32_t i)
{
	const bool sends = plan.op == OP_SEND || plan.op == OP_MIX;
	struct ibv_sge sge = {
		.addr = (uintptr_t)recv_slot(i),
		.length = plan.size,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id_of(WR_RECV, i),
		.sg_list = &sge,
		.num_sge = sends && plan.size,
	};
	int err = ibv_post_recv(qp, &wr, &bad);

	if (err) {
		fprintf(stderr, "mrc_verify: ibv_post_recv: %s\n", strerror(err));
		broken("ibv_post_recv");
	}
}

/* Three atomics in turn: add, swap that must happen, swap that must not. */
static void make_atomic(struct ibv_send_wr *wr, uint64_t m)
{
	uint64_t *now = &word_now[m % plan.q];
	const uint64_t value = vc_mix(m ^ 0xa70);

	wr->wr.atomic.remote_addr = remote(word(m));
	wr->wr.atomic.rkey = peer.rkey;
	word_old[m % plan.q] = *now;
	*word(m) = ~*now;
	switch ((m / plan.q + m) % 3) {
	case 0:
		wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.compare_add = value;
		*now += value;
		break;
	case 1:
		wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr->wr.atomic.compare_add = *now;
		wr->wr.atomic.swap = value;
		*now = value;
		break;
	default:
		wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr->wr.atomic.compare_add = *now + 1;
		wr->wr.atomic.swap = value;
		break;
	}
}

void post_message(uint64_t m)
{
	const enum op op = op_of(m);
	const uint32_t len = op == OP_ATOMIC ? 8 : size_of(m);
	struct ibv_sge sge = { .length = len, .lkey = mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id_of(WR_MESSAGE, m),
		.sg_list = &sge,
		.num_sge = len != 0,
	};

	switch (op) {
	case OP_WRITE:
	case OP_WRITE_IMM:
		wr.opcode = op == OP_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.imm_data = htonl(m & IMM_MASK);
		wr.wr.rdma.remote_addr = remote(write_slot(m));
		wr.wr.rdma.rkey = peer.rkey;
		break;
	case OP_SEND:
		/* Every other one without a number of its own. */
		wr.opcode = m % 2 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(m & IMM_MASK);
		break;
	case OP_READ:
		wr.opcode = IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr = remote(read_slot(read_source(m)));
		wr.wr.rdma.rkey = peer.rkey;
		break;
	case OP_ATOMIC:
		make_atomic(&wr, m);
		break;
	case OP_MIX:
		abort();
	}

	if (op == OP_READ) {
		memset(read_slot(m), SPOIL_BYTE, len);
		sge.addr = (uintptr_t)read_slot(m);
	} else if (op == OP_ATOMIC) {
		sge.addr = (uintptr_t)word(m);
	} else {
		fill(write_slot(m), len, m);
		if (m == spoiled && len)
			write_slot(m)[len - 1] ^= 1;
		sge.addr = (uintptr_t)write_slot(m);
		if (max_inline && len <= max_inline)
			wr.send_flags |= IBV_SEND_INLINE;
	}
	post(&wr, op_names[op]);
}
