// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp_modify.c - the states of a queue pair.
 *
 * Values are checked here to give a readable reason, and by the kernel, which decides.
 *
 * One table holds libibverbs' attributes that a transition requires and allows. Attributes without
 * a meaning for MRC are left out; if ib_core requires them for an RC QP, it gets constants.
 *
 * MRC's own attributes may come with any of the three transitions. An attribute that is missing at
 * its transition has the device's value. An attribute that comes after its transition is applied
 * the next time, after a RESET. Hint and vendor bytes are never late, because nothing depends on
 * them.
 */
#include <string.h>
#include "qp.h"

/* Attributes of ibv_qp_attr that are accepted and ignored. */
#define IGNORED	(IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |	\
		 IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |			\
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define ALWAYS	(IBV_QP_STATE | IBV_QP_CUR_STATE | IGNORED)

struct change {
	enum ibv_qp_state from, to;
	int need, may;			/* required and allowed, of ibv_qp_attr, besides ALWAYS */
	int filled;			/* filled in for ib_core: all 0 except the port */
	int tell;			/* of mrc_qp_attr: passed to the kernel, given or not */
	int past;			/* of mrc_qp_attr: too late, until the next RESET */
	int mrc;			/* of mrc_qp_attr: allowed */
};

#define RTR_MRC	(MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP)
#define RTS_MRC	(MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT)

static const struct change changes[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX,
	  IBV_QP_PORT | IBV_QP_PKEY_INDEX,
	  MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | RTR_MRC | RTS_MRC, 0, MRC_QP_ATTRS },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, 0, 0, 0,
	  MRC_QP_VENDOR_CFG },
	{ IBV_QPS_INIT, IBV_QPS_RTR,
	  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
	  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, 0, 0, MRC_QP_ATTRS },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_ACCESS_FLAGS,
	  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	  0, MRC_QP_EV_PROFILE_ID | RTR_MRC, MRC_QP_ATTRS },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS, 0, 0, 0, MRC_QP_VENDOR_CFG },
};

static const struct change *change_find(enum ibv_qp_state from, enum ibv_qp_state to)
{
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		if (changes[i].from == from && changes[i].to == to)
			return &changes[i];
	return NULL;
}

static int change_check(const struct change *c, int vmask, int mask)
{
	int missing = c->need & ~vmask, extra = vmask & ~(c->need | c->may | ALWAYS);

	if (missing)
		return mrc_debug(EINVAL, "mrc_modify_qp: state %d to %d needs ibv attributes 0x%x, too",
				 c->from, c->to, missing);
	if (extra)
		return mrc_debug(EINVAL, "mrc_modify_qp: state %d to %d takes no ibv attributes 0x%x",
				 c->from, c->to, extra);
	if (mask & ~c->mrc)
		return mrc_debug(EINVAL, "mrc_modify_qp: state %d to %d takes no MRC attributes 0x%x",
				 c->from, c->to, mask & ~c->mrc);
	return 0;
}

/* ---- values ---- */

static int values_check(const struct mrc_qp *qp, const struct mrc_qp_attr *a, int mask)
{
	const struct {
		int bit;
		const char *name;
		uint32_t value, min, max;
	} values[] = {
		{ MRC_QP_MAX_WIMM, "max_wimm", a->wimm.max_wimm, 1, UINT16_MAX },
		{ MRC_QP_MAX_WIMM_DEST, "max_wimm_dest", a->wimm.max_wimm_dest, 1, UINT16_MAX },
		{ MRC_QP_MPR, "mpr", a->mpr.mpr, 1, UINT8_MAX },
		{ MRC_QP_MPR_DEST, "mpr_dest", a->mpr.mpr_dest, 1, UINT8_MAX },
		{ MRC_QP_TIMEOUT, "timeout", a->timeout, 0, 24 },
		{ MRC_QP_RETRY_CNT, "linear_cnt", a->retry.linear_cnt, 0, 7 },
		{ MRC_QP_RETRY_CNT, "exp_cnt", a->retry.exp_cnt, 0, 25 },
		{ MRC_QP_CAP, "cap", a->cap, 0, MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED |
		  MRC_QP_CAP_DYNAMIC_MPR | MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED },
	};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (mask & values[i].bit &&
		    (values[i].value < values[i].min || values[i].value > values[i].max))
			return mrc_debug(EINVAL, "mrc_modify_qp: %s %u: %u ... %u", values[i].name,
					 values[i].value, values[i].min, values[i].max);
	if (mask & MRC_QP_HINT && a->qp_hint &&
	    (!MRC_IS(a->qp_hint, HINT) || a->qp_hint->ctx != qp->ctx))
		return mrc_debug(EINVAL, "mrc_modify_qp: the QP hint is none, or of another context");
	return 0;
}

static void ask_fill(struct mrc_umodify_qp *ask, const struct mrc_qp_attr *a, int mask)
{
	*ask = (struct mrc_umodify_qp) {
		.comp_mask = mask & ~(MRC_QP_HINT | MRC_QP_VENDOR_CFG),	/* the bits are the same */
		.cap = a->cap,
		.ev_profile_id = a->profile.ev_profile_id,
		.cc_profile_id = a->profile.cc_profile_id,
		.wimm = a->wimm.max_wimm,
		.wimm_dest = a->wimm.max_wimm_dest,
		.mpr = a->mpr.mpr,
		.mpr_dest = a->mpr.mpr_dest,
		.timeout = a->timeout,
		.linear_cnt = a->retry.linear_cnt,
		.exp_cnt = a->retry.exp_cnt,
	};
}

static void attr_copy(struct mrc_qp_attr *to, const struct mrc_qp_attr *from, int mask)
{
#define COPY(bit, field) do { if (mask & (bit)) to->field = from->field; } while (0)
	COPY(MRC_QP_MAX_WIMM, wimm.max_wimm);
	COPY(MRC_QP_MAX_WIMM_DEST, wimm.max_wimm_dest);
	COPY(MRC_QP_MPR, mpr.mpr);
	COPY(MRC_QP_MPR_DEST, mpr.mpr_dest);
	COPY(MRC_QP_TIMEOUT, timeout);
	COPY(MRC_QP_EV_PROFILE_ID, profile.ev_profile_id);
	COPY(MRC_QP_CC_PROFILE_ID, profile.cc_profile_id);
	COPY(MRC_QP_HINT, qp_hint);
	COPY(MRC_QP_RETRY_CNT, retry);
	COPY(MRC_QP_CAP, cap);
#undef COPY
	if (mask & MRC_QP_VENDOR_CFG)
		memcpy(to->vendor_cfg, from->vendor_cfg, sizeof(to->vendor_cfg));
}

void mrc_qp_attr_start(struct mrc_qp *qp, const struct mrc_uquery_device_resp *limits)
{
	qp->usual = (struct mrc_qp_attr) {
		.mpr = { limits->max_mpr, limits->max_mpr },
		.wimm = { limits->max_wimm, limits->max_wimm_dest },
		.timeout = limits->timeout,
		.retry = { limits->linear_cnt, limits->exp_cnt },
	};
	qp->attr = qp->usual;
}

/* The attributes of @mask whose effective value is not that of @a. */
static int attr_other(const struct mrc_qp *qp, const struct mrc_qp_attr *a, int mask)
{
	struct mrc_qp_attr with;
	int bit, other = 0;

	for (bit = 1; bit <= MRC_QP_CAP; bit <<= 1) {
		with = qp->attr;
		attr_copy(&with, a, mask & bit);
		if (memcmp(&with, &qp->attr, sizeof(with)))
			other |= bit;
	}
	return other;
}

/* Stores the given attributes, for mrc_query_qp() too. */
static void attr_keep(struct mrc_qp *qp, const struct mrc_qp_attr *a, int mask, int past)
{
	if (mask & MRC_QP_HINT) {
		mrc_hint_use(a->qp_hint, 1);
		mrc_hint_use(qp->attr.qp_hint, -1);
	}
	attr_copy(&qp->attr, a, mask & ~past);
	past = attr_other(qp, a, mask & past);
	attr_copy(&qp->late, a, past);
	qp->late_mask |= past;
}

static void attr_reset(struct mrc_qp *qp)
{
	mrc_hint_use(qp->attr.qp_hint, -1);
	qp->attr = qp->usual;
	attr_copy(&qp->attr, &qp->late, qp->late_mask);
	qp->late_mask = 0;
}

/* ---- transitions ---- */

static int change_do(struct mrc_qp *qp, const struct change *c, const struct ibv_qp_attr *vattr,
		     int vmask, const struct mrc_qp_attr *attr, int mask)
{
	struct ibv_qp_attr v = vattr ? *vattr : (struct ibv_qp_attr){};
	struct mrc_qp_attr all = qp->attr;
	struct mrc_umodify_qp ask;
	int err;

	v.qp_state = c->to;
	v.port_num = 1;
	v.timeout = v.retry_cnt = v.rnr_retry = v.min_rnr_timer = 0;
	v.max_rd_atomic = v.max_dest_rd_atomic = 0;
	if (!(vmask & IBV_QP_PKEY_INDEX))
		v.pkey_index = 0;
	if (vmask & IBV_QP_AV) {
		v.ah_attr.port_num = 1;
		if (!v.ah_attr.is_global)
			return mrc_debug(EINVAL, "mrc_modify_qp: an address without a GID");
	}
	if (mask)
		attr_copy(&all, attr, mask);
	ask_fill(&ask, &all, mask | c->tell);
	err = mrc_uverbs_modify(qp->v, &v, (vmask & ~IGNORED) | c->filled | IBV_QP_STATE, &ask);
	if (err)
		return mrc_debug(err, "mrc_modify_qp: state %d to %d: the kernel refuses it: %s: "
				 "Documentation/guide/libmrc.md", c->from, c->to, strerror(err));
	if (mask)
		attr_keep(qp, attr, mask, c->past);
	return 0;
}

/* To ERR or RESET, from any state. */
static int change_end(struct mrc_qp *qp, enum ibv_qp_state to, int vmask, int mask)
{
	struct ibv_qp_attr v = { .qp_state = to };
	int err;

	if (vmask & ~ALWAYS || mask)
		return mrc_debug(EINVAL, "mrc_modify_qp: to state %d: no other attributes", to);
	err = qp->ctx->verbs.modify_qp(qp->v, &v, IBV_QP_STATE);
	if (!err && to == IBV_QPS_RESET)
		attr_reset(qp);
	return err;
}

static int change_any(struct mrc_qp *qp, const struct ibv_qp_attr *vattr, int vmask,
		      const struct mrc_qp_attr *attr, int mask)
{
	enum ibv_qp_state from = qp->v->state, to = vmask & IBV_QP_STATE ? vattr->qp_state : from;
	const struct change *c;
	int err;

	if (vmask & IBV_QP_CUR_STATE && vattr->cur_qp_state != from)
		return mrc_debug(EINVAL, "mrc_modify_qp: the state is %d, not %d", from,
				 vattr->cur_qp_state);
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
		return change_end(qp, to, vmask, mask);
	c = change_find(from, to);
	if (!c)
		return mrc_debug(EINVAL, "mrc_modify_qp: no way from state %d to %d: RESET, INIT, RTR, "
				 "RTS one after the other, ERR and RESET from any", from, to);
	err = change_check(c, vmask, mask);
	if (!err && mask)
		err = values_check(qp, attr, mask);
	return err ? err : change_do(qp, c, vattr, vmask, attr, mask);
}

int mrc_modify_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		  struct mrc_qp_attr *mrc_attr, int mrc_attr_mask)
{
	int err;

	if (!MRC_IS(qp, QP) || (vattr_mask && !vattr) || (mrc_attr_mask && !mrc_attr))
		return EINVAL;
	if (mrc_attr_mask & ~MRC_QP_ATTRS)
		return mrc_debug(EINVAL, "mrc_modify_qp: mask 0x%x has bits that no attribute has",
				 mrc_attr_mask);
	pthread_mutex_lock(&qp->lock);
	err = change_any(qp, vattr, vattr_mask, mrc_attr, mrc_attr_mask);
	pthread_mutex_unlock(&qp->lock);
	return err;
}
