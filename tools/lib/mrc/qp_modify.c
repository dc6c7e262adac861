// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp_modify.c - the states of a queue pair. What each transition needs and may have stands in one
 * table; values are checked here so that a person can be told, and by the kernel, which decides.
 *
 * libibverbs' attributes that have no meaning for MRC are left out; where ib_core wants them for
 * an RC QP all the same, it gets some.
 */
#include <string.h>
#include "qp.h"
#include "uverbs.h"

/* Of ibv_qp_attr: accepted, and ignored. */
#define IGNORED	(IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |	\
		 IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |			\
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define ALWAYS	(IBV_QP_STATE | IBV_QP_CUR_STATE | IGNORED)

struct change {
	enum ibv_qp_state from, to;
	int need, may;			/* of ibv_qp_attr, beside ALWAYS */
	int filled;			/* given to ib_core besides, all 0 but the port */
	int mrc_need;			/* of mrc_qp_attr, and no others but the vendor's bytes */
};

#define INIT_MRC (MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID)
#define RTR_MRC	(MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP)
#define RTS_MRC	(MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT)

static const struct change changes[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX,
	  IBV_QP_PORT | IBV_QP_PKEY_INDEX, INIT_MRC },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, 0, 0 },
	{ IBV_QPS_INIT, IBV_QPS_RTR,
	  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
	  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, RTR_MRC },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_ACCESS_FLAGS,
	  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	  RTS_MRC },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS, 0, 0 },
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
		return mrc_say(EINVAL, "mrc_modify_qp: state %d to %d needs ibv attributes 0x%x, too",
			       c->from, c->to, missing);
	if (extra)
		return mrc_say(EINVAL, "mrc_modify_qp: state %d to %d takes no ibv attributes 0x%x",
			       c->from, c->to, extra);
	mask &= ~MRC_QP_VENDOR_CFG;
	if (mask != c->mrc_need)
		return mrc_say(EINVAL, "mrc_modify_qp: state %d to %d takes MRC attributes 0x%x, not 0x%x",
			       c->from, c->to, c->mrc_need, mask);
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
			return mrc_say(EINVAL, "mrc_modify_qp: %s %u: %u ... %u", values[i].name,
				       values[i].value, values[i].min, values[i].max);
	if (mask & MRC_QP_HINT && a->qp_hint &&
	    (!MRC_IS(a->qp_hint, HINT) || a->qp_hint->ctx != qp->ctx))
		return mrc_say(EINVAL, "mrc_modify_qp: the QP hint is none, or of another context");
	return 0;
}

static void ask_fill(struct mrc_umodify_qp *ask, const struct mrc_qp_attr *a, int mask)
{
	*ask = (struct mrc_umodify_qp) {
		.comp_mask = mask & ~(MRC_QP_HINT | MRC_QP_VENDOR_CFG),	/* the bits are the same */
	};
	if (mask & MRC_QP_EV_PROFILE_ID) {
		ask->ev_profile_id = a->profile.ev_profile_id;
		ask->cc_profile_id = a->profile.cc_profile_id;
	}
	if (mask & MRC_QP_CAP) {
		ask->cap = a->cap;
		ask->wimm_dest = a->wimm.max_wimm_dest;
		ask->mpr_dest = a->mpr.mpr_dest;
	}
	if (mask & MRC_QP_RETRY_CNT) {
		ask->wimm = a->wimm.max_wimm;
		ask->mpr = a->mpr.mpr;
		ask->timeout = a->timeout;
		ask->linear_cnt = a->retry.linear_cnt;
		ask->exp_cnt = a->retry.exp_cnt;
	}
}

/* What was asked for is kept for mrc_query_qp(). */
static void attr_keep(struct mrc_qp *qp, const struct mrc_qp_attr *a, int mask)
{
	struct mrc_qp_attr *to = &qp->attr;

	if (mask & MRC_QP_HINT) {
		mrc_hint_use(a->qp_hint, 1);
		mrc_hint_use(to->qp_hint, -1);
		to->qp_hint = a->qp_hint;
	}
	if (mask & MRC_QP_EV_PROFILE_ID)
		to->profile = a->profile;
	if (mask & MRC_QP_CAP) {
		to->cap = a->cap;
		to->wimm.max_wimm_dest = a->wimm.max_wimm_dest;
		to->mpr.mpr_dest = a->mpr.mpr_dest;
	}
	if (mask & MRC_QP_RETRY_CNT) {
		to->wimm.max_wimm = a->wimm.max_wimm;
		to->mpr.mpr = a->mpr.mpr;
		to->timeout = a->timeout;
		to->retry = a->retry;
	}
	if (mask & MRC_QP_VENDOR_CFG)
		memcpy(to->vendor_cfg, a->vendor_cfg, sizeof(to->vendor_cfg));
}

/* ---- transitions ---- */

static int change_do(struct mrc_qp *qp, const struct change *c, const struct ibv_qp_attr *vattr,
		     int vmask, const struct mrc_qp_attr *attr, int mask)
{
	static const struct mrc_qp_attr none;
	struct ibv_qp_attr v = vattr ? *vattr : (struct ibv_qp_attr){};
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
			return mrc_say(EINVAL, "mrc_modify_qp: an address without a GID");
	}
	ask_fill(&ask, attr ? attr : &none, mask);
	err = mrc_uverbs_modify(qp->v, &v, (vmask & ~IGNORED) | c->filled | IBV_QP_STATE, &ask);
	if (err)
		return mrc_say(err, "mrc_modify_qp: state %d to %d: the kernel refuses it: %s: "
			       "Documentation/libmrc.md", c->from, c->to, strerror(err));
	if (attr)
		attr_keep(qp, attr, mask);
	return 0;
}

/* To ERR or RESET, from anywhere. */
static int change_end(struct mrc_qp *qp, enum ibv_qp_state to, int vmask, int mask)
{
	struct ibv_qp_attr v = { .qp_state = to };
	int err;

	if (vmask & ~ALWAYS || mask)
		return mrc_say(EINVAL, "mrc_modify_qp: to state %d: no other attributes", to);
	err = ibv_modify_qp(qp->v, &v, IBV_QP_STATE);
	if (!err && to == IBV_QPS_RESET) {
		mrc_hint_use(qp->attr.qp_hint, -1);
		memset(&qp->attr, 0, sizeof(qp->attr));
	}
	return err;
}

static int change_any(struct mrc_qp *qp, const struct ibv_qp_attr *vattr, int vmask,
		      const struct mrc_qp_attr *attr, int mask)
{
	enum ibv_qp_state from = qp->v->state, to = vmask & IBV_QP_STATE ? vattr->qp_state : from;
	const struct change *c;
	int err;

	if (vmask & IBV_QP_CUR_STATE && vattr->cur_qp_state != from)
		return mrc_say(EINVAL, "mrc_modify_qp: the state is %d, not %d", from,
			       vattr->cur_qp_state);
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
		return change_end(qp, to, vmask, mask);
	c = change_find(from, to);
	if (!c)
		return mrc_say(EINVAL, "mrc_modify_qp: no way from state %d to %d: RESET, INIT, RTR, "
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
		return mrc_say(EINVAL, "mrc_modify_qp: mask 0x%x has bits that no attribute has",
			       mrc_attr_mask);
	pthread_mutex_lock(&qp->lock);
	err = change_any(qp, vattr, vattr_mask, mrc_attr, mrc_attr_mask);
	pthread_mutex_unlock(&qp->lock);
	return err;
}
