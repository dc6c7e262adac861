// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_events.c - what a program is told beside its completions, and what it need not ask.
 *
 *	mrc_events [-d DEV] [-g INDEX] [-4]
 *
 * Two queue pairs of one device, connected to each other. TAP:
 *	a request that fails is told by its completion, and by no event;
 *	a request of the peer that is refused raises QP_ACCESS_ERR, as nothing else tells;
 *	the queue pairs of a completion queue that was overrun end in error;
 *	a queue pair that was in error and was reset asks for no doorbell for its receives.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "vpair.h"

#define LEN	64
#define FAR_MS	20000	/* for what must come */
#define NEAR_MS	300	/* for what must not */

static const struct ibv_qp_cap cap = {
	.max_send_wr = 64, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1,
};

static struct vc_opts opts = { .gid_index = -1 };
static struct vc_dev dev;
static struct ibv_mr *mr;
static uint8_t area[2 * LEN];
static int n_tests, n_failed;
static unsigned int bells;

/* Doorbells are the plug-in's only write()s to the device. */
ssize_t write(int fd, const void *buf, size_t len)
{
	if (dev.ctx && fd == dev.ctx->cmd_fd)
		bells++;
	return syscall(SYS_write, fd, buf, len);
}

static void result(bool ok, const char *what, int got)
{
	n_tests++;
	n_failed += !ok;
	printf("%sok %d %s\n", ok ? "" : "not ", n_tests, what);
	if (!ok)
		printf("# got %d\n", got);
}

static void make_pair(struct vpair *p)
{
	vpair_make(p, &dev, &cap, 16, mr);
}

static int post_write(struct vpair *p, uint32_t lkey, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)area, LEN, lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = p->peer.addr + LEN, .rkey = rkey },
	};

	return ibv_post_send(p->qp[0], &wr, &bad);
}

static int next_status(struct ibv_cq *cq)
{
	const uint64_t end = vc_now_ns() + FAR_MS * 1000000ull;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(cq, 1, &wc) > 0)
			return wc.status;
		usleep(200);
	} while (vc_now_ns() < end);
	return -1;
}

/* The next event within @ms, or -1. *@who: the queue pair that it is about. */
static int next_event(int ms, struct ibv_qp **who)
{
	struct pollfd pfd = { .fd = dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	*who = NULL;
	if (poll(&pfd, 1, ms) != 1 || ibv_get_async_event(dev.ctx, &ev))
		return -1;
	if (ev.event_type != IBV_EVENT_CQ_ERR)
		*who = ev.element.qp;
	ibv_ack_async_event(&ev);
	return (int)ev.event_type;
}

static bool state_becomes(struct ibv_qp *qp, enum ibv_qp_state want, int *got)
{
	const uint64_t end = vc_now_ns() + FAR_MS * 1000000ull;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	do {
		if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
			return false;
		*got = attr.qp_state;
		if (attr.qp_state == want)
			return true;
		usleep(1000);
	} while (vc_now_ns() < end);
	return false;
}

static void own_error(void)
{
	struct ibv_qp *who;
	struct vpair p;
	int got;

	make_pair(&p);
	post_write(&p, mr->lkey ^ 0x55, p.peer.rkey);
	got = next_status(p.cq[0]);
	result(got == IBV_WC_LOC_PROT_ERR, "a wrong L_Key: the completion says so", got);
	got = next_event(NEAR_MS, &who);
	result(got == -1, "a wrong L_Key: no event", got);
	vpair_end(&p);
}

static void peers_error(void)
{
	struct ibv_qp *who;
	struct vpair p;
	int got;

	make_pair(&p);
	post_write(&p, mr->lkey, p.peer.rkey ^ 0x55);
	got = next_status(p.cq[0]);
	result(got == IBV_WC_REM_ACCESS_ERR, "a wrong R_Key: the completion says so", got);
	got = next_event(FAR_MS, &who);
	result(got == IBV_EVENT_QP_ACCESS_ERR && who == p.qp[1],
	       "a wrong R_Key: the responder gets an event", got);
	got = next_event(NEAR_MS, &who);
	result(got == -1, "a wrong R_Key: the requester none", got);
	vpair_end(&p);
}

/*
 * Nothing is polled until the queue says that it is full: it is smaller than the send queue.
 * A queue pair of it that has nothing to do ends with it.
 */
static void overrun(void)
{
	const uint64_t end = vc_now_ns() + FAR_MS * 1000000ull;
	bool cq_err = false, told[3] = {};
	struct vpair p, idle;
	struct ibv_qp *who;
	int got = -1, i;

	make_pair(&p);
	vpair_make_beside(&idle, &p, &dev, &cap, mr);
	while (!cq_err && vc_now_ns() < end) {
		for (i = 0; i < 16; i++)
			post_write(&p, mr->lkey, p.peer.rkey);
		cq_err = next_event(10, &who) == IBV_EVENT_CQ_ERR;
	}
	result(cq_err, "an overrun: CQ_ERR", -1);
	for (i = 0; i < 2; i++) {
		got = next_event(FAR_MS, &who);
		told[got != IBV_EVENT_QP_FATAL ? 2 : who == p.qp[0] ? 0 : who == idle.qp[0] ? 1 : 2] =
			true;
	}
	result(told[0] && !told[2], "an overrun: QP_FATAL, for no completion can tell", got);
	result(told[1], "an overrun: an idle QP of that queue is told, too", got);
	result(state_becomes(p.qp[0], IBV_QPS_ERR, &got), "an overrun: the QP is in error", got);
	result(state_becomes(idle.qp[0], IBV_QPS_ERR, &got), "an overrun: so is the idle one", got);
	vpair_end(&idle);
	vpair_end(&p);
}

static void to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	errno = ibv_modify_qp(qp, &attr, mask);
	if (errno)
		vc_die("QP to state %d: %s", state, strerror(errno));
}

static int post_recv(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)area, LEN, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(qp, &wr, &bad);
}

static void after_reset(void)
{
	struct vpair p;
	int got, i;

	make_pair(&p);
	to(p.qp[0], IBV_QPS_ERR);
	got = post_recv(p.qp[0]) ?: next_status(p.cq[0]);
	result(got == IBV_WC_WR_FLUSH_ERR, "in error a receive is flushed", got);
	for (i = 0; i < 2; i++) {
		to(p.qp[i], IBV_QPS_RESET);
		to(p.qp[i], IBV_QPS_INIT);
	}
	vpair_connect(&p, &dev, mr);
	bells = 0;
	got = post_recv(p.qp[0]) ?: post_recv(p.qp[0]);
	result(!got && !bells, "after a reset receives need no doorbell", (int)bells);
	vpair_end(&p);
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "d:g:4")) != -1) {
		if (opt == 'd')
			opts.dev = optarg;
		else if (opt == 'g')
			opts.gid_index = atoi(optarg);
		else if (opt == '4')
			opts.want_v4 = true;
		else
			return VC_EXIT_USAGE;
	}
	vc_open(&dev, &opts);
	mr = ibv_reg_mr(dev.pd, area, sizeof(area), IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	own_error();
	peers_error();
	overrun();
	after_reset();
	printf("1..%d\n", n_tests);
	ibv_dereg_mr(mr);
	vc_close(&dev);
	return n_failed ? VC_EXIT_BAD : VC_EXIT_OK;
}
