// SPDX-License-Identifier: GPL-2.0
/*
 * prog_verbs.c - a program that knows libibverbs alone, and gets QPs of mrc.h from a library that has the names
 * of libibverbs' calls (examples/mrc_shim.c). That one is preloaded, or named by -l: then it is opened with
 * dlopen() and asked for each call, as a communication library does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "prog.h"

#define CALLS(f)									\
	f(open_device) f(close_device) f(create_comp_channel) f(destroy_comp_channel)	\
	f(create_cq) f(destroy_cq) f(get_cq_event) f(ack_cq_events) f(create_qp)	\
	f(modify_qp) f(query_qp) f(destroy_qp)

static struct {
#define POINTER(name) __typeof__(&ibv_##name) name;
	CALLS(POINTER)
} verbs;

struct client {
	struct prog p;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	enum ibv_mtu mtu;
	struct prog_qp mine, theirs;
};

#define MUST(cond) do { if (!(cond)) vc_die("%s: %s", #cond, strerror(errno)); } while (0)

static void find_calls(const char *library)
{
	void *lib = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (library && !lib)
		vc_die("%s", dlerror());
#define FIND(name)								\
	verbs.name = lib ? dlsym(lib, "ibv_" #name) : ibv_##name;		\
	MUST(verbs.name);
	CALLS(FIND)
}

static void open_it(struct client *c)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_port_attr port;

	MUST(list);
	for (d = list; *d && c->p.opts.dev && strcmp(ibv_get_device_name(*d), c->p.opts.dev); d++)
		;
	MUST(*d);
	c->ctx = verbs.open_device(*d);
	MUST(c->ctx);
	ibv_free_device_list(list);
	MUST(!ibv_query_port(c->ctx, 1, &port) &&
	     !ibv_query_gid(c->ctx, 1, c->p.opts.gid_index, &c->mine.gid));
	c->mtu = port.active_mtu;
	c->pd = ibv_alloc_pd(c->ctx);
	MUST(c->pd);
}

static void modify(struct client *c, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = {
		.qp_state = to, .port_num = 1, .path_mtu = c->mtu,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.dest_qp_num = c->theirs.qpn, .rq_psn = c->theirs.psn, .sq_psn = 7,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 14,
		.retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = c->theirs.gid, .hop_limit = 64,
				 .sgid_index = (uint8_t)c->p.opts.gid_index },
		},
	};

	errno = verbs.modify_qp(c->qp, &a, mask | IBV_QP_STATE);
	if (errno)
		vc_die("to state %d failed: %d", to, errno);
}

/* One, of which an event tells. */
static void complete(struct client *c, enum ibv_wc_opcode opcode)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *word;
	int n;

	while ((n = ibv_poll_cq(c->cq, 1, &wc)) == 0) {
		MUST(!(errno = ibv_req_notify_cq(c->cq, 0)));
		n = ibv_poll_cq(c->cq, 1, &wc);
		if (n)
			break;
		MUST(!verbs.get_cq_event(c->channel, &cq, &word) && cq == c->cq && word == c);
		verbs.ack_cq_events(cq, 1);
	}
	if (n < 0 || wc.status || wc.opcode != opcode)
		vc_die("completion: %s", n < 0 ? "none" : ibv_wc_status_str(wc.status));
}

/* The message, then an empty one that tells of it. */
static void send_it(void *arg, uint32_t len)
{
	struct client *c = arg;
	struct ibv_sge sge = { (uintptr_t)c->p.area, len, c->mr->lkey };
	struct ibv_send_wr *bad, wr[2] = { {
		.next = &wr[1], .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { c->theirs.addr, c->theirs.rkey },
	}, {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED, .imm_data = len,
		.wr.rdma = { c->theirs.addr, c->theirs.rkey },
	} };

	MUST(!(errno = ibv_post_send(c->qp, wr, &bad)));
	complete(c, IBV_WC_RDMA_WRITE);
}

static void post_receive(struct client *c)
{
	struct ibv_recv_wr *bad, wr = { .num_sge = 0 };

	MUST(!(errno = ibv_post_recv(c->qp, &wr, &bad)));
}

static void arrived(void *arg, uint32_t len)
{
	(void)len;
	complete(arg, IBV_WC_RECV_RDMA_WITH_IMM);
	post_receive(arg);
}

static void connect_it(struct client *c)
{
	struct ibv_qp_init_attr init = {
		.qp_context = c, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr now;

	c->channel = verbs.create_comp_channel(c->ctx);
	MUST(c->channel);
	c->cq = verbs.create_cq(c->ctx, 64, c, c->channel, 0);
	c->mr = ibv_reg_mr(c->pd, c->p.area, PROG_AREA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	MUST(c->cq && c->mr);
	init.send_cq = init.recv_cq = c->cq;
	c->qp = verbs.create_qp(c->pd, &init);
	MUST(c->qp && c->qp->qp_context == c);
	c->mine.qpn = c->qp->qp_num;
	c->mine.psn = 7;
	c->mine.rkey = c->mr->rkey;
	c->mine.addr = (uintptr_t)c->p.area;
	prog_swap(&c->p, &c->mine, &c->theirs);
	modify(c, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(c, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify(c, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	       IBV_QP_MAX_QP_RD_ATOMIC);
	MUST(!(errno = verbs.query_qp(c->qp, &now, IBV_QP_STATE, &init)) && now.qp_state == IBV_QPS_RTS);
	post_receive(c);
}

int main(int argc, char **argv)
{
	const char *library = NULL;
	static struct client c;
	struct prog_qp ready = { .qpn = 0 };
	int rc, i;

	for (i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-l"))
			library = argv[i + 1];
	find_calls(library);
	prog_begin(&c.p, argc, argv);
	open_it(&c);
	connect_it(&c);
	prog_swap(&c.p, &ready, &ready);
	rc = prog_run(&c.p, &c, send_it, arrived);
	MUST(!(errno = verbs.destroy_qp(c.qp)) && !(errno = verbs.destroy_cq(c.cq)) &&
	     !(errno = verbs.destroy_comp_channel(c.channel)));
	ibv_dereg_mr(c.mr);
	ibv_dealloc_pd(c.pd);
	MUST(!verbs.close_device(c.ctx));
	return rc;
}
