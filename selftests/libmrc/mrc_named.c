// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_named.c - QPs to one other host that name more EV profiles than there is room for: 16 (mrc(7)).
 *
 *	MRC_TEST_DEV=mrc0 MRC_TEST_PEER=fd00:6d72:63::2 MRC_TEST_PROFILE=100 mrc_named
 *
 * EV profiles 100 to 116 are there, for any destination. Nobody answers, nothing is sent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include "kselftest_harness.h"
#include "expect.h"
#include "mpair.h"

#define NAMED_MAX	16

FIXTURE(named) {
	struct mpair p;
	struct mrc_qp *qp[NAMED_MAX];
	struct mend more;
};

FIXTURE_SETUP(named)
{
	struct mpair *p = &self->p;
	int i;

	mpair_open(p);
	ASSERT_EQ(1, inet_pton(AF_INET6, getenv("MRC_TEST_PEER"), &p->dev.gid));	/* of who is talked to */
	self->more.cq = p->end[0].cq;
	for (i = 0; i < NAMED_MAX; i++)
		self->qp[i] = mpair_qp(p, &self->more);
	self->more.qp = mpair_qp(p, &self->more);
}

FIXTURE_TEARDOWN(named)
{
	int i;

	for (i = 0; i < NAMED_MAX; i++)
		if (self->qp[i])
			EXPECT_EQ(0, mrc_destroy_qp(self->qp[i]));
	EXPECT_EQ(0, mrc_destroy_qp(self->more.qp));
	mpair_close(&self->p);
}

/* 0 or errno of the transition to RTR, with the profile number @i. */
static int rtr(struct mpair *p, struct mrc_qp *qp, int i)
{
	int err;

	p->attr.profile.ev_profile_id = strtoull(getenv("MRC_TEST_PROFILE"), NULL, 0) + (uint64_t)i;
	err = mpair_step(p, qp, IBV_QPS_INIT, 0);
	return err ? err : mpair_step(p, qp, IBV_QPS_RTR, 4711);
}

TEST_F_TIMEOUT(named, seventeen, LIMIT_S)
{
	struct mpair *p = &self->p;
	int i;

	for (i = 0; i < NAMED_MAX; i++)
		ASSERT_EQ(0, rtr(p, self->qp[i], i));
	EXPECT_EQ(ENOSPC, rtr(p, self->more.qp, NAMED_MAX));
	ASSERT_EQ(0, mpair_step(p, self->more.qp, IBV_QPS_RESET, 0));
	EXPECT_EQ(0, rtr(p, self->more.qp, 0));		/* one that is named already */
	ASSERT_EQ(0, mpair_step(p, self->more.qp, IBV_QPS_RESET, 0));
	ASSERT_EQ(0, mrc_destroy_qp(self->qp[3]));
	self->qp[3] = NULL;
	EXPECT_EQ(0, rtr(p, self->more.qp, NAMED_MAX));	/* in the place of the one that went */
}

TEST_HARNESS_MAIN
