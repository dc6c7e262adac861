// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_events.c - what a program is told beside its completions, and what it need not ask.
 *
 *	MRC_TEST_DEV=mrc0 mrc_events
 *
 * Two queue pairs of one device, connected to each other. kselftest_harness.h:
 *	a request that fails is told by its completion, and by no event;
 *	a request of the peer that is refused raises QP_ACCESS_ERR, as nothing else tells;
 *	the queue pairs of a completion queue that was overrun end in error;
 *	a queue pair that was in error and was reset asks for no doorbell for its receives.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	64
#define LIMIT_S	300
#define FAR_MS	100000	/* for what must come */
#define NEAR_MS	300	/* for what must not */

static const struct ibv_qp_cap cap = {
	.max_send_wr = 64, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1,
};

static struct vc_dev dev;
static struct ibv_mr *mr;
static uint8_t area[2 * LEN];
static unsigned int bells;

/* Doorbells are the plug-in's only write()s to the device. */
ssize_t write(int fd, const void *buf, size_t len)
{
	if (dev.ctx && fd == dev.ctx->cmd_fd)
		bells++;
	return syscall(SYS_write, fd, buf, len);
}

FIXTURE(events) {
	struct vpair p;
};

FIXTURE_SETUP(events)
{
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };

	vc_open(&dev, &opts);
	mr = ibv_reg_mr(dev.pd, area, sizeof(area), IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	vpair_make(&self->p, &dev, &cap, 16, mr);
}

FIXTURE_TEARDOWN(events)
{
	vpair_end(&self->p);
	ibv_dereg_mr(mr);
	vc_close(&dev);
}

static int post_write(struct vpair *p, uint32_t lkey, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)area, LEN, lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = p->peer.addr + LEN, .rkey = rkey },
	};

	return ibv_post_send(p->qp[0], &wr, &bad);
}

static int next_status(struct ibv_cq *cq)
{
	const uint64_t end = vc_now_ns() + FAR_MS * 1000000ull;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(cq, 1, &wc) > 0)
			return wc.status;
		usleep(200);
	} while (vc_now_ns() < end);
	return -1;
}

/* The next event within @ms, or -1. *@who: the queue pair that it is about. */
static int next_event(int ms, struct ibv_qp **who)
{
	struct pollfd pfd = { .fd = dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	*who = NULL;
	if (poll(&pfd, 1, ms) != 1 || ibv_get_async_event(dev.ctx, &ev))
		return -1;
	if (ev.event_type != IBV_EVENT_CQ_ERR)
		*who = ev.element.qp;
	ibv_ack_async_event(&ev);
	return (int)ev.event_type;
}

static bool state_becomes(struct ibv_qp *qp, enum ibv_qp_state want, int *got)
{
	const uint64_t end = vc_now_ns() + FAR_MS * 1000000ull;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	do {
		if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
			return false;
		*got = attr.qp_state;
		if (attr.qp_state == want)
			return true;
		usleep(1000);
	} while (vc_now_ns() < end);
	return false;
}

static void to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	errno = ibv_modify_qp(qp, &attr, mask);
	if (errno)
		vc_die("QP to state %d: %s", state, strerror(errno));
}

static int post_recv(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)area, LEN, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(qp, &wr, &bad);
}

TEST_F_TIMEOUT(events, own_error_is_told_by_its_completion_alone, LIMIT_S)
{
	struct ibv_qp *who;

	ASSERT_EQ(0, post_write(&self->p, mr->lkey ^ 0x55, self->p.peer.rkey));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, next_status(self->p.cq[0]));
	EXPECT_EQ(-1, next_event(NEAR_MS, &who));
}

TEST_F_TIMEOUT(events, refused_request_is_told_to_the_responder, LIMIT_S)
{
	struct ibv_qp *who;

	ASSERT_EQ(0, post_write(&self->p, mr->lkey, self->p.peer.rkey ^ 0x55));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, next_status(self->p.cq[0]));
	EXPECT_EQ(IBV_EVENT_QP_ACCESS_ERR, next_event(FAR_MS, &who));
	EXPECT_EQ(self->p.qp[1], who);
	EXPECT_EQ(-1, next_event(NEAR_MS, &who)) {
		TH_LOG("the requester needs none");
	}
}

/*
 * Nothing is polled until the queue says that it is full: it is smaller than the send queue.
 * A queue pair of it that has nothing to do ends with it.
 */
TEST_F_TIMEOUT(events, overrun_ends_all_queue_pairs, LIMIT_S)
{
	struct vpair *p = &self->p, idle = {};
	bool told[2] = {};
	struct ibv_qp *who;
	int got, i;

	vpair_make_beside(&idle, p, &dev, &cap, mr);
	while (!post_write(p, mr->lkey, p->peer.rkey))
		;
	ASSERT_EQ(IBV_EVENT_CQ_ERR, next_event(FAR_MS, &who));
	for (i = 0; i < 2; i++) {
		got = next_event(FAR_MS, &who);
		EXPECT_EQ(IBV_EVENT_QP_FATAL, got);
		told[0] |= who == p->qp[0];
		told[1] |= who == idle.qp[0];
	}
	EXPECT_TRUE(told[0]);
	EXPECT_TRUE(told[1]) {
		TH_LOG("the idle one was not told");
	}
	EXPECT_TRUE(state_becomes(p->qp[0], IBV_QPS_ERR, &got));
	EXPECT_TRUE(state_becomes(idle.qp[0], IBV_QPS_ERR, &got));
	vpair_end(&idle);
}

TEST_F_TIMEOUT(events, after_a_reset_receives_need_no_doorbell, LIMIT_S)
{
	struct vpair *p = &self->p;
	int i;

	to(p->qp[0], IBV_QPS_ERR);
	ASSERT_EQ(0, post_recv(p->qp[0]));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, next_status(p->cq[0]));
	for (i = 0; i < 2; i++) {
		to(p->qp[i], IBV_QPS_RESET);
		to(p->qp[i], IBV_QPS_INIT);
	}
	vpair_connect(p, &dev, mr);
	bells = 0;
	EXPECT_EQ(0, post_recv(p->qp[0]));
	EXPECT_EQ(0, post_recv(p->qp[0]));
	EXPECT_EQ(0u, bells);
}

TEST_HARNESS_MAIN
