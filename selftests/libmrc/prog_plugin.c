// SPDX-License-Identifier: GPL-2.0
/*
 * prog_plugin.c - a program of the pattern of an NCCL plug-in for mrc.h: the device's PCI path and NUMA node are
 * looked up, two QPs carry the halves of each message as WRITE_WITH_IMM, profile ids come from the
 * environment, masks name some attributes, and a thread reads asynchronous events and counts them in the
 * first word of each QP's context.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <mrc.h>
#include "prog.h"

#define QPS 2

struct stats {
	uint32_t fatal;		/* counted by the thread that reads events */
	uint32_t guard;
};

struct plugin {
	struct prog p;
	struct vc_dev dev;
	struct mrc_context *ctx;
	struct mrc_cq *cq;
	struct mrc_qp *qp[QPS];
	struct stats stats[QPS];
	struct prog_qp theirs[QPS];
	struct ibv_mr *mr;
	pthread_t thread;
	volatile bool over;
};

#define MUST(cond) do { if (!(cond)) vc_die("%s: %s", #cond, strerror(errno)); } while (0)

/* ---- as NCCL looks at a device ---- */

static void look_up(const struct vc_dev *dev)
{
	char path[PATH_MAX], real[PATH_MAX], node[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", ibv_get_device_name(dev->ctx->device));
	MUST(realpath(path, real));
	strncat(path, "/numa_node", sizeof(path) - strlen(path) - 1);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		if (read(fd, node, sizeof(node) - 1) < 0)
			node[0] = 0;
		close(fd);
	}
	printf("device %s, NUMA node %d\n", real, node[0] ? atoi(node) : -1);
}

static void *read_events(void *arg)
{
	struct plugin *g = arg;
	struct pollfd pfd = { .fd = g->dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (!g->over) {
		if (poll(&pfd, 1, 100) != 1)
			continue;
		if (ibv_get_async_event(g->dev.ctx, &event))
			continue;
		if (event.event_type == IBV_EVENT_QP_FATAL || event.event_type == IBV_EVENT_QP_REQ_ERR ||
		    event.event_type == IBV_EVENT_QP_ACCESS_ERR)
			__atomic_fetch_add((uint32_t *)event.element.qp->qp_context, 1, __ATOMIC_RELAXED);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

/* ---- queue pairs ---- */

static uint64_t id_from(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

static void modify(struct plugin *g, int i, enum ibv_qp_state to, int vmask, int mask)
{
	struct ibv_qp_attr v = {
		.qp_state = to, .port_num = 1, .path_mtu = g->dev.mtu,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.dest_qp_num = g->theirs[i].qpn, .rq_psn = g->theirs[i].psn, .sq_psn = 7,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 20,
		.retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = g->theirs[i].gid, .hop_limit = 255,
				 .sgid_index = (uint8_t)g->dev.gid_index },
		},
	};
	struct mrc_qp_attr mrc = {
		.mpr = { 8, 8 }, .wimm = { 128, 128 }, .timeout = 14,
		.profile = { id_from("MRC_QP_EV_PROFILE_ID"), id_from("MRC_QP_CC_PROFILE_ID") },
	};

	errno = mrc_modify_qp(g->qp[i], &v, vmask | IBV_QP_STATE, &mrc, mask);
	if (errno)
		vc_die("QP %d to state %d failed: %d", i, to, errno);
}

static void connect_qps(struct plugin *g)
{
	const int ids = getenv("MRC_QP_EV_PROFILE_ID") ? MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID : 0;
	int i;

	for (i = 0; i < QPS; i++) {
		modify(g, i, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		       MRC_QP_HINT | ids);
		/* Attributes of the next transition, too. */
		modify(g, i, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		       MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST | MRC_QP_CAP);
		modify(g, i, IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, MRC_QP_TIMEOUT);
	}
}

/* ---- messages ---- */

/* A completion of each QP. */
static void complete(struct plugin *g, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;
	int i, n;

	for (i = 0; i < QPS; i++) {
		while ((n = mrc_poll_cq(g->cq, 1, &wc)) == 0)
			;
		if (n < 0 || wc.status || wc.opcode != opcode)
			vc_die("completion: %s", n < 0 ? "none" : ibv_wc_status_str(wc.status));
	}
}

static void send_it(void *arg, uint32_t len)
{
	struct plugin *g = arg;
	uint32_t at = 0, half = (len / QPS + 127) & ~127u, part;
	int i;

	for (i = 0; i < QPS; i++, at += part) {
		part = i == QPS - 1 ? len - at : half < len ? half : len;
		struct ibv_sge sge = { (uintptr_t)g->p.area + at, part, g->mr->lkey };
		struct ibv_send_wr *bad, wr = {
			.sg_list = &sge, .num_sge = part ? 1 : 0, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { g->theirs[i].addr + at, g->theirs[i].rkey },
		};
		MUST(!mrc_post_send(g->qp[i], &wr, &bad));
	}
	complete(g, IBV_WC_RDMA_WRITE);
}

static void post_receives(struct plugin *g)
{
	struct ibv_recv_wr *bad, wr = { .num_sge = 0 };
	int i;

	for (i = 0; i < QPS; i++)
		MUST(!mrc_post_recv(g->qp[i], &wr, &bad));
}

static void arrived(void *arg, uint32_t len)
{
	(void)len;
	complete(arg, IBV_WC_RECV_RDMA_WITH_IMM);
	post_receives(arg);
}

static void make(struct plugin *g)
{
	struct mrc_qp_init_attr init = {
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 },
		.protocol_version = MRC_PROTOCOL_VERSION_1, .pd = g->dev.pd,
	};
	int i;

	g->mr = ibv_reg_mr(g->dev.pd, g->p.area, PROG_AREA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_RELAXED_ORDERING);
	g->cq = mrc_create_cq(g->ctx, 256, NULL, NULL, 0);
	MUST(g->mr && g->cq);
	init.send_cq = init.recv_cq = g->cq;
	for (i = 0; i < QPS; i++) {
		struct prog_qp mine = {
			.psn = 7, .rkey = g->mr->rkey, .addr = (uintptr_t)g->p.area, .gid = g->dev.gid,
		};
		g->stats[i].guard = 0x600d;
		init.qp_context = &g->stats[i];
		g->qp[i] = mrc_create_qp(g->ctx, &init);
		MUST(g->qp[i] && !mrc_get_qpn(g->qp[i], &mine.qpn));
		prog_swap(&g->p, &mine, &g->theirs[i]);
	}
}

/* A receive that is missing ends the QP; the thread counts it where it was told to. */
static void provoke(struct plugin *g)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { g->theirs[0].addr, g->theirs[0].rkey + 1 },
	};
	struct ibv_sge sge = { (uintptr_t)g->p.area, 8, g->mr->lkey };
	struct ibv_wc wc;

	if (!g->p.opts.server) {
		while (!__atomic_load_n(&g->stats[0].fatal, __ATOMIC_RELAXED))
			usleep(1000);
		printf("a fatal event, counted in the QP's context\n");
	} else {
		wr.sg_list = &sge;
		wr.num_sge = 1;
		MUST(!mrc_post_send(g->qp[0], &wr, &bad));
		while (mrc_poll_cq(g->cq, 1, &wc) == 0)
			;
		if (!wc.status)
			vc_die("a WRITE with a wrong key succeeded");
	}
}

int main(int argc, char **argv)
{
	static struct plugin g;
	struct mrc_attr attr;	/* the name that it had */
	struct prog_qp ready = { .qpn = 0 };
	int supported = 0, rc, i;

	prog_begin(&g.p, argc, argv);
	vc_open(&g.dev, &g.p.opts);
	look_up(&g.dev);
	MUST(!mrc_query_device(g.dev.ctx, &attr, &supported) && supported);
	g.ctx = mrc_create_context(g.dev.ctx, NULL);
	MUST(g.ctx);
	make(&g);
	connect_qps(&g);
	post_receives(&g);
	MUST(!pthread_create(&g.thread, NULL, read_events, &g));
	prog_swap(&g.p, &ready, &ready);
	rc = prog_run(&g.p, &g, send_it, arrived);
	if (!rc)
		provoke(&g);
	g.over = true;
	pthread_join(g.thread, NULL);
	for (i = 0; i < QPS; i++)
		MUST(!(errno = mrc_destroy_qp(g.qp[i])) && g.stats[i].guard == 0x600d);
	MUST(!(errno = mrc_destroy_cq(g.cq)) && !mrc_destroy_context(g.ctx));
	ibv_dereg_mr(g.mr);
	vc_close(&g.dev);	/* deallocates the PD: nobody uses it */
	return rc;
}
