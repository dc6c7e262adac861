// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_shim.c - queue pairs of mrc.h for programs that know libibverbs alone:
 *
 *	LD_PRELOAD=mrc_shim.so ib_write_bw -d mrc0 -x 1 ...
 *
 * Each RC QP that the program makes on an MRC device is made by mrc_create_qp(), and its changes of
 * state go through mrc_modify_qp() with the attributes that the program does not know: profile ids
 * from MRC_QP_EV_PROFILE_ID and MRC_QP_CC_PROFILE_ID (0: the device's default), windows and
 * immediates as the device has them, retries and timeout as the program says. Posting and polling
 * stay the program's own calls into the plug-in. So only WRITE and WRITE_WITH_IMM work, there is no RNR, and
 * both ends are such QPs. QPs with an SRQ, or CQs of ibv_create_cq_ex(), stay ordinary ones, which is said.
 *
 * libmrc makes its QPs and CQs by calls that come here as well; this thread is "inside" then.
 * MRC_DEBUG=1 says at the end how many QPs there were.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <mrc.h>

#define RETRIES_DOUBLED	6	/* after those that the program wants: each waits twice as long */

/* ---- what was made: by what the program has of it ---- */

struct made {
	const void *key;
	void *value;
	struct made *next;
};

struct shim_device {
	struct mrc_context *ctx;
	struct mrc_device_attr attr;
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *all;
static unsigned int n_qps;

/* What the program asked for, while libmrc makes it, and what became of it. */
static __thread struct inside {
	const struct ibv_qp_init_attr_ex *qp_ex;
	struct ibv_comp_channel *channel;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
} *inside;

static void *find(const void *key)
{
	void *value = NULL;
	struct made *m;

	pthread_mutex_lock(&lock);
	for (m = all; m && !value; m = m->next)
		if (m->key == key)
			value = m->value;
	pthread_mutex_unlock(&lock);
	return value;
}

static bool keep(const void *key, void *value)
{
	struct made *m = malloc(sizeof(*m));

	if (!m)
		return false;
	pthread_mutex_lock(&lock);
	*m = (struct made){ key, value, all };
	all = m;
	pthread_mutex_unlock(&lock);
	return true;
}

static void forget(const void *key)
{
	struct made **at, *m = NULL;

	pthread_mutex_lock(&lock);
	for (at = &all; *at && (*at)->key != key; at = &(*at)->next)
		;
	m = *at;
	if (m)
		*at = m->next;
	pthread_mutex_unlock(&lock);
	free(m);
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

static uint64_t profile_from(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

/* ---- devices ---- */

static struct ibv_qp *shim_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *ex);

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *v = REAL(ibv_open_device)(device);
	struct verbs_context *extended = v ? verbs_get_ctx(v) : NULL;
	struct shim_device *d = calloc(1, sizeof(*d));
	int supported = 0;

	if (!extended || !d || mrc_query_device(v, &d->attr, &supported) || !supported)
		goto plain;
	d->ctx = mrc_create_context(v, NULL);
	if (!d->ctx || !keep(v, d))
		goto plain;
	/* ibv_create_qp_ex() is inline, and calls this. */
	d->create_qp_ex = extended->create_qp_ex;
	extended->create_qp_ex = shim_create_qp_ex;
	return v;
plain:
	if (d && d->ctx)
		mrc_destroy_context(d->ctx);
	free(d);
	return v;
}

int ibv_close_device(struct ibv_context *v)
{
	struct shim_device *d = find(v);

	if (d) {
		mrc_destroy_context(d->ctx);	/* EBUSY: the program left something, which goes anyhow */
		forget(v);
		free(d);
	}
	return REAL(ibv_close_device)(v);
}

/* ---- completion queues ---- */

struct ibv_cq *ibv_create_cq(struct ibv_context *v, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct inside now = { .channel = channel };
	struct shim_device *d = find(v);
	struct mrc_cq *cq;

	if (inside || !d) {
		struct ibv_cq *made = REAL(ibv_create_cq)(v, cqe, cq_context,
							  inside ? inside->channel : channel, comp_vector);
		if (inside)
			inside->cq = made;
		return made;
	}
	inside = &now;
	cq = mrc_create_cq(d->ctx, cqe, NULL, NULL, comp_vector);
	inside = NULL;
	if (!cq)
		return NULL;
	now.cq->cq_context = cq_context;	/* libmrc's word; only mrc_get_cq_event() wants it */
	if (keep(now.cq, cq))
		return now.cq;
	mrc_destroy_cq(cq);
	errno = ENOMEM;
	return NULL;
}

int ibv_destroy_cq(struct ibv_cq *v)
{
	struct mrc_cq *cq = inside ? NULL : find(v);
	struct inside now = {};
	int err;

	if (!cq)
		return REAL(ibv_destroy_cq)(v);
	forget(v);		/* before its address may be another CQ's */
	inside = &now;
	err = mrc_destroy_cq(cq);
	inside = NULL;
	if (err)
		keep(v, cq);
	return err;
}

/* ---- queue pairs ---- */

static struct ibv_qp *make_qp(struct shim_device *d, struct ibv_qp_init_attr *a, struct ibv_pd *pd,
			      const struct ibv_qp_init_attr_ex *ex)
{
	struct mrc_qp_init_attr init = {
		.send_cq = find(a->send_cq), .recv_cq = find(a->recv_cq),
		.cap = a->cap, .sq_sig_all = a->sq_sig_all, .pd = pd,
		.protocol_version = MRC_PROTOCOL_VERSION_1,
	};
	struct inside now = { .qp_ex = ex };
	struct mrc_qp *qp;

	inside = &now;
	qp = mrc_create_qp(d->ctx, &init);
	inside = NULL;
	if (!qp)
		return NULL;
	a->cap = init.cap;
	now.qp->qp_context = a->qp_context;
	if (!keep(now.qp, qp)) {
		mrc_destroy_qp(qp);
		errno = ENOMEM;
		return NULL;
	}
	n_qps++;
	return now.qp;
}

/* Can it be one of mrc.h? Said if it cannot. */
static bool fits(const struct ibv_qp_init_attr *a)
{
	const char *why = a->srq ? "has an SRQ" :
			  !find(a->send_cq) || !find(a->recv_cq) ? "has an extended CQ" : NULL;

	if (a->qp_type != IBV_QPT_RC)
		return false;
	if (why)
		fprintf(stderr, "mrc_shim: a QP that %s stays an ordinary one\n", why);
	return !why;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct shim_device *d = find(pd->context);

	if (inside && inside->qp_ex) {
		struct ibv_qp_init_attr_ex ex = *inside->qp_ex;

		ex.send_cq = a->send_cq;
		ex.recv_cq = a->recv_cq;
		inside->qp = d->create_qp_ex(pd->context, &ex);
		a->cap = ex.cap;
		return inside->qp;
	}
	if (inside)
		return inside->qp = REAL(ibv_create_qp)(pd, a);
	return d && fits(a) ? make_qp(d, a, pd, NULL) : REAL(ibv_create_qp)(pd, a);
}

static struct ibv_qp *shim_create_qp_ex(struct ibv_context *v, struct ibv_qp_init_attr_ex *ex)
{
	struct shim_device *d = find(v);
	struct ibv_qp_init_attr a = {
		.qp_context = ex->qp_context, .send_cq = ex->send_cq, .recv_cq = ex->recv_cq,
		.srq = ex->srq, .cap = ex->cap, .qp_type = ex->qp_type, .sq_sig_all = ex->sq_sig_all,
	};
	struct ibv_qp *qp;

	if (inside || !fits(&a))
		return d->create_qp_ex(v, ex);
	qp = make_qp(d, &a, ex->pd, ex);
	ex->cap = a.cap;
	return qp;
}

/* Retries as the program says; its timeout is 4.096 us * 2^t, or none. */
static struct mrc_qp_attr attr_for(const struct ibv_qp *v, const struct ibv_qp_attr *a, int mask)
{
	const struct shim_device *d = find(v->context);
	const uint8_t timeout = mask & IBV_QP_TIMEOUT ? a->timeout : 14;
	struct mrc_qp_attr attr = {
		.mpr = { d->attr.mpr_attr.max_mpr, d->attr.mpr_attr.max_mpr },
		.wimm = { d->attr.wimm_attr.max_wimm, d->attr.wimm_attr.max_wimm_dest },
		.profile = { profile_from("MRC_QP_EV_PROFILE_ID"), profile_from("MRC_QP_CC_PROFILE_ID") },
		.timeout = !timeout || timeout > 22 ? 24 : timeout + 2,
		.retry = { mask & IBV_QP_RETRY_CNT ? a->retry_cnt & 7 : 7, RETRIES_DOUBLED },
	};

	return attr;
}

int ibv_modify_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask)
{
	static const int known[IBV_QPS_RTS + 1] = {	/* by the state before */
		[IBV_QPS_RESET] = MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID,
		[IBV_QPS_INIT] = MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP,
		[IBV_QPS_RTR] = MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT,
	};
	struct mrc_qp *qp = inside ? NULL : find(v);
	struct inside now = {};
	struct mrc_qp_attr attr;
	bool next;
	int err;

	if (!qp)
		return REAL(ibv_modify_qp)(v, a, mask);
	attr = attr_for(v, a, mask);
	next = mask & IBV_QP_STATE && v->state <= IBV_QPS_RTR && a->qp_state == v->state + 1;
	inside = &now;
	err = mrc_modify_qp(qp, a, mask, &attr, next ? known[v->state] : 0);
	inside = NULL;
	return err;
}

int ibv_destroy_qp(struct ibv_qp *v)
{
	struct mrc_qp *qp = inside ? NULL : find(v);
	struct inside now = {};
	int err;

	if (!qp)
		return REAL(ibv_destroy_qp)(v);
	forget(v);
	inside = &now;
	err = mrc_destroy_qp(qp);
	inside = NULL;
	if (err)
		keep(v, qp);
	return err;
}

__attribute__((destructor)) static void say(void)
{
	if (getenv("MRC_DEBUG"))
		fprintf(stderr, "mrc_shim: %u queue pairs were of mrc.h\n", n_qps);
}
