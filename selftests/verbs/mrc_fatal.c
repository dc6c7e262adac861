// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_fatal.c - one of every kind of object, in use, when the device goes.
 *
 *	mrc_fatal [-d DEV] [-a ADDRESS]
 *
 * A pair of queue pairs writes to itself, and three threads wait: for asynchronous events, for
 * completions of a queue on which none come, for events of the connection manager. "ready" on
 * standard output says so; then the device is taken away. Each of them must end, with an error
 * that says why, and every command afterwards must fail or have nothing to do. Prints "ok" and
 * "not ok" lines; status 0 when all are ok.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "vpair.h"

#define AREA		(64 * 1024)
#define DEPTH		16
#define END_S		60	/* until a thread must have ended */
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND)

static struct vc_opts opts = { .gid_index = -1 };
static const char *address;
static struct vc_dev dev;
static uint8_t area[AREA];
static bool failed;

/* One of each. */
static struct {
	struct ibv_td *td;
	struct ibv_pd *parent;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;		/* with the channel */
	struct ibv_cq_ex *cq_ex;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_qp *ud;
	struct vpair pair;
	struct rdma_event_channel *cm;
	struct rdma_cm_id *id;
} o;

static void verdict(bool ok, const char *what, const char *why)
{
	printf("%s - %s%s%s\n", ok ? "ok" : "not ok", what, ok ? "" : ": ", ok ? "" : why);
	failed |= !ok;
}

/* What a command says when its device is gone: libibverbs passes the kernel's errno on. */
static void gone(bool refused, const char *what)
{
	const int err = errno;

	verdict(refused && (err == EIO || err == ENODEV), what,
		refused ? strerror(err) : "succeeded");
}

#define NEED(what)							\
	do {								\
		if (!(what))						\
			vc_die("%s: %s", #what, strerror(errno));	\
	} while (0)

/* ---------------------------------------------------------------- who waits */

static void *wait_async(void *arg)
{
	struct ibv_async_event ev;
	intptr_t seen = 0;

	(void)arg;
	while (!ibv_get_async_event(dev.ctx, &ev)) {
		seen |= ev.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&ev);
		if (seen)
			break;
	}
	return (void *)seen;
}

static void *wait_completion(void *arg)
{
	struct ibv_cq *cq;
	void *ctx;

	(void)arg;
	return (void *)(intptr_t)(ibv_get_cq_event(o.channel, &cq, &ctx) ? errno : 0);
}

static void *wait_cm(void *arg)
{
	struct rdma_cm_event *ev;
	intptr_t seen = -1;

	(void)arg;
	if (!rdma_get_cm_event(o.cm, &ev)) {
		seen = ev->event;
		rdma_ack_cm_event(ev);
	}
	return (void *)seen;
}

static int post(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)area, AREA / 2, o.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = o.pair.peer.addr + AREA / 2, .rkey = o.mr->rkey },
	};

	return ibv_post_send(qp, &wr, &bad);
}

/* Writes until its completion queue or its send queue says that there is no point. */
static void *traffic(void *arg)
{
	const uint64_t end = vc_now_ns() + 10 * END_S * 1000000000ull;
	unsigned int out = 0;
	struct ibv_wc wc;
	int n;

	while (vc_now_ns() < end) {
		if (out < DEPTH && !post(o.pair.qp[0])) {
			out++;
			continue;
		}
		n = ibv_poll_cq(o.pair.cq[0], 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
			return (void *)1;
		if (n) {
			__atomic_fetch_add((unsigned int *)arg, 1, __ATOMIC_RELAXED);
			out--;
		} else {
			usleep(100);
		}
	}
	return NULL;
}

/* ------------------------------------------------------------- one of each */

static void make_qps(void)
{
	struct ibv_qp_cap cap = { DEPTH, DEPTH, 1, 1, 0 };
	struct ibv_qp_init_attr ud = {
		.send_cq = o.cq, .recv_cq = o.cq, .cap = cap, .qp_type = IBV_QPT_UD,
	};
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111 };

	NEED(o.ud = ibv_create_qp(dev.pd, &ud));
	NEED(!ibv_modify_qp(o.ud, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_QKEY));
	o.pair.srq = o.srq;
	vpair_make(&o.pair, &dev, &cap, 4 * DEPTH, o.mr);
}

static void make_cm(void)
{
	struct sockaddr_in6 sin = { .sin6_family = AF_INET6, .sin6_port = htons(18717) };

	NEED(inet_pton(AF_INET6, address, &sin.sin6_addr) == 1);
	NEED(o.cm = rdma_create_event_channel());
	NEED(!rdma_create_id(o.cm, &o.id, NULL, RDMA_PS_TCP));
	NEED(!rdma_bind_addr(o.id, (struct sockaddr *)&sin));
	NEED(!rdma_listen(o.id, 4));
}

static void make(void)
{
	struct ibv_td_init_attr td = { 0 };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_cq_init_attr_ex cq_ex = { .cqe = DEPTH, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_ah_attr ah = { .is_global = 1, .port_num = 1 };
	struct ibv_parent_domain_init_attr parent = { 0 };

	NEED(o.td = ibv_alloc_td(dev.ctx, &td));
	parent.pd = dev.pd;
	parent.td = o.td;
	NEED(o.parent = ibv_alloc_parent_domain(dev.ctx, &parent));
	NEED(o.mr = ibv_reg_mr(dev.pd, area, AREA, ACCESS));
	NEED(o.mw = ibv_alloc_mw(dev.pd, IBV_MW_TYPE_1));
	NEED(o.channel = ibv_create_comp_channel(dev.ctx));
	NEED(o.cq = ibv_create_cq(dev.ctx, DEPTH, NULL, o.channel, 0));
	NEED(!ibv_req_notify_cq(o.cq, 0));
	NEED(o.cq_ex = ibv_create_cq_ex(dev.ctx, &cq_ex));
	NEED(o.srq = ibv_create_srq(dev.pd, &srq));
	ah.grh.dgid = dev.gid;
	ah.grh.sgid_index = dev.gid_index;
	NEED(o.ah = ibv_create_ah(dev.pd, &ah));
	make_qps();
	make_cm();
}

/* -------------------------------------------------------------- afterwards */

static bool ends(pthread_t thread, void **with)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	return !pthread_timedjoin_np(thread, with, &until);
}

static void commands(void)
{
	struct ibv_qp_attr err = { .qp_state = IBV_QPS_ERR };
	struct ibv_poll_cq_attr poll = { 0 };
	struct ibv_port_attr port;
	struct ibv_wc wc;

	gone(!ibv_alloc_pd(dev.ctx), "no protection domain");
	gone(!ibv_reg_mr(dev.pd, area, AREA, ACCESS), "no region");
	gone(!ibv_create_cq(dev.ctx, DEPTH, NULL, NULL, 0), "no completion queue");
	errno = ibv_query_port(dev.ctx, 1, &port);
	gone(errno, "no port");
	errno = ibv_modify_qp(o.pair.qp[0], &err, IBV_QP_STATE);
	gone(errno, "no other state of a queue pair");
	verdict(ibv_poll_cq(o.cq, 1, &wc) < 0, "polling fails", "it says that nothing came");
	verdict(ibv_start_poll(o.cq_ex, &poll) == EIO, "of an extended queue, too",
		"it says otherwise");
	/* The first post may be taken before its doorbell fails. */
	post(o.pair.qp[0]);
	verdict(post(o.pair.qp[0]), "posting fails", "requests are taken");
}

/* The kernel has destroyed them; nothing hangs, and what libibverbs had is freed. */
static void destroy(void)
{
	const struct {
		const char *what;
		int err;
	} *d, done[] = {
		{ "cm_id", rdma_destroy_id(o.id) ? errno : 0 },
		{ "address handle", ibv_destroy_ah(o.ah) },
		{ "datagram queue pair", ibv_destroy_qp(o.ud) },
		{ "queue pair", ibv_destroy_qp(o.pair.qp[0]) },
		{ "its other half", ibv_destroy_qp(o.pair.qp[1]) },
		{ "shared receive queue", ibv_destroy_srq(o.srq) },
		{ "extended completion queue", ibv_destroy_cq(ibv_cq_ex_to_cq(o.cq_ex)) },
		{ "completion queue", ibv_destroy_cq(o.cq) },
		{ "window", ibv_dealloc_mw(o.mw) },
		{ "region", ibv_dereg_mr(o.mr) },
		{ "parent domain", ibv_dealloc_pd(o.parent) },
		{ "thread domain", ibv_dealloc_td(o.td) },
		{ "completion channel", ibv_destroy_comp_channel(o.channel) },
		{ NULL, 0 },
	};

	for (d = done; d->what; d++)
		verdict(!d->err || d->err == EIO || d->err == ENODEV || d->err == EBUSY, d->what,
			strerror(d->err));
	rdma_destroy_event_channel(o.cm);
}

int main(int argc, char **argv)
{
	pthread_t async, comp, cm, writer;
	unsigned int written = 0;
	void *with;
	int c;

	while ((c = getopt(argc, argv, "d:a:")) != -1) {
		if (c == 'd')
			opts.dev = optarg;
		else if (c == 'a')
			address = optarg;
	}
	if (!address)
		return VC_EXIT_USAGE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	vc_open(&dev, &opts);
	make();
	NEED(!pthread_create(&async, NULL, wait_async, NULL));
	NEED(!pthread_create(&comp, NULL, wait_completion, NULL));
	NEED(!pthread_create(&cm, NULL, wait_cm, NULL));
	NEED(!pthread_create(&writer, NULL, traffic, &written));
	while (__atomic_load_n(&written, __ATOMIC_RELAXED) < DEPTH)
		usleep(1000);
	puts("ready");

	pthread_join(async, &with);	/* the device is taken away when the caller likes */
	verdict(with, "IBV_EVENT_DEVICE_FATAL", "another end");
	verdict(ends(comp, &with) && with == (void *)EIO, "who waits for completions is told",
		"is not, or otherwise");
	verdict(ends(cm, &with) && with == (void *)RDMA_CM_EVENT_DEVICE_REMOVAL,
		"RDMA_CM_EVENT_DEVICE_REMOVAL", "not, or another one");
	verdict(ends(writer, &with) && with, "who writes and polls is told", "polls on");
	commands();
	destroy();
	puts("# all was tried");
	return failed ? VC_EXIT_BAD : VC_EXIT_OK;
}
