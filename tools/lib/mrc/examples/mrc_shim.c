// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_shim.c - queue pairs of mrc.h for programs that know libibverbs alone:
 *
 *	LD_PRELOAD=mrc_shim.so ib_write_bw -d mrc0 -x 1 --use_old_post_send ...
 *
 * The shim defines calls of libibverbs. On an MRC device it makes the program's completion channels, CQs and RC QPs
 * by the calls of mrc.h with the same names. The program gets objects of this file, whose context is a copy with
 * other functions for posting and polling. Profile ids come from MRC_QP_EV_PROFILE_ID and MRC_QP_CC_PROFILE_ID,
 * retries and timeout from the program, and all other attributes of MRC from the device.
 *
 * Only WRITE and WRITE_WITH_IMM work, there is no RNR, and both ends must be such QPs. The shim refuses, with a message
 * on stderr: QPs of other types or for ibv_wr_*(), and QPs with an SRQ or an extended CQ.
 *
 * With MRC_DEBUG=1 it prints at exit how many QPs there were.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mrc.h>

#define RETRIES_DOUBLED	6	/* after the retries of the program: each waits twice as long */

struct shim_device {
	struct ibv_context *v;
	struct mrc_context *ctx;
	struct verbs_context copy;	/* the context of the objects below */
	struct shim_qp *qps;		/* under lock, as the next one */
	struct shim_cq *cqs;
	struct shim_device *next;
};

struct shim_channel {
	struct ibv_comp_channel v;	/* the program's */
	struct mrc_comp_channel *mrc;
};

struct shim_cq {
	struct ibv_cq v;
	struct mrc_cq *mrc;
	struct shim_cq *next;
};

struct shim_qp {
	struct ibv_qp v;
	struct mrc_qp *mrc;
	struct shim_qp *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shim_device *devices;
static unsigned int n_qps;

/* Finds the device by the program's context, or by the copy that its objects have. */
static struct shim_device *device_of(const struct ibv_context *v)
{
	struct shim_device *d;

	pthread_mutex_lock(&lock);
	for (d = devices; d && d->v != v && &d->copy.context != v; d = d->next)
		;
	pthread_mutex_unlock(&lock);
	return d;
}

/* The device, if an object with this context was created here; else NULL. */
static struct shim_device *made_here(const struct ibv_context *v)
{
	struct shim_device *d = device_of(v);

	return d && d->v != v ? d : NULL;
}

static void *refuse(const char *what)
{
	fprintf(stderr, "mrc_shim: mrc.h has no %s\n", what);
	errno = EOPNOTSUPP;
	return NULL;
}

/* ---- libibverbs' own ---- */

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) {
		fprintf(stderr, "mrc_shim: libibverbs has no %s\n", name);
		abort();
	}
	return f;
}

/* ---- posting and polling: inline in verbs.h, by the context of the object ---- */

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return mrc_poll_cq(((struct shim_cq *)cq)->mrc, n, wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return mrc_req_notify_cq(((struct shim_cq *)cq)->mrc, solicited_only);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return mrc_post_send(((struct shim_qp *)qp)->mrc, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return mrc_post_recv(((struct shim_qp *)qp)->mrc, wr, bad) ? errno : 0;
}

/* ---- devices ---- */

static struct ibv_qp *create_qp_ex(struct ibv_context *v, struct ibv_qp_init_attr_ex *ex);

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *v = REAL(ibv_open_device)(device);
	struct verbs_context *extended = v ? verbs_get_ctx(v) : NULL;
	struct shim_device *d = calloc(1, sizeof(*d));
	struct mrc_device_attr attr;
	int supported = 0;

	if (extended && d && !mrc_query_device(v, &attr, &supported) && supported)
		d->ctx = mrc_create_context(v, NULL);
	if (!d || !d->ctx) {
		free(d);
		return v;
	}
	d->v = v;
	d->copy = *extended;
	d->copy.context.ops.poll_cq = poll_cq;
	d->copy.context.ops.req_notify_cq = req_notify_cq;
	d->copy.context.ops.post_send = post_send;
	d->copy.context.ops.post_recv = post_recv;
	extended->create_qp_ex = create_qp_ex;	/* ibv_create_qp_ex() is inline, and calls this */
	pthread_mutex_lock(&lock);
	d->next = devices;
	devices = d;
	pthread_mutex_unlock(&lock);
	return v;
}

int ibv_close_device(struct ibv_context *v)
{
	struct shim_device *d = device_of(v), **at;

	if (!d)
		return REAL(ibv_close_device)(v);
	pthread_mutex_lock(&lock);
	for (at = &devices; *at != d; at = &(*at)->next)
		;
	*at = d->next;
	pthread_mutex_unlock(&lock);
	mrc_destroy_context(d->ctx);	/* EBUSY if the program left objects: they end with it */
	free(d);
	return REAL(ibv_close_device)(v);
}

/* ---- completions ---- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *v)
{
	struct shim_device *d = device_of(v);
	struct shim_channel *ch;
	int err;

	if (!d)
		return REAL(ibv_create_comp_channel)(v);
	ch = calloc(1, sizeof(*ch));
	err = ch ? mrc_create_comp_channel(d->ctx, &ch->mrc) : ENOMEM;
	if (!err && mrc_get_comp_channel_fd(ch->mrc, &ch->v.fd)) {
		err = errno;
		mrc_destroy_comp_channel(ch->mrc);
	}
	if (err) {
		free(ch);
		errno = err;
		return NULL;
	}
	ch->v.context = &d->copy.context;
	return &ch->v;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *v)
{
	struct shim_channel *ch = (struct shim_channel *)v;
	int err;

	if (!made_here(v->context))
		return REAL(ibv_destroy_comp_channel)(v);
	err = mrc_destroy_comp_channel(ch->mrc);
	if (!err)
		free(ch);
	return err;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *v, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct shim_device *d = device_of(v);
	struct shim_cq *cq;

	if (!d)
		return REAL(ibv_create_cq)(v, cqe, cq_context, channel, comp_vector);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	/* mrc_get_cq_event() then returns the object that the program's event names. */
	cq->mrc = mrc_create_cq(d->ctx, cqe, cq, channel ? ((struct shim_channel *)channel)->mrc : NULL,
				comp_vector);
	if (!cq->mrc) {
		free(cq);
		return NULL;
	}
	cq->v = (struct ibv_cq) {
		.context = &d->copy.context, .channel = channel, .cq_context = cq_context, .cqe = cqe,
	};
	pthread_mutex_lock(&lock);
	cq->next = d->cqs;
	d->cqs = cq;
	pthread_mutex_unlock(&lock);
	return &cq->v;
}

int ibv_destroy_cq(struct ibv_cq *v)
{
	struct shim_cq *cq = (struct shim_cq *)v, **at;
	struct shim_device *d = made_here(v->context);
	int err;

	if (!d)
		return REAL(ibv_destroy_cq)(v);
	err = mrc_destroy_cq(cq->mrc);
	if (err)
		return err;
	pthread_mutex_lock(&lock);
	for (at = &d->cqs; *at != cq; at = &(*at)->next)
		;
	*at = cq->next;
	pthread_mutex_unlock(&lock);
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **v, void **cq_context)
{
	struct mrc_cq *told;
	void *cq;

	if (!made_here(channel->context))
		return REAL(ibv_get_cq_event)(channel, v, cq_context);
	if (mrc_get_cq_event(((struct shim_channel *)channel)->mrc, &told, &cq))
		return -1;
	*v = &((struct shim_cq *)cq)->v;
	*cq_context = (*v)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *v, unsigned int n)
{
	if (made_here(v->context))
		mrc_ack_cq_events(((struct shim_cq *)v)->mrc, n);
	else
		REAL(ibv_ack_cq_events)(v, n);
}

/* ---- queue pairs ---- */

static struct ibv_qp *make_qp(struct shim_device *d, struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct mrc_qp_init_attr init = {
		.qp_context = a->qp_context, .cap = a->cap, .sq_sig_all = a->sq_sig_all, .pd = pd,
		.send_cq = ((struct shim_cq *)a->send_cq)->mrc,
		.recv_cq = ((struct shim_cq *)a->recv_cq)->mrc,
		.protocol_version = MRC_PROTOCOL_VERSION_1,
	};
	struct shim_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->mrc = mrc_create_qp(d->ctx, &init);
	if (!qp->mrc) {
		free(qp);
		return NULL;
	}
	a->cap = init.cap;
	qp->v = (struct ibv_qp) {
		.context = &d->copy.context, .qp_context = a->qp_context, .pd = pd,
		.send_cq = a->send_cq, .recv_cq = a->recv_cq, .qp_type = a->qp_type,
	};
	mrc_get_qpn(qp->mrc, &qp->v.qp_num);
	pthread_mutex_lock(&lock);
	qp->next = d->qps;
	d->qps = qp;
	n_qps++;
	pthread_mutex_unlock(&lock);
	return &qp->v;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct shim_device *d = device_of(pd->context);

	if (!d)
		return REAL(ibv_create_qp)(pd, a);
	if (a->qp_type != IBV_QPT_RC || a->srq)
		return refuse(a->srq ? "SRQs" : "QPs of other types");
	if (!made_here(a->send_cq->context) || !made_here(a->recv_cq->context))
		return refuse("extended CQs");
	return make_qp(d, pd, a);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *v, struct ibv_qp_init_attr_ex *ex)
{
	struct ibv_qp_init_attr a = {
		.qp_context = ex->qp_context, .send_cq = ex->send_cq, .recv_cq = ex->recv_cq,
		.srq = ex->srq, .cap = ex->cap, .qp_type = ex->qp_type, .sq_sig_all = ex->sq_sig_all,
	};
	struct ibv_qp *qp;

	(void)v;
	if (ex->comp_mask & ~(uint32_t)IBV_QP_INIT_ATTR_PD)
		return refuse("QPs for ibv_wr_*(): post by ibv_post_send()");
	qp = ibv_create_qp(ex->pd, &a);
	ex->cap = a.cap;
	return qp;
}

/* Reads profile ids from the environment. Returns the mask of those that are set. */
static int profiles_from_environment(struct mrc_qp_attr *attr)
{
	const char *ev = getenv("MRC_QP_EV_PROFILE_ID"), *cc = getenv("MRC_QP_CC_PROFILE_ID");

	attr->profile.ev_profile_id = ev ? strtoull(ev, NULL, 0) : 0;
	attr->profile.cc_profile_id = cc ? strtoull(cc, NULL, 0) : 0;
	return (ev ? MRC_QP_EV_PROFILE_ID : 0) | (cc ? MRC_QP_CC_PROFILE_ID : 0);
}

int ibv_modify_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask)
{
	struct shim_qp *qp = (struct shim_qp *)v;
	struct mrc_qp_attr attr = {};
	int more = 0, err;

	if (!made_here(v->context))
		return REAL(ibv_modify_qp)(v, a, mask);
	if (mask & IBV_QP_STATE && a->qp_state == IBV_QPS_INIT && v->state == IBV_QPS_RESET)
		more = profiles_from_environment(&attr);
	if (mask & IBV_QP_STATE && a->qp_state == IBV_QPS_RTS && v->state == IBV_QPS_RTR) {
		/* libibverbs' timeout is 4.096 us * 2^t, or none. */
		if (mask & IBV_QP_TIMEOUT) {
			attr.timeout = !a->timeout || a->timeout > 22 ? 24 : a->timeout + 2;
			more |= MRC_QP_TIMEOUT;
		}
		if (mask & IBV_QP_RETRY_CNT) {
			attr.retry.linear_cnt = a->retry_cnt & 7;
			attr.retry.exp_cnt = RETRIES_DOUBLED;
			more |= MRC_QP_RETRY_CNT;
		}
	}
	err = mrc_modify_qp(qp->mrc, a, mask, &attr, more);
	if (!err && mask & IBV_QP_STATE)
		v->state = a->qp_state;
	return err;
}

int ibv_query_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	struct mrc_qp_init_attr made;
	int err;

	if (!made_here(v->context))
		return REAL(ibv_query_qp)(v, a, mask, init);
	err = mrc_query_qp(((struct shim_qp *)v)->mrc, a, mask, NULL, 0, &made);
	if (!err)
		*init = (struct ibv_qp_init_attr) {
			.qp_context = v->qp_context, .send_cq = v->send_cq, .recv_cq = v->recv_cq,
			.cap = made.cap, .qp_type = v->qp_type, .sq_sig_all = made.sq_sig_all,
		};
	return err;
}

int ibv_destroy_qp(struct ibv_qp *v)
{
	struct shim_qp *qp = (struct shim_qp *)v, **at;
	struct shim_device *d = made_here(v->context);
	int err;

	if (!d)
		return REAL(ibv_destroy_qp)(v);
	err = mrc_destroy_qp(qp->mrc);
	if (err)
		return err;
	pthread_mutex_lock(&lock);
	for (at = &d->qps; *at != qp; at = &(*at)->next)
		;
	*at = qp->next;
	pthread_mutex_unlock(&lock);
	free(qp);
	return 0;
}

/* ---- asynchronous events ---- */

static bool is_of_qp(enum ibv_event_type type)
{
	return (type >= IBV_EVENT_QP_FATAL && type <= IBV_EVENT_PATH_MIG_ERR) ||
	       type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

/* Objects stay until their events are acknowledged. */
int ibv_get_async_event(struct ibv_context *v, struct ibv_async_event *event)
{
	struct shim_device *d = device_of(v);
	struct mrc_async_event e;
	struct shim_qp *qp;
	struct shim_cq *cq;

	if (!d)
		return REAL(ibv_get_async_event)(v, event);
	if (mrc_get_async_event(d->ctx, &e))
		return -1;
	event->event_type = e.event_type;
	pthread_mutex_lock(&lock);
	if (is_of_qp(e.event_type)) {
		for (qp = d->qps; qp && qp->mrc != e.element.qp; qp = qp->next)
			;
		event->element.qp = &qp->v;
	} else if (e.event_type == IBV_EVENT_CQ_ERR) {
		for (cq = d->cqs; cq && cq->mrc != e.element.cq; cq = cq->next)
			;
		event->element.cq = &cq->v;
	} else {
		event->element.port_num = e.element.port_num;
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct mrc_async_event e = { .event_type = event->event_type };

	if (is_of_qp(event->event_type) && made_here(event->element.qp->context)) {
		e.element.qp = ((struct shim_qp *)event->element.qp)->mrc;
		mrc_ack_async_event(&e);
	} else if (event->event_type == IBV_EVENT_CQ_ERR && made_here(event->element.cq->context)) {
		e.element.cq = ((struct shim_cq *)event->element.cq)->mrc;
		mrc_ack_async_event(&e);
	} else {
		REAL(ibv_ack_async_event)(event);
	}
}

__attribute__((destructor)) static void say(void)
{
	if (getenv("MRC_DEBUG"))
		fprintf(stderr, "mrc_shim: %u queue pairs were of mrc.h\n", n_qps);
}
