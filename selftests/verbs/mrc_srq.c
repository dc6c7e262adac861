// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_srq.c - shared receive queues.
 *
 *	MRC_TEST_DEV=mrc0 mrc_srq
 *
 * Two pairs of queue pairs of one device, all four on one SRQ; the second of each pair receives.
 * kselftest_harness.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	(64 * 1024)
#define SHORT	1000	/* one packet: what is refused comes again with each RNR timer */
#define DEPTH	16
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define WAIT_MS	60000

FIXTURE(srq) {
	struct vc_dev dev;
	struct ibv_srq *srq;
	struct vpair p[2];
	struct ibv_mr *mr;
	uint32_t depth;
	uint8_t *area;		/* what is sent, then a receive buffer for each of wr_id */
};

static uint8_t *buffer(struct _test_data_srq *self, uint64_t wr_id)
{
	return self->area + (1 + wr_id) * LEN;
}

static int post_recv(struct _test_data_srq *self, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)buffer(self, wr_id), LEN, self->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	return ibv_post_srq_recv(self->srq, &wr, &bad);
}

static int post_send(struct _test_data_srq *self, int pair, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->area, len, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return ibv_post_send(self->p[pair].qp[0], &wr, &bad);
}

FIXTURE_SETUP(srq)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 64, .max_send_sge = 1 };
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	struct ibv_srq_init_attr init = { .attr = { .max_wr = DEPTH, .max_sge = 2 } };
	int i;

	vc_open(&self->dev, &opts);
	self->srq = ibv_create_srq(self->dev.pd, &init);
	ASSERT_NE(NULL, self->srq);
	ASSERT_GE(init.attr.max_wr, DEPTH);
	self->depth = init.attr.max_wr;
	self->area = calloc(1 + self->depth, LEN);
	ASSERT_NE(NULL, self->area);
	for (i = 0; i < LEN; i++)
		self->area[i] = (uint8_t)vc_mix((uint64_t)i);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, (1 + self->depth) * LEN,
			      IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, self->mr);
	for (i = 0; i < 2; i++) {
		self->p[i].srq = self->srq;
		vpair_make(&self->p[i], &self->dev, &cap, 256, self->mr);
	}
}

FIXTURE_TEARDOWN(srq)
{
	vpair_end(&self->p[0]);
	vpair_end(&self->p[1]);
	EXPECT_EQ(0, ibv_destroy_srq(self->srq));
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
	free(self->area);
}

/* A message of @len arrived, whole, and its sender knows. *wr_id: in which receive. */
static bool arrived(struct _test_data_srq *self, int pair, uint32_t len, uint64_t *wr_id)
{
	struct ibv_wc wc;

	if (!vpair_wc(self->p[pair].cq[1], &wc, WAIT_MS) || wc.status || wc.byte_len != len ||
	    wc.qp_num != self->p[pair].qp[1]->qp_num || wc.wr_id >= self->depth)
		return false;
	*wr_id = wc.wr_id;
	if (memcmp(buffer(self, wc.wr_id), self->area, len))
		return false;
	return vpair_wc(self->p[pair].cq[0], &wc, WAIT_MS) && !wc.status;
}

/* The next event within @ms, acknowledged; -1: none. */
static int event(struct _test_data_srq *self, int ms)
{
	struct pollfd pfd = { .fd = self->dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	if (poll(&pfd, 1, ms) != 1 || ibv_get_async_event(self->dev.ctx, &ev))
		return -1;
	ibv_ack_async_event(&ev);
	return ev.event_type;
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

TEST_F_TIMEOUT(srq, many_queue_pairs_take_from_one_queue, LIMIT_S)
{
	uint64_t used = 0, wr_id, i;

	for (i = 0; i < self->depth; i++)
		ASSERT_EQ(0, post_recv(self, i));
	ASSERT_EQ(ENOMEM, post_recv(self, 0));
	for (i = 0; i < self->depth; i++) {
		ASSERT_EQ(0, post_send(self, i % 2, LEN - (uint32_t)i));
		ASSERT_TRUE(arrived(self, i % 2, LEN - (uint32_t)i, &wr_id));
		ASSERT_EQ(0, used & 1ull << wr_id);
		used |= 1ull << wr_id;
		ASSERT_EQ(0, post_recv(self, wr_id)) {
			TH_LOG("a completion polled is room for one receive");
		}
		used &= ~(1ull << wr_id);
		ASSERT_EQ(ENOMEM, post_recv(self, 0));
	}
}

TEST_F_TIMEOUT(srq, who_finds_none_waits_until_one_is_posted, LIMIT_S)
{
	struct ibv_wc wc;
	int i, pair;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, post_send(self, i % 2, SHORT));
	usleep(20000);
	/*
	 * One receive at a time: if a later message of a queue pair could have it, the one before
	 * would wait for another, and this loop for a completion.
	 */
	for (i = 0; i < 8; i++) {
		memset(buffer(self, 3), 0, SHORT);
		ASSERT_EQ(0, post_recv(self, 3));
		for (pair = 0; !vpair_wc(self->p[pair].cq[1], &wc, 20); pair = !pair)
			;
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		ASSERT_EQ(0, memcmp(buffer(self, 3), self->area, SHORT));
	}
}

TEST_F_TIMEOUT(srq, the_limit_is_told_once, LIMIT_S)
{
	struct ibv_srq_attr attr = { .srq_limit = 4 };
	uint64_t wr_id, i;

	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, post_recv(self, i));
	ASSERT_EQ(0, ibv_modify_srq(self->srq, &attr, IBV_SRQ_LIMIT));
	ASSERT_EQ(0, ibv_query_srq(self->srq, &attr));
	EXPECT_EQ(4, attr.srq_limit);
	EXPECT_EQ(self->depth, attr.max_wr);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, post_send(self, 0, 100));
		ASSERT_TRUE(arrived(self, 0, 100, &wr_id));
	}
	EXPECT_EQ(-1, event(self, 0)) {
		TH_LOG("four are left, which is not less");
	}
	ASSERT_EQ(0, post_send(self, 1, 100));
	ASSERT_TRUE(arrived(self, 1, 100, &wr_id));
	EXPECT_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, event(self, WAIT_MS));
	ASSERT_EQ(0, ibv_query_srq(self->srq, &attr));
	EXPECT_EQ(0, attr.srq_limit);
	ASSERT_EQ(0, post_send(self, 1, 100));
	ASSERT_TRUE(arrived(self, 1, 100, &wr_id));
	EXPECT_EQ(-1, event(self, 0));
	attr.srq_limit = 3;	/* two are there */
	ASSERT_EQ(0, ibv_modify_srq(self->srq, &attr, IBV_SRQ_LIMIT));
	EXPECT_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, event(self, WAIT_MS));
	attr.srq_limit = self->depth + 1;
	EXPECT_EQ(EINVAL, ibv_modify_srq(self->srq, &attr, IBV_SRQ_LIMIT));
}

TEST_F_TIMEOUT(srq, a_queue_pair_in_error_leaves_the_rest_to_others, LIMIT_S)
{
	uint64_t wr_id, i;
	struct ibv_wc wc;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, post_recv(self, i));
	ASSERT_EQ(0, to_state(self->p[0].qp[1], IBV_QPS_ERR));
	EXPECT_EQ(IBV_EVENT_QP_LAST_WQE_REACHED, event(self, WAIT_MS));
	EXPECT_EQ(-1, event(self, 100)) {
		TH_LOG("once");
	}
	EXPECT_EQ(0, ibv_poll_cq(self->p[0].cq[1], 1, &wc)) {
		TH_LOG("it had taken none");
	}
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, post_send(self, 1, LEN));
		ASSERT_TRUE(arrived(self, 1, LEN, &wr_id));
	}
}

/* Reset in the middle of messages: what was taken comes back, what completed counts. */
TEST_F_TIMEOUT(srq, a_reset_loses_no_receive, LIMIT_S)
{
	uint64_t wr_id, there, i;
	int round;
	struct ibv_wc wc;

	for (i = 0; i < self->depth; i++)
		ASSERT_EQ(0, post_recv(self, i));
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 8; i++)
			ASSERT_EQ(0, post_send(self, 0, LEN));
		usleep(1000u << (round * 2));
		ASSERT_EQ(0, to_state(self->p[0].qp[1], IBV_QPS_RESET));
		ASSERT_EQ(0, to_state(self->p[0].qp[0], IBV_QPS_RESET));
		/* Completions that nobody polled went with the reset; so many may be posted. */
		for (there = 0; !post_recv(self, there); there++)
			;
		ASSERT_LE(there, 8);
		for (i = 0; i < self->depth; i++) {
			ASSERT_EQ(0, post_send(self, 1, 64));
			ASSERT_TRUE(arrived(self, 1, 64, &wr_id));
		}
		ASSERT_EQ(0, post_send(self, 1, 64));
		EXPECT_FALSE(vpair_wc(self->p[1].cq[1], &wc, 20)) {
			TH_LOG("more receives than were posted");
		}
		ASSERT_EQ(0, post_recv(self, 0));
		ASSERT_TRUE(arrived(self, 1, 64, &wr_id));
		for (i = 0; i < self->depth; i++)
			ASSERT_EQ(0, post_recv(self, i));
		for (i = 0; i < 2; i++) {
			struct ibv_qp_attr attr = {
				.qp_state = IBV_QPS_INIT, .port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
			};

			ASSERT_EQ(0, ibv_modify_qp(self->p[0].qp[i], &attr, IBV_QP_STATE |
						   IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						   IBV_QP_ACCESS_FLAGS));
		}
		vpair_connect(&self->p[0], &self->dev, self->mr);
	}
}

TEST_F_TIMEOUT(srq, a_resize_under_traffic_loses_nothing, LIMIT_S)
{
	struct ibv_srq_attr attr = {};
	uint64_t wr_id, i;
	int n;

	for (i = 0; i < self->depth; i++)
		ASSERT_EQ(0, post_recv(self, i));
	attr.max_wr = self->depth / 2;
	EXPECT_EQ(EINVAL, ibv_modify_srq(self->srq, &attr, IBV_SRQ_MAX_WR)) {
		TH_LOG("more are posted than would fit");
	}
	for (n = 0; n < 24; n++) {
		ASSERT_EQ(0, post_send(self, 0, LEN));
		ASSERT_EQ(0, post_send(self, 1, LEN));
		attr.max_wr = self->depth << (n % 3);
		ASSERT_EQ(0, ibv_modify_srq(self->srq, &attr, IBV_SRQ_MAX_WR));
		for (i = 0; i < 2; i++) {
			ASSERT_TRUE(arrived(self, (int)i, LEN, &wr_id));
			ASSERT_EQ(0, post_recv(self, wr_id));
		}
	}
	ASSERT_EQ(0, ibv_query_srq(self->srq, &attr));
	EXPECT_EQ(self->depth << 2, attr.max_wr);
}

TEST_F_TIMEOUT(srq, what_cannot_be_is_refused, LIMIT_S)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1u << 24, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex xrc = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = self->dev.pd,
	};
	struct ibv_recv_wr *bad, wr = { .num_sge = 3 };
	struct ibv_sge sge[3] = {};

	EXPECT_EQ(EBUSY, ibv_destroy_srq(self->srq)) {
		TH_LOG("queue pairs use it");
	}
	EXPECT_EQ(NULL, ibv_create_srq(self->dev.pd, &init));
	EXPECT_EQ(EINVAL, errno);
	init.attr = (struct ibv_srq_attr){ .max_wr = 16, .max_sge = 1000 };
	EXPECT_EQ(NULL, ibv_create_srq(self->dev.pd, &init));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, ibv_create_srq_ex(self->dev.ctx, &xrc));
	EXPECT_EQ(EOPNOTSUPP, errno);
	wr.sg_list = sge;
	EXPECT_EQ(EINVAL, ibv_post_srq_recv(self->srq, &wr, &bad));
	EXPECT_EQ(&wr, bad);
	wr.num_sge = 0;
	EXPECT_EQ(EINVAL, ibv_post_recv(self->p[0].qp[1], &wr, &bad));
	EXPECT_GT(self->dev.attr.max_srq, 0);
	EXPECT_GT(self->dev.attr.max_srq_wr, 16383);
	EXPECT_GT(self->dev.attr.max_srq_sge, 15);
}

TEST_HARNESS_MAIN
