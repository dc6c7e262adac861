// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dgram.c - datagram queue pairs: what arrives, what does not, and what an error costs.
 *
 *	MRC_TEST_DEV=mrc0 MRC_TEST_V4=0|1 mrc_dgram
 *
 * Two UD queue pairs of one device, A sends and B receives. kselftest_harness.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vud.h"

#define LEN	1000
#define LIMIT_S	300	/* of a test, which may wait for VUD_WAIT_S more than once */

FIXTURE(dgram) {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct ibv_cq *cq[2];
	struct ibv_qp *a, *b;
	struct ibv_ah *ah;
	uint8_t out[LEN], in[VUD_GRH + LEN];
};

static struct ibv_ah *ah_to_self(struct vc_dev *d, struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = d->gid, .sgid_index = (uint8_t)d->gid_index, .hop_limit = 1 },
	};

	return ibv_create_ah(pd, &attr);
}

static bool v4(void)
{
	const char *s = getenv("MRC_TEST_V4");

	return s && *s == '1';
}

FIXTURE_SETUP(dgram)
{
	const struct vc_opts opts = {
		.dev = getenv("MRC_TEST_DEV"), .gid_index = -1, .want_v4 = v4(),
	};
	int i;

	vc_open(&self->dev, &opts);
	self->mr = ibv_reg_mr(self->dev.pd, self->out, sizeof(self->out) + sizeof(self->in),
			      IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, self->mr);
	for (i = 0; i < 2; i++) {
		self->cq[i] = ibv_create_cq(self->dev.ctx, 2 * VUD_SLOTS, NULL, NULL, 0);
		ASSERT_NE(NULL, self->cq[i]);
	}
	self->a = vud_qp(&self->dev, self->cq[0], NULL, 0);
	self->b = vud_qp(&self->dev, self->cq[1], NULL, 0);
	ASSERT_NE(NULL, self->a);
	ASSERT_NE(NULL, self->b);
	ASSERT_EQ(0, vud_to_rts(self->a));
	ASSERT_EQ(0, vud_to_rts(self->b));
	self->ah = ah_to_self(&self->dev, self->dev.pd);
	ASSERT_NE(NULL, self->ah);
	for (i = 0; i < LEN; i++)
		self->out[i] = (uint8_t)(i * 7 + 1);
}

FIXTURE_TEARDOWN(dgram)
{
	int i;

	EXPECT_EQ(0, ibv_destroy_ah(self->ah));
	EXPECT_EQ(0, ibv_destroy_qp(self->a));
	EXPECT_EQ(0, ibv_destroy_qp(self->b));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, ibv_destroy_cq(self->cq[i]));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	vc_close(&self->dev);
}

static struct ibv_send_wr to_b(struct _test_data_dgram *self, struct ibv_sge *sge, uint32_t len)
{
	*sge = (struct ibv_sge) { (uintptr_t)self->out, len, self->mr->lkey };
	return (struct ibv_send_wr) {
		.wr_id = 42, .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = self->ah, .remote_qpn = self->b->qp_num, .remote_qkey = VUD_QKEY },
	};
}

static int post_recv(struct _test_data_dgram *self, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->in, len, self->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 77, .sg_list = &sge, .num_sge = 1 };

	memset(self->in, 0xee, sizeof(self->in));
	return ibv_post_recv(self->b, &wr, &bad);
}

static int send_status(struct _test_data_dgram *self, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(self->a, wr, &bad) ?: (int)vud_next(self->cq[0], VUD_WAIT_S * 1000).status;
}

/* Sent well, and then @name is one more: it was dropped for that reason. */
static bool dropped_as(struct _test_data_dgram *self, struct ibv_send_wr *wr, const char *name)
{
	const uint64_t end = vc_now_ns() + VUD_WAIT_S * 1000000000ull;
	const long long before = vud_counter(&self->dev, name);

	if (before < 0 || send_status(self, wr) != IBV_WC_SUCCESS)
		return false;
	while (vud_counter(&self->dev, name) != before + 1)
		if (vc_now_ns() > end)
			return false;
	return true;
}

static bool received(struct _test_data_dgram *self, uint32_t len, struct ibv_wc *wc)
{
	*wc = vud_next(self->cq[1], VUD_WAIT_S * 1000);
	return wc->status == IBV_WC_SUCCESS && wc->byte_len == VUD_GRH + len &&
	       !memcmp(self->in + VUD_GRH, self->out, len) &&
	       (len == LEN || self->in[VUD_GRH + len] == 0xee);
}

/* The address in front of the message: ours, for we sent it. */
static bool grh_is_ours(struct _test_data_dgram *self)
{
	const uint8_t *ip4 = self->in + 20;

	if (!v4())
		return self->in[0] >> 4 == 6 && !memcmp(self->in + 8, self->dev.gid.raw, 16) &&
		       !memcmp(self->in + 24, self->dev.gid.raw, 16);
	return ip4[0] == 0x45 && !memcmp(ip4 + 12, self->dev.gid.raw + 12, 4) &&
	       !memcmp(ip4 + 16, self->dev.gid.raw + 12, 4);
}

TEST_F_TIMEOUT(dgram, every_length_arrives_with_its_address, LIMIT_S)
{
	static const uint32_t lens[] = { 0, 1, 3, 4, 63, 64, 255, 256, 257, LEN };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		wr = to_b(self, &sge, lens[i]);
		ASSERT_EQ(0, post_recv(self, VUD_GRH + LEN));
		ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
		ASSERT_TRUE(received(self, lens[i], &wc)) {
			TH_LOG("length %u: status %d, %u bytes", lens[i], wc.status, wc.byte_len);
		}
		EXPECT_TRUE(grh_is_ours(self));
		EXPECT_EQ(IBV_WC_GRH, wc.wc_flags);
		EXPECT_EQ(v4() ? 0xa : 0x9, wc.sl);	/* where UCX looks which header that is */
		EXPECT_EQ(self->a->qp_num, wc.src_qp);
		EXPECT_EQ(77, wc.wr_id);
	}
}

TEST_F_TIMEOUT(dgram, immediate_inline_and_lists, LIMIT_S)
{
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = to_b(self, sge, 40);
	struct ibv_wc wc;

	sge[1] = (struct ibv_sge) { (uintptr_t)self->out + 40, 24, 0 };	/* no key: inline */
	wr.num_sge = 2;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htonl(0xcafe1234);
	wr.send_flags |= IBV_SEND_INLINE;
	ASSERT_EQ(0, post_recv(self, VUD_GRH + LEN));
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	ASSERT_TRUE(received(self, 64, &wc));
	EXPECT_EQ(IBV_WC_GRH | IBV_WC_WITH_IMM, wc.wc_flags);
	EXPECT_EQ(htonl(0xcafe1234), wc.imm_data);
	wr.num_sge = 3;		/* more than it has */
	EXPECT_EQ(EINVAL, send_status(self, &wr));
}

TEST_F_TIMEOUT(dgram, what_is_not_for_it_is_dropped_and_counted, LIMIT_S)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;

	wr = to_b(self, &sge, 8);
	EXPECT_TRUE(dropped_as(self, &wr, "rx_dgram_no_recv"));
	ASSERT_EQ(0, post_recv(self, VUD_GRH + 8));
	wr.wr.ud.remote_qkey = VUD_QKEY + 1;
	EXPECT_TRUE(dropped_as(self, &wr, "rx_dgram_qkey"));
	wr = to_b(self, &sge, 9);
	EXPECT_TRUE(dropped_as(self, &wr, "rx_dgram_too_long"));
	wr = to_b(self, &sge, 8);
	wr.wr.ud.remote_qpn = 0xfffffe;
	EXPECT_TRUE(dropped_as(self, &wr, "rx_unknown_qp"));
	/* None of these took the receive. */
	wr = to_b(self, &sge, 8);
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	EXPECT_TRUE(received(self, 8, &wc));
}

TEST_F_TIMEOUT(dgram, the_high_bit_asks_for_the_key_of_the_qp, LIMIT_S)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;

	wr = to_b(self, &sge, 8);
	wr.wr.ud.remote_qkey = 0x80000000;
	ASSERT_EQ(0, post_recv(self, VUD_GRH + 8));
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	EXPECT_TRUE(received(self, 8, &wc));
}

/* Its send queue stops, and goes on when it is told to; it receives all the time. */
static void expect_sqe(struct __test_metadata *_metadata, struct _test_data_dgram *self,
		       struct ibv_send_wr *wr, int status)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT_EQ(status, send_status(self, wr));
	ASSERT_EQ(0, ibv_query_qp(self->a, &attr, IBV_QP_STATE, &init));
	EXPECT_EQ(IBV_QPS_SQE, attr.qp_state);
	ASSERT_EQ(0, vud_to_state(self->a, IBV_QPS_RTS));
}

TEST_F_TIMEOUT(dgram, a_handle_of_another_domain_is_refused, LIMIT_S)
{
	struct ibv_pd *other = ibv_alloc_pd(self->dev.ctx);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct ibv_ah *ah;

	ASSERT_NE(NULL, other);
	ah = ah_to_self(&self->dev, other);
	ASSERT_NE(NULL, ah);
	ASSERT_EQ(0, post_recv(self, VUD_GRH + 8));
	wr = to_b(self, &sge, 8);
	wr.wr.ud.ah = ah;
	expect_sqe(_metadata, self, &wr, IBV_WC_LOC_QP_OP_ERR);
	EXPECT_EQ(0, ibv_destroy_ah(ah));
	EXPECT_EQ(0, ibv_dealloc_pd(other));
	wr = to_b(self, &sge, 8);
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	EXPECT_TRUE(received(self, 8, &wc));
}

/* ---- on a shared receive queue ---- */

static int post_srq(struct _test_data_dgram *self, struct ibv_srq *srq, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->in, len, self->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	memset(self->in, 0xee, sizeof(self->in));
	return ibv_post_srq_recv(srq, &wr, &bad);
}

static int async_event(struct _test_data_dgram *self)
{
	struct ibv_async_event ev;

	alarm(VUD_WAIT_S);
	if (ibv_get_async_event(self->dev.ctx, &ev))
		return -1;
	alarm(0);
	ibv_ack_async_event(&ev);
	return ev.event_type;
}

TEST_F_TIMEOUT(dgram, two_queue_pairs_on_one_queue_of_receives, LIMIT_S)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 2, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(self->dev.pd, &init);
	struct ibv_send_wr wr;
	struct ibv_qp *qp[2];
	struct ibv_sge sge;
	struct ibv_wc wc;
	uint64_t i;

	ASSERT_NE(NULL, srq);
	for (i = 0; i < 2; i++) {
		qp[i] = vud_qp(&self->dev, self->cq[1], srq, 0);
		ASSERT_NE(NULL, qp[i]);
		ASSERT_EQ(0, vud_to_rts(qp[i]));
	}
	/* More rounds than it has slots: each receive is used once, by whichever QP is next. */
	for (i = 0; i < 3 * init.attr.max_wr; i++) {
		ASSERT_EQ(0, post_srq(self, srq, i, VUD_GRH + LEN));
		wr = to_b(self, &sge, 64);
		wr.wr.ud.remote_qpn = qp[i % 2]->qp_num;
		ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
		ASSERT_TRUE(received(self, 64, &wc));
		EXPECT_EQ(i, wc.wr_id);
		EXPECT_EQ(qp[i % 2]->qp_num, wc.qp_num);
	}
	/* Too short for it, it stays; and with a QP in error it stays for the other. */
	ASSERT_EQ(0, post_srq(self, srq, 7, VUD_GRH + 8));
	wr = to_b(self, &sge, 9);
	wr.wr.ud.remote_qpn = qp[1]->qp_num;
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	ASSERT_EQ(0, vud_to_state(qp[0], IBV_QPS_ERR));
	EXPECT_EQ(IBV_EVENT_QP_LAST_WQE_REACHED, async_event(self));
	sge.length = 8;
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	wc = vud_next(self->cq[1], VUD_WAIT_S * 1000);
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(7, wc.wr_id);
	EXPECT_EQ(VUD_GRH + 8, wc.byte_len);
	EXPECT_EQ(0, memcmp(self->in + VUD_GRH, self->out, 8));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* What is posted for both: as many as the small completion queue takes, one that overruns it, one for the other QP. */
TEST_F_TIMEOUT(dgram, one_that_overran_its_completions_uses_no_receive_any_more, LIMIT_S)
{
	struct ibv_cq *small = ibv_create_cq(self->dev.ctx, 1, NULL, NULL, 0);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = (uint32_t)small->cqe + 2, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(self->dev.pd, &init);
	struct ibv_qp_init_attr qp_init;
	struct ibv_qp_attr attr;
	struct ibv_send_wr wr;
	struct ibv_qp *qp[2];
	struct ibv_sge sge;
	struct ibv_wc wc;
	int i;

	ASSERT_NE(NULL, srq);
	qp[0] = vud_qp(&self->dev, small, srq, 0);
	qp[1] = vud_qp(&self->dev, self->cq[1], srq, 0);
	for (i = 0; i < 2; i++) {
		ASSERT_NE(NULL, qp[i]);
		ASSERT_EQ(0, vud_to_rts(qp[i]));
	}
	for (i = 0; i < small->cqe + 2; i++)
		ASSERT_EQ(0, post_srq(self, srq, (uint64_t)i, VUD_GRH + 8));
	wr = to_b(self, &sge, 8);
	wr.wr.ud.remote_qpn = qp[0]->qp_num;
	for (i = 0; i < small->cqe + 1; i++)
		ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	EXPECT_EQ(IBV_EVENT_CQ_ERR, async_event(self));
	EXPECT_EQ(IBV_EVENT_QP_FATAL, async_event(self));
	EXPECT_EQ(IBV_EVENT_QP_LAST_WQE_REACHED, async_event(self));
	ASSERT_EQ(0, ibv_query_qp(qp[0], &attr, IBV_QP_STATE, &qp_init));
	EXPECT_EQ(IBV_QPS_ERR, attr.qp_state);
	EXPECT_TRUE(dropped_as(self, &wr, "rx_unknown_qp"));
	wr.wr.ud.remote_qpn = qp[1]->qp_num;
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	ASSERT_TRUE(received(self, 8, &wc));
	EXPECT_EQ((uint64_t)i, wc.wr_id);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	EXPECT_EQ(0, ibv_destroy_cq(small));
}

TEST_F_TIMEOUT(dgram, memory_that_is_not_its_own_and_lengths_beyond_the_mtu, LIMIT_S)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	wr = to_b(self, &sge, 8);
	sge.lkey ^= 0x100;
	expect_sqe(_metadata, self, &wr, IBV_WC_LOC_PROT_ERR);
	wr = to_b(self, &sge, 8);
	sge.length = 1 << 20;
	expect_sqe(_metadata, self, &wr, IBV_WC_LOC_LEN_ERR);
	wr = to_b(self, &sge, 8);
	wr.opcode = IBV_WR_RDMA_WRITE;
	EXPECT_EQ(EINVAL, send_status(self, &wr));
}

TEST_F_TIMEOUT(dgram, in_error_everything_is_flushed, LIMIT_S)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;

	ASSERT_EQ(0, post_recv(self, VUD_GRH + 8));
	ASSERT_EQ(0, vud_to_state(self->b, IBV_QPS_ERR));
	wc = vud_next(self->cq[1], VUD_WAIT_S * 1000);
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	EXPECT_EQ(77, wc.wr_id);
	ASSERT_EQ(0, post_recv(self, VUD_GRH + 8));	/* and one that is posted later */
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, vud_next(self->cq[1], VUD_WAIT_S * 1000).status);
	wr = to_b(self, &sge, 8);
	EXPECT_TRUE(dropped_as(self, &wr, "rx_unknown_qp"));
	ASSERT_EQ(0, vud_to_state(self->b, IBV_QPS_RESET));
	ASSERT_EQ(0, vud_to_rts(self->b));
	ASSERT_EQ(0, post_recv(self, VUD_GRH + 8));
	ASSERT_EQ(IBV_WC_SUCCESS, send_status(self, &wr));
	EXPECT_TRUE(received(self, 8, &wc));
}

TEST_F_TIMEOUT(dgram, a_thousand_in_a_row_one_of_eight_signaled, LIMIT_S)
{
	struct ibv_send_wr *bad, wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 1000; i++) {
		wr = to_b(self, &sge, (uint32_t)(i % LEN));
		wr.send_flags = i % 8 == 7 ? IBV_SEND_SIGNALED : 0;
		ASSERT_EQ(0, post_recv(self, VUD_GRH + LEN));
		ASSERT_EQ(0, ibv_post_send(self->a, &wr, &bad));
		ASSERT_TRUE(received(self, (uint32_t)(i % LEN), &wc)) {
			TH_LOG("datagram %d: status %d, %u bytes", i, wc.status, wc.byte_len);
		}
		if (i % 8 == 7)
			ASSERT_EQ(IBV_WC_SUCCESS, vud_next(self->cq[0], VUD_WAIT_S * 1000).status);
	}
}

TEST_HARNESS_MAIN
