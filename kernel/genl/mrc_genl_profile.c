// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_profile.c - netlink messages about EV profiles, in both directions.
 *
 * The policies check lengths and ranges. This file fills a struct mrc_profile, which
 * path/mrc_profile_check.h validates. EVs are inside the profile's nest or beside it, where the
 * limit of 64 KiB per nest does not apply.
 */
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_path_change.h"
#include "device/mrc_carrier.h"
#include "path/mrc_profile_check.h"
#include "path/mrc_profile_gen.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_profile.h"
#include "genl/mrc_genl_set.h"

/* ---- EVs, one by one ---- */

static bool is_profile_ev(const struct nlattr *a, bool nested)
{
	return nla_type(a) == (nested ? MRC_A_PROFILE_EV : MRC_A_EV);
}

/* Number of EVs and generators in a request. */
static void count_parts(struct genl_info *info, u32 *evs, u32 *gens)
{
	const struct nlattr *a;
	int rem;

	*evs = 0;
	*gens = 0;
	nla_for_each_nested(a, info->attrs[MRC_A_PROFILE], rem) {
		*evs += is_profile_ev(a, true);
		*gens += nla_type(a) == MRC_A_PROFILE_GEN;
	}
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem)
		*evs += is_profile_ev(a, false);
}

/* Bytes of the value that its format uses. */
static u32 ev_len(u32 fmt)
{
	return min_t(u32, mrc_ev_fmt_width((u8)fmt) / 8 ?: MRC_EV_BYTES, MRC_EV_BYTES);
}

static int parse_profile_ev(struct mrc_profile *p, const struct nlattr *a,
		    struct netlink_ext_ack *extack)
{
	struct mrc_profile_ev *ev = &p->ev[p->n];
	struct nlattr *tb[MRC_A_EV_MAX + 1];
	u32 len = ev_len(p->fmt), state;
	int err;

	err = nla_parse_nested(tb, MRC_A_EV_MAX, a, mrc_genl_profile_ev_policy, extack);
	if (err)
		return err;
	if (!tb[MRC_A_EV_VALUE] || !tb[MRC_A_EV_PORT]) {
		NL_SET_BAD_ATTR(extack, a);
		MRC_ERR_MSG(extack, "EV %u: needs a value and a port", p->n);
		return -EINVAL;
	}
	memcpy(ev->value, nla_data(tb[MRC_A_EV_VALUE]), sizeof(ev->value));
	if (memchr_inv(ev->value + len, 0, sizeof(ev->value) - len)) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_VALUE]);
		MRC_ERR_MSG(extack, "EV %u: the value is longer than %u bytes", p->n, len);
		return -EINVAL;
	}
	ev->port = nla_get_u8(tb[MRC_A_EV_PORT]);
	if (tb[MRC_A_EV_STATE]) {
		state = nla_get_u32(tb[MRC_A_EV_STATE]);
		if (state != MRC_NL_EV_GOOD && state != MRC_NL_EV_DENIED) {
			NL_SET_BAD_ATTR(extack, tb[MRC_A_EV_STATE]);
			MRC_ERR_MSG(extack, "EV %u: the state can be set to GOOD or DENIED only",
				    p->n);
			return -EINVAL;
		}
		ev->denied = state == MRC_NL_EV_DENIED;
	}
	ev->srh = p->fmt == MRC_FMT_SRV6 && memchr_inv(ev->value + 16, 0, 16);
	p->n++;
	return 0;
}

static int parse_evs(struct mrc_profile *p, struct genl_info *info)
{
	const struct nlattr *a;
	int err, rem;

	nla_for_each_nested(a, info->attrs[MRC_A_PROFILE], rem) {
		err = is_profile_ev(a, true) ? parse_profile_ev(p, a, info->extack) : 0;
		if (err)
			return err;
	}
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		err = is_profile_ev(a, false) ? parse_profile_ev(p, a, info->extack) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* ---- generators ---- */

static u32 field_u32(const struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

static int parse_field(struct mrc_profile *p, struct mrc_profile_gen *g, const struct nlattr *a,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRC_A_FIELD_MAX + 1];
	struct mrc_ev_field *f = &g->field[g->n];
	int err;

	if (g->n == MRC_EV_FIELDS_MAX) {
		NL_SET_BAD_ATTR(extack, a);
		MRC_ERR_MSG(extack, "gen %u: more than %u fields", p->n_gen, MRC_EV_FIELDS_MAX);
		return -E2BIG;
	}
	err = nla_parse_nested(tb, MRC_A_FIELD_MAX, a, mrc_genl_field_policy, extack);
	if (err)
		return err;
	f->width = field_u32(tb[MRC_A_FIELD_WIDTH]);
	f->init_val = field_u32(tb[MRC_A_FIELD_INIT]);
	f->min_val = field_u32(tb[MRC_A_FIELD_FIRST]);
	f->max_val = field_u32(tb[MRC_A_FIELD_LAST]);
	f->mask = field_u32(tb[MRC_A_FIELD_MASK]);
	g->n++;
	return 0;
}

static int parse_copy(struct mrc_profile *p, struct mrc_profile_gen *g, const struct nlattr *a,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRC_A_COPY_MAX + 1];
	struct mrc_ev_copy *c = &g->copy[g->n_copy];
	int err;

	if (g->n_copy == MRC_EV_COPIES_MAX) {
		NL_SET_BAD_ATTR(extack, a);
		MRC_ERR_MSG(extack, "gen %u: more than %u copies", p->n_gen, MRC_EV_COPIES_MAX);
		return -E2BIG;
	}
	err = nla_parse_nested(tb, MRC_A_COPY_MAX, a, mrc_genl_copy_policy, extack);
	if (err)
		return err;
	c->from = field_u32(tb[MRC_A_COPY_FROM]);
	c->bit = field_u32(tb[MRC_A_COPY_BIT]);
	c->width = field_u32(tb[MRC_A_COPY_WIDTH]);
	c->at = field_u32(tb[MRC_A_COPY_AT]);
	g->n_copy++;
	return 0;
}

static int parse_gen(struct mrc_profile *p, const struct nlattr *nest,
		     struct netlink_ext_ack *extack)
{
	struct mrc_profile_gen *g = &p->gen[p->n_gen];
	struct nlattr *tb[MRC_A_GEN_MAX + 1];
	const struct nlattr *a;
	int err, rem;

	err = nla_parse_nested(tb, MRC_A_GEN_MAX, nest, mrc_genl_gen_policy, extack);
	if (err)
		return err;
	g->port = tb[MRC_A_GEN_PORT] ? nla_get_u8(tb[MRC_A_GEN_PORT]) : 0;
	nla_for_each_nested(a, nest, rem) {
		err = 0;
		if (nla_type(a) == MRC_A_GEN_FIELD)
			err = parse_field(p, g, a, extack);
		else if (nla_type(a) == MRC_A_GEN_COPY)
			err = parse_copy(p, g, a, extack);
		if (err)
			return err;
	}
	p->n_gen++;
	return 0;
}

static int parse_gens(struct mrc_profile *p, struct genl_info *info)
{
	u32 fields = 0, i;
	const struct nlattr *a;
	int err, rem;

	nla_for_each_nested(a, info->attrs[MRC_A_PROFILE], rem) {
		err = nla_type(a) == MRC_A_PROFILE_GEN ? parse_gen(p, a, info->extack) : 0;
		if (err)
			return err;
	}
	for (i = 0; i < p->n_gen; i++)
		fields += p->gen[i].n;
	if (fields <= MRC_GEN_FIELDS)
		return 0;
	MRC_ERR_MSG(info->extack, "profile %llu: %u fields, at most %u", p->key.id, fields,
		    MRC_GEN_FIELDS);
	return -E2BIG;
}

/* ---- the profile ---- */

static int parse_key(struct mrc_profile_key *key, struct nlattr **tb,
		     struct netlink_ext_ack *extack)
{
	const struct nlattr *dst = tb[MRC_A_PROFILE_DST], *len = tb[MRC_A_PROFILE_DST_LEN];

	memset(key, 0, sizeof(*key));
	key->id = nla_get_u64(tb[MRC_A_PROFILE_ID]);
	if (dst) {
		nla_memcpy(&key->dst, dst, sizeof(key->dst));
		key->len = len ? nla_get_u8(len) : MRC_PROFILE_ONE;
		return mrc_profile_check_key(key, extack);
	}
	if (!len)
		return 0;
	NL_SET_BAD_ATTR(extack, len);
	MRC_ERR_MSG(extack, "profile %llu: a prefix length without dst", key->id);
	return -EINVAL;
}

static int parse_head(struct mrc_profile *p, struct nlattr **tb, struct genl_info *info)
{
	int err = parse_key(&p->key, tb, info->extack);
	const struct nlattr *a;

	if (err)
		return err;
	a = tb[MRC_A_PROFILE_MODE];
	p->mode = a ? nla_get_u32(a) : MRC_MODE_EXP;
	a = tb[MRC_A_PROFILE_FMT];
	if (!a && p->mode != MRC_MODE_AUTO) {
		NL_SET_ERR_ATTR_MISS(info->extack, info->attrs[MRC_A_PROFILE], MRC_A_PROFILE_FMT);
		MRC_ERR_MSG(info->extack, "profile %llu: the EVs' format is missing", p->key.id);
		return -EINVAL;
	}
	p->fmt = a ? nla_get_u32(a) : MRC_FMT_UDP;
	a = tb[MRC_A_PROFILE_MIN_ACTIVE];
	p->min_active = a ? nla_get_u32(a) : 0;
	a = tb[MRC_A_PROFILE_COUNT];
	p->want = a ? nla_get_u32(a) : 0;
	a = tb[MRC_A_PROFILE_FMT_WIDTHS];
	p->n_fmt = a ? (u8)nla_len(a) : 0;
	if (a)
		memcpy(p->fmt_width, nla_data(a), p->n_fmt);
	return 0;
}

/* Attributes that the mode does not use are refused, not ignored. */
static int check_parts(const struct mrc_profile *p, struct nlattr **tb, u32 evs, u32 gens,
		       struct netlink_ext_ack *extack)
{
	if ((gens || p->n_fmt) && p->mode == MRC_MODE_AUTO) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_PROFILE_GEN] ?: tb[MRC_A_PROFILE_FMT_WIDTHS]);
		MRC_ERR_MSG(extack, "profile %llu: mode AUTO takes no fields", p->key.id);
		return -EINVAL;
	}
	if (!gens && p->n_fmt && p->mode == MRC_MODE_EXP) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_PROFILE_FMT_WIDTHS]);
		MRC_ERR_MSG(extack, "profile %llu: the format's fields without a row of fields",
			    p->key.id);
		return -EINVAL;
	}
	if (p->want && p->mode == MRC_MODE_EXP) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_PROFILE_COUNT]);
		MRC_ERR_MSG(extack, "profile %llu: a count of EVs in explicit mode", p->key.id);
		return -EINVAL;
	}
	return 0;
}

/*
 * Returns a profile with the generators of @from, which it takes over, and with their EVs. The EVs listed in @from must be
 * a subsequence of these; their denied flags are copied.
 */
static struct mrc_profile *expand_gens(struct mrc_dev *dev, struct mrc_profile *from,
				       struct netlink_ext_ack *extack)
{
	u32 n = mrc_profile_gen_count(dev, from, extack);
	struct mrc_profile *p;
	int err = -EINVAL;

	p = n ? mrc_profile_alloc(n, 0) : NULL;
	if (p) {
		p->key = from->key;
		p->fmt = from->fmt;
		p->mode = from->mode;
		p->min_active = from->min_active;
		p->want = from->want;
		p->n_fmt = from->n_fmt;
		memcpy(p->fmt_width, from->fmt_width, sizeof(p->fmt_width));
		swap(p->gen, from->gen);
		swap(p->n_gen, from->n_gen);
		err = mrc_profile_gen_fill(dev, p, extack) ?:
		      mrc_profile_gen_deny(p, from->ev, from->n, extack);
	} else if (n) {
		err = -ENOMEM;
	}
	mrc_profile_put(from);
	if (!err)
		return p;
	mrc_profile_put(p);
	return ERR_PTR(err);
}

static struct mrc_profile *parse_profile(struct mrc_dev *dev, struct nlattr **tb,
					 struct genl_info *info)
{
	struct mrc_profile *p;
	u32 evs, gens;
	int err;

	count_parts(info, &evs, &gens);
	if (evs > MRC_EVS_MAX) {
		MRC_ERR_MSG(info->extack, "profile: %u EVs, at most %u", evs, MRC_EVS_MAX);
		return ERR_PTR(-E2BIG);
	}
	if (gens > MRC_GENS_MAX) {
		MRC_ERR_MSG(info->extack, "profile: %u generators, at most %u", gens,
			    MRC_GENS_MAX);
		return ERR_PTR(-E2BIG);
	}
	p = mrc_profile_alloc(evs, gens);
	if (!p)
		return ERR_PTR(-ENOMEM);
	err = parse_head(p, tb, info) ?: check_parts(p, tb, evs, gens, info->extack);
	if (!err)
		err = parse_evs(p, info) ?: parse_gens(p, info);
	if (!err && p->mode == MRC_MODE_GEN)
		return expand_gens(dev, p, info->extack);
	if (!err)
		return p;
	mrc_profile_put(p);
	return ERR_PTR(err);
}

/* The first SRv6 profile makes packets longer, and removing the last one shorter. @need: length before the change. */
static void profile_changed(struct mrc_dev *dev, u32 need)
{
	atomic_inc(&mrc_genl_generation);
	if (mrc_dev_plane_mtu_for(dev, IB_MTU_4096) != need)
		mrc_carrier_mtu(dev);
}

static int profile_change(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PROFILE_MAX + 1];
	struct mrc_profile *p;
	u32 need;
	int err;

	err = mrc_genl_nest(info, MRC_A_PROFILE, tb, MRC_A_PROFILE_MAX,
			    mrc_genl_profile_policy, MRC_A_PROFILE_ID);
	if (err)
		return err;
	p = parse_profile(dev, tb, info);
	if (IS_ERR(p))
		return PTR_ERR(p);
	need = mrc_dev_plane_mtu_for(dev, IB_MTU_4096);
	err = mrc_path_change_set_profile(dev, p, info->extack);
	if (!err)
		profile_changed(dev, need);
	return err;
}

static int profile_remove(struct mrc_dev *dev, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_PROFILE_MAX + 1];
	struct mrc_profile_key key;
	u32 need;
	int err;

	err = mrc_genl_nest(info, MRC_A_PROFILE, tb, MRC_A_PROFILE_MAX,
			    mrc_genl_profile_key_policy, MRC_A_PROFILE_ID);
	if (err)
		return err;
	err = parse_key(&key, tb, info->extack);
	if (err)
		return err;
	need = mrc_dev_plane_mtu_for(dev, IB_MTU_4096);
	err = mrc_path_change_del_profile(dev, &key, info->extack);
	if (!err)
		profile_changed(dev, need);
	return err;
}

int mrc_genl_profile_set(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, profile_change);
}

int mrc_genl_profile_del(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, profile_remove);
}

/* ---- into messages ---- */

static int put_field(struct sk_buff *skb, const struct mrc_ev_field *f)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_GEN_FIELD);

	if (!nest || nla_put_u32(skb, MRC_A_FIELD_WIDTH, f->width) ||
	    nla_put_u32(skb, MRC_A_FIELD_INIT, f->init_val) ||
	    nla_put_u32(skb, MRC_A_FIELD_FIRST, f->min_val) ||
	    nla_put_u32(skb, MRC_A_FIELD_LAST, f->max_val) ||
	    nla_put_u32(skb, MRC_A_FIELD_MASK, f->mask))
		return -EMSGSIZE;	/* the caller cancels its own nest */
	nla_nest_end(skb, nest);
	return 0;
}

static int put_copy(struct sk_buff *skb, const struct mrc_ev_copy *c)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_GEN_COPY);

	if (!nest || nla_put_u32(skb, MRC_A_COPY_FROM, c->from) ||
	    nla_put_u32(skb, MRC_A_COPY_BIT, c->bit) ||
	    nla_put_u32(skb, MRC_A_COPY_WIDTH, c->width) ||
	    nla_put_u32(skb, MRC_A_COPY_AT, c->at))
		return -EMSGSIZE;	/* the caller cancels its own nest */
	nla_nest_end(skb, nest);
	return 0;
}

static int put_gen(struct sk_buff *skb, const struct mrc_profile_gen *g)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PROFILE_GEN);
	u8 i;

	if (!nest)
		return -EMSGSIZE;
	if (g->port && nla_put_u8(skb, MRC_A_GEN_PORT, g->port))
		goto cancel;
	for (i = 0; i < g->n; i++)
		if (put_field(skb, &g->field[i]))
			goto cancel;
	for (i = 0; i < g->n_copy; i++)
		if (put_copy(skb, &g->copy[i]))
			goto cancel;
	nla_nest_end(skb, nest);
	return 0;
cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

static int put_profile_ev(struct sk_buff *skb, const struct mrc_profile_ev *ev)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PROFILE_EV);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put(skb, MRC_A_EV_VALUE, sizeof(ev->value), ev->value) ||
	    nla_put_u8(skb, MRC_A_EV_PORT, ev->port) ||
	    (READ_ONCE(ev->denied) && nla_put_u32(skb, MRC_A_EV_STATE, MRC_NL_EV_DENIED))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_profile_head(struct sk_buff *skb, const struct mrc_profile *p)
{
	u8 len = p->key.len;

	if (nla_put_u64_64bit(skb, MRC_A_PROFILE_ID, p->key.id, MRC_A_PROFILE_PAD) ||
	    (len && nla_put(skb, MRC_A_PROFILE_DST, sizeof(p->key.dst), &p->key.dst)) ||
	    (len && len != MRC_PROFILE_ONE && nla_put_u8(skb, MRC_A_PROFILE_DST_LEN, len)) ||
	    nla_put_u32(skb, MRC_A_PROFILE_FMT, p->fmt) ||
	    nla_put_u32(skb, MRC_A_PROFILE_MODE, p->mode) ||
	    nla_put_u32(skb, MRC_A_PROFILE_MIN_ACTIVE, p->min_active) ||
	    (p->want && nla_put_u32(skb, MRC_A_PROFILE_COUNT, p->want)) ||
	    (p->n_fmt && nla_put(skb, MRC_A_PROFILE_FMT_WIDTHS, p->n_fmt, p->fmt_width)))
		return -EMSGSIZE;
	return 0;
}

/* Part @idx: the generators, then the EVs. */
static int put_part(struct sk_buff *skb, const struct mrc_profile *p, u32 idx)
{
	if (idx < p->n_gen)
		return put_gen(skb, &p->gen[idx]);
	return put_profile_ev(skb, &p->ev[idx - p->n_gen]);
}

/*
 * Returns -EMSGSIZE with a valid message if some parts fitted (*idx is advanced), and with nothing added if
 * none did.
 */
int mrc_genl_put_profile(struct sk_buff *skb, const struct mrc_profile *p, u32 *idx)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PROFILE);
	u32 first = *idx;

	if (!nest)
		return -EMSGSIZE;
	if (put_profile_head(skb, p))
		goto cancel;
	for (; *idx < p->n_gen + p->n; (*idx)++) {
		if (!put_part(skb, p, *idx))
			continue;
		if (*idx == first)
			goto cancel;
		nla_nest_end(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}
