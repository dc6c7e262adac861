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

#define SPEC_UNIT_NS	1024ull		/* unit of timeouts: 1.024 us << timeout */
#define SPEC_TIMEOUT_MAX 24
#define SPEC_TIMEOUT	14	/* default: 17 ms */
#define SPEC_LINEAR_MAX	7
/* Attributes that RTR -> RTS can still change; and all. */
#define SPEC_RTS	(MRC_UMODIFY_WIMM | MRC_UMODIFY_MPR | MRC_UMODIFY_RETRY |	\
			 MRC_UMODIFY_TIMEOUT | MRC_UMODIFY_CC_PROFILE)
#define SPEC_ALL	(SPEC_RTS | MRC_UMODIFY_WIMM_DEST | MRC_UMODIFY_MPR_DEST |	\
			 MRC_UMODIFY_CAP | MRC_UMODIFY_EV_PROFILE)
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

/* The transitions that may carry attributes; ib_core's table has more. */
static bool spec_transition_ok(enum ib_qp_state cur, enum ib_qp_state next)
{
	return (cur == IB_QPS_RESET && next == IB_QPS_INIT) ||
	       (cur == IB_QPS_INIT && next == IB_QPS_RTR) ||
	       (cur == IB_QPS_RTR && next == IB_QPS_RTS);
}

static bool spec_window(u32 value, u32 max)
{
	return value >= 1 && value <= max;
}

static int spec_check_profiles(struct mrc_dev *dev, const struct mrc_umodify_qp *ask)
{
	struct mrc_cc_profile cc;

	if (ask->comp_mask & MRC_UMODIFY_CC_PROFILE && ask->cc_profile_id &&
	    !mrc_cc_profile_get(dev, ask->cc_profile_id, &cc))
		return -EINVAL;
	if (ask->comp_mask & MRC_UMODIFY_EV_PROFILE && ask->ev_profile_id &&
	    !mrc_profiles_exist(dev, ask->ev_profile_id))
		return -EINVAL;
	return 0;
}

/* The memory that the QP allocated at its creation bounds its windows. */
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

/* Defaults of attributes that the program does not give. */
static struct mrc_qp_spec spec_defaults(const struct mrc_qp *qp)
{
	return (struct mrc_qp_spec) {
		.on = true,
		.wimm = MRC_QP_RQM,
		.wimm_dest = MRC_QP_RQM,
		.mpr = qp->mpr,
		.mpr_dest = qp->mpr,
		.timeout = SPEC_TIMEOUT,
		.linear_cnt = SPEC_LINEAR_MAX,
		.exp_cnt = READ_ONCE(qp->dev->attr.exp_cnt),
	};
}

static void spec_keep(struct mrc_qp_spec *to, const struct mrc_umodify_qp *ask, u32 mask)
{
#define KEEP(bit, field) do { if (mask & (bit)) to->field = ask->field; } while (0)
	KEEP(MRC_UMODIFY_EV_PROFILE, ev_profile_id);
	KEEP(MRC_UMODIFY_CC_PROFILE, cc_profile_id);
	KEEP(MRC_UMODIFY_WIMM, wimm);
	KEEP(MRC_UMODIFY_WIMM_DEST, wimm_dest);
	KEEP(MRC_UMODIFY_MPR, mpr);
	KEEP(MRC_UMODIFY_MPR_DEST, mpr_dest);
	KEEP(MRC_UMODIFY_TIMEOUT, timeout);
	KEEP(MRC_UMODIFY_RETRY, linear_cnt);
	KEEP(MRC_UMODIFY_RETRY, exp_cnt);
	KEEP(MRC_UMODIFY_CAP, cap);
#undef KEEP
}

int mrc_qp_spec_take(struct mrc_qp *qp, const struct mrc_umodify_qp *ask, bool given,
		     enum ib_qp_state cur, enum ib_qp_state next)
{
	bool begins = cur == IB_QPS_RESET && next == IB_QPS_INIT;
	struct mrc_qp_spec spec;
	int err;

	if (!given && (begins || !qp->spec.on))
		return 0;
	if (!begins && !qp->spec.on)
		return -EINVAL;
	if (ask->comp_mask & ~(spec_transition_ok(cur, next) ? SPEC_ALL : 0))
		return -EINVAL;
	err = spec_check(qp, ask) ?: spec_check_profiles(qp->dev, ask);
	if (err)
		return err;
	spec = begins ? spec_defaults(qp) : qp->spec;
	spec_keep(&spec, ask, ask->comp_mask & (cur == IB_QPS_RTR ? SPEC_RTS : SPEC_ALL));
	mrc_qp_spec_restore(qp, &spec);
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
	cfg->rnr_retry = 0;		/* no retries: a missing receive is an error */
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
		.timeout = SPEC_TIMEOUT,
		.linear_cnt = SPEC_LINEAR_MAX,
		.exp_cnt = READ_ONCE(dev->attr.exp_cnt),
	};
}
