// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_handles.c - bad input to the application half: NULL, handles of another kind, masks, what is
 * destroyed too early; and to the kernel, past the library.
 *
 *	MRC_TEST_DEV=mrc0 mrc_handles
 */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "expect.h"
#include "rdma/mrc-abi.h"
#include "mpair.h"

FIXTURE(handles) {
	struct mpair p;
};

FIXTURE_SETUP(handles)
{
	mpair_open(&self->p);
}

FIXTURE_TEARDOWN(handles)
{
	mpair_close(&self->p);
}

/* Each call with @junk, which is NULL or an object of a kind that the call does not take. */
static void no_object(struct __test_metadata *_metadata, struct mpair *p, void *junk)
{
	struct mrc_qp_hint_init_attr hint = {};
	struct mrc_comp_channel *channel;
	struct mrc_qp_init_attr init = {};
	struct mrc_async_event event = {};
	struct ibv_recv_wr rwr = {}, *bad_r;
	struct ibv_send_wr swr = {}, *bad_s;
	struct mrc_qp_attr a = {};
	struct ibv_qp_attr v = {};
	struct mrc_cq *cq;
	struct ibv_wc wc;
	uint32_t qpn;
	void *user;
	int fd;

	MINUS(EINVAL, mrc_destroy_context(junk));
	EXPECT_EQ(EINVAL, mrc_create_comp_channel(junk, &channel));
	MINUS(EINVAL, mrc_get_comp_channel_fd(junk, &fd));
	EXPECT_EQ(EINVAL, mrc_destroy_comp_channel(junk));
	NONE(EINVAL, mrc_create_cq(junk, 1, NULL, NULL, 0));
	EXPECT_GT(0, mrc_poll_cq(junk, 1, &wc));
	EXPECT_EQ(EINVAL, mrc_destroy_cq(junk));
	EXPECT_EQ(EINVAL, mrc_req_notify_cq(junk, 0));
	MINUS(EINVAL, mrc_get_cq_event(junk, &cq, &user));
	mrc_ack_cq_events(junk, 1);
	NONE(EINVAL, mrc_create_qp_hint(junk, &hint));
	MINUS(EINVAL, mrc_destroy_qp_hint(junk));
	MINUS(EINVAL, mrc_query_qp_hint(junk, &hint.attr, 0));
	MINUS(EINVAL, mrc_modify_qp_hint(junk, &hint.attr, 0));
	NONE(EINVAL, mrc_create_qp(junk, &init));
	EXPECT_EQ(EINVAL, mrc_destroy_qp(junk));
	EXPECT_EQ(EINVAL, mrc_query_qp(junk, &v, 0, &a, 0, NULL));
	EXPECT_EQ(EINVAL, mrc_modify_qp(junk, &v, 0, &a, 0));
	MINUS(EINVAL, mrc_get_qpn(junk, &qpn));
	MINUS(EINVAL, mrc_post_recv(junk, &rwr, &bad_r));
	EXPECT_EQ(&rwr, bad_r);
	EXPECT_EQ(EINVAL, mrc_post_send(junk, &swr, &bad_s));
	EXPECT_EQ(&swr, bad_s);
	MINUS(EINVAL, mrc_get_async_event(junk, &event));
	event.event_type = IBV_EVENT_QP_FATAL;
	event.element.qp = junk;
	mrc_ack_async_event(&event);
	if (junk)
		MINUS(EINVAL, mrc_query_device_ex(p->dev.ctx, junk, NULL, &fd));
}

TEST_F_TIMEOUT(handles, null, LIMIT_S)
{
	no_object(_metadata, &self->p, NULL);
	mrc_ack_async_event(NULL);
	mrc_query_version(NULL, NULL, NULL, NULL);
	NONE(EINVAL, mrc_create_context(NULL, NULL));
}

TEST_F_TIMEOUT(handles, foreign, LIMIT_S)
{
	uint32_t words[64] = { 0x12345678 };

	no_object(_metadata, &self->p, words);
}

TEST_F_TIMEOUT(handles, arguments, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_device_attr d;
	struct mrc_qp_attr a = {};
	struct ibv_qp_attr v = {};
	struct ibv_send_wr *bad_s;
	struct ibv_recv_wr *bad_r;
	struct ibv_wc wc;
	int supported;

	MINUS(EINVAL, mrc_query_device(NULL, &d, &supported));
	MINUS(EINVAL, mrc_query_device(p->dev.ctx, NULL, &supported));
	MINUS(EINVAL, mrc_query_device(p->dev.ctx, &d, NULL));
	EXPECT_EQ(EINVAL, mrc_create_comp_channel(p->ctx, NULL));
	NONE(EINVAL, mrc_create_cq(p->ctx, 0, NULL, NULL, 0));
	NONE(EINVAL, mrc_create_cq(p->ctx, -1, NULL, NULL, 0));
	NONE(EINVAL, mrc_create_cq(p->ctx, 16, NULL, (void *)p->ctx, 0));
	EXPECT_GT(0, mrc_poll_cq(p->end[0].cq, -1, &wc));
	EXPECT_GT(0, mrc_poll_cq(p->end[0].cq, 1, NULL));
	NONE(EINVAL, mrc_create_qp(p->ctx, NULL));
	NONE(EINVAL, mrc_create_qp_hint(p->ctx, NULL));
	EXPECT_EQ(EINVAL, mrc_modify_qp(p->end[0].qp, NULL, IBV_QP_STATE, NULL, 0));
	EXPECT_EQ(EINVAL, mrc_modify_qp(p->end[0].qp, &v, IBV_QP_STATE, NULL, MPAIR_INIT));
	EXPECT_EQ(EINVAL, mrc_modify_qp(p->end[0].qp, &v, 0, &a, 1 << 20));
	EXPECT_EQ(EINVAL, mrc_query_qp(p->end[0].qp, NULL, IBV_QP_STATE, NULL, 0, NULL));
	EXPECT_EQ(EINVAL, mrc_query_qp(p->end[0].qp, NULL, 0, NULL, MRC_QP_MPR, NULL));
	EXPECT_EQ(EINVAL, mrc_query_qp(p->end[0].qp, NULL, 0, &a, 1 << 20, NULL));
	EXPECT_EQ(EINVAL, mrc_post_send(p->end[0].qp, NULL, &bad_s));
	MINUS(EINVAL, mrc_post_recv(p->end[0].qp, NULL, &bad_r));
}

/* Posting is for QPs that can. */
TEST_F_TIMEOUT(handles, states, LIMIT_S)
{
	struct mpair *p = &self->p;

	MINUS(EINVAL, mpair_recv(p, 0));
	EXPECT_EQ(EINVAL, mpair_post(p, IBV_WR_RDMA_WRITE, 8, 0));
	ASSERT_EQ(0, mpair_step(p, p->end[0].qp, IBV_QPS_INIT, 0));
	EXPECT_EQ(0, mpair_recv(p, 0));
	EXPECT_EQ(EINVAL, mpair_post(p, IBV_WR_RDMA_WRITE, 8, 0));
}

/* What others use stays, and works. */
TEST_F_TIMEOUT(handles, wrong_order, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct ibv_wc wc;

	MINUS(EBUSY, mrc_destroy_context(p->ctx));
	EXPECT_EQ(EBUSY, mrc_destroy_cq(p->end[0].cq));
	EXPECT_EQ(EBUSY, mrc_destroy_comp_channel(p->channel));
	ASSERT_EQ(0, mpair_connect(p));
	ASSERT_EQ(0, mpair_post(p, IBV_WR_RDMA_WRITE, 8, 6));
	ASSERT_TRUE(mpair_wc(&p->end[0], &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

/* Objects of another context of the same device. */
TEST_F_TIMEOUT(handles, other_context, LIMIT_S)
{
	struct mpair *p = &self->p;
	struct mrc_qp_init_attr init = {
		.send_cq = p->end[0].cq, .recv_cq = p->end[0].cq, .pd = p->dev.pd,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 },
	};
	struct mrc_context *other = mrc_create_context(p->dev.ctx, NULL);
	struct mrc_qp_hint_init_attr hint_init = {};
	struct mrc_qp_hint *hint;

	ASSERT_NE(NULL, other);
	NONE(EINVAL, mrc_create_qp(other, &init));
	NONE(EINVAL, mrc_create_cq(other, 16, NULL, p->channel, 0));
	hint = mrc_create_qp_hint(other, &hint_init);
	ASSERT_NE(NULL, hint);
	p->attr.qp_hint = hint;
	EXPECT_EQ(EINVAL, mpair_step(p, p->end[0].qp, IBV_QPS_INIT, 0));
	p->attr.qp_hint = NULL;
	MINUS(EBUSY, mrc_destroy_context(other));
	EXPECT_EQ(0, mrc_destroy_qp_hint(hint));
	EXPECT_EQ(0, mrc_destroy_context(other));
}

/* ---- the kernel: private data of MODIFY_QP ---- */

struct raw_modify {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex;
	struct ib_uverbs_ex_modify_qp core;
	struct mrc_umodify_qp drv;
	uint64_t more;
};

/* 0 or errno: QP @handle to INIT with the first @len bytes behind the command. */
static int raw_init(struct mpair *p, uint32_t handle, struct raw_modify *cmd, size_t len)
{
	struct ib_uverbs_ex_modify_qp_resp resp;
	size_t all = offsetof(struct raw_modify, drv) + len;

	cmd->hdr = (struct ib_uverbs_cmd_hdr) {
		.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
		.in_words = sizeof(cmd->core) / 8, .out_words = sizeof(resp) / 8,
	};
	cmd->ex = (struct ib_uverbs_ex_cmd_hdr) {
		.response = (uintptr_t)&resp, .provider_in_words = (uint16_t)(len / 8),
	};
	cmd->core.base = (struct ib_uverbs_modify_qp) {
		.qp_handle = handle, .attr_mask = MPAIR_INIT_V, .qp_state = IBV_QPS_INIT, .port_num = 1,
	};
	return write(p->dev.ctx->cmd_fd, cmd, all) == (ssize_t)all ? 0 : errno;
}

TEST_F_TIMEOUT(handles, private_data, LIMIT_S)
{
	const struct raw_modify good = {
		.drv.comp_mask = MRC_UMODIFY_EV_PROFILE | MRC_UMODIFY_CC_PROFILE,
	};
	const size_t len = sizeof(good.drv);
	struct mpair *p = &self->p;
	struct ibv_cq *cq = ibv_create_cq(p->dev.ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct raw_modify cmd;
	struct ibv_qp *qp;

	ASSERT_NE(NULL, cq);
	qp = ibv_create_qp(p->dev.pd, &init);
	ASSERT_NE(NULL, qp);
	cmd = good;
	EXPECT_EQ(EINVAL, raw_init(p, qp->handle, &cmd, 8));		/* cut off */
	EXPECT_EQ(EINVAL, raw_init(p, qp->handle, &cmd, len - 8));
	cmd.drv.reserved0[6] = 1;
	EXPECT_EQ(EOPNOTSUPP, raw_init(p, qp->handle, &cmd, len));
	cmd = good;
	cmd.more = 1;
	EXPECT_EQ(EOPNOTSUPP, raw_init(p, qp->handle, &cmd, len + 8));
	cmd = good;
	cmd.drv.comp_mask |= 1u << 30;
	EXPECT_EQ(EINVAL, raw_init(p, qp->handle, &cmd, len));
	cmd = good;
	cmd.drv.comp_mask |= MRC_UMODIFY_TIMEOUT;	/* of another transition, and out of range */
	cmd.drv.timeout = 25;
	EXPECT_EQ(EINVAL, raw_init(p, qp->handle, &cmd, len));
	cmd = good;
	cmd.drv.cc_profile_id = ~0ull;
	EXPECT_EQ(EINVAL, raw_init(p, qp->handle, &cmd, len));
	cmd = good;
	cmd.more = 0;
	cmd.drv.comp_mask = 0;		/* all that is usual */
	EXPECT_EQ(0, raw_init(p, qp->handle, &cmd, len + 8));	/* of a newer library, unused */
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_HARNESS_MAIN
