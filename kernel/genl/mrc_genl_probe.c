// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_probe.c - see mrc_genl_probe.h.
 *
 * A message contains the whole set of tests: a test that it does not name ends. All of it is
 * validated before anything changes.
 */
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <net/ipv6.h>
#include "engine/wire/mrc_wire.h"
#include "compat/mrc_compat_net.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_probe.h"
#include "genl/mrc_genl_set.h"

#define PROBE_EXPIRY_S		60
#define PROBE_TIMEOUT_US	10000
#define PROBE_STALL_US		5000
#define PROBE_FULL_EVERY	100

/* ---- in ---- */

static u32 probe_u32(struct nlattr **tb, int attr, u32 otherwise)
{
	return tb[attr] ? nla_get_u32(tb[attr]) : otherwise;
}

static int parse_probes(struct genl_info *info, struct mrc_prober_cfg *cfg, u64 *budget)
{
	struct nlattr *tb[MRC_A_PROBES_MAX + 1] = {};
	int err = 0;

	if (info->attrs[MRC_A_PROBES])
		err = nla_parse_nested(tb, MRC_A_PROBES_MAX, info->attrs[MRC_A_PROBES],
				       mrc_genl_probes_policy, info->extack);
	if (err)
		return err;
	*cfg = (struct mrc_prober_cfg) {
		.expiry_ns = probe_u32(tb, MRC_A_PROBES_EXPIRY, PROBE_EXPIRY_S) * (u64)NSEC_PER_SEC,
		.timeout_ns = probe_u32(tb, MRC_A_PROBES_TIMEOUT, PROBE_TIMEOUT_US) * (u64)NSEC_PER_USEC,
		.stall_ns = probe_u32(tb, MRC_A_PROBES_STALL, PROBE_STALL_US) * (u64)NSEC_PER_USEC,
		.full_every = probe_u32(tb, MRC_A_PROBES_FULL_EVERY, PROBE_FULL_EVERY),
	};
	*budget = tb[MRC_A_PROBES_BUDGET] ? nla_get_u64(tb[MRC_A_PROBES_BUDGET]) : 0;
	return 0;
}

static int probe_refuse(struct netlink_ext_ack *extack, const struct nlattr *at, const char *why, u32 id)
{
	NL_SET_BAD_ATTR(extack, at);
	MRC_ERR_MSG(extack, "self-probe %u: %s", id, why);
	return -EINVAL;
}

static int parse_path(struct nlattr **tb, struct mrc_selfprobe_cfg *t, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct in6_addr path;

	if (t->kind == MRC_PROBE_HOST) {
		if (tb[MRC_A_PROBE_PLANE] || tb[MRC_A_PROBE_PATH])
			return probe_refuse(extack, tb[MRC_A_PROBE_PLANE] ?: tb[MRC_A_PROBE_PATH],
					    "kind host has no plane and no path", t->id);
		t->plane = MRC_PLANE_NONE;
		return 0;
	}
	if (!tb[MRC_A_PROBE_PLANE] || !tb[MRC_A_PROBE_PATH])
		return probe_refuse(extack, nest, "a plane and a path are needed", t->id);
	t->plane = nla_get_u8(tb[MRC_A_PROBE_PLANE]) - 1;
	path = nla_get_in6_addr(tb[MRC_A_PROBE_PATH]);
	if (!(ipv6_addr_type(&path) & IPV6_ADDR_UNICAST) || ipv6_addr_loopback(&path) ||
	    ipv6_addr_v4mapped(&path) || ipv6_addr_type(&path) & IPV6_ADDR_LINKLOCAL)
		return probe_refuse(extack, tb[MRC_A_PROBE_PATH], "its path is no SRv6 destination", t->id);
	memcpy(t->path, &path, sizeof(t->path));
	return 0;
}

static int parse_probe(struct mrc_selfprobe_cfg *t, const struct nlattr *nest, const struct mrc_prober_cfg *cfg,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRC_A_PROBE_MAX + 1];
	u32 kind;
	int err;

	err = nla_parse_nested(tb, MRC_A_PROBE_MAX, nest, mrc_genl_probe_policy, extack);
	if (err)
		return err;
	t->id = probe_u32(tb, MRC_A_PROBE_ID, 0);
	if (!tb[MRC_A_PROBE_ID] || !tb[MRC_A_PROBE_KIND] || !tb[MRC_A_PROBE_INTERVAL])
		return probe_refuse(extack, nest, "an id, a kind and an interval are needed", t->id);
	kind = nla_get_u32(tb[MRC_A_PROBE_KIND]);
	if (kind > MRC_PROBE_HOST)
		return probe_refuse(extack, tb[MRC_A_PROBE_KIND], "unknown kind", t->id);
	t->kind = (u8)kind;
	t->interval_us = nla_get_u32(tb[MRC_A_PROBE_INTERVAL]);
	if (cfg->timeout_ns > (u64)t->interval_us * NSEC_PER_USEC * MRC_SELFPROBE_AHEAD)
		return probe_refuse(extack, tb[MRC_A_PROBE_INTERVAL],
				    "the timeout is longer than 16 of its intervals", t->id);
	t->size = (u16)probe_u32(tb, MRC_A_PROBE_SIZE, 0);
	t->dscp = tb[MRC_A_PROBE_DSCP] ? nla_get_u8(tb[MRC_A_PROBE_DSCP]) : MRC_SELFPROBE_CONTROL;
	return parse_path(tb, t, nest, extack);
}

static int probe_cmp(const void *a, const void *b)
{
	u32 x = ((const struct mrc_selfprobe_cfg *)a)->id, y = ((const struct mrc_selfprobe_cfg *)b)->id;

	return x < y ? -1 : x > y;
}

/* Sorts the tests by id. Refuses duplicate ids and too many probes per second. */
static int probe_whole(struct mrc_selfprobe_cfg *all, u32 n, struct netlink_ext_ack *extack)
{
	u64 rate = 0;	/* in probes per 1000 s */
	u32 i;

	sort(all, n, sizeof(*all), probe_cmp, NULL);
	for (i = 0; i < n; i++) {
		if (i && all[i].id == all[i - 1].id) {
			MRC_ERR_MSG(extack, "two self-probes have the id %u", all[i].id);
			return -EINVAL;
		}
		rate += NSEC_PER_SEC / all[i].interval_us;
	}
	if (rate <= MRC_PROBER_RATE * 1000ull)
		return 0;
	MRC_ERR_MSG(extack, "%llu self-probes a second are too many: %u", rate / 1000, MRC_PROBER_RATE);
	return -E2BIG;
}

/* Parses all tests into @all, which has room for MRC_PROBER_TESTS. Returns their number or -errno. */
static int parse_all(struct genl_info *info, struct mrc_selfprobe_cfg *all, const struct mrc_prober_cfg *cfg)
{
	const struct nlattr *a;
	int err, rem;
	u32 n = 0;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != MRC_A_PROBE)
			continue;
		if (n == MRC_PROBER_TESTS) {
			NL_SET_BAD_ATTR(info->extack, a);
			MRC_ERR_MSG(info->extack, "a device takes %u self-probes", MRC_PROBER_TESTS);
			return -E2BIG;
		}
		err = parse_probe(&all[n], a, cfg, info->extack);
		if (err)
			return err;
		n++;
	}
	err = probe_whole(all, n, info->extack);
	return err ?: (int)n;
}

static int set_probes(struct mrc_dev *dev, struct genl_info *info)
{
	struct mrc_selfprobe_cfg *all;
	struct mrc_prober_cfg cfg;
	u64 budget;
	int n;

	BUILD_BUG_ON(MRC_PROBER_TESTS != MRC_SELFPROBES_MAX);
	n = parse_probes(info, &cfg, &budget);
	if (n)
		return n;
	all = kvcalloc(MRC_PROBER_TESTS, sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	n = parse_all(info, all, &cfg);
	if (n >= 0)
		n = mrc_loop_set(dev, &cfg, budget, all, (u32)n);
	kvfree(all);
	return n;
}

int mrc_genl_probe_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, set_probes);
}

/* ---- out ---- */

int mrc_genl_put_probes(struct sk_buff *skb, struct mrc_dev *dev)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PROBES);
	struct mrc_loop_info i;

	BUILD_BUG_ON(MRC_SELFPROBE_BUCKETS != MRC_PROBE_BUCKETS);
	if (!nest)
		return -EMSGSIZE;
	mrc_loop_get_info(dev, &i);
	if (nla_put_u32(skb, MRC_A_PROBES_EXPIRY, (u32)div_u64(i.cfg.expiry_ns, NSEC_PER_SEC)) ||
	    nla_put_u64_64bit(skb, MRC_A_PROBES_BUDGET, i.budget, MRC_A_PROBES_PAD) ||
	    nla_put_u32(skb, MRC_A_PROBES_TIMEOUT, (u32)div_u64(i.cfg.timeout_ns, NSEC_PER_USEC)) ||
	    nla_put_u32(skb, MRC_A_PROBES_STALL, (u32)div_u64(i.cfg.stall_ns, NSEC_PER_USEC)) ||
	    nla_put_u32(skb, MRC_A_PROBES_FULL_EVERY, i.cfg.full_every) ||
	    nla_put_u32(skb, MRC_A_PROBES_COUNT, i.n) ||
	    nla_put_u32(skb, MRC_A_PROBES_LEFT, (u32)div_u64(i.left_ns, NSEC_PER_MSEC)) ||
	    nla_put_u8(skb, MRC_A_PROBES_PAUSED, i.paused) ||
	    nla_put_u64_64bit(skb, MRC_A_PROBES_STALLS, i.count.stalls, MRC_A_PROBES_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PROBES_LAG_HIGH, i.count.lag_high_ns, MRC_A_PROBES_PAD) ||
	    nla_put(skb, MRC_A_PROBES_LAG_HIST, sizeof(i.count.lag_hist), i.count.lag_hist) ||
	    nla_put_u64_64bit(skb, MRC_A_PROBES_FORGED, i.count.forged, MRC_A_PROBES_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_test(struct sk_buff *skb, const struct mrc_selfprobe_cfg *t, bool whole)
{
	bool path = t->plane != MRC_PLANE_NONE;

	if (nla_put_u32(skb, MRC_A_PROBE_ID, t->id) || nla_put_u32(skb, MRC_A_PROBE_KIND, t->kind) ||
	    nla_put_u32(skb, MRC_A_PROBE_INTERVAL, t->interval_us) ||
	    nla_put_u32(skb, MRC_A_PROBE_SIZE, t->size))
		return -EMSGSIZE;
	if (t->dscp != MRC_SELFPROBE_CONTROL && nla_put_u8(skb, MRC_A_PROBE_DSCP, t->dscp))
		return -EMSGSIZE;
	if (path && nla_put_u8(skb, MRC_A_PROBE_PLANE, t->plane + 1))
		return -EMSGSIZE;
	return path && whole ? nla_put(skb, MRC_A_PROBE_PATH, sizeof(t->path), t->path) : 0;
}

static int put_counts(struct sk_buff *skb, const struct mrc_selfprobe_count *n)
{
	const struct {
		int attr;
		u64 value;
	} all[] = {
		{ MRC_A_PROBE_SENT, n->sent }, { MRC_A_PROBE_RECEIVED, n->received },
		{ MRC_A_PROBE_LOST, n->lost }, { MRC_A_PROBE_CORRUPT, n->corrupt },
		{ MRC_A_PROBE_OTHER_PLANE, n->other_plane }, { MRC_A_PROBE_VOID, n->voided },
		{ MRC_A_PROBE_LATE, n->late }, { MRC_A_PROBE_DUPLICATE, n->duplicate },
		{ MRC_A_PROBE_TRIMMED, n->trimmed }, { MRC_A_PROBE_MARKED, n->marked },
		{ MRC_A_PROBE_FULL_SENT, n->full_sent }, { MRC_A_PROBE_FULL_LOST, n->full_lost },
		{ MRC_A_PROBE_UNSENT, n->unsent }, { MRC_A_PROBE_OVER_BUDGET, n->over_budget },
		{ MRC_A_PROBE_RTT_LOW, n->rtt_low_ns }, { MRC_A_PROBE_RTT_HIGH, n->rtt_high_ns },
		{ MRC_A_PROBE_RTT_SUM, n->rtt_sum_ns },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (nla_put_u64_64bit(skb, all[i].attr, all[i].value, MRC_A_PROBE_PAD))
			return -EMSGSIZE;
	return nla_put_u32(skb, MRC_A_PROBE_RUN, n->run) ?:
	       nla_put(skb, MRC_A_PROBE_RTT_HIST, sizeof(n->rtt_hist), n->rtt_hist);
}

/* Converts a time of the engine's clock, which stops during suspend. 0: never. */
static int put_when(struct sk_buff *skb, int attr, u64 mono_ns)
{
	return mono_ns ? nla_put_u64_64bit(skb, attr, ktime_to_ns(ktime_mono_to_any((ktime_t)mono_ns, TK_OFFS_BOOT)),
					   MRC_A_PROBE_PAD) : 0;
}

int mrc_genl_put_probe(struct sk_buff *skb, const struct mrc_selfprobe *t, bool whole)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PROBE);

	if (!nest)
		return -EMSGSIZE;
	if (put_test(skb, &t->cfg, whole) || put_counts(skb, &t->count) ||
	    put_when(skb, MRC_A_PROBE_LAST_LOST, t->count.last_lost_ns) ||
	    put_when(skb, MRC_A_PROBE_LAST_RECEIVED, t->count.last_received_ns)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}
