// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_scribble.c - a program that writes anything into the rings it shares with the kernel, while
 * that reads them, hurts itself alone.
 *
 *	MRC_TEST_DEV=mrc0 MRC_SCRIBBLE_S=10 mrc_scribble
 *
 * A child process has queues of all kinds. One thread writes random words into all that is mapped of
 * the device, headers most of all; the other posts, polls, resizes, resets and destroys at
 * random and does not care what comes of it. The child may die of what it reads there itself.
 * Then, and beside it, a connection of the parent's must work. kselftest_harness.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "scribbler.h"
#include "vpair.h"

#define LEN	65536
#define LIMIT_S	900
#define WAIT_MS	120000
#define N_PAIRS	2

struct victim {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_srq *srq;
	struct vpair p[N_PAIRS];	/* the first with receive rings, the second on the SRQ */
	uint8_t area[2 * LEN];
	uint64_t seed;
};

static struct victim v;

static uint64_t draw(uint64_t below)
{
	return vc_mix(++v.seed) % below;
}

/* ---- the thread that works */

static void post_something(struct vpair *p)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV,
		IBV_WR_BIND_MW,
	};
	struct ibv_sge sge = { (uintptr_t)v.area, (uint32_t)draw(LEN), v.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = ops[draw(8)],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)v.area + LEN, v.mr->rkey },
	};
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };

	if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge.length = 8;
		wr.wr.atomic = (typeof(wr.wr.atomic)){
			.remote_addr = ((uintptr_t)v.area + LEN) & ~7ull, .compare_add = 1,
			.rkey = v.mr->rkey,
		};
	} else if (wr.opcode == IBV_WR_BIND_MW) {
		wr.bind_mw.mw = v.mw;
		wr.bind_mw.rkey = v.mw->rkey + (uint32_t)draw(3);
		wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
			v.mr, (uintptr_t)v.area, draw(LEN), IBV_ACCESS_REMOTE_WRITE,
		};
	} else if (wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV) {
		wr.invalidate_rkey = v.mw->rkey + (uint32_t)draw(3);
	}
	ibv_post_send(p->qp[draw(2)], &wr, &bad);
	ibv_post_recv(p->qp[draw(2)], &recv, &bad_recv);
	ibv_post_srq_recv(v.srq, &recv, &bad_recv);
}

static void poll_all(struct vpair *p)
{
	struct ibv_wc wc[8];
	int i;

	for (i = 0; i < 2; i++) {
		ibv_poll_cq(p->cq[i], 8, wc);
		ibv_req_notify_cq(p->cq[i], (int)draw(2));
	}
}

static void reconnect(struct vpair *p)
{
	struct ibv_qp_attr attr = { .qp_state = draw(3) ? IBV_QPS_RESET : IBV_QPS_ERR };
	int i;

	for (i = 0; i < 2; i++)
		ibv_modify_qp(p->qp[i], &attr, IBV_QP_STATE);
	if (attr.qp_state == IBV_QPS_ERR)
		return;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	for (i = 0; i < 2; i++)
		ibv_modify_qp(p->qp[i], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			      IBV_QP_ACCESS_FLAGS);
	vpair_connect(p, &v.dev, v.mr);
}

static void resize_something(struct vpair *p)
{
	struct ibv_srq_attr attr = { .max_wr = 1 + (uint32_t)draw(600),
				     .srq_limit = (uint32_t)draw(20) };

	ibv_resize_cq(p->cq[draw(2)], 1 + (int)draw(600));
	ibv_modify_srq(v.srq, &attr, draw(2) ? IBV_SRQ_MAX_WR : IBV_SRQ_LIMIT);
	ibv_query_srq(v.srq, &attr);
}

static void make_victim(void)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 2, .max_recv_sge = 2,
	};
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 64, .max_sge = 2 } };
	int i;

	v.seed = vc_now_ns();
	vc_open(&v.dev, &opts);
	v.mr = ibv_reg_mr(v.dev.pd, v.area, sizeof(v.area), IBV_ACCESS_LOCAL_WRITE |
			  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
	v.mw = ibv_alloc_mw(v.dev.pd, IBV_MW_TYPE_2);
	v.srq = ibv_create_srq(v.dev.pd, &init);
	if (!v.mr || !v.mw || !v.srq)
		vc_die("setup: %s", strerror(errno));
	for (i = 0; i < N_PAIRS; i++) {
		v.p[i].srq = i ? v.srq : NULL;
		v.p[i].access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
		vpair_make(&v.p[i], &v.dev, &cap, 256, v.mr);
	}
}

/* vcommon.c gives up on what a queue pair that has failed meanwhile refuses. */
static void hurt_itself(void)
{
	_exit(0);
}

/* Ends by itself, or by what it reads in its rings. */
static void child(unsigned int seconds)
{
	const uint64_t end = vc_now_ns() + seconds * 1000000000ull;
	int i;

	scribbler_let_go();	/* of the parent's */
	make_victim();
	atexit(hurt_itself);
	scribbler_begin(vc_now_ns());
	while (vc_now_ns() < end) {
		struct vpair *p = &v.p[draw(N_PAIRS)];

		for (i = 0; i < 50; i++) {
			post_something(p);
			poll_all(p);
		}
		if (!draw(4))
			resize_something(p);
		if (!draw(8))
			reconnect(p);
	}
	_exit(0);	/* with everything open, and written to still */
}

/* ---- the parent */

FIXTURE(scribble) {
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct vpair p;
	uint8_t area[2 * LEN];
	unsigned int seconds;
};

FIXTURE_SETUP(scribble)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 1 };
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };

	self->seconds = getenv("MRC_SCRIBBLE_S") ? (unsigned int)atoi(getenv("MRC_SCRIBBLE_S")) : 10;
	vc_open(&self->dev, &opts);
	self->mr = ibv_reg_mr(self->dev.pd, self->area, sizeof(self->area),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, self->mr);
	vpair_make(&self->p, &self->dev, &cap, 64, self->mr);
}

FIXTURE_TEARDOWN(scribble)
{
	vpair_end(&self->p);
	ibv_dereg_mr(self->mr);
	vc_close(&self->dev);
}

/* One WRITE, every byte of it. */
static bool works(struct _test_data_scribble *self)
{
	struct ibv_sge sge = { (uintptr_t)self->area, LEN, self->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { self->p.peer.addr + LEN, self->p.peer.rkey },
	};
	const uint64_t seed = vc_now_ns();
	struct ibv_wc wc;
	int i;

	for (i = 0; i < LEN; i++)
		self->area[i] = (uint8_t)vc_mix(seed + (uint64_t)i);
	memset(self->area + LEN, 0, LEN);
	return !ibv_post_send(self->p.qp[0], &wr, &bad) &&
	       vpair_wc(self->p.cq[0], &wc, WAIT_MS) && !wc.status &&
	       !memcmp(self->area, self->area + LEN, LEN);
}

TEST_F_TIMEOUT(scribble, whoever_writes_into_its_rings_hurts_itself, LIMIT_S)
{
	uint64_t end = vc_now_ns() + self->seconds * 1000000000ull;
	int status, rounds = 0, writes = 0, died = 0;
	pid_t pid;

	while (vc_now_ns() < end || !rounds) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			child(1 + (unsigned int)rounds % 4);
		while (!waitpid(pid, &status, WNOHANG)) {
			ASSERT_TRUE(works(self));
			writes++;
		}
		died += WIFSIGNALED(status);
		ASSERT_TRUE(WIFSIGNALED(status) || !WEXITSTATUS(status));
		ASSERT_TRUE(works(self));
		rounds++;
	}
	TH_LOG("%d programs, %d killed by themselves; %d writes beside them", rounds, died, writes);
	EXPECT_GT(writes, 0);
}

TEST_HARNESS_MAIN
