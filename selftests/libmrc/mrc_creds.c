// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_creds.c - the application half for those who have other credentials than who opened the device:
 * after setuid(), and in a child process. The kernel takes no write() from them.
 *
 *	MRC_TEST_DEV=mrc0 mrc_creds
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "expect.h"
#include "mpair.h"

FIXTURE(creds) {
	struct mpair p;
	struct mrc_device_attr device;	/* what who opened it is told */
};

FIXTURE_SETUP(creds)
{
	int supported = 0;

	mpair_open(&self->p);
	ASSERT_EQ(0, mrc_query_device(self->p.dev.ctx, &self->device, &supported));
	ASSERT_EQ(1, supported);
}

FIXTURE_TEARDOWN(creds)
{
	mpair_close(&self->p);
}

/* What a write() to the device fails with that no command begins with; who writes is judged first. */
static int write_error(const struct mpair *p)
{
	return write(p->dev.ctx->cmd_fd, "", 1) < 0 ? errno : 0;
}

static bool same_device(struct _test_data_creds *self)
{
	struct mrc_device_attr now;
	int supported = 0;

	return !mrc_query_device(self->p.dev.ctx, &now, &supported) && supported &&
	       !memcmp(&now, &self->device, sizeof(now));
}

static bool written(struct mpair *p)
{
	struct ibv_wc wc;

	return mpair_wc(&p->end[0], &wc) && wc.status == IBV_WC_SUCCESS;
}

TEST_F_TIMEOUT(creds, who_dropped_privileges_connects, LIMIT_S)
{
	struct mpair *p = &self->p;

	ASSERT_EQ(EINVAL, write_error(p));
	ASSERT_EQ(0, setuid(65534));
	ASSERT_EQ(EACCES, write_error(p));
	EXPECT_TRUE(same_device(self));
	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE, 8, 1));
	EXPECT_TRUE(written(p));
}

/* Its exit status: how far it came, 0 when to the end. */
static int child(struct _test_data_creds *self)
{
	struct mpair *p = &self->p;

	if (write_error(p) != EACCES)
		return 1;
	if (!same_device(self))
		return 2;
	if (mpair_connect(p))
		return 3;
	return mpair_post(p, IBV_WR_RDMA_WRITE, 8, 1) ? 4 : 0;
}

/* Both QPs and the send queue are the child's, the completion queue is still its parent's. */
TEST_F_TIMEOUT(creds, a_child_process_connects, LIMIT_S)
{
	struct mpair *p = &self->p;
	pid_t pid = fork();
	struct ibv_qp_attr v;
	int i, status;

	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(child(self));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status) {
		TH_LOG("the child failed at its step %d", WEXITSTATUS(status));
	}
	EXPECT_TRUE(written(p));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, mrc_query_qp(p->end[i].qp, &v, IBV_QP_STATE, NULL, 0, NULL));
		EXPECT_EQ(IBV_QPS_RTS, v.qp_state);
	}
}

TEST_HARNESS_MAIN
