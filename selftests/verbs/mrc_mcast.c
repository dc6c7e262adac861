// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mcast.c - multicast groups: who receives, who does not, and what is refused.
 *
 *	MRC_TEST_DEV=mrc1 MRC_TEST_PEER=mrc2 MRC_TEST_V4=0|1 mrc_mcast
 *
 * A of the one device sends to a group. B is of that device, too; C and D are of the other, in another
 * namespace, which one program may open. kselftest_harness.h.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "vud.h"

#define LEN		1000
#define SLOT		(VUD_GRH + LEN)
#define MCAST_QPN	0xffffff
#define QUIET_MS	100	/* what does not come in this time is not on its way */
#define HOPS		3	/* how far datagrams go, said with the address */
#define DEFAULT_HOPS	64	/* if it is not */

enum { A, B, C, D, N };		/* the sender is A */

FIXTURE(mcast) {
	struct vc_dev dev[2];
	struct ibv_mr *mr[2];
	struct ibv_cq *cq[N];
	struct ibv_qp *qp[N];
	struct ibv_ah *ah;
	union ibv_gid group;
	uint8_t out[LEN], in[N][SLOT];
};

static struct vc_dev *dev_of(struct _test_data_mcast *self, int i)
{
	return &self->dev[i >= C];
}

static bool v4(void)
{
	const char *s = getenv("MRC_TEST_V4");

	return s && *s == '1';
}

/* Group number @i: 239.77.x.y, or ff0e::4d:x:y, which is global. */
static union ibv_gid group(unsigned int i)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [13] = 77 } };

	if (!v4())
		gid = (union ibv_gid) { .raw = { 0xff, 0x0e, [11] = 0x4d } };
	gid.raw[14] = (uint8_t)(i >> 8);
	gid.raw[15] = (uint8_t)i;
	return gid;
}

static struct ibv_ah *ah_to(struct _test_data_mcast *self, const union ibv_gid *gid, uint8_t hops)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = *gid, .sgid_index = (uint8_t)self->dev[0].gid_index,
			 .hop_limit = hops },
	};

	return ibv_create_ah(self->dev[0].pd, &attr);
}

FIXTURE_SETUP(mcast)
{
	struct vc_opts opts = { .gid_index = -1, .want_v4 = v4() };
	int i;

	for (i = 0; i < 2; i++) {
		opts.dev = getenv(i ? "MRC_TEST_PEER" : "MRC_TEST_DEV");
		vc_open(&self->dev[i], &opts);
		self->mr[i] = ibv_reg_mr(self->dev[i].pd, self->out,
					 sizeof(self->out) + sizeof(self->in),
					 IBV_ACCESS_LOCAL_WRITE);
		ASSERT_NE(NULL, self->mr[i]);
	}
	for (i = 0; i < N; i++) {
		self->cq[i] = ibv_create_cq(dev_of(self, i)->ctx, 2 * VUD_SLOTS, NULL, NULL, 0);
		ASSERT_NE(NULL, self->cq[i]);
		self->qp[i] = vud_qp(dev_of(self, i), self->cq[i], NULL, 0);
		ASSERT_NE(NULL, self->qp[i]);
		ASSERT_EQ(0, vud_to_rts(self->qp[i]));
	}
	self->group = group(7);
	self->ah = ah_to(self, &self->group, HOPS);
	ASSERT_NE(NULL, self->ah);
	for (i = 0; i < LEN; i++)
		self->out[i] = (uint8_t)(i * 7 + 1);
}

FIXTURE_TEARDOWN(mcast)
{
	int i;

	EXPECT_EQ(0, ibv_destroy_ah(self->ah));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, ibv_destroy_qp(self->qp[i]));
		EXPECT_EQ(0, ibv_destroy_cq(self->cq[i]));
	}
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, ibv_dereg_mr(self->mr[i]));
		vc_close(&self->dev[i]);
	}
}

static int attach(struct _test_data_mcast *self, int i)
{
	return ibv_attach_mcast(self->qp[i], &self->group, 0);
}

static int detach(struct _test_data_mcast *self, int i)
{
	return ibv_detach_mcast(self->qp[i], &self->group, 0);
}

static int post_recv(struct _test_data_mcast *self, int i)
{
	struct ibv_sge sge = { (uintptr_t)self->in[i], SLOT, self->mr[i >= C]->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1 };

	memset(self->in[i], 0xee, SLOT);
	return ibv_post_recv(self->qp[i], &wr, &bad);
}

/* @len bytes from A by @ah; the status. */
static int send_by(struct _test_data_mcast *self, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
		   uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)self->out, len, self->mr[0]->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 42, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = qkey },
	};
	struct ibv_wc wc;

	if (ibv_post_send(self->qp[A], &wr, &bad))
		return -1;
	do	/* what A receives itself comes by the same queue */
		wc = vud_next(self->cq[A], VUD_WAIT_S * 1000);
	while (wc.status == IBV_WC_SUCCESS && wc.wr_id != 42);
	return (int)wc.status;
}

static int send_all(struct _test_data_mcast *self, uint32_t len)
{
	return send_by(self, self->ah, MCAST_QPN, VUD_QKEY, len);
}

/* Sent well, and then @name of device @d is one more: dropped for that reason. */
static bool dropped_as(struct _test_data_mcast *self, int d, const char *name, struct ibv_ah *ah,
		       uint32_t qpn, uint32_t qkey)
{
	const uint64_t end = vc_now_ns() + VUD_WAIT_S * 1000000000ull;
	const long long before = vud_counter(&self->dev[d], name);

	if (before < 0 || send_by(self, ah, qpn, qkey, 8) != IBV_WC_SUCCESS)
		return false;
	while (vud_counter(&self->dev[d], name) != before + 1)
		if (vc_now_ns() > end)
			return false;
	return true;
}

/* The headers in front: from A's address to the group. */
static bool grh_is(const struct _test_data_mcast *self, const uint8_t *grh)
{
	const uint8_t *from = self->dev[0].gid.raw, *to = self->group.raw;

	if (!v4())
		return grh[0] >> 4 == 6 && !memcmp(grh + 8, from, 16) && !memcmp(grh + 24, to, 16);
	return grh[20] == 0x45 && !memcmp(grh + 32, from + 12, 4) && !memcmp(grh + 36, to + 12, 4);
}

static unsigned int hops_of(const uint8_t *grh)
{
	return v4() ? grh[20 + 8] : grh[7];
}

/* QP @i has a message, whole. */
static bool has_one(struct _test_data_mcast *self, int i, uint32_t len)
{
	struct ibv_wc wc = vud_next(self->cq[i], VUD_WAIT_S * 1000);

	if (wc.status != IBV_WC_SUCCESS || wc.byte_len != VUD_GRH + len || wc.wr_id != (uint64_t)i ||
	    wc.src_qp != self->qp[A]->qp_num || wc.qp_num != self->qp[i]->qp_num)
		return false;
	return !memcmp(self->in[i] + VUD_GRH, self->out, len) && grh_is(self, self->in[i]);
}

/* And no second one. */
static bool has_once(struct _test_data_mcast *self, int i, uint32_t len)
{
	return has_one(self, i, len) && (int)vud_next(self->cq[i], QUIET_MS).status == -1;
}

static bool has_none(struct _test_data_mcast *self, int i)
{
	return (int)vud_next(self->cq[i], QUIET_MS).status == -1;
}

TEST_F_TIMEOUT(mcast, every_attached_qp_of_both_hosts_gets_one_copy, 120)
{
	static const uint32_t lens[] = { 0, 1, 255, LEN };
	unsigned int k;
	int i;

	for (i = B; i < D; i++)
		ASSERT_EQ(0, attach(self, i));
	ASSERT_EQ(0, post_recv(self, D));
	for (k = 0; k < sizeof(lens) / sizeof(*lens); k++) {
		for (i = B; i < D; i++)
			for (int n = 0; n < 2; n++)	/* two: a second copy would be seen */
				ASSERT_EQ(0, k && n ? 0 : post_recv(self, i));
		ASSERT_EQ(IBV_WC_SUCCESS, send_all(self, lens[k]));
		for (i = B; i < D; i++)
			EXPECT_TRUE(has_once(self, i, lens[k])) {
				TH_LOG("length %u, QP %c", lens[k], 'A' + i);
			}
	}
	EXPECT_TRUE(has_none(self, D));
	for (i = B; i < D; i++)
		EXPECT_EQ(0, detach(self, i));
}

/* By a plane each that has a route: mcast.sh takes that of one away. */
TEST_F_TIMEOUT(mcast, a_stream_is_heard_to_its_end, 120)
{
	int n;

	ASSERT_EQ(0, attach(self, C));
	for (n = 0; n < VUD_SLOTS; n++)
		ASSERT_EQ(0, post_recv(self, C));
	for (n = 0; n < VUD_SLOTS; n++) {
		ASSERT_EQ(IBV_WC_SUCCESS, send_all(self, 100));
		usleep(1000);
	}
	for (n = 0; n < VUD_SLOTS; n++)
		ASSERT_TRUE(has_one(self, C, 100)) {
			TH_LOG("number %d of %d", n + 1, VUD_SLOTS);
		}
	EXPECT_TRUE(has_none(self, C));
	EXPECT_EQ(0, detach(self, C));
}

TEST_F_TIMEOUT(mcast, it_goes_as_far_as_its_address_says, 120)
{
	static const struct { uint8_t said, is; } hops[] = {
		{ 1, 1 }, { 255, 255 }, { 0, DEFAULT_HOPS },
	};
	struct ibv_ah *ah;
	unsigned int i;

	ASSERT_EQ(0, attach(self, C));
	for (i = 0; i < sizeof(hops) / sizeof(*hops); i++) {
		ah = ah_to(self, &self->group, hops[i].said);
		ASSERT_NE(NULL, ah);
		ASSERT_EQ(0, post_recv(self, C));
		ASSERT_EQ(IBV_WC_SUCCESS, send_by(self, ah, MCAST_QPN, VUD_QKEY, 8));
		EXPECT_TRUE(has_once(self, C, 8));
		EXPECT_EQ(hops[i].is, hops_of(self->in[C]));
		EXPECT_EQ(0, ibv_destroy_ah(ah));
	}
	EXPECT_EQ(0, detach(self, C));
}

TEST_F_TIMEOUT(mcast, the_sender_hears_itself_unless_it_asked_not_to, 120)
{
	struct ibv_qp *deaf;

	ASSERT_EQ(0, attach(self, A));
	ASSERT_EQ(0, post_recv(self, A));
	{
		struct ibv_sge sge = { (uintptr_t)self->out, 8, self->mr[0]->lkey };
		struct ibv_send_wr *bad, wr = {
			.wr_id = 42, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
			.wr.ud = { self->ah, MCAST_QPN, VUD_QKEY },
		};

		ASSERT_EQ(0, ibv_post_send(self->qp[A], &wr, &bad));
	}
	EXPECT_TRUE(has_once(self, A, 8));
	EXPECT_EQ(0, detach(self, A));

	deaf = vud_qp(&self->dev[0], self->cq[A], NULL, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	ASSERT_NE(NULL, deaf);
	ASSERT_EQ(0, vud_to_rts(deaf));
	ASSERT_EQ(0, ibv_destroy_qp(self->qp[A]));
	self->qp[A] = deaf;
	ASSERT_EQ(0, attach(self, A));
	ASSERT_EQ(0, attach(self, B));
	ASSERT_EQ(0, post_recv(self, A));
	ASSERT_EQ(0, post_recv(self, B));
	ASSERT_EQ(IBV_WC_SUCCESS, send_all(self, 8));
	EXPECT_TRUE(has_once(self, B, 8));
	EXPECT_TRUE(has_none(self, A));
	EXPECT_EQ(0, detach(self, A));
	EXPECT_EQ(0, detach(self, B));
}

TEST_F_TIMEOUT(mcast, what_nobody_wants_is_counted, 120)
{
	union ibv_gid other = group(8);
	struct ibv_ah *ah = ah_to(self, &other, HOPS);

	ASSERT_NE(NULL, ah);
	ASSERT_EQ(0, attach(self, C));
	ASSERT_EQ(0, post_recv(self, C));
	EXPECT_TRUE(dropped_as(self, 1, "rx_mcast_unknown", ah, MCAST_QPN, VUD_QKEY));
	EXPECT_TRUE(dropped_as(self, 1, "rx_dgram_qkey", self->ah, MCAST_QPN, VUD_QKEY + 1));
	/* Not by the group's address to a QP that is not asked, be it QP 1, 2 or its own. */
	EXPECT_TRUE(dropped_as(self, 1, "rx_unknown_qp", self->ah, 1, 0x80010000));
	EXPECT_TRUE(dropped_as(self, 1, "rx_unknown_qp", self->ah, 2, VUD_QKEY));
	EXPECT_TRUE(dropped_as(self, 1, "rx_unknown_qp", self->ah, self->qp[C]->qp_num, VUD_QKEY));
	EXPECT_TRUE(has_none(self, C));
	EXPECT_EQ(0, detach(self, C));
	EXPECT_TRUE(dropped_as(self, 1, "rx_mcast_unknown", self->ah, MCAST_QPN, VUD_QKEY));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

TEST_F_TIMEOUT(mcast, what_is_attached_is_busy_and_what_is_detached_hears_nothing, 120)
{
	ASSERT_EQ(0, attach(self, C));
	EXPECT_EQ(0, attach(self, C));		/* ib_core: once is enough */
	ASSERT_EQ(0, attach(self, D));
	EXPECT_EQ(EBUSY, ibv_destroy_qp(self->qp[C]));
	EXPECT_EQ(0, detach(self, C));
	EXPECT_EQ(EINVAL, detach(self, C));
	ASSERT_EQ(0, post_recv(self, C));
	ASSERT_EQ(0, post_recv(self, D));
	ASSERT_EQ(IBV_WC_SUCCESS, send_all(self, 8));
	EXPECT_TRUE(has_once(self, D, 8));
	EXPECT_TRUE(has_none(self, C));
	EXPECT_EQ(0, detach(self, D));
}

TEST_F_TIMEOUT(mcast, a_group_is_for_datagrams_and_an_address_of_many, 120)
{
	const union ibv_gid itself = { .raw = { 0xff, 0x01, [15] = 7 } };
	const struct ibv_qp_cap cap = { 1, 1, 1, 1, 0 };
	struct ibv_qp *rc = vc_qp(&self->dev[0], self->cq[A], &cap, 0);

	ASSERT_NE(NULL, rc);
	EXPECT_EQ(EINVAL, ibv_attach_mcast(rc, &self->group, 0));
	EXPECT_EQ(0, ibv_destroy_qp(rc));
	EXPECT_EQ(EINVAL, ibv_attach_mcast(self->qp[A], &self->dev[0].gid, 0));
	EXPECT_EQ(EINVAL, ibv_attach_mcast(self->qp[A], &itself, 0));
}

TEST_F_TIMEOUT(mcast, limits_are_what_the_device_says, 300)
{
	const struct ibv_device_attr *max = &self->dev[1].attr;
	struct ibv_qp **qp = calloc((size_t)max->max_mcast_qp_attach + 1, sizeof(*qp));
	union ibv_gid gid;
	int i;

	ASSERT_NE(NULL, qp);
	ASSERT_LT(1, max->max_mcast_qp_attach);
	ASSERT_LT(1, max->max_mcast_grp);
	for (i = 0; i <= max->max_mcast_qp_attach; i++) {
		qp[i] = vud_qp(&self->dev[1], self->cq[C], NULL, 0);
		ASSERT_NE(NULL, qp[i]);
		ASSERT_EQ(i < max->max_mcast_qp_attach ? 0 : ENOSPC,
			  ibv_attach_mcast(qp[i], &self->group, 0));
	}
	for (i = 0; i <= max->max_mcast_qp_attach; i++) {
		EXPECT_EQ(i < max->max_mcast_qp_attach ? 0 : EINVAL,
			  ibv_detach_mcast(qp[i], &self->group, 0));
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
	}
	free(qp);
	for (i = 0; i <= max->max_mcast_grp; i++) {
		gid = group(0x1000 + (unsigned int)i);
		ASSERT_EQ(i < max->max_mcast_grp ? 0 : ENOSPC,
			  ibv_attach_mcast(self->qp[C], &gid, 0));
	}
	/* The last one of them hears. */
	self->group = group(0x1000 + (unsigned int)max->max_mcast_grp - 1);
	EXPECT_EQ(0, ibv_destroy_ah(self->ah));
	self->ah = ah_to(self, &self->group, HOPS);
	ASSERT_NE(NULL, self->ah);
	ASSERT_EQ(0, post_recv(self, C));
	ASSERT_EQ(IBV_WC_SUCCESS, send_all(self, 64));
	EXPECT_TRUE(has_once(self, C, 64));
	for (i = 0; i < max->max_mcast_grp; i++) {
		gid = group(0x1000 + (unsigned int)i);
		ASSERT_EQ(0, ibv_detach_mcast(self->qp[C], &gid, 0));
	}
}

TEST_HARNESS_MAIN
