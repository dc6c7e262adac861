// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_spec.c - see mrc_qp_spec.h.
 */
#include <linux/log2.h>
#include "mem/mrc_ucontext.h"
#include "path/mrc_cc_profile.h"
#include "path/mrc_profiles.h"
#include "verbs/mrc_qp_create.h"
#include "verbs/mrc_qp_spec.h"

#define SPEC_UNIT_NS	1024ull		/* timeouts: 1.024 us << timeout */
#define SPEC_TIMEOUT_MAX 24
#define SPEC_LINEAR_MAX	7
#define SPEC_CAPS	(MRC_UCAP_NO_TRIM_NACK | MRC_UCAP_DYN_MPR | MRC_UCAP_NO_SVC_TIME)

int mrc_qp_spec_read(struct ib_udata *udata, struct mrc_umodify_qp *ask, bool *given)
{
	int err;

	memset(ask, 0, sizeof(*ask));
	*given = udata && udata->inlen;
	if (!*given)
		return 0;
	err = mrc_ucontext_check(udata, sizeof(*ask), 0);
	if (err)
		return err;
	if (ib_copy_from_udata(ask, udata, sizeof(*ask)))
		return -EFAULT;
	return memchr_inv(ask->reserved0, 0, sizeof(ask->reserved0)) ? -EOPNOTSUPP : 0;
}

/* What this transition carries. */
static u32 spec_mask(enum ib_qp_state cur, enum ib_qp_state next)
{
	if (cur == IB_QPS_RESET && next == IB_QPS_INIT)
		return MRC_UMODIFY_EV_PROFILE | MRC_UMODIFY_CC_PROFILE;
	if (cur == IB_QPS_INIT && next == IB_QPS_RTR)
		return MRC_UMODIFY_WIMM_DEST | MRC_UMODIFY_MPR_DEST | MRC_UMODIFY_CAP;
	if (cur == IB_QPS_RTR && next == IB_QPS_RTS)
		return MRC_UMODIFY_WIMM | MRC_UMODIFY_MPR | MRC_UMODIFY_RETRY |
		       MRC_UMODIFY_TIMEOUT;
	return 0;
}

static bool spec_window(u32 value, u32 max)
{
	return value >= 1 && value <= max;
}

static int spec_check_profiles(struct mrc_dev *dev, const struct mrc_umodify_qp *ask)
{
	struct mrc_cc_profile cc;

	if (ask->cc_profile_id && !mrc_cc_profile_get(dev, ask->cc_profile_id, &cc))
		return -EINVAL;
	return ask->ev_profile_id && !mrc_profiles_exist(dev, ask->ev_profile_id) ? -EINVAL : 0;
}

/* The receive window is bounded by memory, which was taken when the QP was made. */
static int spec_check(struct mrc_qp *qp, const struct mrc_umodify_qp *ask)
{
	const u32 mpr_max = roundup_pow_of_two(qp->mpr);
	const struct {
		u32 bit;
		bool ok;
	} checks[] = {
		{ MRC_UMODIFY_WIMM, spec_window(ask->wimm, MRC_QP_RQM) },
		{ MRC_UMODIFY_WIMM_DEST, spec_window(ask->wimm_dest, MRC_QP_RQM) },
		{ MRC_UMODIFY_MPR, spec_window(ask->mpr, mpr_max) },
		{ MRC_UMODIFY_MPR_DEST, spec_window(ask->mpr_dest, mpr_max) },
		{ MRC_UMODIFY_TIMEOUT, ask->timeout <= SPEC_TIMEOUT_MAX },
		{ MRC_UMODIFY_RETRY, ask->linear_cnt <= SPEC_LINEAR_MAX &&
				     ask->exp_cnt <= MRC_EXP_FOREVER },
		{ MRC_UMODIFY_CAP, !(ask->cap & ~SPEC_CAPS) },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(checks); i++)
		if (ask->comp_mask & checks[i].bit && !checks[i].ok)
			return -EINVAL;
	return 0;
}

static void spec_keep(struct mrc_qp_spec *to, const struct mrc_umodify_qp *ask)
{
	if (ask->comp_mask & MRC_UMODIFY_EV_PROFILE) {
		to->ev_profile_id = ask->ev_profile_id;
		to->cc_profile_id = ask->cc_profile_id;
	}
	if (ask->comp_mask & MRC_UMODIFY_CAP) {
		to->wimm_dest = ask->wimm_dest;
		to->mpr_dest = ask->mpr_dest;
		to->cap = ask->cap;
	}
	if (ask->comp_mask & MRC_UMODIFY_RETRY) {
		to->wimm = ask->wimm;
		to->mpr = ask->mpr;
		to->linear_cnt = ask->linear_cnt;
		to->exp_cnt = ask->exp_cnt;
		to->timeout = ask->timeout;
	}
}

int mrc_qp_spec_take(struct mrc_qp *qp, const struct mrc_umodify_qp *ask, bool given,
		     enum ib_qp_state cur, enum ib_qp_state next)
{
	u32 need = spec_mask(cur, next);
	bool begins = cur == IB_QPS_RESET && next == IB_QPS_INIT;
	int err;

	if (!given && (begins || !qp->spec.on))
		return 0;
	if (ask->comp_mask != need || (!begins && !qp->spec.on))
		return -EINVAL;
	err = spec_check(qp, ask);
	if (!err && begins)
		err = spec_check_profiles(qp->dev, ask);
	if (err)
		return err;
	spin_lock_bh(&qp->lock);
	spec_keep(&qp->spec, ask);
	qp->spec.on = true;
	spin_unlock_bh(&qp->lock);
	return 0;
}

void mrc_qp_spec_restore(struct mrc_qp *qp, const struct mrc_qp_spec *old)
{
	spin_lock_bh(&qp->lock);
	qp->spec = *old;
	spin_unlock_bh(&qp->lock);
}

void mrc_qp_spec_end(struct mrc_qp *qp)
{
	const struct mrc_qp_spec none = { };

	mrc_qp_spec_restore(qp, &none);
}

void mrc_qp_spec_rx(const struct mrc_qp *qp, struct mrc_rx_cfg *cfg)
{
	const struct mrc_qp_spec *spec = &qp->spec;

	if (!spec->on)
		return;
	cfg->mpr = spec->mpr_dest;
	cfg->wimm = spec->wimm_dest;
	cfg->dyn_mpr = spec->cap & MRC_UCAP_DYN_MPR;
}

void mrc_qp_spec_tx(const struct mrc_qp *qp, struct mrc_tx_cfg *cfg)
{
	const struct mrc_qp_spec *spec = &qp->spec;

	if (!spec->on)
		return;
	cfg->mpr = spec->mpr;
	cfg->wimm = spec->wimm;
	cfg->timeout_ns = SPEC_UNIT_NS << spec->timeout;
	cfg->linear_cnt = spec->linear_cnt;
	cfg->exp_cnt = spec->exp_cnt;
	cfg->rnr_retry = 0;		/* a receive that is missing is an error */
	cfg->dyn_mpr = spec->cap & MRC_UCAP_DYN_MPR;
	if (spec->cap & MRC_UCAP_NO_TRIM_NACK)
		cfg->trim_nack = false;
}

void mrc_qp_spec_limits(const struct mrc_dev *dev, struct mrc_uquery_device_resp *resp)
{
	*resp = (struct mrc_uquery_device_resp) {
		.cap = MRC_UDEV_DYN_MPR | MRC_UDEV_SVC_TIME |
		       (READ_ONCE(dev->attr.trim_nack) ? MRC_UDEV_TRIM_NACK : 0),
		.max_wimm = MRC_QP_RQM,
		.max_wimm_dest = MRC_QP_RQM,
		.max_mpr = mrc_qp_create_mpr(dev),
	};
}
