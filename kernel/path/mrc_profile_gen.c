// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profile_gen.c - see mrc_profile_gen.h. Every error message names the generator, the field or
 * copy, and the value.
 */
#include <linux/rtnetlink.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_profile_gen.h"

int mrc_profile_port_check(struct mrc_dev *dev, const char *what, u32 idx, u8 port,
			   struct netlink_ext_ack *extack)
{
	bool exists;

	if (!port || port > MRC_PLANES_MAX) {
		MRC_ERR_MSG(extack, "%s %u: port %u is not in 1 to %u", what, idx, port,
			    MRC_PLANES_MAX);
		return -EINVAL;
	}
	exists = rcu_access_pointer(dev->plane[port - 1]);
	if (!exists) {
		MRC_ERR_MSG(extack, "%s %u: %s has no port %u", what, idx, dev->ndev->name,
			    port);
		return -ENODEV;
	}
	return 0;
}

static void gen_of(const struct mrc_profile *p, u32 idx, struct mrc_ev_gen *g)
{
	const struct mrc_profile_gen *from = &p->gen[idx];

	BUILD_BUG_ON((int)MRC_FMT_STEV != (int)MRC_EV_FMT_STEV ||
		     (int)MRC_FMT_SRV6 != (int)MRC_EV_FMT_SRV6 ||
		     (int)MRC_FMT_UDP != (int)MRC_EV_FMT_UDP);
	BUILD_BUG_ON((int)MRC_COPY_DST != (int)MRC_EV_FROM_DST ||
		     (int)MRC_COPY_SRC != (int)MRC_EV_FROM_SRC);
	memset(g, 0, sizeof(*g));
	g->fmt = (u8)p->fmt;
	g->n_fmt = p->n_fmt;
	g->n = from->n;
	g->n_copy = from->n_copy;
	memcpy(g->fmt_width, p->fmt_width, sizeof(g->fmt_width));
	memcpy(g->field, from->field, sizeof(g->field));
	memcpy(g->copy, from->copy, sizeof(g->copy));
}

/* Of field @k. */
static void field_refuse(const struct mrc_ev_gen *g, u32 idx, enum mrc_evgen_err err, u8 k,
			 struct netlink_ext_ack *extack)
{
	const struct mrc_ev_field *f = &g->field[min_t(u8, k, MRC_EV_FIELDS_MAX - 1)];

	if (err == MRC_EVGEN_WIDTH)
		MRC_ERR_MSG(extack, "gen %u field %u: width %u, the format's field has %u bits",
			    idx, k, f->width, k < g->n_fmt ? g->fmt_width[k] : 0);
	else if (err == MRC_EVGEN_INIT)
		MRC_ERR_MSG(extack, "gen %u field %u: init %#x does not fit %u bits", idx, k,
			    f->init_val, f->width);
	else if (err == MRC_EVGEN_MASK)
		MRC_ERR_MSG(extack, "gen %u field %u: mask %#x does not fit %u bits", idx, k,
			    f->mask, f->width);
	else
		MRC_ERR_MSG(extack, "gen %u field %u: min %u, max %u, mask has %u bits", idx, k,
			    f->min_val, f->max_val, hweight32(f->mask));
}

/* Of copy @k. */
static void copy_refuse(const struct mrc_ev_gen *g, u32 idx, enum mrc_evgen_err err, u8 k,
			struct netlink_ext_ack *extack)
{
	const struct mrc_ev_copy *c = &g->copy[min_t(u8, k, MRC_EV_COPIES_MAX - 1)];

	if (err == MRC_EVGEN_COPY_FROM)
		MRC_ERR_MSG(extack, "gen %u copy %u: from %u is neither dst (0) nor src (1)", idx,
			    k, c->from);
	else if (err == MRC_EVGEN_COPY_WIDTH)
		MRC_ERR_MSG(extack, "gen %u copy %u: width %u is not in 1 to 32", idx, k, c->width);
	else if (err == MRC_EVGEN_COPY_BITS)
		MRC_ERR_MSG(extack, "gen %u copy %u: %u bits from bit %u, an address has %u", idx,
			    k, c->width, c->bit, MRC_EV_ADDR_BITS);
	else
		MRC_ERR_MSG(extack, "gen %u copy %u: %u bits at bit %u, an EV has %u", idx, k,
			    c->width, c->at, mrc_ev_fmt_width(g->fmt));
}

static u32 gen_fmt_total(const struct mrc_ev_gen *g)
{
	u32 total = 0, i;

	for (i = 0; i < g->n_fmt; i++)
		total += g->fmt_width[i];
	return total;
}

static void gen_refuse(const struct mrc_ev_gen *g, u32 idx, enum mrc_evgen_err err, u8 k,
		       struct netlink_ext_ack *extack)
{
	switch (err) {
	case MRC_EVGEN_OK:
		break;
	case MRC_EVGEN_FORMAT:
		MRC_ERR_MSG(extack, "unknown EV format %u", g->fmt);
		break;
	case MRC_EVGEN_COUNT:
		MRC_ERR_MSG(extack, "gen %u: %u fields, the format has %u", idx, g->n, g->n_fmt);
		break;
	case MRC_EVGEN_TOTAL:
		MRC_ERR_MSG(extack, "format: %u bits, an EV has at most %u", gen_fmt_total(g),
			    mrc_ev_fmt_width(g->fmt));
		break;
	case MRC_EVGEN_COPIES:
		MRC_ERR_MSG(extack, "gen %u: %u copies, at most %u", idx, g->n_copy,
			    MRC_EV_COPIES_MAX);
		break;
	case MRC_EVGEN_WIDTH:
	case MRC_EVGEN_INIT:
	case MRC_EVGEN_MASK:
	case MRC_EVGEN_RANGE:
		field_refuse(g, idx, err, k, extack);
		break;
	case MRC_EVGEN_COPY_FROM:
	case MRC_EVGEN_COPY_WIDTH:
	case MRC_EVGEN_COPY_BITS:
	case MRC_EVGEN_COPY_AT:
		copy_refuse(g, idx, err, k, extack);
		break;
	}
}

/* The ports over which generator @idx is distributed: its own port, or all of the device. Returns their number, >= 1. */
static u32 gen_ports(struct mrc_dev *dev, const struct mrc_profile *p, u32 idx,
		     u8 port[MRC_PLANES_MAX])
{
	u32 i, n = 0;

	port[0] = p->gen[idx].port;
	if (port[0])
		return 1;
	for (i = 0; i < MRC_PLANES_MAX; i++)
		if (rcu_access_pointer(dev->plane[i]))
			port[n++] = (u8)(i + 1);
	return n ?: 1;
}

/* Maximum number of EVs of a generator with @count values. If the profile sets a count, each value may use each port. */
static u64 gen_most(struct mrc_dev *dev, const struct mrc_profile *p, u32 idx, u32 count)
{
	u8 port[MRC_PLANES_MAX];

	return p->want ? (u64)count * gen_ports(dev, p, idx, port) : count;
}

/* Maximum number of EVs of all generators, saturating. 0: not valid, with extack. */
static u32 gen_total(struct mrc_dev *dev, const struct mrc_profile *p,
		     struct netlink_ext_ack *extack)
{
	enum mrc_evgen_err err;
	struct mrc_ev_gen g;
	u64 sum = 0;
	u32 i;
	u8 k;

	for (i = 0; i < p->n_gen; i++) {
		gen_of(p, i, &g);
		k = 0;
		err = mrc_evgen_check(&g, &k);
		if (err != MRC_EVGEN_OK) {
			gen_refuse(&g, i, err, k, extack);
			return 0;
		}
		sum += gen_most(dev, p, i, mrc_evgen_count(&g));
	}
	return (u32)min_t(u64, sum, U32_MAX);
}

u32 mrc_profile_gen_count(struct mrc_dev *dev, const struct mrc_profile *p,
			  struct netlink_ext_ack *extack)
{
	u32 total;

	if (!p->n_gen) {
		MRC_ERR_MSG(extack, "profile %llu: no fields in mode GEN", p->key.id);
		return 0;
	}
	total = gen_total(dev, p, extack);
	if (!total)
		return 0;
	if (p->want > total) {
		MRC_ERR_MSG(extack, "profile %llu: count %u, the fields make %u EVs", p->key.id,
			    p->want, total);
		return 0;
	}
	if (!p->want && total > MRC_EVS_MAX) {
		MRC_ERR_MSG(extack, "profile %llu: the fields make %u EVs, at most %u", p->key.id,
			    total, MRC_EVS_MAX);
		return 0;
	}
	if (p->want && p->want < p->n_gen) {
		MRC_ERR_MSG(extack, "profile %llu: count %u for %u generators", p->key.id, p->want,
			    p->n_gen);
		return 0;
	}
	return p->want ?: total;
}

/* @take EVs of one generator, from p->ev[p->n] on. */
static void gen_fill_one(struct mrc_dev *dev, struct mrc_profile *p, u32 idx,
			 const struct mrc_ev_gen *g, u32 take)
{
	u32 count = mrc_evgen_count(g), n_ports, value, at, i;
	u8 port[MRC_PLANES_MAX];

	n_ports = gen_ports(dev, p, idx, port);
	for (i = 0; i < take; i++) {
		struct mrc_profile_ev *ev = &p->ev[p->n++];

		mrc_evgen_deal(count, take, n_ports, i, &value, &at);
		mrc_evgen_expand(g, value, ev->value);
		ev->port = port[at];
		ev->gen = (u8)idx;
		ev->srh = p->fmt == MRC_FMT_SRV6 && memchr_inv(ev->value + 16, 0, 16);
	}
}

/* Note whether @p copies from addresses, and from the own one. */
static void gen_marks(struct mrc_profile *p)
{
	u32 i, k;

	for (i = 0; i < p->n_gen; i++)
		for (k = 0; k < p->gen[i].n_copy; k++) {
			p->is_template = true;
			if (p->gen[i].copy[k].from == MRC_EV_FROM_SRC)
				p->from_own = true;
		}
}

int mrc_profile_gen_fill(struct mrc_dev *dev, struct mrc_profile *p,
			 struct netlink_ext_ack *extack)
{
	u32 i, take, left = p->want;
	struct mrc_ev_gen g;
	int err;

	gen_marks(p);
	for (i = 0; i < p->n_gen; i++) {
		if (p->gen[i].port) {
			err = mrc_profile_port_check(dev, "gen", i, p->gen[i].port, extack);
			if (err)
				return err;
		}
		gen_of(p, i, &g);
		take = mrc_evgen_count(&g);
		if (p->want) {
			/* Shares as equal as the generators allow, in their order. */
			take = (u32)min_t(u64, gen_most(dev, p, i, take), left / (p->n_gen - i));
			left -= take;
		}
		gen_fill_one(dev, p, i, &g, take);
	}
	if (!left)
		return 0;
	MRC_ERR_MSG(extack, "profile %llu: count %u, the last generator has %u EVs too few",
		    p->key.id, p->want, left);
	return -EINVAL;
}

/* ---- names of explicit EVs ---- */

int mrc_profile_gen_names(const struct mrc_profile *p, struct netlink_ext_ack *extack)
{
	u8 name[MRC_EV_BYTES], ev[MRC_EV_BYTES], k = 0;
	enum mrc_evgen_err err;
	struct mrc_ev_gen g;
	u32 i;

	if (p->mode != MRC_MODE_EXP || !p->n_gen)
		return 0;
	if (p->n_gen > 1 || p->gen[0].port || p->gen[0].n_copy) {
		MRC_ERR_MSG(extack, "profile %llu: explicit EVs take fields alone, one row of them",
			    p->key.id);
		return -EINVAL;
	}
	gen_of(p, 0, &g);
	err = mrc_evgen_check(&g, &k);
	if (err != MRC_EVGEN_OK) {
		gen_refuse(&g, 0, err, k, extack);
		return -EINVAL;
	}
	for (i = 0; i < p->n; i++) {
		mrc_evgen_name_of(&g, p->ev[i].value, name);
		mrc_evgen_wire(&g, name, ev);
		if (!memcmp(ev, p->ev[i].value, sizeof(ev)))
			continue;
		MRC_ERR_MSG(extack, "EV %u: the fields make no such value", i);
		return -EINVAL;
	}
	return 0;
}

int mrc_profile_gen_deny(struct mrc_profile *p, const struct mrc_profile_ev *denied, u32 n,
			 struct netlink_ext_ack *extack)
{
	u32 i, k = 0;

	for (i = 0; i < p->n && k < n; i++) {
		if (p->ev[i].port != denied[k].port ||
		    memcmp(p->ev[i].value, denied[k].value, sizeof(denied[k].value)))
			continue;
		p->ev[i].denied = denied[k++].denied;
	}
	if (k == n)
		return 0;
	MRC_ERR_MSG(extack, "EV %u: the fields make none such on that port behind the one before", k);
	return -EINVAL;
}
