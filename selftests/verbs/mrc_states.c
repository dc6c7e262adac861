// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_states.c - a queue pair that is drained (SQD) finishes what it has begun, begins nothing, says
 * so, and goes on; and what may change when it is connected.
 *
 *	MRC_TEST_DEV=mrc0 mrc_states
 *
 * Two queue pairs of one device, connected to each other. kselftest_harness.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	65536
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define WAIT_MS	60000

FIXTURE(states) {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct vpair p;
	uint8_t area[2 * LEN];
};

FIXTURE_SETUP(states)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 64, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };

	vc_open(&self->dev, &opts);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, sizeof(self->area),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, self->mr);
	self->p.access = IBV_ACCESS_REMOTE_READ;
	vpair_make(&self->p, &self->dev, &cap, 128, self->mr);
}

FIXTURE_TEARDOWN(states)
{
	vpair_end(&self->p);
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
}

static int post(struct _test_data_states *self, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)self->area, LEN, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { self->p.peer.addr + LEN, self->p.peer.rkey },
	};

	return ibv_post_send(self->p.qp[0], &wr, &bad);
}

static int event(struct _test_data_states *self, int ms)
{
	struct pollfd pfd = { .fd = self->dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	if (poll(&pfd, 1, ms) != 1 || ibv_get_async_event(self->dev.ctx, &ev))
		return -1;
	ibv_ack_async_event(&ev);
	return ev.event_type;
}

static int drain(struct _test_data_states *self, int notify)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = (uint8_t)notify,
	};

	return ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE |
			     (notify ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

static int to_state(struct _test_data_states *self, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE);
}

TEST_F_TIMEOUT(states, a_drained_queue_begins_nothing, LIMIT_S)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint64_t next = 0, posted = 0;
	struct ibv_wc wc;
	int round;

	for (round = 0; round < 3; round++) {
		while (posted < next + 8)
			ASSERT_EQ(0, post(self, posted++));
		ASSERT_EQ(0, drain(self, 1));
		ASSERT_EQ(IBV_EVENT_SQ_DRAINED, event(self, WAIT_MS));
		/* What it had begun is done; the rest, with two more, waits. */
		while (ibv_poll_cq(self->p.cq[0], 1, &wc) == 1) {
			ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
			ASSERT_EQ(next++, wc.wr_id);
		}
		ASSERT_EQ(0, ibv_query_qp(self->p.qp[0], &attr, IBV_QP_STATE, &init));
		EXPECT_EQ(IBV_QPS_SQD, attr.qp_state);
		EXPECT_EQ(0, attr.sq_draining);
		ASSERT_EQ(0, post(self, posted++));
		ASSERT_EQ(0, post(self, posted++));
		EXPECT_FALSE(vpair_wc(self->p.cq[0], &wc, 200));
		EXPECT_EQ(-1, event(self, 0));
		ASSERT_EQ(0, to_state(self, IBV_QPS_RTS));
		while (next < posted) {
			ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
			ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
			ASSERT_EQ(next++, wc.wr_id);
		}
	}
}

TEST_F_TIMEOUT(states, who_does_not_ask_is_not_told, LIMIT_S)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, drain(self, 0));
	EXPECT_EQ(-1, event(self, 200));
	ASSERT_EQ(0, post(self, 1));
	EXPECT_FALSE(vpair_wc(self->p.cq[0], &wc, 200));
	ASSERT_EQ(0, to_state(self, IBV_QPS_ERR));
	ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	EXPECT_EQ(1, wc.wr_id);
}

TEST_F_TIMEOUT(states, what_is_agreed_upon_stays, LIMIT_S)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .timeout = 9, .retry_cnt = 1 };

	ASSERT_EQ(0, drain(self, 0));
	EXPECT_EQ(EOPNOTSUPP, ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_TIMEOUT));
	EXPECT_EQ(EOPNOTSUPP, ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_RETRY_CNT));
	EXPECT_EQ(EINVAL, to_state(self, IBV_QPS_RTR));
	EXPECT_EQ(0, to_state(self, IBV_QPS_RTS));
}

/* rdma_cm connects with code 0, the longest; libfabric mends it afterwards. */
TEST_F_TIMEOUT(states, the_rnr_timer_may_change_later, LIMIT_S)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = 3 };
	struct ibv_qp_init_attr init;

	ASSERT_EQ(0, ibv_modify_qp(self->p.qp[1], &attr, IBV_QP_MIN_RNR_TIMER));
	memset(&attr, 0, sizeof(attr));
	ASSERT_EQ(0, ibv_query_qp(self->p.qp[1], &attr, IBV_QP_MIN_RNR_TIMER, &init));
	EXPECT_EQ(3, attr.min_rnr_timer);
	attr.min_rnr_timer = 32;
	EXPECT_EQ(EINVAL, ibv_modify_qp(self->p.qp[1], &attr, IBV_QP_MIN_RNR_TIMER));
}

/*
 * qp[1] goes on with a connection that qp[0] has left. Its READ is answered by qp[0], which is in RTR
 * again and asks it where the stream of answers begins. The program says otherwise at RTS.
 */
TEST_F_TIMEOUT(states, rts_begins_where_the_program_says, LIMIT_S)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr, peer;
	struct ibv_sge sge = { (uintptr_t)self->area, LEN, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { self->p.peer.addr + LEN, self->p.peer.rkey },
	};
	struct ibv_wc wc;

	memset(self->area, 0, LEN);
	memset(self->area + LEN, 0x5a, LEN);
	ASSERT_EQ(0, ibv_query_qp(self->p.qp[0], &attr, IBV_QP_AV, &init));
	ASSERT_EQ(0, ibv_query_qp(self->p.qp[1], &peer, IBV_QP_AV, &init));
	ASSERT_EQ(0, to_state(self, IBV_QPS_RESET));
	ASSERT_EQ(0, ibv_post_send(self->p.qp[1], &wr, &bad));
	attr.qp_state = IBV_QPS_INIT;
	ASSERT_EQ(0, ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
							 IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	attr.rq_psn = peer.sq_psn;
	ASSERT_EQ(0, ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
							 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
							 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, memcmp(self->area, self->area + LEN, LEN));
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = (peer.rq_psn + 1000) & 0xffffff;
	ASSERT_EQ(0, ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
							 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
							 IBV_QP_MAX_QP_RD_ATOMIC));
	ASSERT_EQ(0, ibv_query_qp(self->p.qp[0], &attr, IBV_QP_STATE, &init));
	/* An answer that was not yet acknowledged is sent again from there, and the peer may refuse that: ERR. */
	EXPECT_TRUE(attr.qp_state == IBV_QPS_RTS || attr.qp_state == IBV_QPS_ERR);
}

TEST_HARNESS_MAIN
