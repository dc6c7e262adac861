// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_cc.c - netlink messages about congestion control profiles and controllers, in both
 * directions.
 *
 * Non-integer numbers travel in the engine's format: fixed point.
 */
#include <linux/rtnetlink.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_path_change.h"
#include "path/mrc_qpcc.h"
#include "genl/mrc_genl_cc.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_set.h"

struct cc_param {
	int attr;
	size_t at;		/* a u32 in struct mrc_nscc_cfg */
};

#define CC_PARAM(attr, field) { MRC_A_CC_##attr, offsetof(struct mrc_nscc_cfg, field) }

static const struct cc_param cc_params[] = {
	CC_PARAM(QA_THRESHOLD, qa_threshold_ns),
	CC_PARAM(TARGET_DELAY, target_delay_ns),
	CC_PARAM(BASE_RTT, base_rtt_ns),
	CC_PARAM(MAX_CWND, max_cwnd),
	CC_PARAM(ADJUST_BYTES, adjust_bytes),
	CC_PARAM(ADJUST_PERIOD, adjust_period_ns),
	CC_PARAM(ETA, eta_q8),
	CC_PARAM(FI, fi_q8),
	CC_PARAM(FI_SCALE, fi_scale_q16),
	CC_PARAM(GAMMA, gamma_q16),
	CC_PARAM(MAX_MD_JUMP, max_md_jump_q16),
};

static u32 *cc_param_of(struct mrc_nscc_cfg *cfg, const struct cc_param *p)
{
	return (u32 *)((u8 *)cfg + p->at);
}

/* ---- changes ---- */

static int parse_algorithm(struct mrc_cc_profile *p, const struct nlattr *a,
			   struct netlink_ext_ack *extack)
{
	p->ops = mrc_cc_find(a ? nla_data(a) : NULL);
	if (p->ops)
		return 0;
	NL_SET_BAD_ATTR(extack, a);
	MRC_ERR_MSG(extack, "CC profile %llu: unknown algorithm %s", p->id,
		    (const char *)nla_data(a));
	return -EINVAL;
}

static int parse_cc(struct mrc_cc_profile *p, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	bool nscc;
	u32 i;
	int err;

	memset(p, 0, sizeof(*p));
	p->id = nla_get_u64(tb[MRC_A_CC_ID]);
	err = parse_algorithm(p, tb[MRC_A_CC_ALGORITHM], extack);
	if (err)
		return err;
	nscc = p->ops != &mrc_cc_fixed;
	if (tb[MRC_A_CC_WINDOW])
		p->window_bytes = nla_get_u32(tb[MRC_A_CC_WINDOW]);
	if (tb[MRC_A_CC_DISABLE_QA])
		p->nscc.disable_qa = nla_get_u8(tb[MRC_A_CC_DISABLE_QA]);
	if (tb[MRC_A_CC_QA_GATE])
		p->nscc.qa_gate = nla_get_u8(tb[MRC_A_CC_QA_GATE]);
	if (tb[MRC_A_CC_TRIMMING])
		p->trimming = nla_get_u8(tb[MRC_A_CC_TRIMMING]);
	for (i = 0; i < ARRAY_SIZE(cc_params); i++)
		if (tb[cc_params[i].attr])
			*cc_param_of(&p->nscc, &cc_params[i]) =
				nla_get_u32(tb[cc_params[i].attr]);
	if (nscc || !memchr_inv(&p->nscc, 0, sizeof(p->nscc)))
		return 0;
	MRC_ERR_MSG(extack, "CC profile %llu: %s has no parameters but window and trimming", p->id,
		    mrc_cc_name(p->ops));
	return -EINVAL;
}

static int cc_change(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_CC_MAX + 1];
	struct mrc_cc_profile p;
	int err;

	err = mrc_genl_nest(info, MRC_A_CC, tb, MRC_A_CC_MAX, mrc_genl_cc_policy, MRC_A_CC_ID);
	if (!err)
		err = parse_cc(&p, tb, info->extack);
	if (!err)
		err = mrc_path_change_set_cc(dev, &p, info->extack);
	if (!err)
		atomic_inc(&mrc_genl_generation);
	return err;
}

static int cc_remove(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_CC_MAX + 1];
	int err;

	err = mrc_genl_nest(info, MRC_A_CC, tb, MRC_A_CC_MAX, mrc_genl_cc_key_policy,
			    MRC_A_CC_ID);
	if (!err)
		err = mrc_cc_profile_del(dev, nla_get_u64(tb[MRC_A_CC_ID]), info->extack);
	if (!err)
		atomic_inc(&mrc_genl_generation);
	return err;
}

int mrc_genl_cc_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, cc_change);
}

int mrc_genl_cc_del(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, cc_remove);
}

/* ---- into messages ---- */

static int put_params(struct sk_buff *skb, const struct mrc_cc_profile *p)
{
	struct mrc_nscc_cfg cfg = p->nscc;
	u32 i;

	if (nla_put_u8(skb, MRC_A_CC_DISABLE_QA, cfg.disable_qa) ||
	    nla_put_u8(skb, MRC_A_CC_QA_GATE, cfg.qa_gate) ||
	    nla_put_u8(skb, MRC_A_CC_TRIMMING, p->trimming))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(cc_params); i++)
		if (nla_put_u32(skb, cc_params[i].attr, *cc_param_of(&cfg, &cc_params[i])))
			return -EMSGSIZE;
	return 0;
}

int mrc_genl_put_cc(struct sk_buff *skb, const struct mrc_cc_profile *p)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_CC);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, MRC_A_CC_ID, p->id, MRC_A_CC_PAD) ||
	    nla_put_string(skb, MRC_A_CC_ALGORITHM, mrc_cc_name(p->ops)) ||
	    nla_put_u32(skb, MRC_A_CC_WINDOW, p->window_bytes) ||
	    (p->ops != &mrc_cc_fixed && put_params(skb, p))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_controller(struct sk_buff *skb, const struct mrc_qpcc *q)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PEER_CC);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, MRC_A_CC_ID, q->profile_id, MRC_A_CC_PAD) ||
	    nla_put_string(skb, MRC_A_CC_ALGORITHM, mrc_cc_name(q->ops)) ||
	    nla_put_u32(skb, MRC_A_CC_CWND, mrc_cc_cwnd_bytes(q->cc)) ||
	    nla_put_u32(skb, MRC_A_CC_INFLIGHT, mrc_cc_inflight_bytes(q->cc)) ||
	    nla_put_u32(skb, MRC_A_CC_QPS, q->n_qps)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Order by profile, then by algorithm: a profile may have got another algorithm while QPs use the old one. */
static bool cc_is_before(const struct mrc_qpcc *a, u64 id, const struct mrc_cc_ops *ops)
{
	return a->profile_id != id ? a->profile_id < id : a->ops < ops;
}

/* Under path_lock. The next controller after @pos. The list is not sorted and changes between messages. */
static const struct mrc_qpcc *next_controller(struct mrc_peer *peer,
					      const struct mrc_genl_cc_pos *pos)
{
	const struct mrc_qpcc *q, *best = NULL;

	list_for_each_entry(q, &peer->ccs, link) {
		if (pos->ops && (cc_is_before(q, pos->profile_id, pos->ops) ||
				 (q->profile_id == pos->profile_id && q->ops == pos->ops)))
			continue;
		if (!best || cc_is_before(q, best->profile_id, best->ops))
			best = q;
	}
	return best;
}

int mrc_genl_put_peer_ccs(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos)
{
	const struct mrc_qpcc *q;
	int err = 0;

	spin_lock_bh(&peer->path_lock);
	while (!err && (q = next_controller(peer, pos)) != NULL) {
		err = put_controller(skb, q);
		if (!err)
			*pos = (struct mrc_genl_cc_pos) { q->profile_id, q->ops };
	}
	spin_unlock_bh(&peer->path_lock);
	return err;
}
