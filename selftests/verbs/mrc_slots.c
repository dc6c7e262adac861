// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_slots.c - slots of work queues are taken until completion.
 *
 *	MRC_TEST_DEV=mrc0 mrc_slots
 *
 * Two queue pairs of one device, connected to each other; each completion queue has exactly as
 * many entries as the work queue, and is polled late. kselftest_harness.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	64
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define DEPTH	64

FIXTURE(slots) {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct vpair p;
	uint32_t depth;		/* of the send queue, as granted */
	uint8_t area[2 * LEN];
};

FIXTURE_SETUP(slots)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	vc_open(&self->dev, &opts);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, sizeof(self->area),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, self->mr);
	vpair_make(&self->p, &self->dev, &cap, DEPTH, self->mr);
	ASSERT_EQ(0, ibv_query_qp(self->p.qp[0], &attr, IBV_QP_CAP, &init));
	self->depth = init.cap.max_send_wr;
	ASSERT_GE(self->p.cq[0]->cqe, (int)self->depth) {
		TH_LOG("a queue of %d entries was asked for", DEPTH);
	}
}

FIXTURE_TEARDOWN(slots)
{
	vpair_end(&self->p);
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
}

static int post_op(struct _test_data_slots *self, enum ibv_wr_opcode opcode, int flags)
{
	struct ibv_sge sge = { (uintptr_t)self->area, LEN, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = flags,
		.wr.rdma = { .remote_addr = self->p.peer.addr + LEN,
			     .rkey = self->p.peer.rkey },
	};

	return ibv_post_send(self->p.qp[0], &wr, &bad);
}

static int post(struct _test_data_slots *self, int flags)
{
	return post_op(self, IBV_WR_RDMA_WRITE, flags);
}

static int post_recv(struct _test_data_slots *self)
{
	struct ibv_recv_wr *bad, wr = {};

	return ibv_post_recv(self->p.qp[1], &wr, &bad);
}

/* So many until there is no room; negative: another error. */
static int post_all(struct _test_data_slots *self, int flags)
{
	int n = 0, ret;

	while (!(ret = post(self, flags)))
		n++;
	return ret == ENOMEM ? n : -ret;
}

/* So many completions, each a success, waited for as long as it takes. */
static uint32_t polled_of(struct ibv_cq *cq, uint32_t want)
{
	struct ibv_wc wc;
	uint32_t n = 0;
	int got;

	while (n < want) {
		got = ibv_poll_cq(cq, 1, &wc);
		if (got < 0 || (got && wc.status != IBV_WC_SUCCESS))
			return n;
		n += (uint32_t)got;
		if (!got)
			usleep(200);
	}
	return n;
}

static uint32_t polled(struct _test_data_slots *self, uint32_t want)
{
	return polled_of(self->p.cq[0], want);
}

static int events(struct _test_data_slots *self)
{
	struct pollfd pfd = { .fd = self->dev.ctx->async_fd, .events = POLLIN };

	return poll(&pfd, 1, 0);
}

/* The kernel has long taken the requests and completed them, and nobody has polled. */
TEST_F_TIMEOUT(slots, a_program_that_posts_until_no_room_overruns_nothing, LIMIT_S)
{
	uint32_t sum = 0, i;
	int n;

	for (i = 0; i < 40; i++) {
		n = post_all(self, IBV_SEND_SIGNALED);
		ASSERT_GE(n, 0);
		sum += (uint32_t)n;
		usleep(20000);
	}
	EXPECT_EQ(self->depth, sum);
	EXPECT_EQ(self->depth, polled(self, self->depth));
	EXPECT_EQ(0, events(self)) {
		TH_LOG("an asynchronous event: an overrun");
	}
	EXPECT_EQ((int)self->depth, post_all(self, IBV_SEND_SIGNALED));
	EXPECT_EQ(self->depth, polled(self, self->depth));
}

TEST_F_TIMEOUT(slots, one_completion_polled_is_one_slot, LIMIT_S)
{
	uint32_t i;

	ASSERT_EQ((int)self->depth, post_all(self, IBV_SEND_SIGNALED));
	for (i = 0; i < 3 * self->depth; i++) {
		ASSERT_EQ(1, polled(self, 1));
		ASSERT_EQ(1, post_all(self, IBV_SEND_SIGNALED));
	}
	EXPECT_EQ(self->depth, polled(self, self->depth));
}

TEST_F_TIMEOUT(slots, a_completion_returns_unsignaled_ones_before_it, LIMIT_S)
{
	uint32_t round, i;

	for (round = 0; round < 8; round++) {
		for (i = 1; i < self->depth; i++)
			ASSERT_EQ(0, post(self, 0));
		ASSERT_EQ(0, post(self, IBV_SEND_SIGNALED));
		ASSERT_EQ(ENOMEM, post(self, IBV_SEND_SIGNALED));
		ASSERT_EQ(1, polled(self, 1));
	}
}

TEST_F_TIMEOUT(slots, receives_are_taken_until_polled_too, LIMIT_S)
{
	uint32_t n = 0, i;

	while (!post_recv(self))
		n++;
	ASSERT_EQ(self->depth, n);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, post_op(self, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED));
		ASSERT_EQ(1, polled(self, 1));
	}
	EXPECT_EQ(ENOMEM, post_recv(self)) {
		TH_LOG("its receives are completed, but not polled");
	}
	EXPECT_EQ(1, polled_of(self->p.cq[1], 1));
	EXPECT_EQ(0, post_recv(self));
	EXPECT_EQ(ENOMEM, post_recv(self));
	EXPECT_EQ(0, events(self));
	EXPECT_EQ(n - 1, polled_of(self->p.cq[1], n - 1));
}

TEST_F_TIMEOUT(slots, a_reset_returns_all, LIMIT_S)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int i;

	ASSERT_EQ((int)self->depth, post_all(self, 0));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, ibv_modify_qp(self->p.qp[i], &attr, IBV_QP_STATE));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, ibv_modify_qp(self->p.qp[i], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					   IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	vpair_connect(&self->p, &self->dev, self->mr);
	EXPECT_EQ((int)self->depth, post_all(self, IBV_SEND_SIGNALED));
	EXPECT_EQ(self->depth, polled(self, self->depth));
}

TEST_F_TIMEOUT(slots, flushed_requests_return_theirs, LIMIT_S)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	uint32_t n = 0;
	int got;

	ASSERT_EQ(0, ibv_modify_qp(self->p.qp[0], &attr, IBV_QP_STATE));
	ASSERT_EQ((int)self->depth, post_all(self, 0));
	while (n < self->depth && (got = ibv_poll_cq(self->p.cq[0], 1, &wc)) >= 0) {
		n += (uint32_t)got;
		EXPECT_TRUE(!got || wc.status == IBV_WC_WR_FLUSH_ERR);
		if (!got)
			usleep(200);
	}
	EXPECT_EQ(self->depth, n);
	EXPECT_EQ((int)self->depth, post_all(self, 0));
}

/* ---- who rings the doorbell: the kernel refuses write() to other credentials than the opener's ---- */

static bool written_by_now(struct _test_data_slots *self)
{
	struct ibv_wc wc;

	return vpair_wc(self->p.cq[0], &wc, 1000u * LIMIT_S / 4) && wc.status == IBV_WC_SUCCESS;
}

/* One after the other, so that the kernel has gone to sleep in between. */
static int child(struct _test_data_slots *self)
{
	int i, ret = 0;

	for (i = 0; i < 3 && !ret; i++) {
		ret = post(self, IBV_SEND_SIGNALED);
		usleep(100000);
	}
	return ret;
}

/* The send queue is the child's from then on, the completion queue still its parent's. */
TEST_F_TIMEOUT(slots, a_child_process_posts, LIMIT_S)
{
	pid_t pid = fork();
	int i, status;

	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(child(self));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(written_by_now(self)) {
			TH_LOG("what the child posted was not sent: %d", i);
		}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F_TIMEOUT(slots, who_dropped_privileges_posts, LIMIT_S)
{
	int i;

	ASSERT_EQ(0, post(self, IBV_SEND_SIGNALED));
	ASSERT_TRUE(written_by_now(self));
	ASSERT_EQ(0, setuid(65534));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, post(self, IBV_SEND_SIGNALED));
		ASSERT_TRUE(written_by_now(self));
	}
}

TEST_HARNESS_MAIN
