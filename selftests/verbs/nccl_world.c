// SPDX-License-Identifier: GPL-2.0
/*
 * nccl_world.c - the ranks of a job and the links between them, made and ended.
 *
 * Ranks meet in a directory: each listens on a socket there for every link that leads to it, and all make
 * their links in one order, so that nobody waits for somebody who waits for him.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "nccl.h"

#define MEET_S		60

struct link *nccl_link(struct world *w, int peer, bool out)
{
	int i;

	for (i = 0; i < w->n_links; i++)
		if (w->link[i].peer == peer && w->link[i].out == out)
			return &w->link[i];
	return NULL;
}

/* ---- meeting */

static struct sockaddr_un place_of(const struct world *w, int from, int to)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%d-%d", w->dir, from, to);
	return a;
}

static int listen_for(const struct world *w, int from)
{
	const struct sockaddr_un a = place_of(w, from, w->rank);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	unlink(a.sun_path);
	if (s < 0 || bind(s, (const struct sockaddr *)&a, sizeof(a)) || listen(s, 1))
		vc_die("%s: %s", a.sun_path, strerror(errno));
	return s;
}

static int reach(const struct world *w, int to)
{
	const struct sockaddr_un a = place_of(w, w->rank, to);
	const uint64_t give_up = vc_now_ns() + MEET_S * 1000000000ull;
	int s;

	do {
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (!connect(s, (const struct sockaddr *)&a, sizeof(a)))
			return s;
		close(s);
		usleep(20000);
	} while (vc_now_ns() < give_up);
	vc_die("rank %d is not there: %s", to, a.sun_path);
}

/* ---- links */

static void add_link(struct world *w, int peer, bool out)
{
	struct link *l = &w->link[w->n_links++];

	*l = (struct link){ .w = w, .peer = peer, .out = out };
	l->notes = calloc(w->depth, sizeof(*l->notes));
	if (!l->notes)
		vc_die("no memory");
}

static void make_qps(struct link *l)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 4 * l->w->depth + 32, .max_recv_wr = l->w->srq ? 0 : l->w->depth,
		.max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 64,
	};
	const struct ibv_qp_init_attr_ex init = { .srq = l->w->srq };
	int q;

	for (q = 0; q < l->w->t->n_qps; q++) {
		l->qp[q] = vc_qp_ex(&l->w->dev, l->w->cq, init, &cap, IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
		l->sq_free[q] = cap.max_send_wr;
	}
}

static void connect_link(struct link *l)
{
	struct world *w = l->w;
	struct vc_peer other;
	int q;

	for (q = 0; q < w->t->n_qps; q++)
		if (!vc_connect(&w->dev, l->qp[q], l->fd, (uintptr_t)l->mem, w->mr->rkey,
				q ? &other : &l->remote))
			vc_die("rank %d is gone", l->peer);
}

/* In the order of all links of the world. */
static void connect_all(struct world *w, int *listener)
{
	int from, to;

	for (from = 0; from < w->n; from++)
		for (to = 0; to < w->n; to++) {
			struct link *l = NULL;

			if (from == w->rank)
				l = nccl_link(w, to, true);
			else if (to == w->rank)
				l = nccl_link(w, from, false);
			if (!l)
				continue;
			l->fd = l->out ? reach(w, to) : accept(listener[from], NULL, NULL);
			if (l->fd < 0)
				vc_die("accept: %s", strerror(errno));
			(w->t->as_ib ? nccl_ib_connect : connect_link)(l);
		}
}

/* Another driver's, as a GPU's would be. */
static uint8_t *lent_memory(struct world *w)
{
	int memfd = memfd_create("nccl", MFD_ALLOW_SEALING), ctl = open("/dev/udmabuf", O_RDWR);
	struct udmabuf_create arg = { .memfd = (uint32_t)memfd, .size = w->mem_len };
	void *mem;

	if (memfd < 0 || ftruncate(memfd, (off_t)w->mem_len) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		vc_die("memfd: %s", strerror(errno));
	w->dmabuf = ctl < 0 ? -1 : ioctl(ctl, UDMABUF_CREATE, &arg);
	if (w->dmabuf < 0)
		vc_die("udmabuf: %s", strerror(errno));
	mem = mmap(NULL, w->mem_len, PROT_READ | PROT_WRITE, MAP_SHARED, w->dmabuf, 0);
	if (mem == MAP_FAILED)
		vc_die("mmap: %s", strerror(errno));
	close(memfd);
	close(ctl);
	return mem;
}

static void make_memory(struct world *w)
{
	int i;

	w->link_mem = w->t->link_mem(w->depth);
	w->mem_len = w->data_len + (w->t->as_ib ? 0 : w->link_mem * (size_t)w->n_links);
	w->mem_len = (w->mem_len + 4095) / 4096 * 4096;
	if (w->use_dmabuf)
		w->mem = lent_memory(w);
	else if (posix_memalign((void **)&w->mem, 4096, w->mem_len))
		vc_die("no memory");
	memset(w->mem, 0, w->mem_len);
	for (i = 0; i < w->n_links; i++)
		w->link[i].mem = w->t->as_ib ? aligned_alloc(4096, (w->link_mem + 4095) / 4096 * 4096) :
				 w->mem + w->data_len + w->link_mem * (size_t)i;
	if (w->t->as_ib) {
		for (i = 0; i < w->n_links; i++)
			memset(w->link[i].mem, 0, w->link_mem);
		return;
	}
	/* NCCL asks for relaxed ordering, which may have no effect. */
	w->mr = ibv_reg_mr(w->dev.pd, w->mem, w->mem_len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_RELAXED_ORDERING);
	if (!w->mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
}

static void begin_as_ucx(struct world *w, int *listener)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_sge = 1 } };
	int i;

	w->cq = ibv_create_cq(w->dev.ctx, (int)w->depth * 10 * w->n_links + 64, NULL, NULL, 0);
	srq.attr.max_wr = 2 * w->depth * (unsigned int)w->n_links;
	w->srq = w->t->srq ? ibv_create_srq(w->dev.pd, &srq) : NULL;
	if (!w->cq || (w->t->srq && !w->srq))
		vc_die("ibv_create_cq or _srq: %s", strerror(errno));
	for (i = 0; i < w->n_links; i++)
		make_qps(&w->link[i]);
	w->t->begin(w);
	connect_all(w, listener);
}

/* Memory is registered when connections are there, of whose domain it shall be. */
static void begin_as_ib(struct world *w, int *listener)
{
	w->t->begin(w);
	connect_all(w, listener);
	w->mr = nccl_ib_reg(w);
}

void nccl_begin(struct world *w, const struct vc_opts *opts, bool ring)
{
	int i, listener[NCCL_MAX_RANKS];

	w->dmabuf = -1;
	if (w->t->as_ib)
		nccl_ib_open(w, opts);
	else
		vc_open(&w->dev, opts);
	w->dev.timeout = 18;	/* a second, times eight: a slow machine stands still for long */
	for (i = 0; i < w->n; i++) {
		if (i == w->rank)
			continue;
		if (!ring || i == (w->rank + 1) % w->n)
			add_link(w, i, true);
		if (!ring || w->rank == (i + 1) % w->n)
			add_link(w, i, false);
	}
	for (i = 0; i < w->n; i++)
		listener[i] = nccl_link(w, i, false) ? listen_for(w, i) : -1;
	make_memory(w);
	if (w->t->as_ib)
		begin_as_ib(w, listener);
	else
		begin_as_ucx(w, listener);
	for (i = 0; i < w->n; i++)
		if (listener[i] >= 0)
			close(listener[i]);
}

/* ---- the end */

/* Nobody leaves before everybody has what was sent: the last acknowledgements come from us. */
static void part(struct world *w)
{
	char bye = 1;
	int from, to;

	for (from = 0; from < w->n; from++)
		for (to = 0; to < w->n; to++) {
			struct link *l = NULL;

			if (from == w->rank || to == w->rank)
				l = nccl_link(w, from == w->rank ? to : from, from == w->rank);
			if (l && (!vc_send(l->fd, &bye, 1) || !vc_recv(l->fd, &bye, 1)))
				nccl_broken(w, "rank %d ended early", l->peer);
		}
}

static void end_as_ucx(struct world *w)
{
	int i, q;

	for (i = 0; i < w->n_links; i++)
		for (q = 0; q < w->t->n_qps; q++)
			if (ibv_destroy_qp(w->link[i].qp[q]))
				vc_die("ibv_destroy_qp: %s", strerror(errno));
	w->t->end(w);
	if (w->srq && ibv_destroy_srq(w->srq))
		vc_die("ibv_destroy_srq: %s", strerror(errno));
	if (ibv_destroy_cq(w->cq) || ibv_dereg_mr(w->mr))
		vc_die("cleaning up: %s", strerror(errno));
	vc_close(&w->dev);
	free(w->mem);
}

/* Memory first, then link by link; the device stays open. */
static void end_as_ib(struct world *w)
{
	int i;

	if (ibv_dereg_mr(w->mr))
		vc_die("ibv_dereg_mr: %s", strerror(errno));
	for (i = 0; i < w->n_links; i++) {
		nccl_ib_disconnect(&w->link[i]);
		free(w->link[i].mem);
	}
	if (ibv_dealloc_pd(w->dev.pd))
		vc_die("ibv_dealloc_pd: %s", strerror(errno));
	w->t->end(w);
}

void nccl_end(struct world *w)
{
	int i;

	part(w);
	if (w->t->as_ib)
		end_as_ib(w);
	else
		end_as_ucx(w);
	for (i = 0; i < w->n_links; i++) {
		close(w->link[i].fd);
		free(w->link[i].notes);
	}
}
