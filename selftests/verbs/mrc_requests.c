// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_requests.c - what verbs promise of requests on RC queue pairs: how long a receiver that is not ready is asked,
 * atomics among peers and this host's own processors, many READs at once, threads on one queue pair, many small pieces
 * of memory.
 *
 *	MRC_TEST_DEV=mrc0 mrc_requests
 *
 * Two queue pairs of one device, connected to each other. kselftest_harness.h.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vpair.h"

#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define WAIT_MS	60000
#define READS	64
#define PIECE	1024
#define ADDS	200
#define THREADS	4
#define PIECES	16	/* of one request: max_send_sge */

FIXTURE(requests) {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct vpair p;
	uint8_t there[READS * PIECE] __attribute__((aligned(8)));
	uint8_t here[READS * PIECE] __attribute__((aligned(8)));
};

static const struct ibv_qp_cap cap = {
	.max_send_wr = 128, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1,
};

FIXTURE_SETUP(requests)
{
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_ATOMIC;

	vc_open(&self->dev, &opts);
	/* Both halves; what is remote begins at there. */
	self->mr = ibv_reg_mr(self->dev.pd, self->there, sizeof(self->there) + sizeof(self->here), access);
	ASSERT_NE(NULL, self->mr);
	self->p = (struct vpair){ .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
}

static void join(struct _test_data_requests *self)
{
	vpair_make(&self->p, &self->dev, &cap, 1024, self->mr);
}

FIXTURE_TEARDOWN(requests)
{
	vpair_end(&self->p);
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
}

/* Of @len bytes, from or to place @at of here, by queue pair @i. */
static int post(struct _test_data_requests *self, int i, struct ibv_send_wr wr, uint32_t at, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->here + at, len, self->mr->lkey };
	struct ibv_send_wr *bad;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(self->p.qp[i], &wr, &bad);
}

static int post_recv(struct _test_data_requests *self)
{
	struct ibv_sge sge = { (uintptr_t)self->there, 8, self->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(self->p.qp[1], &wr, &bad);
}

/* ---- a receiver that is not ready ---- */

TEST_F_TIMEOUT(requests, a_receiver_that_is_never_ready_is_asked_so_often, LIMIT_S)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	self->dev.rnr_retry = 2;
	join(self);
	ASSERT_EQ(0, post(self, 0, (struct ibv_send_wr){ .wr_id = 7, .opcode = IBV_WR_SEND }, 0, 8));
	ASSERT_EQ(0, post(self, 0, (struct ibv_send_wr){ .wr_id = 8, .opcode = IBV_WR_SEND }, 0, 8));
	ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
	EXPECT_EQ(7, wc.wr_id);
	EXPECT_EQ(IBV_WC_RNR_RETRY_EXC_ERR, wc.status);
	ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
	EXPECT_EQ(8, wc.wr_id);
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	ASSERT_EQ(0, ibv_query_qp(self->p.qp[0], &attr, IBV_QP_STATE | IBV_QP_RNR_RETRY, &init));
	EXPECT_EQ(IBV_QPS_ERR, attr.qp_state);
	EXPECT_EQ(2, attr.rnr_retry);
}

/* Seven is for ever. */
TEST_F_TIMEOUT(requests, a_receiver_that_is_late_is_waited_for, LIMIT_S)
{
	struct ibv_wc wc;

	join(self);
	memset(self->here, 0x5a, 8);
	ASSERT_EQ(0, post(self, 0, (struct ibv_send_wr){ .wr_id = 7, .opcode = IBV_WR_SEND }, 0, 8));
	EXPECT_FALSE(vpair_wc(self->p.cq[0], &wc, 1000));
	ASSERT_EQ(0, post_recv(self));
	ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	ASSERT_TRUE(vpair_wc(self->p.cq[1], &wc, WAIT_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, memcmp(self->there, self->here, 8));
}

/* ---- atomics ---- */

static void *add_here(void *word)
{
	int i;

	for (i = 0; i < ADDS; i++) {
		__atomic_fetch_add((uint64_t *)word, 1, __ATOMIC_RELAXED);
		usleep(100);
	}
	return NULL;
}

/* The sum is right, and of what the peers found there no value comes twice. */
TEST_F_TIMEOUT(requests, atomics_of_two_peers_and_a_processor, LIMIT_S)
{
	uint64_t *word = (uint64_t *)self->there, *found = (uint64_t *)self->here;
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };
	uint8_t seen[3 * ADDS] = {};
	int i, done[2] = {}, posted[2] = {};
	pthread_t thread;
	struct ibv_wc wc;

	join(self);
	*word = 0;
	wr.wr.atomic.remote_addr = self->p.peer.addr;
	wr.wr.atomic.rkey = self->p.peer.rkey;
	wr.wr.atomic.compare_add = 1;
	ASSERT_EQ(0, pthread_create(&thread, NULL, add_here, word));
	while (done[0] + done[1] < 2 * ADDS) {
		for (i = 0; i < 2; i++) {
			while (posted[i] < ADDS && posted[i] - done[i] < 32) {
				ASSERT_EQ(0, post(self, i, wr, (uint32_t)(i * ADDS + posted[i]) * 8, 8));
				posted[i]++;
			}
			if (done[i] == posted[i])
				continue;
			ASSERT_TRUE(vpair_wc(self->p.cq[i], &wc, WAIT_MS));
			ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
			done[i]++;
		}
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(3 * ADDS, *word);
	for (i = 0; i < 2 * ADDS; i++) {
		ASSERT_LT(found[i], 3 * ADDS);
		EXPECT_EQ(0, seen[found[i]]++);
	}
}

/* ---- many at once ---- */

/* More than may be under way: the others wait their turn. */
TEST_F_TIMEOUT(requests, many_reads_at_once, LIMIT_S)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ };
	struct ibv_wc wc;
	size_t at;
	int i;

	join(self);
	for (at = 0; at < sizeof(self->there); at++)
		self->there[at] = (uint8_t)(at * 7 + at / PIECE);
	memset(self->here, 0, sizeof(self->here));
	wr.wr.rdma.rkey = self->p.peer.rkey;
	for (i = 0; i < READS; i++) {
		wr.wr_id = (uint64_t)i;
		wr.wr.rdma.remote_addr = self->p.peer.addr + (uint64_t)i * PIECE;
		ASSERT_EQ(0, post(self, 0, wr, (uint32_t)i * PIECE, PIECE));
	}
	for (i = 0; i < READS; i++) {
		ASSERT_TRUE(vpair_wc(self->p.cq[0], &wc, WAIT_MS));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		ASSERT_EQ((uint64_t)i, wc.wr_id);
		ASSERT_EQ(0, memcmp(self->here + i * PIECE, self->there + i * PIECE, PIECE));
	}
}

/* ---- threads ---- */

static void *write_some(void *arg)
{
	struct _test_data_requests *self = arg;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };
	int i;

	wr.wr.rdma.rkey = self->p.peer.rkey;
	wr.wr.rdma.remote_addr = self->p.peer.addr;
	for (i = 0; i < ADDS;) {
		if (!post(self, 0, wr, 0, 64))
			i++;
		else
			usleep(200);	/* no room until others' are polled */
	}
	return NULL;
}

static void *poll_some(void *arg)
{
	struct _test_data_requests *self = arg;
	uint64_t n = 0;
	struct ibv_wc wc;

	while (n < THREADS * ADDS / 2 && vpair_wc(self->p.cq[0], &wc, WAIT_MS) && wc.status == IBV_WC_SUCCESS)
		n++;
	return (void *)n;
}

TEST_F_TIMEOUT(requests, threads_post_to_one_queue_and_poll_it, LIMIT_S)
{
	pthread_t posts[THREADS], polls[2];
	struct ibv_wc wc;
	void *n;
	int i;

	join(self);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&posts[i], NULL, write_some, self));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&polls[i], NULL, poll_some, self));
	for (i = 0; i < THREADS; i++)
		pthread_join(posts[i], NULL);
	for (i = 0; i < 2; i++) {
		pthread_join(polls[i], &n);
		EXPECT_EQ(THREADS * ADDS / 2, (uint64_t)n);
	}
	EXPECT_EQ(0, ibv_poll_cq(self->p.cq[0], 1, &wc));
}

/* ---- small pieces ---- */

/* Piece @i of @len bytes, half of it before the end of page @i and half of it behind. */
static struct ibv_sge piece(const struct ibv_mr *mr, int i, uint32_t len)
{
	const long page = sysconf(_SC_PAGESIZE);

	return (struct ibv_sge){ (uintptr_t)mr->addr + (uint64_t)((i + 1) * page) - len / 2, len, mr->lkey };
}

static int post_pieces(struct _test_data_requests *self, const struct ibv_mr *mr, enum ibv_wr_opcode opcode,
		       uint32_t len)
{
	struct ibv_sge sge[PIECES];
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = PIECES,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = self->p.peer.addr, .rkey = self->p.peer.rkey },
	};
	int i;

	for (i = 0; i < PIECES; i++)
		sge[i] = piece(mr, i, len);
	return ibv_post_send(self->p.qp[0], &wr, &bad);
}

/* The pieces, one behind the other, are what arrived. */
static bool pieces_arrived(struct _test_data_requests *self, const struct ibv_mr *mr, uint32_t len)
{
	const uint8_t *at = self->there;
	int i;

	for (i = 0; i < PIECES; i++, at += len) {
		if (memcmp(at, (const void *)(uintptr_t)piece(mr, i, len).addr, len))
			return false;
	}
	return true;
}

static enum ibv_wc_status status_of(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return vpair_wc(cq, &wc, WAIT_MS) ? wc.status : IBV_WC_GENERAL_ERR;
}

static void *filled_pages(size_t size)
{
	uint8_t *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (area == MAP_FAILED)
		vc_die("mmap: %s", strerror(errno));
	for (i = 0; i < size; i++)
		area[i] = (uint8_t)vc_mix(i);
	return area;
}

/* A packet of 32 bytes from 32 pages: more than an skb has fragments. */
TEST_F_TIMEOUT(requests, pieces_that_lie_in_two_pages_each, LIMIT_S)
{
	const struct ibv_qp_cap wide = {
		.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = PIECES, .max_recv_sge = 1,
	};
	const size_t size = (PIECES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	struct ibv_sge all = { (uintptr_t)self->there, sizeof(self->there), self->mr->lkey };
	struct ibv_recv_wr *bad, recv = { .sg_list = &all, .num_sge = 1 };
	const uint32_t lens[] = { 2, 200 };
	void *area = filled_pages(size);
	struct ibv_mr *mr;
	int i;

	mr = ibv_reg_mr(self->dev.pd, area, size, IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	vpair_make(&self->p, &self->dev, &wide, 64, self->mr);
	for (i = 0; i < 2; i++) {
		memset(self->there, 0, sizeof(self->there));
		ASSERT_EQ(0, ibv_post_recv(self->p.qp[1], &recv, &bad));
		ASSERT_EQ(0, post_pieces(self, mr, IBV_WR_SEND, lens[i]));
		ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[0]));
		ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
		EXPECT_TRUE(pieces_arrived(self, mr, lens[i]));

		memset(self->there, 0, sizeof(self->there));
		ASSERT_EQ(0, post_pieces(self, mr, IBV_WR_RDMA_WRITE, lens[i]));
		ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[0]));
		EXPECT_TRUE(pieces_arrived(self, mr, lens[i]));
	}
	ibv_dereg_mr(mr);
	munmap(area, size);
}

TEST_HARNESS_MAIN
