// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_app.c - the application half of libmrc, between two QPs of one device.
 *
 *	MRC_TEST_DEV=mrc0 [MRC_TEST_CC=5] mrc_app
 *
 * MRC_TEST_CC: a CC profile that exists, and none with a greater number.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "expect.h"
#include "mpair.h"

FIXTURE(app) {
	struct mpair p;
};

FIXTURE_SETUP(app)
{
	mpair_open(&self->p);
}

FIXTURE_TEARDOWN(app)
{
	mpair_close(&self->p);
}

static void fill(struct mpair *p, uint8_t first)
{
	int i;

	for (i = 0; i < MPAIR_LEN; i++)
		p->area[i] = (uint8_t)(first + i * 7);
	memset(p->area + MPAIR_LEN, 0, MPAIR_LEN);
}

static enum ibv_qp_state state_of(struct mrc_qp *qp)
{
	struct ibv_qp_attr v;

	return mrc_query_qp(qp, &v, IBV_QP_STATE, NULL, 0, NULL) ? IBV_QPS_UNKNOWN : v.qp_state;
}

/* ---- versions and devices ---- */

TEST_F_TIMEOUT(app, device, LIMIT_S)
{
	uint32_t now = 0, last = 1, vendor = 0;
	struct mrc_device_attr a;
	int supported = 0;

	mrc_query_version(&now, &last, &vendor, NULL);
	EXPECT_EQ(MRC_API_VER(1, 0, 1), now);
	EXPECT_EQ(0, last);
	EXPECT_EQ(MRC_API_VER(1, 0, 0), vendor);
	memset(&a, 0xff, sizeof(a));
	ASSERT_EQ(0, mrc_query_device(self->p.dev.ctx, &a, &supported));
	EXPECT_EQ(1, supported);
	EXPECT_EQ(MRC_PROTOCOL_VERSION_1, a.mrc_protocol_version);
	EXPECT_EQ(128, a.wimm_attr.max_wimm);
	EXPECT_EQ(128, a.wimm_attr.max_wimm_dest);
	EXPECT_EQ(8, a.mpr_attr.max_mpr);
	EXPECT_EQ(1, a.mpr_attr.mpr_resolution);
	EXPECT_LT(0, a.qp_attr.max_qp_hint);
	EXPECT_EQ(MRC_DEVICE_CAP_TRIM_NACK | MRC_DEVICE_CAP_DYNAMIC_MPR | MRC_DEVICE_CAP_SVC_TIME,
		  a.cap);
	supported = 0;
	EXPECT_EQ(0, mrc_query_device_ex(self->p.dev.ctx, self->p.ctx, &a, &supported));
	EXPECT_EQ(1, supported);
}

TEST_F_TIMEOUT(app, versions, LIMIT_S)
{
	struct mrc_context_attr newer = { MRC_API_VER(1, 0, 2), MRC_VENDOR_API_CURRENT_VERSION };
	struct mrc_context_attr vendor = { MRC_API_CURRENT_VERSION, MRC_API_VER(1, 0, 1) };
	struct mrc_context_attr latest = { MRC_API_VER_LATEST, MRC_VENDOR_API_VER_LATEST };
	struct mrc_context *ctx;

	errno = 0;
	EXPECT_EQ(NULL, mrc_create_context(self->p.dev.ctx, &newer));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(NULL, mrc_create_context(self->p.dev.ctx, &vendor));
	EXPECT_EQ(EINVAL, errno);
	ctx = mrc_create_context(self->p.dev.ctx, &latest);
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, mrc_destroy_context(ctx));
	ctx = mrc_create_context(self->p.dev.ctx, NULL);
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, mrc_destroy_context(ctx));
}

/* ---- data ---- */

TEST_F_TIMEOUT(app, write, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_wc wc;

	ASSERT_EQ(0, mpair_connect(p));
	fill(p, 1);
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE, MPAIR_LEN, 5));
	ASSERT_TRUE(mpair_wc(&p->end[0], &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_RDMA_WRITE, wc.opcode);
	EXPECT_EQ(5, wc.wr_id);
	EXPECT_EQ(0, memcmp(p->area, p->area + MPAIR_LEN, MPAIR_LEN));
}

/* More than may be in flight at once; each completion brings its number, in order. */
TEST_F_TIMEOUT(app, write_with_imm, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_wc wc;
	uint32_t i;

	p->attr.wimm.max_wimm = 2;
	p->attr.wimm.max_wimm_dest = 2;
	ASSERT_EQ(0, mpair_connect(p));
	fill(p, 3);
	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, mpair_recv(p, 1));
	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE_WITH_IMM, 3000, i));
	for (i = 0; i < 32; i++) {
		ASSERT_TRUE(mpair_wc(&p->end[1], &wc));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
		EXPECT_EQ(3000, wc.byte_len);
		EXPECT_EQ(i, ntohl(wc.imm_data));
		EXPECT_EQ(77, wc.wr_id);
	}
	EXPECT_EQ(0, memcmp(p->area, p->area + MPAIR_LEN, 3000));
	for (i = 0; i < 32; i++) {
		ASSERT_TRUE(mpair_wc(&p->end[0], &wc));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
	}
}

/* MRC has no RNR: a receive that is missing ends the QP. */
TEST_F_TIMEOUT(app, no_receive, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_wc wc;

	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE_WITH_IMM, 8, 1));
	ASSERT_TRUE(mpair_wc(&p->end[0], &wc));
	EXPECT_NE(IBV_WC_SUCCESS, wc.status);
	EXPECT_NE(IBV_WC_RNR_RETRY_EXC_ERR, wc.status);
	EXPECT_EQ(IBV_QPS_ERR, state_of(p->end[0].qp));
}

TEST_F_TIMEOUT(app, completion_events, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_cq *cq = NULL;
	void *user = NULL;
	struct pollfd pfd;
	struct ibv_wc wc;

	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mrc_get_comp_channel_fd(p->channel, &pfd.fd));
	pfd.events = POLLIN;
	ASSERT_EQ(0, mrc_req_notify_cq(p->end[1].cq, 0));
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	ASSERT_EQ(0, mpair_recv(p, 1));
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE_WITH_IMM, 8, 9));
	ASSERT_EQ(1, poll(&pfd, 1, 30000));
	ASSERT_EQ(0, mrc_get_cq_event(p->channel, &cq, &user));
	EXPECT_EQ(p->end[1].cq, cq);
	EXPECT_EQ((void *)&p->end[1], user);
	mrc_ack_cq_events(cq, 1);
	ASSERT_TRUE(mpair_wc(&p->end[1], &wc));
	EXPECT_EQ(9, ntohl(wc.imm_data));
}

/* A write that its target does not allow: both ends learn of it. */
TEST_F_TIMEOUT(app, async_event, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_async_event event;
	struct ibv_sge sge = { (uintptr_t)p->area, 8, p->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)p->area + MPAIR_LEN, p->mr->rkey + 1 },
	};
	struct pollfd pfd = { .fd = p->dev.ctx->async_fd, .events = POLLIN };
	struct ibv_wc wc;

	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mrc_post_send(p->end[0].qp, &wr, &bad));
	ASSERT_TRUE(mpair_wc(&p->end[0], &wc));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, wc.status);
	ASSERT_EQ(1, poll(&pfd, 1, 30000));
	ASSERT_EQ(0, mrc_get_async_event(p->ctx, &event));
	EXPECT_EQ(IBV_EVENT_QP_ACCESS_ERR, event.event_type);
	EXPECT_EQ(p->end[1].qp, event.element.qp);
	mrc_ack_async_event(&event);
}

/* A thread that asks libibverbs, as NCCL's does: it counts in the first word of the program's context. */
TEST_F_TIMEOUT(app, async_event_of_libibverbs, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_async_event event;
	struct mend was;
	uint32_t *word;

	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE_WITH_IMM, 8, 1));	/* there is no receive */
	do {
		ASSERT_EQ(0, ibv_get_async_event(p->dev.ctx, &event));
		ASSERT_LT(IBV_EVENT_CQ_ERR, event.event_type);
		EXPECT_TRUE(event.element.qp->qp_context == &p->end[0] ||
			    event.element.qp->qp_context == &p->end[1]);
		word = event.element.qp->qp_context;
		was = *(struct mend *)word;
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
		*(struct mend *)word = was;	/* it was ours to write to */
		ibv_ack_async_event(&event);
	} while (event.element.qp->qp_num != p->end[1].qpn);
	EXPECT_EQ(0, mrc_destroy_qp(p->end[0].qp));
	EXPECT_EQ(0, mrc_destroy_qp(p->end[1].qp));
	p->end[0].qp = p->end[1].qp = NULL;
}

/* ---- what MRC has not ---- */

TEST_F_TIMEOUT(app, other_opcodes, LIMIT_S)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV, IBV_WR_BIND_MW,
		IBV_WR_SEND_WITH_INV, IBV_WR_TSO, (enum ibv_wr_opcode)200,
	};
	struct mpair *p = &self->p;
	struct ibv_sge sge = { (uintptr_t)p->area, 8, p->mr->lkey };
	struct ibv_send_wr *bad, wr[2];
	struct ibv_wc wc;
	size_t i;

	ASSERT_EQ(0, mpair_connect(p));
	fill(p, 5);
	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		memset(wr, 0, sizeof(wr));
		wr[0] = (struct ibv_send_wr) {
			.wr_id = i, .next = &wr[1], .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { (uintptr_t)p->area + MPAIR_LEN, p->mr->rkey },
		};
		wr[1] = wr[0];
		wr[1].next = NULL;
		wr[1].opcode = ops[i];
		bad = NULL;
		EXPECT_EQ(EOPNOTSUPP, mrc_post_send(p->end[0].qp, wr, &bad));
		EXPECT_EQ(&wr[1], bad);
		ASSERT_TRUE(mpair_wc(&p->end[0], &wc));	/* the one before was posted */
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(i, wc.wr_id);
	}
	EXPECT_EQ(0, mrc_poll_cq(p->end[0].cq, 1, &wc));
	EXPECT_EQ(IBV_QPS_RTS, state_of(p->end[0].qp));
}

/* Whoever gets past the library is refused by the kernel. */
TEST_F_TIMEOUT(app, plain_qp_at_the_other_end, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_cq *cq = ibv_create_cq(p->dev.ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_sge sge = { (uintptr_t)p->area, 2000, p->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)p->area + MPAIR_LEN, p->mr->rkey },
	};
	struct ibv_qp_attr v;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	int i;

	ASSERT_NE(NULL, cq);
	qp = ibv_create_qp(p->dev.pd, &init);
	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, mpair_up(p, p->end[1].qp, qp->qp_num));
	mpair_vattr(p, IBV_QPS_INIT, p->end[1].qpn, &v);
	ASSERT_EQ(0, ibv_modify_qp(qp, &v, MPAIR_INIT_V));
	v.qp_state = IBV_QPS_RTR;
	ASSERT_EQ(0, ibv_modify_qp(qp, &v, MPAIR_RTR_V | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER));
	v.qp_state = IBV_QPS_RTS;
	v.timeout = 14;
	v.retry_cnt = 7;
	v.max_rd_atomic = 1;
	ASSERT_EQ(0, ibv_modify_qp(qp, &v, MPAIR_RTS_V | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
	fill(p, 9);
	for (i = 0; i < 2; i++) {
		wr.opcode = i ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
		ASSERT_EQ(0, mpair_recv(p, 1));
		ASSERT_EQ(0, ibv_post_send(qp, &wr, &bad));
		while (ibv_poll_cq(cq, 1, &wc) != 1)
			usleep(200);
		EXPECT_EQ(!i, wc.status == IBV_WC_SUCCESS);
		EXPECT_EQ(0, memcmp(p->area, p->area + MPAIR_LEN, 2000));
	}
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_F_TIMEOUT(app, creation, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_qp_init_attr init = {
		.send_cq = p->end[0].cq, .recv_cq = p->end[0].cq, .pd = p->dev.pd,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 },
	}, bad;
	struct mrc_qp *qp;

	qp = mrc_create_qp(p->ctx, &init);
	ASSERT_NE(NULL, qp);
	EXPECT_LE(8, init.cap.max_send_wr);
	EXPECT_EQ(0, mrc_destroy_qp(qp));
	bad = init;
	bad.send_ops_flags = IBV_QP_EX_WITH_SEND;
	EXPECT_EQ(NULL, mrc_create_qp(p->ctx, &bad));
	EXPECT_EQ(EOPNOTSUPP, errno);
	bad = init;
	bad.protocol_version = (enum mrc_protocol_version)2;
	EXPECT_EQ(NULL, mrc_create_qp(p->ctx, &bad));
	EXPECT_EQ(EOPNOTSUPP, errno);
	bad = init;
	bad.cap.max_send_sge = 10000;
	EXPECT_EQ(NULL, mrc_create_qp(p->ctx, &bad));
	EXPECT_EQ(EINVAL, errno);
}

/* ---- states ---- */

/* ---- attributes of transitions ---- */

static const struct {
	enum ibv_qp_state to;
	int v;
} steps[] = {
	{ IBV_QPS_INIT, MPAIR_INIT_V }, { IBV_QPS_RTR, MPAIR_RTR_V }, { IBV_QPS_RTS, MPAIR_RTS_V },
};

/* Every subset of MRC's attributes, at every transition. test_app_qp.cc: with each at one of them. */
TEST_F_TIMEOUT(app, every_subset, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_qp *qp = p->end[0].qp;
	struct mrc_qp_attr usual, now;
	struct ibv_qp_attr v;
	int mask;
	size_t i;

	ASSERT_EQ(0, mrc_query_qp(qp, NULL, 0, &usual, MRC_QP_MPR, NULL));
	EXPECT_EQ(8, usual.mpr.mpr);
	EXPECT_EQ(128, usual.wimm.max_wimm_dest);
	EXPECT_LT(0, usual.timeout);
	EXPECT_EQ(7, usual.retry.linear_cnt);
	p->attr = (struct mrc_qp_attr) {
		.mpr = { 3, 5 }, .wimm = { 17, 19 }, .timeout = 20, .retry = { 6, 25 },
		.cap = MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED,
	};
	for (mask = 0; mask < MRC_QP_CAP << 1; mask++) {
		for (i = 0; i < 3; i++) {
			mpair_vattr(p, steps[i].to, p->end[1].qpn, &v);
			ASSERT_EQ(0, mrc_modify_qp(qp, &v, steps[i].v, &p->attr, mask)) {
				TH_LOG("to state %d with 0x%x", steps[i].to, mask);
			}
		}
		ASSERT_EQ(0, mrc_query_qp(qp, NULL, 0, &now, MRC_QP_MPR, NULL));
		ASSERT_EQ(mask & MRC_QP_MPR ? 3 : usual.mpr.mpr, now.mpr.mpr);
		ASSERT_EQ(mask & MRC_QP_MPR_DEST ? 5 : usual.mpr.mpr_dest, now.mpr.mpr_dest);
		ASSERT_EQ(mask & MRC_QP_MAX_WIMM ? 17 : usual.wimm.max_wimm, now.wimm.max_wimm);
		ASSERT_EQ(mask & MRC_QP_TIMEOUT ? 20 : usual.timeout, now.timeout);
		ASSERT_EQ(mask & MRC_QP_RETRY_CNT ? 25 : usual.retry.exp_cnt, now.retry.exp_cnt);
		ASSERT_EQ(0, mpair_step(p, qp, IBV_QPS_RESET, 0));
	}
}

/* What libibverbs wants of a transition it wants, and nothing happens without it. */
TEST_F_TIMEOUT(app, attributes_of_transitions, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_qp *qp = p->end[0].qp;
	enum ibv_qp_state was = IBV_QPS_RESET;
	struct ibv_qp_attr v;
	size_t i;
	int bit;

	for (i = 0; i < 3; i++) {
		const int need = steps[i].v & ~(IBV_QP_PKEY_INDEX | IBV_QP_PORT);

		mpair_vattr(p, steps[i].to, p->end[1].qpn, &v);
		EXPECT_EQ(EINVAL, mrc_modify_qp(qp, &v, steps[i].v, &p->attr, MRC_QP_CAP << 1));
		for (bit = 2; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
			if (!(need & bit))
				continue;
			EXPECT_EQ(EINVAL, mrc_modify_qp(qp, &v, steps[i].v & ~bit, NULL, 0)) {
				TH_LOG("to state %d without 0x%x", steps[i].to, bit);
			}
		}
		EXPECT_EQ(was, state_of(qp));
		ASSERT_EQ(0, mrc_modify_qp(qp, &v, need, NULL, 0));
		was = steps[i].to;
		EXPECT_EQ(was, state_of(qp));
	}
	EXPECT_EQ(EINVAL, mpair_step(p, qp, IBV_QPS_INIT, p->end[1].qpn));
	v.qp_state = IBV_QPS_ERR;
	EXPECT_EQ(EINVAL, mrc_modify_qp(qp, &v, IBV_QP_STATE, &p->attr, MRC_QP_TIMEOUT));
	EXPECT_EQ(0, mpair_step(p, qp, IBV_QPS_ERR, 0));
	EXPECT_EQ(0, mpair_step(p, qp, IBV_QPS_RESET, 0));
	EXPECT_EQ(IBV_QPS_RESET, state_of(qp));
	EXPECT_EQ(0, mpair_up(p, qp, p->end[1].qpn));
}

struct bad_value {
	enum ibv_qp_state to;
	int err;
	size_t offset;
	size_t size;
	uint64_t value;
};

#define BAD(to, err, field, value) { IBV_QPS_##to, err, offsetof(struct mrc_qp_attr, field), \
				     sizeof(((struct mrc_qp_attr *)0)->field), value }

TEST_F_TIMEOUT(app, values, LIMIT_S)
{
	static const struct bad_value bad[] = {
		BAD(INIT, EINVAL, profile.cc_profile_id, 4711),
		BAD(INIT, EINVAL, profile.ev_profile_id, 4711),
		BAD(RTR, EINVAL, mpr.mpr_dest, 0), BAD(RTR, EINVAL, mpr.mpr_dest, 9),
		BAD(RTR, EINVAL, wimm.max_wimm_dest, 0), BAD(RTR, EINVAL, wimm.max_wimm_dest, 129),
		BAD(RTR, EINVAL, cap, 8), BAD(RTR, EINVAL, cap, 1u << 31),
		BAD(RTS, EINVAL, mpr.mpr, 0), BAD(RTS, EINVAL, mpr.mpr, 255),
		BAD(RTS, EINVAL, wimm.max_wimm, 0), BAD(RTS, EINVAL, wimm.max_wimm, 65535),
		BAD(RTS, EINVAL, timeout, 25), BAD(RTS, EINVAL, retry.linear_cnt, 8),
		BAD(RTS, EINVAL, retry.exp_cnt, 26),
	};
	struct mpair *p = &self->p;
	struct mrc_qp *qp = p->end[0].qp;
	const struct mrc_qp_attr good = p->attr;
	enum ibv_qp_state to;
	size_t i;

	for (to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
			if (bad[i].to != to)
				continue;
			memcpy((char *)&p->attr + bad[i].offset, &bad[i].value, bad[i].size);
			EXPECT_EQ(bad[i].err, mpair_step(p, qp, to, p->end[1].qpn)) {
				TH_LOG("to state %d: case %zu", to, i);
			}
			p->attr = good;
			EXPECT_EQ(to - 1, state_of(qp));
		}
		ASSERT_EQ(0, mpair_step(p, qp, to, p->end[1].qpn));
	}
}

/* Plug-ins pass what has no meaning; it is accepted, and reads as zero. */
TEST_F_TIMEOUT(app, attributes_without_meaning, LIMIT_S)
{
	const int none = IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			 IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
	static const int masks[][2] = {
		[IBV_QPS_INIT] = { MPAIR_INIT_V, MPAIR_INIT },
		[IBV_QPS_RTR] = { MPAIR_RTR_V, MPAIR_RTR },
		[IBV_QPS_RTS] = { MPAIR_RTS_V, MPAIR_RTS },
	};
	struct mpair *p = &self->p;
	enum ibv_qp_state to;
	struct ibv_qp_attr v;

	for (to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		mpair_vattr(p, to, p->end[1].qpn, &v);
		v.port_num = 9;
		v.timeout = 99;
		v.retry_cnt = 99;
		v.rnr_retry = 99;
		v.max_rd_atomic = 99;
		v.max_dest_rd_atomic = 99;
		v.path_mig_state = IBV_MIG_ARMED;
		EXPECT_EQ(0, mrc_modify_qp(p->end[0].qp, &v, masks[to][0] | none, &p->attr,
					   masks[to][1]));
	}
	ASSERT_EQ(0, mrc_query_qp(p->end[0].qp, &v, none | IBV_QP_STATE, NULL, 0, NULL));
	EXPECT_EQ(IBV_QPS_RTS, v.qp_state);
	EXPECT_EQ(0, v.timeout | v.retry_cnt | v.rnr_retry | v.max_rd_atomic | v.max_dest_rd_atomic);
}

TEST_F_TIMEOUT(app, query, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_qp_init_attr init;
	struct mrc_qp_attr a;
	struct ibv_qp_attr v;

	p->attr = (struct mrc_qp_attr) {
		.mpr = { 3, 5 }, .wimm = { 17, 19 }, .timeout = 20, .retry = { 6, 25 },
		.cap = MRC_QP_CAP_DYNAMIC_MPR | MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED,
	};
	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mrc_query_qp(p->end[0].qp, &v, IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_SQ_PSN |
				  IBV_QP_PATH_MTU | IBV_QP_AV, &a, MPAIR_INIT | MPAIR_RTR | MPAIR_RTS,
				  &init));
	EXPECT_EQ(0, memcmp(&p->attr, &a, sizeof(a)));
	EXPECT_EQ(p->end[1].qpn, v.dest_qp_num);
	EXPECT_EQ(1000, v.sq_psn);
	EXPECT_EQ(IBV_MTU_1024, v.path_mtu);
	EXPECT_EQ(0, memcmp(&v.ah_attr.grh.dgid, &p->dev.gid, 16));
	EXPECT_EQ((void *)&p->end[0], init.qp_context);
	EXPECT_EQ(p->end[0].cq, init.send_cq);
	EXPECT_EQ(p->dev.pd, init.pd);
	EXPECT_EQ(1, init.sq_sig_all);
}

/* The QP's own timeouts count, not the device's: a QP that nobody answers. */
TEST_F_TIMEOUT(app, retries, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_wc wc;

	p->attr.timeout = 10;
	p->attr.retry.linear_cnt = 1;
	p->attr.retry.exp_cnt = 25;
	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mrc_destroy_qp(p->end[1].qp));
	p->end[1].qp = NULL;
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE, 8, 1));
	sleep(4);
	EXPECT_EQ(0, mrc_poll_cq(p->end[0].cq, 1, &wc)) {
		TH_LOG("gave up, though it was to try for ever");
	}
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_RESET, 0));
	p->attr.retry.exp_cnt = 0;
	ASSERT_EQ(0, mpair_up(p, p->end[0].qp, p->end[1].qpn));
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE, 8, 2));
	ASSERT_TRUE(mpair_wc(&p->end[0], &wc));
	EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, wc.status);
	EXPECT_EQ(2, wc.wr_id);
}

/* By the QP's own CC profile, whatever the device's default is. */
TEST_F_TIMEOUT(app, cc_profile, LIMIT_S)
{
	const char *id = getenv("MRC_TEST_CC");
	struct mpair *p = &self->p;
	char cmd[128];

	if (!id)
		SKIP(return, "no MRC_TEST_CC");
	p->attr.profile.cc_profile_id = strtoull(id, NULL, 10);
	ASSERT_EQ(0, mpair_connect(p));
	snprintf(cmd, sizeof(cmd), "mrcctl -j qp show | jq -e '[.[] | select(.cc_profile == %s and "
		 ".algorithm == \"uet-1.0-nscc\")] | length == 2'", id);
	EXPECT_EQ(0, system(cmd));
}

/* ---- hints ---- */

TEST_F_TIMEOUT(app, hints, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_qp_hint_init_attr init = { .attr = { 2, 7, 3, { 1, 2, 3 } } };
	struct mrc_qp_hint_attr a = { .num_send_peers = 9 };
	struct mrc_qp_attr query;
	struct mrc_qp_hint *hint;

	hint = mrc_create_qp_hint(p->ctx, &init);
	ASSERT_NE(NULL, hint);
	ASSERT_EQ(0, mrc_modify_qp_hint(hint, &a, MRC_QP_HINT_NUM_SEND_PEERS));
	memset(&a, 0, sizeof(a));
	ASSERT_EQ(0, mrc_query_qp_hint(hint, &a, MRC_QP_HINT_NUM_QPS_PER_PEER |
				       MRC_QP_HINT_NUM_SEND_PEERS |
				       MRC_QP_HINT_NUM_REMOTE_RECV_PEERS | MRC_QP_HINT_VENDOR_CFG));
	EXPECT_EQ(2, a.num_qps_per_peer);
	EXPECT_EQ(9, a.num_send_peers);
	EXPECT_EQ(3, a.num_remote_recv_peers);
	EXPECT_EQ(0, memcmp(init.attr.vendor_cfg, a.vendor_cfg, sizeof(a.vendor_cfg)));
	a.num_send_peers = -1;
	EXPECT_EQ(-1, mrc_modify_qp_hint(hint, &a, MRC_QP_HINT_NUM_SEND_PEERS));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, mrc_modify_qp_hint(hint, &a, 8));
	EXPECT_EQ(EINVAL, errno);
	p->attr.qp_hint = hint;
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_INIT, 0));
	ASSERT_EQ(0, mrc_query_qp(p->end[0].qp, NULL, 0, &query, MRC_QP_HINT, NULL));
	EXPECT_EQ(hint, query.qp_hint);
	EXPECT_EQ(-1, mrc_destroy_qp_hint(hint));
	EXPECT_EQ(EBUSY, errno);
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_RESET, 0));
	EXPECT_EQ(0, mrc_destroy_qp_hint(hint));
}

TEST_HARNESS_MAIN
