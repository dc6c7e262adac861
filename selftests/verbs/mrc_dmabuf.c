// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_dmabuf.c - regions of dma-bufs: what rdma-core's own tests do with a graphics card's, and what becomes of
 * them when the exporter takes them back.
 *
 *	MRC_TEST_DEV=mrc0 MRC_TEST_EXPORTER=exporter mrc_dmabuf
 *
 * The exporter: "udmabuf", "heap" (the system's), or "exporter", a module of ours (exporter/mrc_exporter.c), which
 * alone can move buffers. Two queue pairs of one device; the first accesses what the second lets it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../exporter/mrc_exporter.h"
#include "kselftest_harness.h"
#include "vpair.h"

#define PAGE	4096
#define LEN	(16 * PAGE)
#define IOVA	0x7000000000	/* unlike any address */
#define LIMIT_S	300	/* in an emulated machine, busy with others */
#define WAIT_MS	60000
#define REMOTE	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define ALL	(IBV_ACCESS_LOCAL_WRITE | REMOTE)	/* uverbs wants no windows of them */

FIXTURE(dmabuf) {
	struct vc_dev dev;
	struct ibv_mr *near, *mr;	/* of plain memory; of the dma-buf */
	struct vpair p;
	int fd;
	uint8_t *mem;			/* the dma-buf, as its owner sees it */
	uint8_t from[LEN] __attribute__((aligned(8)));
};

static bool movable(void)
{
	const char *by = getenv("MRC_TEST_EXPORTER");

	return !by || !strcmp(by, "exporter");
}

static int exporter(unsigned long cmd, const void *arg)
{
	int fd = open("/dev/mrc_exporter", O_RDWR | O_CLOEXEC), ret;

	if (fd < 0)
		vc_die("/dev/mrc_exporter: %s", strerror(errno));
	ret = ioctl(fd, cmd, arg);
	close(fd);
	return ret;
}

static int from_exporter(uint32_t flags)
{
	const struct mrc_exporter_new arg = { LEN / PAGE, flags };

	return exporter(MRC_EXPORTER_NEW, &arg);
}

static int from_udmabuf(void)
{
	int memfd = memfd_create("mrc_dmabuf", MFD_ALLOW_SEALING), ctl, fd;
	struct udmabuf_create arg = { .memfd = (uint32_t)memfd, .size = LEN };

	if (memfd < 0 || ftruncate(memfd, LEN) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		vc_die("memfd: %s", strerror(errno));
	ctl = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	fd = ctl < 0 ? -1 : ioctl(ctl, UDMABUF_CREATE, &arg);
	close(ctl);
	close(memfd);
	return fd;
}

static int from_heap(uint32_t flags)
{
	struct dma_heap_allocation_data arg = { .len = LEN, .fd_flags = flags | O_CLOEXEC };
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	int ret = heap < 0 ? -1 : ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &arg);

	close(heap);
	return ret ? -1 : (int)arg.fd;
}

/* A new dma-buf of LEN bytes. */
static int make(void)
{
	const char *by = getenv("MRC_TEST_EXPORTER");
	int fd;

	if (movable())
		fd = from_exporter(MRC_EXPORTER_DYNAMIC);
	else
		fd = strcmp(by, "udmabuf") ? from_heap(O_RDWR) : from_udmabuf();
	if (fd < 0)
		vc_die("no dma-buf of %s: %s", by, strerror(errno));
	return fd;
}

FIXTURE_SETUP(dmabuf)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 256, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	int i;

	vc_open(&self->dev, &opts);
	for (i = 0; i < LEN; i++)
		self->from[i] = (uint8_t)vc_mix((uint64_t)i);
	self->near = ibv_reg_mr(self->dev.pd, self->from, LEN, ALL);
	ASSERT_NE(NULL, self->near);
	self->fd = make();
	self->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->mem);
	memset(self->mem, 0, LEN);
	self->mr = ibv_reg_dmabuf_mr(self->dev.pd, 0, LEN, IOVA, self->fd, ALL);
	ASSERT_NE(NULL, self->mr);
	self->p.access = REMOTE;
	vpair_make(&self->p, &self->dev, &cap, 1024, self->near);
}

FIXTURE_TEARDOWN(dmabuf)
{
	vpair_end(&self->p);
	if (self->mr) {
		EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	}
	EXPECT_EQ(0, ibv_dereg_mr(self->near));
	munmap(self->mem, LEN);
	close(self->fd);
	vc_close(&self->dev);
}

static enum ibv_wc_status status_of(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return vpair_wc(cq, &wc, WAIT_MS) ? wc.status : IBV_WC_GENERAL_ERR;
}

/* A request of the first queue pair, local memory @local, the peer's @remote. */
struct request {
	enum ibv_wr_opcode op;
	const struct ibv_mr *local;
	uint64_t at;
	uint32_t len;
	uint64_t remote;
	uint32_t rkey;
};

static int post(struct _test_data_dmabuf *self, const struct request *r)
{
	struct ibv_sge sge = { r->at, r->len, r->local->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = r->op,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (r->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = r->remote;
		wr.wr.atomic.rkey = r->rkey;
		wr.wr.atomic.compare_add = 5;
	} else {
		wr.wr.rdma.remote_addr = r->remote;
		wr.wr.rdma.rkey = r->rkey;
	}
	return ibv_post_send(self->p.qp[0], &wr, &bad);
}

static enum ibv_wc_status ends(struct _test_data_dmabuf *self, const struct request *r)
{
	return post(self, r) ? IBV_WC_FATAL_ERR : status_of(self->p.cq[0]);
}

/* Plain memory to @remote under @rkey. */
static enum ibv_wc_status write_to(struct _test_data_dmabuf *self, uint64_t remote, uint32_t rkey, uint32_t len)
{
	const struct request r = {
		IBV_WR_RDMA_WRITE, self->near, (uintptr_t)self->from, len, remote, rkey,
	};

	return ends(self, &r);
}

static void receive_into(struct _test_data_dmabuf *self, const struct ibv_mr *mr, uint64_t at, uint32_t len)
{
	struct ibv_sge sge = { at, len, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(self->p.qp[1], &wr, &bad))
		vc_die("ibv_post_recv");
}

static bool holds(const uint8_t *mem, size_t len, uint8_t value)
{
	size_t i = 0;

	while (i < len && mem[i] == value)
		i++;
	return i == len;
}

TEST_F_TIMEOUT(dmabuf, is_written_and_read, LIMIT_S)
{
	const struct request read = {
		IBV_WR_RDMA_READ, self->near, (uintptr_t)self->from, LEN, IOVA, self->mr->rkey,
	};
	const struct request back = {
		IBV_WR_RDMA_WRITE, self->mr, IOVA, LEN, (uintptr_t)self->from, self->near->rkey,
	};
	uint8_t *copy = malloc(LEN);

	ASSERT_NE(NULL, copy);
	memcpy(copy, self->from, LEN);
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, IOVA, self->mr->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->mem, copy, LEN));
	memset(self->from, 0, LEN);
	ASSERT_EQ(IBV_WC_SUCCESS, ends(self, &read));
	EXPECT_EQ(0, memcmp(self->from, copy, LEN));
	/* And as the source of a request. */
	memset(self->from, 0, LEN);
	ASSERT_EQ(IBV_WC_SUCCESS, ends(self, &back));
	EXPECT_EQ(0, memcmp(self->from, copy, LEN));
	free(copy);
}

TEST_F_TIMEOUT(dmabuf, sends_and_receives, LIMIT_S)
{
	const struct request into = {
		IBV_WR_SEND, self->near, (uintptr_t)self->from, LEN - 3, 0, 0,
	};
	const struct request out = { IBV_WR_SEND, self->mr, IOVA + 1, PAGE + 7, 0, 0 };

	receive_into(self, self->mr, IOVA + 3, LEN - 3);
	ASSERT_EQ(IBV_WC_SUCCESS, ends(self, &into));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	EXPECT_TRUE(holds(self->mem, 3, 0));
	EXPECT_EQ(0, memcmp(self->mem + 3, self->from, LEN - 3));
	receive_into(self, self->near, (uintptr_t)self->from, LEN);
	ASSERT_EQ(IBV_WC_SUCCESS, ends(self, &out));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[1]));
	EXPECT_EQ(0, memcmp(self->mem + 1, self->from, PAGE + 7));
}

TEST_F_TIMEOUT(dmabuf, atomics_are_the_cpus, LIMIT_S)
{
	const struct request add = {
		IBV_WR_ATOMIC_FETCH_AND_ADD, self->near, (uintptr_t)self->from, 8,
		IOVA + 3 * PAGE + 8, self->mr->rkey,
	};
	uint64_t *word = (uint64_t *)(self->mem + 3 * PAGE + 8);

	*word = 37;
	ASSERT_EQ(IBV_WC_SUCCESS, ends(self, &add));
	EXPECT_EQ(42, (int)*word);
	EXPECT_EQ(37, (int)*(uint64_t *)self->from);
}

TEST_F_TIMEOUT(dmabuf, a_part_ends_where_it_was_said_to, LIMIT_S)
{
	struct ibv_mr *part = ibv_reg_dmabuf_mr(self->dev.pd, PAGE + 5, 2 * PAGE, IOVA + 5, self->fd, ALL);

	ASSERT_NE(NULL, part);
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, IOVA + 5, part->rkey, 2 * PAGE));
	EXPECT_TRUE(holds(self->mem, PAGE + 5, 0));
	EXPECT_EQ(0, memcmp(self->mem + PAGE + 5, self->from, 2 * PAGE));
	EXPECT_TRUE(holds(self->mem + 3 * PAGE + 5, LEN - 3 * PAGE - 5, 0));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, IOVA + 6, part->rkey, 2 * PAGE));
	EXPECT_EQ(0, ibv_dereg_mr(part));
}

TEST_F_TIMEOUT(dmabuf, the_end_of_it_is_the_end, LIMIT_S)
{
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, IOVA + LEN - 1, self->mr->rkey, 2));
	EXPECT_TRUE(holds(self->mem, LEN, 0));
}

TEST_F_TIMEOUT(dmabuf, lives_without_its_descriptor, LIMIT_S)
{
	int fd = make();
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(self->dev.pd, 0, LEN, 0, fd, ALL);
	const struct request read = {
		IBV_WR_RDMA_READ, self->near, (uintptr_t)self->from, LEN / 2, LEN / 2, mr ? mr->rkey : 0,
	};

	ASSERT_NE(NULL, mr);
	close(fd);
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, 0, mr->rkey, LEN));
	ASSERT_EQ(IBV_WC_SUCCESS, ends(self, &read));
	EXPECT_EQ(0, memcmp(self->from, self->from + LEN / 2, LEN / 2));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/* Of a program that ends: the kernel clears up. */
TEST_F_TIMEOUT(dmabuf, is_left_behind, LIMIT_S)
{
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	struct vc_dev other;
	struct ibv_mr *mr;
	int fd = make();

	vc_open(&other, &opts);
	mr = ibv_reg_dmabuf_mr(other.pd, 0, LEN, 0, fd, ALL);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_close_device(other.ctx));
	if (movable()) {
		EXPECT_EQ(0, exporter(MRC_EXPORTER_MOVE, &fd));
	}
	close(fd);
}

TEST_F_TIMEOUT(dmabuf, many_of_one, LIMIT_S)
{
	enum { MANY = 300 };
	struct ibv_mr *mr[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		mr[i] = ibv_reg_dmabuf_mr(self->dev.pd, (i % 16) * PAGE, PAGE, 0, self->fd, ALL);
		ASSERT_NE(NULL, mr[i]);
	}
	for (i = 0; i < MANY; i += 2)
		EXPECT_EQ(0, ibv_dereg_mr(mr[i]));
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, 0, mr[MANY - 1]->rkey, PAGE));
	EXPECT_EQ(0, memcmp(self->mem + (MANY - 1) % 16 * PAGE, self->from, PAGE));
	for (i = 1; i < MANY; i += 2)
		EXPECT_EQ(0, ibv_dereg_mr(mr[i]));
}

/* All sets of access flags: as of plain memory. */
TEST_F_TIMEOUT(dmabuf, access_flags, LIMIT_S)
{
	struct ibv_mr *mr, *plain;
	unsigned int flags;

	for (flags = 0; flags <= ALL; flags++) {
		plain = ibv_reg_mr(self->dev.pd, self->from, LEN, (int)flags);
		mr = ibv_reg_dmabuf_mr(self->dev.pd, 0, LEN, 0, self->fd, (int)flags);
		EXPECT_EQ(!plain, !mr);
		if (mr) {
			EXPECT_EQ(0, ibv_dereg_mr(mr));
		} else {
			EXPECT_EQ(EINVAL, errno);
		}
		if (plain) {
			EXPECT_EQ(0, ibv_dereg_mr(plain));
		}
	}
	mr = ibv_reg_dmabuf_mr(self->dev.pd, 0, LEN, 0, self->fd, ALL | IBV_ACCESS_RELAXED_ORDERING);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

#define REFUSED(why, off, len, iova, fd, access)						\
	do {											\
		EXPECT_EQ(NULL, ibv_reg_dmabuf_mr(self->dev.pd, off, len, iova, fd, access));	\
		EXPECT_EQ(why, errno);								\
	} while (0)

TEST_F_TIMEOUT(dmabuf, what_is_none, LIMIT_S)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, null);
	REFUSED(EBADF, 0, 0, 0, -1, 0);			/* as NCCL asks whether there are any */
	REFUSED(EBADF, 0, PAGE, 0, -1, ALL);
	REFUSED(EBADF, 0, PAGE, 0, 1 << 20, ALL);
	REFUSED(EINVAL, 0, PAGE, 0, null, ALL);
	REFUSED(EINVAL, 0, PAGE, 0, self->dev.ctx->cmd_fd, ALL);
	REFUSED(EINVAL, 0, LEN + 1, 0, self->fd, ALL);
	REFUSED(EINVAL, LEN, 1, 0, self->fd, ALL);
	REFUSED(EINVAL, LEN + PAGE, PAGE, 0, self->fd, ALL);
	REFUSED(EINVAL, UINT64_MAX - PAGE + 1, PAGE, 0, self->fd, ALL);
	REFUSED(EINVAL, UINT64_MAX - PAGE + 1, 2 * PAGE, 0, self->fd, ALL);
	REFUSED(EINVAL, 0, UINT64_MAX, 0, self->fd, ALL);
	REFUSED(EINVAL, 0, 0, 0, self->fd, ALL);
	REFUSED(EINVAL, 0, PAGE, 0, self->fd, ALL | IBV_ACCESS_MW_BIND);
	REFUSED(EINVAL, 0, PAGE, 1, self->fd, ALL);	/* uverbs: elsewhere in its page */
	REFUSED(EINVAL, 0, 2 * PAGE, UINT64_MAX - PAGE + 1, self->fd, ALL);
	close(null);
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, IOVA, self->mr->rkey, LEN));
}

TEST_F_TIMEOUT(dmabuf, what_may_not_be_written, LIMIT_S)
{
	struct ibv_mr *mr;
	int fd;

	if (getenv("MRC_TEST_EXPORTER") && !strcmp(getenv("MRC_TEST_EXPORTER"), "udmabuf"))
		SKIP(return, "udmabuf has none");
	fd = movable() ? from_exporter(MRC_EXPORTER_READ_ONLY) : from_heap(O_RDONLY);
	ASSERT_LE(0, fd);
	REFUSED(EACCES, 0, LEN, 0, fd, ALL);
	REFUSED(EACCES, 0, LEN, 0, fd, IBV_ACCESS_LOCAL_WRITE);
	mr = ibv_reg_dmabuf_mr(self->dev.pd, 0, LEN, 0, fd, IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, 0, mr->rkey, 1));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	close(fd);
}

TEST_F_TIMEOUT(dmabuf, what_no_cpu_can_map, LIMIT_S)
{
	const uint32_t flags[] = {
		MRC_EXPORTER_IOMEM, MRC_EXPORTER_IOMEM | MRC_EXPORTER_DYNAMIC, MRC_EXPORTER_UNMAPPED,
	};
	unsigned int i;

	if (!movable())
		SKIP(return, "wants the exporter of ours");
	for (i = 0; i < 3; i++) {
		int fd = from_exporter(flags[i]);

		ASSERT_LE(0, fd);
		REFUSED(EOPNOTSUPP, 0, LEN, 0, fd, ALL);
		close(fd);
	}
}

/* libibverbs refuses it: the kernel, which would take another translation, is not asked. */
TEST_F_TIMEOUT(dmabuf, is_not_registered_again, LIMIT_S)
{
	EXPECT_NE(0, ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(IBV_WC_SUCCESS, write_to(self, IOVA, self->mr->rkey, LEN));
	EXPECT_EQ(0, memcmp(self->mem, self->from, LEN));
}

/* ---- taken back ---- */

#define NEEDS_MOVES()	do { if (!movable()) SKIP(return, "this exporter never moves a buffer"); } while (0)

static bool moved(struct _test_data_dmabuf *self)
{
	return !exporter(MRC_EXPORTER_MOVE, &self->fd);
}

TEST_F_TIMEOUT(dmabuf, moved_is_no_ones_any_more, LIMIT_S)
{
	NEEDS_MOVES();
	ASSERT_EQ(IBV_WC_SUCCESS, write_to(self, IOVA, self->mr->rkey, LEN));
	ASSERT_TRUE(moved(self));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_to(self, IOVA, self->mr->rkey, LEN));
	EXPECT_TRUE(holds(self->mem, LEN, MRC_EXPORTER_FILL));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	/* It may be registered anew, where it is now. */
	self->mr = ibv_reg_dmabuf_mr(self->dev.pd, 0, LEN, IOVA, self->fd, ALL);
	EXPECT_NE(NULL, self->mr);
}

TEST_F_TIMEOUT(dmabuf, moved_is_not_read, LIMIT_S)
{
	const struct request read = {
		IBV_WR_RDMA_READ, self->near, (uintptr_t)self->from, LEN, IOVA, self->mr->rkey,
	};

	NEEDS_MOVES();
	ASSERT_TRUE(moved(self));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, ends(self, &read));
}

TEST_F_TIMEOUT(dmabuf, moved_is_not_sent, LIMIT_S)
{
	const struct request out = {
		IBV_WR_RDMA_WRITE, self->mr, IOVA, LEN, (uintptr_t)self->from, self->near->rkey,
	};

	NEEDS_MOVES();
	ASSERT_TRUE(moved(self));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, ends(self, &out));
}

TEST_F_TIMEOUT(dmabuf, moved_does_not_receive, LIMIT_S)
{
	const struct request send = {
		IBV_WR_SEND, self->near, (uintptr_t)self->from, LEN, 0, 0,
	};

	NEEDS_MOVES();
	receive_into(self, self->mr, IOVA, LEN);
	ASSERT_TRUE(moved(self));
	EXPECT_EQ(IBV_WC_REM_OP_ERR, ends(self, &send));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, status_of(self->p.cq[1]));
	EXPECT_TRUE(holds(self->mem, LEN, MRC_EXPORTER_FILL));
}

/*
 * Requests in both directions are under way when it goes: each ends, and of those to it some may have gone before;
 * when the exporter has it back nobody writes to it.
 */
static void moved_under(struct _test_data_dmabuf *self, struct __test_metadata *_metadata, bool to)
{
	enum { DEPTH = 200 };
	struct request r = {
		IBV_WR_RDMA_WRITE, self->near, (uintptr_t)self->from, LEN, IOVA, self->mr->rkey,
	};
	const enum ibv_wc_status expected = to ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR;
	enum ibv_wc_status status;
	bool failed = false;
	int i;

	if (!to)
		r = (struct request){
			IBV_WR_RDMA_WRITE, self->mr, IOVA, LEN, (uintptr_t)self->from, self->near->rkey,
		};
	for (i = 0; i < DEPTH; i++)
		ASSERT_EQ(0, post(self, &r));
	ASSERT_EQ(IBV_WC_SUCCESS, status_of(self->p.cq[0]));
	ASSERT_TRUE(moved(self));
	EXPECT_TRUE(holds(self->mem, LEN, MRC_EXPORTER_FILL));
	for (i = 1; i < DEPTH; i++) {
		status = status_of(self->p.cq[0]);
		if (status == IBV_WC_SUCCESS) {
			EXPECT_FALSE(failed);
		} else {
			EXPECT_EQ(failed ? IBV_WC_WR_FLUSH_ERR : expected, status);
		}
		failed |= status != IBV_WC_SUCCESS;
	}
	EXPECT_TRUE(holds(self->mem, LEN, MRC_EXPORTER_FILL));
	/* Nothing of what it holds now has left; but bytes of before may be there. */
	if (!to && failed) {
		EXPECT_FALSE(holds(self->from, LEN, MRC_EXPORTER_FILL));
	}
}

TEST_F_TIMEOUT(dmabuf, moved_under_writes_to_it, LIMIT_S)
{
	NEEDS_MOVES();
	moved_under(self, _metadata, true);
}

TEST_F_TIMEOUT(dmabuf, moved_under_writes_from_it, LIMIT_S)
{
	NEEDS_MOVES();
	moved_under(self, _metadata, false);
}

TEST_F_TIMEOUT(dmabuf, moved_twice_and_left, LIMIT_S)
{
	NEEDS_MOVES();
	ASSERT_TRUE(moved(self));
	ASSERT_TRUE(moved(self));
	close(self->fd);	/* the region goes after it */
	self->fd = -1;
}

TEST_HARNESS_MAIN
