// SPDX-License-Identifier: GPL-2.0
/*
 * traffic.c - both ends of one QP, and the WRITEs over it (failover.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "failover.h"
#include "vcommon.h"

struct end {
	struct vc_dev dev;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct vc_peer peer;
	char *buf;
	int fd;			/* to the other end */
	bool ok;
};

struct message {
	uint64_t post_ns, done_ns;
};

static struct fo_traffic_opts opts;
static struct end a, b;
static struct ibv_comp_channel *channel;
static struct message *messages;
static uint64_t n_posted, n_done, room;

static void open_end(struct end *e, const char *dev, bool sender)
{
	const struct vc_opts o = { .dev = dev, .gid_index = -1, .mtu = 4096 };
	const struct ibv_qp_cap cap = {
		.max_send_wr = opts.depth, .max_recv_wr = 1,
		.max_send_sge = 1, .max_recv_sge = 1,
	};
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	vc_open(&e->dev, &o);
	if (sender) {
		channel = ibv_create_comp_channel(e->dev.ctx);
		if (!channel)
			vc_die("ibv_create_comp_channel: %s", strerror(errno));
	}
	e->cq = ibv_create_cq(e->dev.ctx, (int)opts.depth + 1, NULL, sender ? channel : NULL, 0);
	if (!e->cq)
		vc_die("ibv_create_cq: %s", strerror(errno));
	e->buf = mmap(NULL, opts.size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (e->buf == MAP_FAILED)
		vc_die("mmap: %s", strerror(errno));
	e->mr = ibv_reg_mr(e->dev.pd, e->buf, opts.size, access);
	if (!e->mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	e->qp = vc_qp(&e->dev, e->cq, &cap, access);
}

static void *connect_end(void *arg)
{
	struct end *e = arg;

	e->ok = vc_connect(&e->dev, e->qp, e->fd, (uintptr_t)e->buf, e->mr->rkey, &e->peer);
	return NULL;
}

/* Each end waits for the other's word, so one of them does it in a thread. */
static void connect_ends(void)
{
	pthread_t other;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		vc_die("socketpair: %s", strerror(errno));
	a.fd = fd[0];
	b.fd = fd[1];
	if (pthread_create(&other, NULL, connect_end, &b))
		vc_die("no thread");
	connect_end(&a);
	pthread_join(other, NULL);
	if (!a.ok || !b.ok)
		vc_die("the ends did not connect");
}

void fo_traffic_open(const struct fo_traffic_opts *o)
{
	opts = *o;
	open_end(&a, o->from, true);
	open_end(&b, o->to, false);
	connect_ends();
	fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	if (ibv_req_notify_cq(a.cq, 0))
		vc_die("ibv_req_notify_cq: %s", strerror(errno));
}

int fo_traffic_fd(void)
{
	return channel->fd;
}

static void post(void)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a.buf, .length = opts.size, .lkey = a.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = n_posted, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = a.peer.addr, .rkey = a.peer.rkey },
	}, *bad;

	if (n_posted == room) {
		room = room ? 2 * room : 4096;
		messages = realloc(messages, room * sizeof(*messages));
		if (!messages)
			vc_die("no memory");
	}
	messages[n_posted] = (struct message){ .post_ns = fo_now_ns() };
	errno = ibv_post_send(a.qp, &wr, &bad);
	if (errno)
		vc_die("ibv_post_send: %s", strerror(errno));
	n_posted++;
}

void fo_traffic_start(void)
{
	uint32_t i;

	for (i = 0; i < opts.depth && !opts.interval_ns; i++)
		post();
}

void fo_traffic_due(void)
{
	if (n_posted - n_done < opts.depth)
		post();
}

bool fo_traffic_completions(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context))
		return true;
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		vc_die("ibv_req_notify_cq: %s", strerror(errno));
	while (ibv_poll_cq(a.cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS) {
			fprintf(stderr, "message %llu: %s\n", (unsigned long long)wc.wr_id,
				ibv_wc_status_str(wc.status));
			return false;
		}
		messages[wc.wr_id].done_ns = fo_now_ns();
		n_done++;
		if (!opts.interval_ns)
			post();
	}
	return true;
}

void fo_traffic_write(FILE *f)
{
	uint64_t i;

	for (i = 0; i < n_posted; i++)
		fprintf(f, "message %llu %llu\n", (unsigned long long)messages[i].post_ns,
			(unsigned long long)messages[i].done_ns);
}

static void close_end(struct end *e)
{
	if (ibv_destroy_qp(e->qp) || ibv_dereg_mr(e->mr) || ibv_destroy_cq(e->cq))
		vc_die("the verbs objects do not go: %s", strerror(errno));
	close(e->fd);
}

void fo_traffic_close(void)
{
	close_end(&a);
	close_end(&b);
	ibv_destroy_comp_channel(channel);
	vc_close(&a.dev);
	vc_close(&b.dev);
	free(messages);
}
