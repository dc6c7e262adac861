// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_region.c - memory regions registered again, at other addresses, with hints; memory windows.
 *
 *	MRC_TEST_DEV=mrc0 mrc_region
 *
 * Two queue pairs of one device: the first accesses what the second lets it. kselftest_harness.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LEN	8192
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define WAIT_MS	60000
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_MW_BIND)

FIXTURE(region) {
	struct vc_dev dev;
	struct ibv_mr *src, *mr;
	struct vpair p;
	uint8_t from[LEN], area[2 * LEN] __attribute__((aligned(8)));
};

FIXTURE_SETUP(region)
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
	ASSERT_NE(NULL, self->src);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, LEN, ALL);
	ASSERT_NE(NULL, self->mr);
	self->p.access = IBV_ACCESS_REMOTE_READ;
	vpair_make(&self->p, &self->dev, &cap, 64, self->mr);
}

FIXTURE_TEARDOWN(region)
{
	vpair_end(&self->p);
	if (self->mr)
		EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	ibv_dereg_mr(self->src);
	vc_close(&self->dev);
}

static enum ibv_wc_status status_of(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return vpair_wc(cq, &wc, WAIT_MS) ? wc.status : IBV_WC_GENERAL_ERR;
}

/* How a WRITE of @len bytes to @addr under @rkey ends. */
static enum ibv_wc_status write_to(struct _test_data_region *self, uint64_t addr, uint32_t rkey,
				   uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->from, len, self->src->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { addr, rkey },
	};

	if (ibv_post_send(self->p.qp[0], &wr, &bad))
		return IBV_WC_FATAL_ERR;
	return status_of(self->p.cq[0]);
}

/* The offender's queue pair has failed, and its peer with it: both anew. */
static void again(struct _test_data_region *self)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int i;

	for (i = 0; i < 2; i++) {
		if (ibv_modify_qp(self->p.qp[i], &attr, IBV_QP_STATE))
			vc_die("RESET");
	}
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	for (i = 0; i < 2; i++) {
		if (ibv_modify_qp(self->p.qp[i], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
			vc_die("INIT");
	}
	vpair_connect(&self->p, &self->dev, self->src);
}

static uint64_t at(struct _test_data_region *self, int off)
{
	return (uintptr_t)self->area + (uint64_t)off;
}

TEST_F_TIMEOUT(region, another_translation, LIMIT_S)
{
	const uint32_t old = self->mr->rkey;

	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 0), old, LEN));
	ASSERT_EQ(0, ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
				  self->area + LEN, LEN, 0));
	EXPECT_EQ(old, self->mr->rkey);
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, LEN), self->mr->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->area + LEN, self->from, LEN));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 0), self->mr->rkey, 1));
}

TEST_F_TIMEOUT(region, another_access, LIMIT_S)
{
	ASSERT_EQ(0, ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				  IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 0), self->mr->rkey, 1));
	again(self);
	ASSERT_EQ(0, ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL));
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 0), self->mr->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->area, self->from, LEN));
}

TEST_F_TIMEOUT(region, another_domain, LIMIT_S)
{
	struct ibv_pd *pd = ibv_alloc_pd(self->dev.ctx);

	ASSERT_NE(NULL, pd);
	ASSERT_EQ(0, ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 0), self->mr->rkey, 1));
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(pd));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	self->mr = NULL;
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_F_TIMEOUT(region, hints_are_taken_and_what_is_not_offered_is_refused, LIMIT_S)
{
	/* Uverbs wants it to lie in its page as the address does. */
	const uint64_t iova = 0x123456000 + (uintptr_t)self->area % 4096;
	struct ibv_mr *mr;

	mr = ibv_reg_mr_iova2(self->dev.pd, self->area, LEN, iova, ALL |
			      IBV_ACCESS_RELAXED_ORDERING);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, iova, mr->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->area, self->from, LEN));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, iova - 1, mr->rkey, 1));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	/* ib_core's own word for it, EINVAL in 6.1. */
	EXPECT_EQ(NULL, ibv_reg_mr(self->dev.pd, self->area, LEN, ALL | IBV_ACCESS_ON_DEMAND));
	EXPECT_TRUE(errno == EOPNOTSUPP || errno == EINVAL);
	EXPECT_EQ(NULL, ibv_reg_mr(self->dev.pd, NULL, SIZE_MAX, ALL | IBV_ACCESS_ON_DEMAND));
	EXPECT_TRUE(errno == EOPNOTSUPP || errno == EINVAL);
}

/*
 * More than the kernel finds in one step (core/mrc_xa_cache.h): some share a place there. One byte each; the keys of
 * half of them are forgotten, and the others' still lead where they did.
 */
TEST_F_TIMEOUT(region, of_many_each_is_itself, LIMIT_S)
{
	enum { MANY = 2100 };
	struct ibv_mr **mr = calloc(MANY, sizeof(*mr));
	uint32_t gone;
	int i;

	ASSERT_NE(NULL, mr);
	self->from[0] = 0x5a;	/* the memory's is 0 */
	for (i = 0; i < MANY; i++) {
		mr[i] = ibv_reg_mr(self->dev.pd, self->area + i, 1, ALL);
		ASSERT_NE(NULL, mr[i]);
	}
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, i), mr[i]->rkey, 1));
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(self->from[0], self->area[i]);
	gone = mr[MANY - 1]->rkey;
	for (i = MANY / 2; i < MANY; i++)
		ASSERT_EQ(0, ibv_dereg_mr(mr[i]));
	for (i = 0; i < MANY / 2; i++) {
		EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, i), mr[i]->rkey, 1));
		ASSERT_EQ(0, ibv_dereg_mr(mr[i]));
	}
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, MANY - 1), gone, 1));
	free(mr);
}

/* ---- windows ---- */

static struct ibv_mw_bind_info part(struct _test_data_region *self, int off, int len)
{
	return (struct ibv_mw_bind_info) {
		.mr = self->mr, .addr = at(self, off), .length = (uint64_t)len,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE,
	};
}

TEST_F_TIMEOUT(region, a_type_1_window_moves, LIMIT_S)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->dev.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 5, .send_flags = IBV_SEND_SIGNALED, .bind_info = part(self, 100, 200),
	};
	struct ibv_wc wc;
	uint32_t old;

	ASSERT_NE(NULL, mw);
	ASSERT_EQ(0, ibv_bind_mw(self->p.qp[1], mw, &bind));
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_BIND_MW, wc.opcode);
	EXPECT_EQ(5, wc.wr_id);
	old = mw->rkey;
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 100), old, 200));
	EXPECT_EQ(0, memcmp(self->area + 100, self->from, 200));
	bind.bind_info = part(self, 1000, 10);
	ASSERT_EQ(0, ibv_bind_mw(self->p.qp[1], mw, &bind));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 1000), mw->rkey, 10));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 1000), old, 10));
	again(self);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 1000), mw->rkey, 11));
	again(self);
	bind.bind_info.length = 0;
	ASSERT_EQ(0, ibv_bind_mw(self->p.qp[1], mw, &bind));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 1000), mw->rkey, 1));
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

TEST_F_TIMEOUT(region, a_window_ends_with_its_region, LIMIT_S)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->dev.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED, .bind_info = part(self, 0, LEN),
	};

	ASSERT_NE(NULL, mw);
	ASSERT_EQ(0, ibv_bind_mw(self->p.qp[1], mw, &bind));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 0), mw->rkey, 1));
	ASSERT_EQ(0, ibv_dereg_mr(self->mr));
	self->mr = NULL;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 0), mw->rkey, 1));
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

static int post_window(struct _test_data_region *self, int qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(self->p.qp[qp], wr, &bad);
}

static int bind2(struct _test_data_region *self, struct ibv_mw *mw, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw, .rkey = rkey, .bind_info = part(self, 0, 100) },
	};

	return post_window(self, 1, &wr);
}

TEST_F_TIMEOUT(region, a_type_2_window_is_bound_and_invalidated, LIMIT_S)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->dev.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr inv = { .opcode = IBV_WR_LOCAL_INV };
	struct ibv_wc wc;
	uint32_t key;

	ASSERT_NE(NULL, mw);
	key = ibv_inc_rkey(mw->rkey);
	ASSERT_EQ(0, bind2(self, mw, key));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 0), key, 100));
	inv.invalidate_rkey = key;
	ASSERT_EQ(0, post_window(self, 1, &inv));
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_LOCAL_INV, wc.opcode);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 0), key, 1));
	again(self);
	key = ibv_inc_rkey(key);
	ASSERT_EQ(0, bind2(self, mw, key));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	ASSERT_EQ(0, bind2(self, mw, ibv_inc_rkey(key)));
	EXPECT_EQ(IBV_WC_MW_BIND_ERR, status_of(self->p.cq[1])) {
		TH_LOG("it is bound");
	}
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

TEST_F_TIMEOUT(region, the_peer_invalidates_with_a_send, LIMIT_S)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->dev.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr inv = { .opcode = IBV_WR_SEND_WITH_INV };
	struct ibv_recv_wr *bad, recv = { .wr_id = 9 };
	struct ibv_wc wc;
	uint32_t key;

	ASSERT_NE(NULL, mw);
	key = ibv_inc_rkey(mw->rkey);
	ASSERT_EQ(0, bind2(self, mw, key));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
	inv.invalidate_rkey = key;
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, at(self, 0), key, 100));
	ASSERT_EQ(0, post_window(self, 0, &inv));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[0]));
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_RECV, wc.opcode);
	EXPECT_EQ(IBV_WC_WITH_INV, wc.wc_flags);
	EXPECT_EQ(key, wc.invalidated_rkey);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, at(self, 0), key, 1));
	again(self);
	ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
	ASSERT_EQ(0, post_window(self, 0, &inv));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, status_of(self->p.cq[0])) {
		TH_LOG("it is not bound any more");
	}
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

/* Where packets overtake each other (vm-tests/strict.sh), such a SEND may have to wait for what was sent before it. */
TEST_F_TIMEOUT(region, what_was_sent_before_it_may_come_later, LIMIT_S)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->dev.pd, IBV_MW_TYPE_2);
	struct ibv_sge sge = { (uintptr_t)self->from, 100, self->src->lkey };
	struct ibv_send_wr *bad_send, write = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { at(self, 0), self->mr->rkey },
	};
	struct ibv_send_wr inv = { .opcode = IBV_WR_SEND_WITH_INV };
	struct ibv_recv_wr *bad, recv = { .wr_id = 9 };
	struct ibv_wc wc;
	int i;

	ASSERT_NE(NULL, mw);
	inv.invalidate_rkey = mw->rkey;
	for (i = 0; i < 40; i++) {
		inv.invalidate_rkey = ibv_inc_rkey(inv.invalidate_rkey);
		ASSERT_EQ(0, bind2(self, mw, inv.invalidate_rkey));
		ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
		ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
		ASSERT_EQ(0, ibv_post_send(self->p.qp[0], &write, &bad_send));
		ASSERT_EQ(0, post_window(self, 0, &inv));
		ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[0])) {
			TH_LOG("round %d", i);
		}
		ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		ASSERT_EQ(inv.invalidate_rkey, wc.invalidated_rkey);
	}
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

TEST_F_TIMEOUT(region, a_window_is_no_more_than_its_region, LIMIT_S)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->dev.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .bind_mw = { .mw = mw, .bind_info = part(self, 0, 0) },
	};
	struct ibv_sge sge = { at(self, 0), 8, 0 };
	int i;

	ASSERT_NE(NULL, mw);
	for (i = 0; i < 5; i++) {
		wr.bind_mw.rkey = i == 3 ? mw->rkey ^ 0x100 : ibv_inc_rkey(mw->rkey);
		wr.bind_mw.bind_info = part(self, i == 0 ? LEN - 50 : 0, i == 1 ? 0 : 100);
		if (i == 2)	/* without the right to bind */
			wr.bind_mw.bind_info.mr = self->src;
		wr.bind_mw.bind_info.addr += i == 2 ? (uintptr_t)self->from - at(self, 0) : 0;
		if (i == 4) {	/* atomics on what is not aligned */
			wr.bind_mw.bind_info.addr += 4;
			wr.bind_mw.bind_info.mw_access_flags |= IBV_ACCESS_ZERO_BASED |
								IBV_ACCESS_REMOTE_ATOMIC;
		}
		ASSERT_EQ(0, post_window(self, 1, &wr));
		EXPECT_EQ(IBV_WC_MW_BIND_ERR, status_of(self->p.cq[1])) {
			TH_LOG("case %d", i);
		}
		again(self);
	}
	ASSERT_EQ(0, bind2(self, mw, ibv_inc_rkey(mw->rkey)));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	sge.lkey = ibv_inc_rkey(mw->rkey);
	wr = (struct ibv_send_wr){
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { at(self, 0), self->mr->rkey },
	};
	ASSERT_EQ(0, post_window(self, 1, &wr));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, status_of(self->p.cq[1])) {
		TH_LOG("a window's key is no lkey");
	}
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

/* ---- a large one ---- */

#define PIECE	(2ul << 20)

/* A gibibyte, or MRC_TEST_MIB of them. */
static unsigned long big_size(void)
{
	const char *mib = getenv("MRC_TEST_MIB");

	return (mib ? strtoul(mib, NULL, 0) : 1024) << 20;
}

/* @size bytes of address space, which are the same PIECE of memory again and again; @one: it alone. */
static uint8_t *map_big(unsigned long size, uint8_t **one)
{
	int fd = memfd_create("piece", 0);
	uint8_t *at = mmap(NULL, size + PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long off;

	if (fd < 0 || at == MAP_FAILED || ftruncate(fd, PIECE))
		vc_die("a piece of memory");
	for (off = 0; off <= size; off += PIECE) {
		if (mmap(at + off, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			vc_die("mmap");
	}
	close(fd);
	*one = at + size;
	return at;
}

/*
 * It sleeps for its pages, which in the debug kernel no lock held over it would let pass unseen. All
 * of them are counted once more each, and let go of.
 */
TEST_F_TIMEOUT(region, of_a_gibibyte, LIMIT_S)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const unsigned long size = big_size();
	const unsigned long at[] = { 0, PIECE - 100, size / 2 - 4000, size - LEN };
	uint8_t *one, *big = map_big(size, &one);
	struct ibv_mr *mr;
	unsigned int i;
	unsigned long off;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &all));
	mr = ibv_reg_mr(self->dev.pd, big, size, ALL);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(size, mr->length);
	for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
		memset(one, 0, PIECE);
		ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, (uintptr_t)big + at[i], mr->rkey, LEN));
		for (off = 0; off < LEN; off++)
			ASSERT_EQ(self->from[off], one[(at[i] + off) % PIECE]);
	}
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, (uintptr_t)big + size - LEN + 1, mr->rkey, LEN));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	munmap(big, size + PIECE);
}

TEST_HARNESS_MAIN
