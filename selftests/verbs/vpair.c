// SPDX-License-Identifier: GPL-2.0
/*
 * vpair.c - see vpair.h.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "vpair.h"

struct half {
	struct vc_dev *d;
	struct ibv_qp *qp;
	const struct ibv_mr *mr;
	int fd;
};

static void *connect_half(void *arg)
{
	const struct half *h = arg;
	struct vc_peer peer;

	if (!vc_connect(h->d, h->qp, h->fd, (uintptr_t)h->mr->addr, h->mr->rkey, &peer))
		vc_die("vc_connect: %s", strerror(errno));
	return NULL;
}

void vpair_connect(struct vpair *p, struct vc_dev *d, const struct ibv_mr *mr)
{
	struct half other;
	pthread_t thread;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		vc_die("socketpair: %s", strerror(errno));
	other = (struct half){ d, p->qp[1], mr, fd[1] };
	if (pthread_create(&thread, NULL, connect_half, &other))
		vc_die("pthread_create");
	if (!vc_connect(d, p->qp[0], fd[0], (uintptr_t)mr->addr, mr->rkey, &p->peer))
		vc_die("vc_connect: %s", strerror(errno));
	pthread_join(thread, NULL);
	close(fd[0]);
	close(fd[1]);
}

static void make_qps(struct vpair *p, struct vc_dev *d, const struct ibv_qp_cap *cap,
		     const struct ibv_mr *mr)
{
	struct ibv_qp_init_attr_ex init = { .srq = p->srq, .send_ops_flags = p->send_ops };
	int i;

	if (p->send_ops)
		init.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	for (i = 0; i < 2; i++)
		p->qp[i] = vc_qp_ex(d, p->cq[i], init, cap, IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_WRITE | p->access);
	vpair_connect(p, d, mr);
}

bool vpair_wc(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	const uint64_t end = vc_now_ns() + ms * 1000000ull;

	while (ibv_poll_cq(cq, 1, wc) != 1) {
		if (vc_now_ns() > end)
			return false;
		usleep(200);
	}
	return true;
}

void vpair_make(struct vpair *p, struct vc_dev *d, const struct ibv_qp_cap *cap, int cqe,
		const struct ibv_mr *mr)
{
	int i;

	p->lent = false;
	for (i = 0; i < 2; i++) {
		p->cq[i] = ibv_create_cq(d->ctx, cqe, NULL, NULL, 0);
		if (!p->cq[i])
			vc_die("ibv_create_cq: %s", strerror(errno));
	}
	make_qps(p, d, cap, mr);
}

void vpair_make_beside(struct vpair *p, const struct vpair *of, struct vc_dev *d,
		       const struct ibv_qp_cap *cap, const struct ibv_mr *mr)
{
	memcpy(p->cq, of->cq, sizeof(p->cq));
	p->lent = true;
	make_qps(p, d, cap, mr);
}

void vpair_end(struct vpair *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		ibv_destroy_qp(p->qp[i]);
		if (!p->lent)
			ibv_destroy_cq(p->cq[i]);
	}
}
