// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_cqex.c - extended completion queues and extended posting: timestamps, resize, moderation,
 * every ibv_wr_* operation of an RC queue pair.
 *
 *	MRC_TEST_DEV=mrc0 mrc_cqex
 *
 * Two queue pairs of one device, connected to each other. kselftest_harness.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	4096
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define WAIT_MS	60000
#define SLACK_NS 1000000000	/* the wall clock is the difference of two, read one after the other */
#define OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
		 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |		  \
		 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |	  \
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

FIXTURE(cqex) {
	struct vc_dev dev;
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *cq;	/* of the side that posts */
	struct ibv_mr *mr;
	struct vpair p;
	struct ibv_qp_ex *qp;
	uint8_t area[2 * LEN] __attribute__((aligned(8)));	/* here and there */
};

FIXTURE_SETUP(cqex)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 4, .max_recv_sge = 1,
		.max_inline_data = 200,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	struct ibv_cq_init_attr_ex init = {
		.cqe = 64,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};

	vc_open(&self->dev, &opts);
	self->channel = ibv_create_comp_channel(self->dev.ctx);
	ASSERT_NE(NULL, self->channel);
	init.channel = self->channel;
	self->cq = ibv_create_cq_ex(self->dev.ctx, &init);
	ASSERT_NE(NULL, self->cq);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, sizeof(self->area),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	ASSERT_NE(NULL, self->mr);
	self->p = (struct vpair){
		.cq = { ibv_cq_ex_to_cq(self->cq),
			ibv_create_cq(self->dev.ctx, 64, NULL, NULL, 0) },
		.send_ops = OPS,
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	ASSERT_NE(NULL, self->p.cq[1]);
	vpair_make_beside(&self->p, &self->p, &self->dev, &cap, self->mr);
	self->qp = ibv_qp_to_qp_ex(self->p.qp[0]);
	ASSERT_NE(NULL, self->qp);
}

FIXTURE_TEARDOWN(cqex)
{
	vpair_end(&self->p);
	EXPECT_EQ(0, ibv_destroy_cq(self->p.cq[0]));
	EXPECT_EQ(0, ibv_destroy_cq(self->p.cq[1]));
	ibv_destroy_comp_channel(self->channel);
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
}

static int64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int post_write(struct _test_data_cqex *self, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)self->area, 64, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { self->p.peer.addr + LEN, self->p.peer.rkey },
	};

	return ibv_post_send(self->p.qp[0], &wr, &bad);
}

/* Started, and on a completion; false: none in a long time. */
static bool start_poll(struct _test_data_cqex *self)
{
	struct ibv_poll_cq_attr attr = {};
	const uint64_t end = vc_now_ns() + WAIT_MS * 1000000ull;

	while (ibv_start_poll(self->cq, &attr)) {
		if (vc_now_ns() > end)
			return false;
		usleep(200);
	}
	return true;
}

static bool completed(struct _test_data_cqex *self, enum ibv_wc_opcode opcode)
{
	bool ok = start_poll(self);

	if (!ok)
		return false;
	ok = self->cq->status == IBV_WC_SUCCESS && ibv_wc_read_opcode(self->cq) == opcode &&
	     ibv_wc_read_qp_num(self->cq) == self->p.qp[0]->qp_num;
	ibv_end_poll(self->cq);
	return ok;
}

/* On the next completion of the batch; false: none in a long time. */
static bool next_poll(struct _test_data_cqex *self)
{
	const uint64_t end = vc_now_ns() + WAIT_MS * 1000000ull;

	while (ibv_next_poll(self->cq)) {
		if (vc_now_ns() > end)
			return false;
		usleep(100);
	}
	return true;
}

/* As servers do that poll until nothing is left: three times as many as the queue holds. */
TEST_F_TIMEOUT(cqex, a_batch_in_whose_loop_is_posted_overruns_nothing, LIMIT_S)
{
	struct pollfd pfd = { .fd = self->dev.ctx->async_fd, .events = POLLIN };
	const uint64_t n = 3ull * (uint64_t)self->p.cq[0]->cqe;
	uint64_t i;

	ASSERT_EQ(0, post_write(self, 0));
	ASSERT_TRUE(start_poll(self));
	for (i = 1; i < n; i++) {
		ASSERT_EQ(IBV_WC_SUCCESS, self->cq->status);
		ASSERT_EQ(i - 1, self->cq->wr_id);
		ASSERT_EQ(0, post_write(self, i));
		ASSERT_TRUE(next_poll(self));
	}
	ibv_end_poll(self->cq);
	EXPECT_EQ(0, poll(&pfd, 1, 0)) {
		TH_LOG("an asynchronous event: an overrun");
	}
}

TEST_F_TIMEOUT(cqex, completions_bear_the_time, LIMIT_S)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int64_t before, wall, stamp, last = 0;
	int i;

	wall = now(CLOCK_REALTIME);
	before = now(CLOCK_MONOTONIC);
	ASSERT_EQ(0, ibv_query_rt_values_ex(self->dev.ctx, &values));
	EXPECT_EQ(IBV_VALUES_MASK_RAW_CLOCK, values.comp_mask);
	EXPECT_LE(before, values.raw_clock.tv_sec * 1000000000ll + values.raw_clock.tv_nsec);
	for (i = 0; i < 16; i++) {
		ASSERT_EQ(0, post_write(self, (uint64_t)i));
		ASSERT_TRUE(start_poll(self));
		stamp = (int64_t)ibv_wc_read_completion_ts(self->cq);
		EXPECT_LT(before, stamp);
		EXPECT_LE(last, stamp);
		EXPECT_GT(now(CLOCK_MONOTONIC), stamp);
		EXPECT_LE(wall, (int64_t)ibv_wc_read_completion_wallclock_ns(self->cq) + SLACK_NS);
		EXPECT_GE(now(CLOCK_REALTIME) + SLACK_NS,
			  (int64_t)ibv_wc_read_completion_wallclock_ns(self->cq));
		last = stamp;
		ibv_end_poll(self->cq);
		before = now(CLOCK_MONOTONIC);
	}
}

TEST_F_TIMEOUT(cqex, the_device_says_what_it_has, LIMIT_S)
{
	struct ibv_device_attr_ex attr = {};
	struct ibv_query_device_ex_input input = {};

	ASSERT_EQ(0, ibv_query_device_ex(self->dev.ctx, &input, &attr));
	EXPECT_EQ(~0ull, attr.completion_timestamp_mask);
	EXPECT_EQ(1000000, attr.hca_core_clock);
	EXPECT_EQ(0, attr.odp_caps.general_caps);
	EXPECT_EQ(0, attr.raw_packet_caps);
	EXPECT_EQ(65535, attr.cq_mod_caps.max_cq_count);
	EXPECT_EQ(65535, attr.cq_mod_caps.max_cq_period);
	EXPECT_GE(attr.orig_attr.max_cqe, 1 << 18);
	EXPECT_GE(attr.orig_attr.max_qp_wr, 16384);
	EXPECT_GE(attr.orig_attr.max_sge, 16);
	EXPECT_GE(attr.orig_attr.max_qp_rd_atom, 16);
	EXPECT_EQ(1, attr.orig_attr.max_pkeys);
	EXPECT_GT(attr.orig_attr.max_mw, 0);
	EXPECT_NE(0, attr.orig_attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
}

/* Writes are always under way while the queue grows and shrinks; each completes once, in order. */
TEST_F_TIMEOUT(cqex, a_resize_under_traffic_loses_nothing, LIMIT_S)
{
	static const int sizes[] = { 256, 64, 4096, 100, 64 };
	uint64_t posted = 0, polled = 0;
	struct ibv_wc wc;

	while (polled < 2000) {
		while (posted < polled + 32 && !post_write(self, posted))
			posted++;
		if (!(polled % 25))
			ASSERT_EQ(0, ibv_resize_cq(self->p.cq[0], sizes[polled / 25 % 5]));
		ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		ASSERT_EQ(polled, wc.wr_id);
		polled++;
	}
	EXPECT_GE(self->p.cq[0]->cqe, 64);
	for (; polled < posted; polled++)
		ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
	EXPECT_EQ(EINVAL, ibv_resize_cq(self->p.cq[0], 1 << 28));
	EXPECT_EQ(EINVAL, ibv_resize_cq(self->p.cq[0], 0));
}

#define FLUSHED		8	/* queue pairs whose receives are flushed, */
#define RECVS		64	/* so many of each */

/* One whose receives complete as flushed, numbered from @first. */
static struct ibv_qp *flushed_qp(struct _test_data_cqex *self, uint64_t first)
{
	struct ibv_qp_init_attr init = {
		.send_cq = self->p.cq[1], .recv_cq = self->p.cq[0], .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = RECVS, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(self->dev.pd, &init);
	struct ibv_recv_wr *bad, wr = {};
	int i, err;

	if (!qp)
		return NULL;
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	for (i = 0; i < RECVS && !err; i++) {
		wr.wr_id = first + (uint64_t)i;
		err = ibv_post_recv(qp, &wr, &bad);
	}
	attr.qp_state = IBV_QPS_ERR;
	if (!err && !ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		return qp;
	ibv_destroy_qp(qp);
	return NULL;
}

/* More than the kernel copies at once. Some may come while it copies. */
TEST_F_TIMEOUT(cqex, a_resize_keeps_all_that_waits, LIMIT_S)
{
	bool seen[FLUSHED * RECVS] = {};
	struct ibv_qp *qp[FLUSHED];
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, ibv_resize_cq(self->p.cq[0], 2 * FLUSHED * RECVS));
	for (i = 0; i < FLUSHED; i++) {
		qp[i] = flushed_qp(self, (uint64_t)i * RECVS);
		ASSERT_NE(NULL, qp[i]);
		ASSERT_EQ(0, ibv_resize_cq(self->p.cq[0], (i % 2 + 2) * FLUSHED * RECVS));
	}
	for (i = 0; i < FLUSHED * RECVS; i++) {
		ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
		ASSERT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
		ASSERT_LT(wc.wr_id, FLUSHED * RECVS);
		EXPECT_FALSE(seen[wc.wr_id]);
		seen[wc.wr_id] = true;
		if (i == FLUSHED * RECVS / 3)
			ASSERT_EQ(0, ibv_resize_cq(self->p.cq[0], FLUSHED * RECVS));
	}
	EXPECT_EQ(0, ibv_poll_cq(self->p.cq[0], 1, &wc));
	for (i = 0; i < FLUSHED; i++)
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
}

/* The latest request has arrived; drained, the queue pair has completed all. */
static bool all_done(struct _test_data_cqex *self)
{
	struct pollfd pfd = { .fd = self->dev.ctx->async_fd, .events = POLLIN };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_async_event ev;
	struct ibv_wc wc;

	if (!vpair_wc(self->p.cq[1], &wc, WAIT_MS) ||
	    ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) ||
	    poll(&pfd, 1, WAIT_MS) != 1 || ibv_get_async_event(self->dev.ctx, &ev))
		return false;
	ibv_ack_async_event(&ev);
	return ev.event_type == IBV_EVENT_SQ_DRAINED;
}

TEST_F_TIMEOUT(cqex, what_is_not_polled_must_fit, LIMIT_S)
{
	struct ibv_recv_wr *bad, recv = {};
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
	for (i = 0; i < 59; i++)
		ASSERT_EQ(0, post_write(self, (uint64_t)i));
	ibv_wr_start(self->qp);
	self->qp->wr_id = 59;
	self->qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(self->qp, 0, 0, 1);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(all_done(self));
	EXPECT_EQ(EINVAL, ibv_resize_cq(self->p.cq[0], 32));
	EXPECT_EQ(0, ibv_resize_cq(self->p.cq[0], 4096));
	EXPECT_EQ(EINVAL, ibv_resize_cq(self->p.cq[0], 32));
	EXPECT_EQ(0, ibv_resize_cq(self->p.cq[0], 64));
	for (i = 0; i < 60; i++) {
		ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
		ASSERT_EQ((uint64_t)i, wc.wr_id);
	}
	EXPECT_EQ(0, ibv_resize_cq(self->p.cq[0], 32));
}

/* Waits for the event of the queue and acknowledges it. */
static bool event(struct _test_data_cqex *self, int ms)
{
	struct pollfd pfd = { .fd = self->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, ms) != 1 || ibv_get_cq_event(self->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

TEST_F_TIMEOUT(cqex, events_wait_for_more_completions_or_the_period, LIMIT_S)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { 1000, 60000 },
	};
	struct ibv_cq *cq = self->p.cq[0];
	int64_t stamp;
	int i;

	ASSERT_EQ(0, ibv_modify_cq(cq, &attr));
	ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
	ASSERT_EQ(0, post_write(self, 0));
	ASSERT_TRUE(event(self, WAIT_MS));
	ASSERT_TRUE(start_poll(self));
	stamp = (int64_t)ibv_wc_read_completion_ts(self->cq);
	ibv_end_poll(self->cq);
	EXPECT_GE(now(CLOCK_MONOTONIC) - stamp, 60000000ll) {
		TH_LOG("one completion of 1000, and the period is not over");
	}
	attr.moderate.cq_count = 1;
	ASSERT_EQ(0, ibv_modify_cq(cq, &attr));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
		ASSERT_EQ(0, post_write(self, 0));
		ASSERT_TRUE(event(self, WAIT_MS));
		ASSERT_TRUE(completed(self, IBV_WC_RDMA_WRITE));
	}
}

/* Each event is asked for while the timer of the last one may be about to end. */
TEST_F_TIMEOUT(cqex, no_event_that_waits_is_lost, LIMIT_S)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { 1000, 1 },
	};
	struct ibv_cq *cq = self->p.cq[0];
	int i;

	ASSERT_EQ(0, ibv_modify_cq(cq, &attr));
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
		ASSERT_EQ(0, post_write(self, (uint64_t)i));
		ASSERT_TRUE(event(self, WAIT_MS)) {
			TH_LOG("the event of round %d did not come", i);
		}
		ASSERT_TRUE(completed(self, IBV_WC_RDMA_WRITE));
	}
}

/* Who polls and then arms has missed what came in between: as by adapters of mlx5 it is told at once, for UCX. */
TEST_F_TIMEOUT(cqex, arming_tells_of_what_came_before, LIMIT_S)
{
	struct ibv_cq *cq = self->p.cq[0];

	ASSERT_EQ(0, post_write(self, 0));
	usleep(300000);		/* for it to complete; on a slower machine this shows less */
	EXPECT_EQ(0, ibv_req_notify_cq(cq, 1));
	EXPECT_FALSE(event(self, 100)) {
		TH_LOG("of a completion that is not solicited");
	}
	EXPECT_EQ(0, ibv_req_notify_cq(cq, 0));
	EXPECT_TRUE(event(self, WAIT_MS));
	/* Most programs arm when they have an event, and then poll: they know of it. */
	EXPECT_EQ(0, ibv_req_notify_cq(cq, 0));
	EXPECT_FALSE(event(self, 100)) {
		TH_LOG("of a completion of which an event has told");
	}
	ASSERT_EQ(0, post_write(self, 1));
	EXPECT_TRUE(event(self, WAIT_MS));
	ASSERT_TRUE(completed(self, IBV_WC_RDMA_WRITE));
	ASSERT_TRUE(completed(self, IBV_WC_RDMA_WRITE));
	EXPECT_EQ(0, ibv_req_notify_cq(cq, 0));
	EXPECT_FALSE(event(self, 100)) {
		TH_LOG("of an empty queue");
	}
}

/* ---- ibv_wr_* ---- */

static void begin(struct _test_data_cqex *self, uint64_t wr_id)
{
	ibv_wr_start(self->qp);
	self->qp->wr_id = wr_id;
	self->qp->wr_flags = IBV_SEND_SIGNALED;
}

static uint64_t *word(struct _test_data_cqex *self, int at)
{
	return (uint64_t *)(self->area + at);
}

TEST_F_TIMEOUT(cqex, writes_and_reads, LIMIT_S)
{
	const uint32_t rkey = self->p.peer.rkey, lkey = self->mr->lkey;
	const uint64_t there = self->p.peer.addr + LEN, here = self->p.peer.addr;
	const struct ibv_sge list[3] = { { here, 10, lkey }, { here + 10, 20, lkey },
					 { here + 30, LEN - 30, lkey } };
	const struct ibv_data_buf bufs[2] = { { "inline ", 7 }, { "data", 5 } };
	struct ibv_recv_wr *bad, recv = { .wr_id = 7 };
	struct ibv_wc wc;
	int i;

	for (i = 0; i < LEN; i++)
		self->area[i] = (uint8_t)vc_mix((uint64_t)i);
	begin(self, 1);
	ibv_wr_rdma_write(self->qp, rkey, there);
	ibv_wr_set_sge_list(self->qp, 3, list);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(completed(self, IBV_WC_RDMA_WRITE));
	EXPECT_EQ(0, memcmp(self->area, self->area + LEN, LEN));

	ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
	begin(self, 2);
	ibv_wr_rdma_write_imm(self->qp, rkey, there, 0x12345678);
	ibv_wr_set_inline_data_list(self->qp, 2, bufs);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(completed(self, IBV_WC_RDMA_WRITE));
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
	EXPECT_EQ(0x12345678, wc.imm_data);
	EXPECT_STREQ("inline data", (char *)self->area + LEN);

	begin(self, 3);
	ibv_wr_rdma_read(self->qp, rkey, there);
	ibv_wr_set_sge(self->qp, lkey, here + 100, 12);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(completed(self, IBV_WC_RDMA_READ));
	EXPECT_STREQ("inline data", (char *)self->area + 100);
}

TEST_F_TIMEOUT(cqex, atomics, LIMIT_S)
{
	const uint64_t there = self->p.peer.addr + LEN;

	*word(self, LEN) = 40;
	begin(self, 1);
	ibv_wr_atomic_fetch_add(self->qp, self->p.peer.rkey, there, 2);
	ibv_wr_set_sge(self->qp, self->mr->lkey, (uintptr_t)word(self, 0), 8);
	self->qp->wr_id = 2;
	ibv_wr_atomic_cmp_swp(self->qp, self->p.peer.rkey, there, 42, 99);
	ibv_wr_set_sge(self->qp, self->mr->lkey, (uintptr_t)word(self, 8), 8);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(completed(self, IBV_WC_FETCH_ADD));
	ASSERT_TRUE(completed(self, IBV_WC_COMP_SWAP));
	EXPECT_EQ(40, *word(self, 0));
	EXPECT_EQ(42, *word(self, 8));
	EXPECT_EQ(99, *word(self, LEN));
	begin(self, 3);
	ibv_wr_atomic_fetch_add(self->qp, self->p.peer.rkey, there + 4, 2);
	ibv_wr_set_sge(self->qp, self->mr->lkey, (uintptr_t)word(self, 0), 8);
	EXPECT_EQ(EINVAL, ibv_wr_complete(self->qp));
}

TEST_F_TIMEOUT(cqex, atomics_take_eight_bytes_of_larger_memory, LIMIT_S)
{
	struct ibv_sge list[2] = {
		{ (uintptr_t)word(self, 0), 4, self->mr->lkey },
		{ (uintptr_t)word(self, 64), 60, self->mr->lkey },
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = list, .num_sge = 2, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = self->p.peer.addr + LEN, .rkey = self->p.peer.rkey,
			       .compare_add = 2 },
	};

	*word(self, LEN) = 40;
	memset(self->area, 0xee, 128);
	begin(self, 1);
	ibv_wr_atomic_fetch_add(self->qp, self->p.peer.rkey, self->p.peer.addr + LEN, 2);
	ibv_wr_set_sge(self->qp, self->mr->lkey, (uintptr_t)word(self, 0), 64);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(completed(self, IBV_WC_FETCH_ADD));
	EXPECT_EQ(40, *word(self, 0));
	EXPECT_EQ(0xeeeeeeeeeeeeeeee, *word(self, 8));

	ASSERT_EQ(0, ibv_post_send(self->p.qp[0], &wr, &bad));
	ASSERT_TRUE(completed(self, IBV_WC_FETCH_ADD));
	EXPECT_EQ(42, (uint32_t)*word(self, 0));
	EXPECT_EQ(0xeeeeeeee00000000, *word(self, 64));
	EXPECT_EQ(44, *word(self, LEN));
}

TEST_F_TIMEOUT(cqex, sends_and_what_is_taken_back, LIMIT_S)
{
	struct ibv_sge sge = { (uintptr_t)self->area + LEN, LEN, self->mr->lkey };
	struct ibv_recv_wr *bad, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;
	char text[] = "a message";
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
	begin(self, 1);
	ibv_wr_send(self->qp);
	ibv_wr_set_inline_data(self->qp, text, sizeof(text));
	ibv_wr_abort(self->qp);
	begin(self, 2);
	ibv_wr_send(self->qp);
	ibv_wr_set_inline_data(self->qp, self->area, LEN);
	EXPECT_EQ(EINVAL, ibv_wr_complete(self->qp)) {
		TH_LOG("so many bytes are not inline");
	}
	begin(self, 3);
	ibv_wr_send(self->qp);
	ibv_wr_set_inline_data(self->qp, text, sizeof(text));
	self->qp->wr_id = 4;
	ibv_wr_send_imm(self->qp, 77);
	ibv_wr_set_sge(self->qp, self->mr->lkey, (uintptr_t)self->area, 100);
	ASSERT_EQ(0, ibv_wr_complete(self->qp));
	ASSERT_TRUE(completed(self, IBV_WC_SEND));
	ASSERT_TRUE(completed(self, IBV_WC_SEND));
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(sizeof(text), wc.byte_len);
	EXPECT_EQ(0, wc.wc_flags);
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(100, wc.byte_len);
	EXPECT_EQ(77, wc.imm_data);
	EXPECT_EQ(IBV_WC_WITH_IMM, wc.wc_flags);
}

TEST_F_TIMEOUT(cqex, what_is_not_offered_is_refused, LIMIT_S)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 8, .wc_flags = IBV_WC_EX_WITH_FLOW_TAG };
	struct ibv_parent_domain_init_attr domain = { .pd = self->dev.pd, .comp_mask = 1u << 31 };
	struct ibv_ece ece = {};

	EXPECT_EQ(NULL, ibv_create_cq_ex(self->dev.ctx, &init));
	EXPECT_EQ(EOPNOTSUPP, errno);
	init = (struct ibv_cq_init_attr_ex){
		.cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	EXPECT_EQ(NULL, ibv_create_cq_ex(self->dev.ctx, &init));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(NULL, ibv_alloc_parent_domain(self->dev.ctx, &domain));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(EOPNOTSUPP, ibv_query_ece(self->p.qp[0], &ece));
}

TEST_HARNESS_MAIN
