// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_doorbell.c - which posts make a system call.
 *
 *	MRC_TEST_DEV=mrc0 mrc_doorbell
 *
 * Two queue pairs of one device, connected to each other; the second is reset, so that nothing answers
 * the first, whose window fills. kselftest_harness.h.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	65536
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define DEPTH	128
#define FULL	32	/* of LEN: 2 MiB, four of the default windows */
#define TIMEOUT	22	/* 17 s, eight times: not while we look */

static int device = -1;
static unsigned int rung;

/* Doorbells are the plug-in's only write()s to the device. */
ssize_t write(int fd, const void *buf, size_t len)
{
	rung += fd == device;
	return syscall(SYS_write, fd, buf, len);
}

/*
 * A queue pair has its turns where it was woken first. Woken here, it has had the turn, and may sleep again, when
 * write() is back; on another processor it might sleep on while we post.
 */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		vc_die("sched_setaffinity: %m");
}

FIXTURE(doorbell) {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct vpair p;
	uint8_t area[LEN];
};

FIXTURE_SETUP(doorbell)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };

	stay_here();
	vc_open(&self->dev, &opts);
	self->dev.timeout = TIMEOUT;
	self->mr = ibv_reg_mr(self->dev.pd, self->area, LEN,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, self->mr);
	vpair_make(&self->p, &self->dev, &cap, DEPTH, self->mr);
	device = self->dev.ctx->cmd_fd;
}

FIXTURE_TEARDOWN(doorbell)
{
	vpair_end(&self->p);
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
}

static int post(struct _test_data_doorbell *self)
{
	struct ibv_sge sge = { (uintptr_t)self->area, LEN, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = self->p.peer.addr, .rkey = self->p.peer.rkey },
	};

	return ibv_post_send(self->p.qp[0], &wr, &bad);
}

TEST_F_TIMEOUT(doorbell, an_idle_queue_pair_is_woken, LIMIT_S)
{
	unsigned int before = rung;
	struct ibv_wc wc;

	ASSERT_EQ(0, post(self));
	ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, 1000u * LIMIT_S / 4));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(before + 1, rung);
}

/* One may ring for what was asked for before the window was full. */
TEST_F_TIMEOUT(doorbell, behind_a_full_window_none_rings, LIMIT_S)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	unsigned int before;
	int i;

	ASSERT_EQ(0, ibv_modify_qp(self->p.qp[1], &attr, IBV_QP_STATE));
	for (i = 0; i < FULL; i++)
		ASSERT_EQ(0, post(self));
	before = rung;
	for (i = FULL; i < DEPTH; i++)
		ASSERT_EQ(0, post(self));
	EXPECT_GE(before + 1, rung) {
		TH_LOG("%u of %d posts", rung - before, DEPTH - FULL);
	}
}

/* What was posted without a doorbell is sent all the same, when the peer answers again. */
TEST_F_TIMEOUT(doorbell, what_did_not_ring_is_sent, LIMIT_S)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < DEPTH; i++)
		ASSERT_EQ(0, post(self));
	for (i = 0; i < DEPTH; i++) {
		ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, 1000u * LIMIT_S / 4));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
	}
	TH_LOG("%u doorbells for %d requests of %d bytes", rung, DEPTH, LEN);
}

TEST_HARNESS_MAIN
