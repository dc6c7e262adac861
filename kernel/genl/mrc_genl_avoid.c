// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_avoid.c - see mrc_genl_avoid.h.
 *
 * A message contains the whole list of the daemon or of the administrator. All of it is validated
 * before anything changes.
 */
#include <linux/ktime.h>
#include "compat/mrc_compat_net.h"
#include "genl/mrc_genl_avoid.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_set.h"
#include "path/mrc_path_change.h"

#define AVOID_EXPIRY_S	600	/* default for the daemon's list */

/* ---- in ---- */

static int parse_link(const struct nlattr *nest, struct mrc_avoid_link *link, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRC_A_AVOID_MAX + 1];
	int err = nla_parse_nested(tb, MRC_A_AVOID_MAX, nest, mrc_genl_avoid_policy, extack);

	if (err)
		return err;
	if (!tb[MRC_A_AVOID_PLANE] || !tb[MRC_A_AVOID_FROM]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a link to avoid needs a plane and a uSID");
		return -EINVAL;
	}
	*link = (struct mrc_avoid_link) {
		.plane = nla_get_u8(tb[MRC_A_AVOID_PLANE]) - 1,
		.from = nla_get_u16(tb[MRC_A_AVOID_FROM]),
		.to = tb[MRC_A_AVOID_TO] ? nla_get_u16(tb[MRC_A_AVOID_TO]) : 0,
	};
	return 0;
}

/* Parses all links into @links, which has room for MRC_AVOIDS_MAX. Returns their number or -errno. */
static int parse_links(struct genl_info *info, struct mrc_avoid_link *links)
{
	const struct nlattr *a;
	int err, rem, n = 0;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != MRC_A_AVOID)
			continue;
		if (n == MRC_AVOIDS_MAX) {
			NL_SET_BAD_ATTR(info->extack, a);
			MRC_ERR_MSG(info->extack, "a device avoids at most %u links", MRC_AVOIDS_MAX);
			return -E2BIG;
		}
		err = parse_link(a, &links[n++], info->extack);
		if (err)
			return err;
	}
	return n;
}

static int set_avoids(struct mrc_dev *dev, struct genl_info *info)
{
	struct mrc_avoid_link links[MRC_AVOIDS_MAX];
	struct nlattr *tb[MRC_A_AVOIDS_MAX + 1];
	enum mrc_avoid_by by;
	u32 expiry = 0;
	int n;

	n = mrc_genl_nest(info, MRC_A_AVOIDS, tb, MRC_A_AVOIDS_MAX, mrc_genl_avoids_policy, MRC_A_AVOIDS_BY) ?:
	    parse_links(info, links);
	if (n < 0)
		return n;
	by = (enum mrc_avoid_by)nla_get_u32(tb[MRC_A_AVOIDS_BY]);
	if (tb[MRC_A_AVOIDS_EXPIRY])
		expiry = nla_get_u32(tb[MRC_A_AVOIDS_EXPIRY]);
	else if (by == MRC_AVOID_DAEMON)
		expiry = AVOID_EXPIRY_S;
	return mrc_path_change_set_avoids(dev, by, links, (u32)n, expiry);
}

int mrc_genl_avoid_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, set_avoids);
}

/* ---- out ---- */

static int put_link(struct sk_buff *skb, const struct mrc_avoid_link *link, bool whole)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_AVOID);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u8(skb, MRC_A_AVOID_PLANE, link->plane + 1) ||
	    (whole && nla_put_u16(skb, MRC_A_AVOID_FROM, link->from)) ||
	    (whole && link->to && nla_put_u16(skb, MRC_A_AVOID_TO, link->to)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_avoid_head(struct sk_buff *skb, enum mrc_avoid_by by, const struct mrc_avoid_list *l)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_AVOIDS);
	u64 now = ktime_get_ns();

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, MRC_A_AVOIDS_BY, by) || nla_put_u32(skb, MRC_A_AVOIDS_COUNT, l ? l->n : 0))
		return -EMSGSIZE;
	if (l && l->until_ns &&
	    (nla_put_u32(skb, MRC_A_AVOIDS_EXPIRY, l->expiry_s) ||
	     nla_put_u32(skb, MRC_A_AVOIDS_LEFT,
			 l->until_ns > now ? (u32)div_u64(l->until_ns - now, NSEC_PER_MSEC) : 0)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int mrc_genl_put_avoids(struct sk_buff *skb, struct mrc_dev *dev, enum mrc_avoid_by by, bool whole)
{
	const struct mrc_avoid_list *l;
	int err;
	u32 i;

	rcu_read_lock();
	l = mrc_avoids_get(dev, by);
	err = put_avoid_head(skb, by, l);
	for (i = 0; !err && l && i < l->n; i++)
		err = put_link(skb, &l->link[i], whole);
	rcu_read_unlock();
	return err;
}
