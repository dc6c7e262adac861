// SPDX-License-Identifier: GPL-2.0
/*
 * nccl_ib.c - how NCCL's net_ib (2.2x) finds a device and connects a link: the same calls in the same order.
 *
 * All devices are opened, those with an active port stay, each with a thread for asynchronous events, which counts
 * the fatal ones where the context of the QP says. Whether dma-bufs are supported is asked with a file descriptor
 * that is none. A link has its own completion queue; domain and device are shared. ECE is queried and set where it is supported,
 * and nothing stands or falls with it. The receiver, whose memory might be a GPU's, has another QP, connected to
 * itself, and READs a byte of each message that came ("flush").
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include "nccl.h"

#define QP_TIMEOUT	20	/* NCCL's defaults */
#define QP_RETRIES	7
#define FIFO_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* What the ends tell each other. */
struct meta {
	uint32_t qpn[NCCL_QPS];
	struct ibv_ece ece[NCCL_QPS];
	int ece_supported[NCCL_QPS];
	union ibv_gid gid;
	uint32_t mtu;
	uint32_t fifo_rkey;
	uint64_t fifo_addr;
};

/* ---- devices */

static void *events(void *arg)
{
	struct ibv_context *ctx = arg;
	struct ibv_async_event e;

	while (!ibv_get_async_event(ctx, &e)) {
		int *fatal = NULL;

		switch (e.event_type) {
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
			fatal = e.element.qp->qp_context;
			break;
		case IBV_EVENT_CQ_ERR:
			fatal = e.element.cq->cq_context;
			break;
		default:
			break;
		}
		if (fatal)
			__atomic_add_fetch(fatal, 1, __ATOMIC_RELAXED);
		ibv_ack_async_event(&e);
	}
	return NULL;
}

/* NCCL compares where devices lie, and a device that lies nowhere ends it. */
static void must_lie_somewhere(const char *name)
{
	char link[PATH_MAX], path[PATH_MAX];

	snprintf(link, sizeof(link), "/sys/class/infiniband/%s/device", name);
	if (!realpath(link, path))
		vc_die("%s: %s", link, strerror(errno));
}

/* Whether it has an active port; which of them. */
static bool usable(struct vc_dev *d, uint8_t *port)
{
	if (ibv_query_device(d->ctx, &d->attr))
		return false;
	for (*port = 1; *port <= d->attr.phys_port_cnt; ++*port) {
		if (!ibv_query_port(d->ctx, *port, &d->port) && d->port.state == IBV_PORT_ACTIVE &&
		    (d->port.link_layer == IBV_LINK_LAYER_ETHERNET ||
		     d->port.link_layer == IBV_LINK_LAYER_INFINIBAND))
			return true;
	}
	return false;
}

static bool dmabuf_supported(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	if (!pd)
		vc_die("ibv_alloc_pd: %s", strerror(errno));
	errno = 0;
	if (ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0))
		vc_die("a dma-buf of no file descriptor was registered");
	if (errno != EOPNOTSUPP && errno != EPROTONOSUPPORT && errno != EBADF)
		vc_die("a dma-buf of no file descriptor: %s", strerror(errno));
	const bool supported = errno == EBADF;

	if (ibv_dealloc_pd(pd))
		vc_die("ibv_dealloc_pd: %s", strerror(errno));
	return supported;
}

/* By name as NCCL_IB_HCA has it, or the first one. Devices stay open until the program's end, as NCCL's do. */
void nccl_ib_open(struct world *w, const struct vc_opts *opts)
{
	struct ibv_device **list;
	pthread_t thread;
	uint8_t port;
	int i, n;

	if (ibv_fork_init())
		vc_die("ibv_fork_init: %s", strerror(errno));
	list = ibv_get_device_list(&n);
	for (i = 0; list && i < n && !w->dev.ctx; i++) {
		struct vc_dev d = { .ctx = ibv_open_device(list[i]) };

		if (!d.ctx)
			continue;
		if ((opts->dev && strcmp(opts->dev, ibv_get_device_name(list[i]))) || !usable(&d, &port)) {
			ibv_close_device(d.ctx);
			continue;
		}
		if (port != 1)
			vc_die("port %u", port);
		must_lie_somewhere(ibv_get_device_name(list[i]));
		if (pthread_create(&thread, NULL, events, d.ctx))
			vc_die("pthread_create");
		pthread_detach(thread);
		w->dev = d;
	}
	if (!w->dev.ctx)
		vc_die("no device with an active port");
	ibv_free_device_list(list);
	w->want_v4 = opts->want_v4;
	w->relaxed = dlvsym(RTLD_DEFAULT, "ibv_reg_mr_iova2", "IBVERBS_1.8");
	w->dmabufs = dmabuf_supported(w->dev.ctx);
}

/* ---- GIDs */

static bool is_v4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static bool is_valid(const union ibv_gid *gid)
{
	static const union ibv_gid zero;

	return memcmp(gid, &zero, sizeof(zero)) && !(gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80);
}

static int roce_version(const struct vc_dev *d, int index)
{
	char path[PATH_MAX], type[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/types/%d",
		 ibv_get_device_name(d->ctx->device), index);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (!fgets(type, sizeof(type), f))	/* EINVAL: no GID there */
		type[0] = 0;
	fclose(f);
	return !strncmp(type, "RoCE v2", 7) ? 2 : !strncmp(type, "IB/RoCE v1", 10) ? 1 : -1;
}

/* The first valid RoCE v2 one of the family that is wanted: every index is looked at. */
static void find_gid(struct vc_dev *d, bool want_v4)
{
	union ibv_gid gid;
	int i;

	d->gid_index = -1;
	for (i = 0; i < d->port.gid_tbl_len; i++) {
		if (ibv_query_gid(d->ctx, 1, i, &gid))
			vc_die("ibv_query_gid %d: %s", i, strerror(errno));
		if (d->gid_index < 0 && is_valid(&gid) && is_v4(&gid) == want_v4 && roce_version(d, i) == 2)
			d->gid_index = i;
	}
	if (d->gid_index < 0)
		vc_die("no RoCE v2 GID");
	if (ibv_query_gid(d->ctx, 1, d->gid_index, &d->gid))
		vc_die("ibv_query_gid: %s", strerror(errno));
}

/* ---- memory */

static struct ibv_mr *must(struct ibv_mr *mr, const char *what)
{
	if (!mr)
		vc_die("%s: %s", what, strerror(errno));
	return mr;
}

/* The collective's, when the first link is there; a dma-buf's if it is one. */
struct ibv_mr *nccl_ib_reg(struct world *w)
{
	const int access = FIFO_ACCESS | (w->relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);

	if (w->dmabuf >= 0)
		return must(ibv_reg_dmabuf_mr(w->dev.pd, 0, w->mem_len, (uintptr_t)w->mem, w->dmabuf, access),
			    "ibv_reg_dmabuf_mr");
	if (w->relaxed)
		return must(ibv_reg_mr_iova2(w->dev.pd, w->mem, w->mem_len, (uintptr_t)w->mem,
					     (unsigned int)access), "ibv_reg_mr_iova2");
	return must(ibv_reg_mr(w->dev.pd, w->mem, w->mem_len, access), "ibv_reg_mr");
}

/* ---- QPs */

static struct ibv_qp *new_qp(struct link *l, unsigned int send_wr, unsigned int recv_wr, int access)
{
	struct ibv_qp_init_attr init = {
		.qp_context = &l->fatal, .send_cq = l->cq, .recv_cq = l->cq, .qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = send_wr, .max_recv_wr = recv_wr, .max_send_sge = 1, .max_recv_sge = 1,
			.max_inline_data = 64,
		},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned int)access,
	};
	struct ibv_qp *qp = ibv_create_qp(l->w->dev.pd, &init);

	if (!qp)
		vc_die("ibv_create_qp: %s", strerror(errno));
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (errno)
		vc_die("QP to INIT: %s", strerror(errno));
	return qp;
}

/* Supported or not, but no other answer. */
static void query_ece(struct ibv_qp *qp, struct meta *m, int q)
{
	const int err = ibv_query_ece(qp, &m->ece[q]);

	if (err && err != EOPNOTSUPP)
		vc_die("ibv_query_ece: %s", strerror(err));
	m->ece_supported[q] = !err;
}

static void set_ece(struct ibv_qp *qp, struct meta *m, int q)
{
	const int err = m->ece_supported[q] ? ibv_set_ece(qp, &m->ece[q]) : 0;

	if (err && err != EOPNOTSUPP)
		vc_die("ibv_set_ece: %s", strerror(err));
}

static void to_rts(struct link *l, struct ibv_qp *qp, uint32_t qpn, const union ibv_gid *gid, uint32_t mtu)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = mtu, .dest_qp_num = qpn, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = *gid, .sgid_index = (uint8_t)l->w->dev.gid_index, .hop_limit = 255 },
		},
	};

	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (errno)
		vc_die("QP to RTR: %s", strerror(errno));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = QP_TIMEOUT, .retry_cnt = QP_RETRIES, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (errno)
		vc_die("QP to RTS: %s", strerror(errno));
}

/* A plug-in asks so whether it may limit a QP. The QP goes on without. */
static void probe_rate(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .rate_limit = 1000000 };

	if (!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT))
		vc_die("a rate limit was taken, and this device has none");
}

/* ---- links */

static void open_link(struct link *l)
{
	struct world *w = l->w;

	if (!w->dev.pd)
		w->dev.pd = ibv_alloc_pd(w->dev.ctx);
	if (!w->dev.pd)
		vc_die("ibv_alloc_pd: %s", strerror(errno));
	l->cq = ibv_create_cq(w->dev.ctx, (int)(3 * w->depth * NCCL_QPS), &l->fatal, NULL, 0);
	if (!l->cq)
		vc_die("ibv_create_cq: %s", strerror(errno));
}

static struct meta meta_of(struct link *l)
{
	struct meta m = { .mtu = l->w->dev.port.active_mtu };

	l->mr = must(ibv_reg_mr(l->w->dev.pd, l->mem, l->w->link_mem, FIFO_ACCESS), "ibv_reg_mr");
	m.fifo_rkey = l->mr->rkey;
	m.fifo_addr = (uintptr_t)l->mem;
	return m;
}

static void told(struct link *l, const struct meta *m)
{
	l->remote.addr = m->fifo_addr;
	l->remote.rkey = m->fifo_rkey;
}

static void exchange(struct link *l, struct meta *out, struct meta *in)
{
	if ((out && !vc_send(l->fd, out, sizeof(*out))) || (in && !vc_recv(l->fd, in, sizeof(*in))))
		vc_die("rank %d is gone", l->peer);
}

static void connect_sender(struct link *l)
{
	struct world *w = l->w;
	struct meta me, peer;
	struct meta ece = {};
	int q;

	open_link(l);
	for (q = 0; q < NCCL_QPS; q++) {
		l->sq_free[q] = 2 * w->depth;
		l->qp[q] = new_qp(l, l->sq_free[q], 0, IBV_ACCESS_REMOTE_WRITE);
		query_ece(l->qp[q], &ece, q);
	}
	me = meta_of(l);
	for (q = 0; q < NCCL_QPS; q++) {
		me.qpn[q] = l->qp[q]->qp_num;
		me.ece[q] = ece.ece[q];
		me.ece_supported[q] = ece.ece_supported[q];
	}
	find_gid(&w->dev, w->want_v4);
	me.gid = w->dev.gid;
	exchange(l, &me, &peer);
	told(l, &peer);
	for (q = 0; q < NCCL_QPS; q++) {
		if (me.ece_supported[q])
			set_ece(l->qp[q], &peer, q);
		to_rts(l, l->qp[q], peer.qpn[q], &peer.gid, peer.mtu < me.mtu ? peer.mtu : me.mtu);
		probe_rate(l->qp[q]);
	}
}

/* A QP that reads what came, through itself. */
static void open_flush(struct link *l)
{
	struct vc_dev *d = &l->w->dev;

	l->flush_mr = must(ibv_reg_mr(d->pd, &l->flush_mem, sizeof(l->flush_mem), IBV_ACCESS_LOCAL_WRITE),
			   "ibv_reg_mr");
	l->flush = new_qp(l, l->w->depth, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	to_rts(l, l->flush, l->flush->qp_num, &d->gid, d->port.active_mtu);
}

static void connect_receiver(struct link *l)
{
	struct world *w = l->w;
	struct meta me, peer, ece = {};
	uint32_t mtu;
	int q;

	exchange(l, NULL, &peer);
	told(l, &peer);
	open_link(l);
	find_gid(&w->dev, w->want_v4);
	mtu = peer.mtu < w->dev.port.active_mtu ? peer.mtu : w->dev.port.active_mtu;
	for (q = 0; q < NCCL_QPS; q++) {
		l->sq_free[q] = w->depth + 32;	/* for CTS, of which few are signaled */
		l->qp[q] = new_qp(l, l->sq_free[q], w->depth, IBV_ACCESS_REMOTE_WRITE);
		set_ece(l->qp[q], &peer, q);
		to_rts(l, l->qp[q], peer.qpn[q], &peer.gid, mtu);
		if (peer.ece_supported[q])
			query_ece(l->qp[q], &ece, q);
	}
	me = meta_of(l);
	if (w->flushes)
		open_flush(l);
	for (q = 0; q < NCCL_QPS; q++) {
		me.qpn[q] = l->qp[q]->qp_num;
		me.ece[q] = ece.ece[q];
		me.ece_supported[q] = ece.ece_supported[q];
	}
	me.gid = w->dev.gid;
	me.mtu = mtu;
	exchange(l, &me, NULL);
}

void nccl_ib_connect(struct link *l)
{
	(l->out ? connect_sender : connect_receiver)(l);
}

void nccl_ib_disconnect(struct link *l)
{
	int q, bad = 0;

	for (q = 0; q < NCCL_QPS; q++)
		bad |= ibv_destroy_qp(l->qp[q]);
	if (l->flush)
		bad |= ibv_destroy_qp(l->flush) | ibv_dereg_mr(l->flush_mr);
	bad |= ibv_dereg_mr(l->mr);
	bad |= ibv_destroy_cq(l->cq);
	if (bad)
		vc_die("closing a link: %s", strerror(bad));
	if (l->fatal)
		vc_die("%d fatal events on a link to rank %d", l->fatal, l->peer);
}
