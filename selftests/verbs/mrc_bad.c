// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_bad.c - what must fail, fails as it should and harms nothing.
 *
 *	mrc_bad [-d DEV] [-g INDEX] [-4] [-p PORT]		the victim
 *	mrc_bad [-d DEV] [-g INDEX] [-4] [-p PORT] SERVER	the offender; prints TAP
 *
 * Every case has a fresh pair of QPs. The victim's buffer is larger than the MR
 * it registers, on both sides, and is checked byte by byte afterwards. The
 * offender expects an exact completion status where IBTA names one; after it the
 * QP must be in error and flush what is posted next. Of the victim's receives the first
 * says what was wrong with it, those behind it are flushed.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>
#include "vcommon.h"

#define LEN	4096		/* of the MR, in the middle of three such pieces */
#define BYTE	0xc3
#define LOCAL	0x3c

#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define RECVS	3		/* posted by the victim where the case takes one */
#define DISORDER	(-1)
#define NONE		(-2)

struct bad_case {
	const char *name;
	enum ibv_wr_opcode opcode;
	int64_t remote_off;	/* from the start of the MR */
	uint32_t len;
	uint32_t rkey_xor;
	uint32_t lkey_xor;
	int64_t local_off;	/* from the start of the offender's MR */
	int mr_access;		/* of the victim's MR */
	int qp_access;		/* of the victim's QP */
	int local_access;	/* of the offender's MR */
	bool dead_mr;		/* the victim deregisters before the access */
	bool other_pd;		/* the victim's MR is of another PD than its QP */
	uint32_t recv_len;	/* of the receive the victim posts */
	uint32_t recv_lkey_xor;
	int status;		/* the offender's completion */
	int alt_status;		/* or this, when not 0 */
	int recv_status;	/* of the victim's first receive, or NONE */
};

/* A case names only what differs from this. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define BASE(op) .opcode = (op), .len = 512, .mr_access = ALL, .qp_access = ALL, \
		 .local_access = ALL, .recv_len = LEN, .recv_status = NONE

static const struct bad_case cases[] = {
	{ .name = "a good WRITE succeeds", BASE(IBV_WR_RDMA_WRITE),
	  .status = IBV_WC_SUCCESS },
	{ .name = "a good READ succeeds", BASE(IBV_WR_RDMA_READ), .status = IBV_WC_SUCCESS },
	{ .name = "WRITE with a wrong rkey", BASE(IBV_WR_RDMA_WRITE),
	  .rkey_xor = 0x55, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE with an rkey of another index", BASE(IBV_WR_RDMA_WRITE),
	  .rkey_xor = 0x7fff0000, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE across the end of the MR", BASE(IBV_WR_RDMA_WRITE),
	  .remote_off = LEN - 511, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "large WRITE across the end of the MR", BASE(IBV_WR_RDMA_WRITE),
	  .len = LEN, .remote_off = 1, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE before the start of the MR", BASE(IBV_WR_RDMA_WRITE),
	  .remote_off = -1, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE around the end of the address space", BASE(IBV_WR_RDMA_WRITE),
	  .remote_off = INT64_MIN, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE_IMM with a wrong rkey", BASE(IBV_WR_RDMA_WRITE_WITH_IMM),
	  .rkey_xor = 0x55, .status = IBV_WC_REM_ACCESS_ERR,
	  .recv_status = IBV_WC_WR_FLUSH_ERR },
	{ .name = "WRITE to an MR without remote write", BASE(IBV_WR_RDMA_WRITE),
	  .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE to a QP without remote write", BASE(IBV_WR_RDMA_WRITE),
	  .qp_access = IBV_ACCESS_REMOTE_READ, .status = IBV_WC_REM_ACCESS_ERR,
	  .alt_status = IBV_WC_REM_INV_REQ_ERR },
	{ .name = "WRITE to a deregistered MR", BASE(IBV_WR_RDMA_WRITE),
	  .dead_mr = true, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE to an MR of another PD", BASE(IBV_WR_RDMA_WRITE),
	  .other_pd = true, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "READ with a wrong rkey", BASE(IBV_WR_RDMA_READ),
	  .rkey_xor = 0x55, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "READ from an MR without remote read", BASE(IBV_WR_RDMA_READ),
	  .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "READ across the end of the MR", BASE(IBV_WR_RDMA_READ),
	  .remote_off = LEN - 511, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "ATOMIC on an MR without remote atomic", BASE(IBV_WR_ATOMIC_FETCH_AND_ADD),
	  .len = 8, .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "ATOMIC behind the end of the MR", BASE(IBV_WR_ATOMIC_FETCH_AND_ADD),
	  .len = 8, .remote_off = LEN, .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE from a wrong lkey", BASE(IBV_WR_RDMA_WRITE),
	  .lkey_xor = 0x55, .status = IBV_WC_LOC_PROT_ERR },
	{ .name = "WRITE from beyond the local MR", BASE(IBV_WR_RDMA_WRITE),
	  .local_off = LEN - 511, .status = IBV_WC_LOC_PROT_ERR },
	{ .name = "SEND from a wrong lkey", BASE(IBV_WR_SEND),
	  .lkey_xor = 0x55, .status = IBV_WC_LOC_PROT_ERR },
	{ .name = "READ into an MR without local write", BASE(IBV_WR_RDMA_READ),
	  .local_access = 0, .status = IBV_WC_LOC_PROT_ERR },
	{ .name = "SEND longer than the receive", BASE(IBV_WR_SEND),
	  .recv_len = 256, .status = IBV_WC_REM_INV_REQ_ERR,
	  .alt_status = IBV_WC_REM_OP_ERR, .recv_status = IBV_WC_LOC_LEN_ERR },
	{ .name = "SEND into a receive with a wrong lkey", BASE(IBV_WR_SEND),
	  .recv_lkey_xor = 0x55, .status = IBV_WC_REM_OP_ERR,
	  .recv_status = IBV_WC_LOC_PROT_ERR },
};

#define N_CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static struct vc_opts opts = { .gid_index = -1, .port = "18516" };
static struct vc_dev dev;
static struct ibv_pd *pd2;
static struct ibv_cq *cq;
static int tcp, n_failed, n_tests;
static uint8_t *area;		/* three pieces, the MR in the middle */

static void gone(void)
{
	if (opts.server)
		printf("Bail out! the peer is gone\n");
	exit(VC_EXIT_BAD);
}

static void barrier(void)
{
	char c = 'b';

	if (!vc_send(tcp, &c, 1) || !vc_recv(tcp, &c, 1))
		gone();
}

static void result(bool ok, const char *name, const char *what, const char *why)
{
	n_tests++;
	n_failed += !ok;
	printf("%sok %d %s: %s\n", ok ? "" : "not ", n_tests, name, what);
	if (!ok && why)
		printf("# %s\n", why);
	fflush(stdout);
}

/* One completion within @ms, or false. */
static bool next_wc(struct ibv_wc *wc, unsigned int ms)
{
	const uint64_t end = vc_now_ns() + ms * 1000000ull;

	do {
		if (ibv_poll_cq(cq, 1, wc) > 0)
			return true;
		usleep(200);
	} while (vc_now_ns() < end);
	return false;
}

/* First byte of the area that is not as it was, or -1; [skip, skip_end) may differ. */
static int32_t first_change(uint8_t byte, uint32_t skip, uint32_t skip_end)
{
	int32_t i;

	for (i = 0; i < 3 * LEN; i++)
		if (area[i] != byte && ((uint32_t)i < skip || (uint32_t)i >= skip_end))
			return i;
	return -1;
}

static struct ibv_qp *case_qp(int access)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
	};

	return vc_qp(&dev, cq, &cap, access);
}

/* What the victim tells after each case. */
struct verdict {
	int32_t changed;
	int32_t recv_status[RECVS];
};

/* Whatever is wrong with the first receive, those behind it are good. */
static void post_recvs(struct ibv_qp *qp, const struct bad_case *c, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)area + LEN, c->recv_len, lkey ^ c->recv_lkey_xor };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	for (wr.wr_id = 1; wr.wr_id <= RECVS; wr.wr_id++) {
		if (ibv_post_recv(qp, &wr, &bad))
			vc_die("ibv_post_recv");
		sge.length = LEN;
		sge.lkey = lkey;
	}
}

static void take_recvs(struct verdict *v)
{
	struct ibv_wc wc;
	uint64_t i;

	for (i = 0; i < RECVS && next_wc(&wc, 60000); i++)
		v->recv_status[i] = wc.wr_id == i + 1 ? (int)wc.status : DISORDER;
}

static void victim(const struct bad_case *c)
{
	struct ibv_pd *const pd = c->other_pd ? pd2 : dev.pd;
	struct ibv_qp *qp = case_qp(c->qp_access);
	struct ibv_mr *mr = ibv_reg_mr(pd, area + LEN, LEN, c->mr_access);
	struct ibv_mr *rmr = ibv_reg_mr(dev.pd, area + LEN, LEN, IBV_ACCESS_LOCAL_WRITE);
	const bool sends = c->opcode == IBV_WR_SEND;
	const bool good = c->status == IBV_WC_SUCCESS && c->opcode == IBV_WR_RDMA_WRITE;
	struct verdict v = { .recv_status = { NONE, NONE, NONE } };
	struct vc_peer peer;
	struct ibv_wc wc;

	if (!mr || !rmr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	memset(area, BYTE, 3 * LEN);
	if (sends || c->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		post_recvs(qp, c, rmr->lkey);
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)area + LEN, mr->rkey, &peer))
		gone();
	if (c->dead_mr) {
		if (ibv_dereg_mr(mr))
			vc_die("ibv_dereg_mr");
		mr = NULL;
	}
	barrier();	/* the offender acts */
	barrier();	/* and has seen what came of it */

	if (c->recv_status != NONE)
		take_recvs(&v);
	v.changed = first_change(BYTE, good ? LEN : 0, good ? LEN + c->len : 0);
	if (sends && v.changed >= LEN && v.changed < 2 * LEN)
		v.changed = -1;		/* of its own receive buffer anything may become */
	if (!vc_send(tcp, &v, sizeof(v)))
		gone();
	ibv_destroy_qp(qp);
	if (mr)
		ibv_dereg_mr(mr);
	ibv_dereg_mr(rmr);
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
}

static void check_flush(const struct bad_case *c, struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};
	struct ibv_send_wr *bad;
	struct ibv_wc wc = {};
	char why[128];
	int err;

	err = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	snprintf(why, sizeof(why), "query_qp %d, state %d", err, attr.qp_state);
	result(!err && attr.qp_state == IBV_QPS_ERR, c->name, "the QP is in error", why);

	wr->wr_id = 2;
	err = ibv_post_send(qp, wr, &bad);
	if (!err && !next_wc(&wc, 60000))
		snprintf(why, sizeof(why), "posted, but no completion came");
	else
		snprintf(why, sizeof(why), "post_send %d, status %s", err,
			 ibv_wc_status_str(wc.status));
	result(!err && wc.wr_id == 2 && wc.status == IBV_WC_WR_FLUSH_ERR, c->name,
	       "the next request is flushed", why);
}

static const char *recv_str(int32_t status)
{
	if (status == NONE)
		return "nothing";
	return status == DISORDER ? "another receive" : ibv_wc_status_str(status);
}

static void check_recvs(const struct bad_case *c, const int32_t *status)
{
	const char *const what[RECVS] = {
		"the victim's receive fails", "the one behind it is flushed", "and the next one",
	};
	char why[128];
	int i, want;

	for (i = 0; i < RECVS; i++) {
		want = i ? IBV_WC_WR_FLUSH_ERR : c->recv_status;
		snprintf(why, sizeof(why), "got '%s', want '%s'", recv_str(status[i]),
			 ibv_wc_status_str(want));
		result(status[i] == want, c->name, what[i], why);
	}
}

static void offender(const struct bad_case *c)
{
	const bool atomic = c->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool reads = c->opcode == IBV_WR_RDMA_READ || atomic;
	struct ibv_qp *qp = case_qp(ALL);
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, area + LEN, LEN, c->local_access);
	struct ibv_sge sge = { .length = c->len };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = c->opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc = {};
	struct vc_peer peer;
	struct verdict v;
	char why[160];
	int32_t at;
	bool got;
	int err;

	if (!mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	memset(area, LOCAL, 3 * LEN);
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)area + LEN, mr->rkey, &peer))
		gone();
	sge.addr = (uintptr_t)area + LEN + c->local_off;
	sge.lkey = mr->lkey ^ c->lkey_xor;
	if (atomic) {
		wr.wr.atomic.remote_addr = peer.addr + c->remote_off;
		wr.wr.atomic.rkey = peer.rkey ^ c->rkey_xor;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = c->remote_off == INT64_MIN ? UINT64_MAX - 10 :
					 peer.addr + c->remote_off;
		wr.wr.rdma.rkey = peer.rkey ^ c->rkey_xor;
	}
	barrier();
	err = ibv_post_send(qp, &wr, &bad);
	got = !err && next_wc(&wc, 60000);
	if (err)
		snprintf(why, sizeof(why), "ibv_post_send: %s", strerror(err));
	else if (!got)
		snprintf(why, sizeof(why), "no completion in a minute");
	else
		snprintf(why, sizeof(why), "got '%s', want '%s'", ibv_wc_status_str(wc.status),
			 ibv_wc_status_str(c->status));
	result(got && wc.wr_id == 1 &&
	       ((int)wc.status == c->status ||
		(c->alt_status && (int)wc.status == c->alt_status)),
	       c->name, "completion", why);
	barrier();
	if (!vc_recv(tcp, &v, sizeof(v)))
		gone();
	snprintf(why, sizeof(why), "byte %d of the victim's area changed", v.changed - LEN);
	result(v.changed < 0, c->name, "the victim's memory is untouched", why);
	if (c->recv_status != NONE)
		check_recvs(c, v.recv_status);
	if (reads) {
		const bool good = c->status == IBV_WC_SUCCESS;

		at = first_change(LOCAL, good ? LEN : 0, good ? LEN + c->len : 0);
		snprintf(why, sizeof(why), "byte %d changed", at - LEN);
		result(at < 0, c->name, "nothing else was read", why);
		if (good)
			result(area[LEN] == BYTE && area[LEN + c->len - 1] == BYTE, c->name,
			       "the data came", NULL);
	}
	if (c->status != IBV_WC_SUCCESS && got)
		check_flush(c, qp, &wr);
	ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
}

int main(int argc, char **argv)
{
	int c, i;

	while ((c = getopt(argc, argv, "d:g:4p:")) != -1) {
		switch (c) {
		case 'd': opts.dev = optarg; break;
		case 'g': opts.gid_index = atoi(optarg); break;
		case '4': opts.want_v4 = true; break;
		case 'p': opts.port = optarg; break;
		default:
			fputs("usage: mrc_bad [-d DEV] [-g INDEX] [-4] [-p PORT] [SERVER]\n",
			      stderr);
			return VC_EXIT_USAGE;
		}
	}
	if (optind < argc)
		opts.server = argv[optind];

	vc_open(&dev, &opts);
	tcp = vc_tcp(&opts);
	pd2 = ibv_alloc_pd(dev.ctx);
	cq = ibv_create_cq(dev.ctx, 64, NULL, NULL, 0);
	area = aligned_alloc(4096, 3 * LEN);
	if (!pd2 || !cq || !area)
		vc_die("set-up: %s", strerror(errno));

	if (opts.server)
		puts("TAP version 13");
	for (i = 0; i < N_CASES; i++) {
		if (opts.server)
			offender(&cases[i]);
		else
			victim(&cases[i]);
	}
	if (opts.server)
		printf("1..%d\n", n_tests);

	if (ibv_destroy_cq(cq) || ibv_dealloc_pd(pd2))
		vc_die("cleaning up: %s", strerror(errno));
	vc_close(&dev);
	free(area);
	close(tcp);
	return n_failed ? VC_EXIT_BAD : VC_EXIT_OK;
}
