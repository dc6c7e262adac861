// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_lent.c - memory that is not just the program's: "of the device", and another context's.
 *
 *	MRC_TEST_DEV=mrc0 mrc_lent
 *
 * Two queue pairs of one device: the first writes where the second lets it. kselftest_harness.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	8192
#define LIMIT_S	120	/* in an emulated machine, busy with others */
#define WAIT_MS	60000
#define ZERO	(IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

FIXTURE(lent) {
	struct vc_dev dev;
	struct ibv_mr *src, *mr;
	struct vpair p;
	uint8_t from[LEN], area[LEN], back[LEN];
};

FIXTURE_SETUP(lent)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	int i;

	vc_open(&self->dev, &opts);
	for (i = 0; i < LEN; i++)
		self->from[i] = (uint8_t)vc_mix((uint64_t)i);
	self->src = ibv_reg_mr(self->dev.pd, self->from, LEN, IBV_ACCESS_LOCAL_WRITE);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, LEN,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, self->src);
	ASSERT_NE(NULL, self->mr);
	vpair_make(&self->p, &self->dev, &cap, 64, self->mr);
}

FIXTURE_TEARDOWN(lent)
{
	vpair_end(&self->p);
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	EXPECT_EQ(0, ibv_dereg_mr(self->src));
	vc_close(&self->dev);
}

/* How a WRITE of @len bytes to @addr under @rkey ends. */
static enum ibv_wc_status write_to(struct _test_data_lent *self, uint64_t addr, uint32_t rkey,
				   uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->from, len, self->src->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { addr, rkey },
	};
	struct ibv_wc wc;

	if (ibv_post_send(self->p.qp[0], &wr, &bad) || !vpair_wc(self->p.cq[0], &wc, WAIT_MS))
		return IBV_WC_FATAL_ERR;
	return wc.status;
}

TEST_F_TIMEOUT(lent, peers_write_into_device_memory_from_address_0_on, LIMIT_S)
{
	struct ibv_alloc_dm_attr attr = { .length = LEN - 3 };
	struct ibv_dm *dm = ibv_alloc_dm(self->dev.ctx, &attr);
	struct ibv_mr *mr;

	ASSERT_NE(NULL, dm);
	mr = ibv_reg_dm_mr(self->dev.pd, dm, 4096, LEN - 3 - 4096, ZERO);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(EBUSY, ibv_free_dm(dm));
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, 16, mr->rkey, 1000));
	ASSERT_EQ(0, ibv_memcpy_from_dm(self->back, dm, 4096, 1100));
	EXPECT_EQ(0, memcmp(self->back + 16, self->from, 1000));
	EXPECT_EQ(0, self->back[15] | self->back[1016]);	/* it begins as zeros */
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, LEN - 3 - 4096, mr->rkey, 1));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_free_dm(dm));
}

TEST_F_TIMEOUT(lent, device_memory_is_what_the_device_says, LIMIT_S)
{
	struct ibv_device_attr_ex max;
	struct ibv_alloc_dm_attr attr = { };
	struct ibv_dm *dm;

	ASSERT_EQ(0, ibv_query_device_ex(self->dev.ctx, NULL, &max));
	ASSERT_LT(0, max.max_dm_size);
	attr.length = max.max_dm_size + 4;
	EXPECT_EQ(NULL, ibv_alloc_dm(self->dev.ctx, &attr));
	attr.length = max.max_dm_size;
	dm = ibv_alloc_dm(self->dev.ctx, &attr);
	ASSERT_NE(NULL, dm);
	attr.length = 4;
	EXPECT_EQ(NULL, ibv_alloc_dm(self->dev.ctx, &attr));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(EINVAL, ibv_memcpy_to_dm(dm, 2, self->from, 4));
	EXPECT_EQ(EINVAL, ibv_memcpy_to_dm(dm, max.max_dm_size - 4, self->from, 8));
	EXPECT_EQ(EINVAL, ibv_memcpy_from_dm(self->back, dm, ~7ull + 4, 4));
	EXPECT_EQ(NULL, ibv_reg_dm_mr(self->dev.pd, dm, 4096, max.max_dm_size, ZERO));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, ibv_reg_dm_mr(self->dev.pd, dm, 4, 4, ZERO));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, ibv_free_dm(dm));
}

TEST_F_TIMEOUT(lent, what_another_context_made_is_used, LIMIT_S)
{
	struct ibv_context *ctx = ibv_import_device(dup(self->dev.ctx->cmd_fd));
	struct ibv_mr *mr, *own;
	struct ibv_pd *pd;

	ASSERT_NE(NULL, ctx);
	pd = ibv_import_pd(ctx, self->dev.pd->handle);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(NULL, ibv_import_mr(pd, 0x7fffffff));
	mr = ibv_import_mr(pd, self->mr->handle);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(self->mr->rkey, mr->rkey);
	EXPECT_EQ(LEN, mr->length);
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, (uintptr_t)self->area, mr->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->area, self->from, LEN));
	/* A region of the other's domain serves the QPs of that domain. */
	own = ibv_reg_mr(pd, self->back, LEN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, own);
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, (uintptr_t)self->back, own->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->back, self->from, LEN));
	EXPECT_EQ(0, ibv_dereg_mr(own));
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	EXPECT_EQ(0, ibv_close_device(ctx));
	/* What was lent is its owner's still. */
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, (uintptr_t)self->area, self->mr->rkey, 8));
}

/* In a process of its own: a region of its own memory, whose key goes through @sock. 0: it was written. */
static int borrower(struct _test_data_lent *self, int sock)
{
	struct ibv_context *ctx = ibv_import_device(dup(self->dev.ctx->cmd_fd));
	struct ibv_pd *pd = ctx ? ibv_import_pd(ctx, self->dev.pd->handle) : NULL;
	struct ibv_mr *mr;
	char told;
	int rc;

	memset(self->back, 0, LEN);	/* its own copy from here on */
	mr = pd ? ibv_reg_mr(pd, self->back, LEN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) : NULL;
	if (!mr || write(sock, &mr->rkey, sizeof(mr->rkey)) != sizeof(mr->rkey) || read(sock, &told, 1) != 1)
		return 1;
	rc = memcmp(self->back, self->from, LEN) ? 2 : 0;
	if (ibv_dereg_mr(mr))
		return 3;
	ibv_unimport_pd(pd);
	return ibv_close_device(ctx) ? 4 : rc;
}

TEST_F_TIMEOUT(lent, another_process_registers_its_memory, LIMIT_S)
{
	uint32_t rkey = 0;
	int sock[2], status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	memset(self->back, 0x55, LEN);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(sock[0]);
		_exit(borrower(self, sock[1]));
	}
	close(sock[1]);
	EXPECT_EQ((ssize_t)sizeof(rkey), read(sock[0], &rkey, sizeof(rkey)));
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, (uintptr_t)self->back, rkey, LEN));
	EXPECT_EQ(1, write(sock[0], "x", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0x55, self->back[0]);	/* not this process's */
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, (uintptr_t)self->back, rkey, 8));
	close(sock[0]);
}

TEST_HARNESS_MAIN
