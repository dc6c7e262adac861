// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profile_check.c - is an EV profile sound; and the EVs of mode GEN.
 *
 * Every refusal names the EV, generator or field and the value. An EV may be listed
 * more than once: that weights its path.
 */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_profile_check.h"

/* ---- EVs ---- */

static int check_port(struct mrc_dev *dev, const char *what, u32 idx, u8 port,
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

static int check_srv6(u32 idx, const struct mrc_profile_ev *ev, struct netlink_ext_ack *extack)
{
	struct in6_addr dst, seg;

	memcpy(&dst, ev->value, sizeof(dst));
	memcpy(&seg, ev->value + 16, sizeof(seg));
	if (!(ipv6_addr_type(&dst) & IPV6_ADDR_UNICAST) || ipv6_addr_loopback(&dst) ||
	    ipv6_addr_v4mapped(&dst)) {
		MRC_ERR_MSG(extack, "EV %u: %pI6c is no SRv6 destination", idx, &dst);
		return -EINVAL;
	}
	if (ipv6_addr_is_multicast(&seg)) {
		MRC_ERR_MSG(extack, "EV %u: %pI6c is no SRv6 segment", idx, &seg);
		return -EINVAL;
	}
	return 0;
}

static int check_ev(struct mrc_dev *dev, const struct mrc_profile *p, u32 idx,
		    struct netlink_ext_ack *extack)
{
	const struct mrc_profile_ev *ev = &p->ev[idx];
	int err = check_port(dev, "EV", idx, ev->port, extack);

	if (err)
		return err;
	if (p->fmt == MRC_FMT_SRV6)
		return check_srv6(idx, ev, extack);
	if (!ev->value[0] && !ev->value[1]) {
		MRC_ERR_MSG(extack, "EV %u: UDP source port 0", idx);
		return -EINVAL;
	}
	return 0;
}

/* ---- generators ---- */

static void gen_of(const struct mrc_profile *p, u32 idx, struct mrc_ev_gen *g)
{
	const struct mrc_profile_gen *from = &p->gen[idx];

	BUILD_BUG_ON((int)MRC_FMT_STEV != (int)MRC_EV_FMT_STEV ||
		     (int)MRC_FMT_SRV6 != (int)MRC_EV_FMT_SRV6 ||
		     (int)MRC_FMT_UDP != (int)MRC_EV_FMT_UDP);
	memset(g, 0, sizeof(*g));
	g->fmt = (u8)p->fmt;
	g->n_fmt = p->n_fmt;
	g->n = from->n;
	memcpy(g->fmt_width, p->fmt_width, sizeof(g->fmt_width));
	memcpy(g->field, from->field, sizeof(g->field));
}

static void gen_refuse(const struct mrc_ev_gen *g, u32 idx, enum mrc_evgen_err err, u8 k,
		       struct netlink_ext_ack *extack)
{
	const struct mrc_ev_field *f = &g->field[min_t(u8, k, MRC_EV_FIELDS_MAX - 1)];
	u32 total = 0, i;

	for (i = 0; i < g->n_fmt; i++)
		total += g->fmt_width[i];
	switch (err) {
	case MRC_EVGEN_OK:
		break;
	case MRC_EVGEN_FORMAT:
		MRC_ERR_MSG(extack, "unknown EV format %u", g->fmt);
		break;
	case MRC_EVGEN_COUNT:
		MRC_ERR_MSG(extack, "gen %u: %u fields, the format has %u", idx, g->n, g->n_fmt);
		break;
	case MRC_EVGEN_WIDTH:
		MRC_ERR_MSG(extack, "gen %u field %u: width %u, the format's field has %u bits",
			    idx, k, f->width, k < g->n_fmt ? g->fmt_width[k] : 0);
		break;
	case MRC_EVGEN_TOTAL:
		MRC_ERR_MSG(extack, "format: %u bits, an EV has at most %u", total,
			    mrc_ev_fmt_width(g->fmt));
		break;
	case MRC_EVGEN_INIT:
		MRC_ERR_MSG(extack, "gen %u field %u: init %#x does not fit %u bits", idx, k,
			    f->init_val, f->width);
		break;
	case MRC_EVGEN_MASK:
		MRC_ERR_MSG(extack, "gen %u field %u: mask %#x does not fit %u bits", idx, k,
			    f->mask, f->width);
		break;
	case MRC_EVGEN_RANGE:
		MRC_ERR_MSG(extack, "gen %u field %u: min %u, max %u, mask has %u bits", idx, k,
			    f->min_val, f->max_val, hweight32(f->mask));
		break;
	}
}

/* All that the generators describe; saturates. 0: not valid. */
static u32 gen_total(const struct mrc_profile *p, struct netlink_ext_ack *extack)
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
		sum += mrc_evgen_count(&g);
	}
	return (u32)min_t(u64, sum, U32_MAX);
}

u32 mrc_profile_check_gen_count(const struct mrc_profile *p, struct netlink_ext_ack *extack)
{
	u32 total;

	if (!p->n_gen) {
		MRC_ERR_MSG(extack, "profile %llu: no fields in mode GEN", p->id);
		return 0;
	}
	total = gen_total(p, extack);
	if (!total)
		return 0;
	if (p->want > total) {
		MRC_ERR_MSG(extack, "profile %llu: count %u, the fields make %u EVs", p->id,
			    p->want, total);
		return 0;
	}
	if (!p->want && total > MRC_EVS_MAX) {
		MRC_ERR_MSG(extack, "profile %llu: the fields make %u EVs, at most %u", p->id,
			    total, MRC_EVS_MAX);
		return 0;
	}
	if (p->want && p->want < p->n_gen) {
		MRC_ERR_MSG(extack, "profile %llu: count %u for %u generators", p->id, p->want,
			    p->n_gen);
		return 0;
	}
	return p->want ?: total;
}

/* Ports of the device in turn: the first one above @port, round. */
static u8 next_port(struct mrc_dev *dev, u8 port)
{
	u32 i;

	for (i = 0; i < MRC_PLANES_MAX; i++) {
		port = port % MRC_PLANES_MAX + 1;
		if (rcu_access_pointer(dev->plane[port - 1]))
			return port;
	}
	return 0;
}

/* @take EVs of one generator at even distances, from p->ev[p->n] on. */
static void gen_fill_one(struct mrc_dev *dev, struct mrc_profile *p, u32 idx, u32 take)
{
	struct mrc_ev_gen g;
	u32 count, i;
	u8 port = 0;

	gen_of(p, idx, &g);
	count = mrc_evgen_count(&g);
	for (i = 0; i < take; i++) {
		struct mrc_profile_ev *ev = &p->ev[p->n++];

		mrc_evgen_expand(&g, (u32)div_u64((u64)i * count, take), ev->value);
		port = p->gen[idx].port ?: next_port(dev, port);
		ev->port = port;
		ev->srh = p->fmt == MRC_FMT_SRV6 && memchr_inv(ev->value + 16, 0, 16);
	}
}

int mrc_profile_check_gen_fill(struct mrc_dev *dev, struct mrc_profile *p,
			       struct netlink_ext_ack *extack)
{
	u32 i, take, left = p->want;
	struct mrc_ev_gen g;
	int err;

	for (i = 0; i < p->n_gen; i++) {
		if (p->gen[i].port) {
			err = check_port(dev, "gen", i, p->gen[i].port, extack);
			if (err)
				return err;
		}
		gen_of(p, i, &g);
		take = mrc_evgen_count(&g);
		if (p->want) {
			/* Shares as equal as the generators allow, in their order. */
			take = min(take, left / (p->n_gen - i));
			left -= take;
		}
		gen_fill_one(dev, p, i, take);
	}
	if (!left)
		return 0;
	MRC_ERR_MSG(extack, "profile %llu: count %u, the last generator has %u EVs too few",
		    p->id, p->want, left);
	return -EINVAL;
}

/* ---- the whole ---- */

static int check_mode(const struct mrc_profile *p, struct netlink_ext_ack *extack)
{
	switch (p->mode) {
	case MRC_MODE_EXP:
		if (p->n)
			return 0;
		MRC_ERR_MSG(extack, "profile %llu: no EVs in explicit mode", p->id);
		return -EINVAL;
	case MRC_MODE_AUTO:
		if (p->n) {
			MRC_ERR_MSG(extack, "profile %llu: mode AUTO takes no EVs", p->id);
			return -EINVAL;
		}
		if (p->fmt != MRC_FMT_SRV6)
			return 0;
		MRC_ERR_MSG(extack, "profile %llu: SRv6 EVs cannot be made up (mode AUTO)",
			    p->id);
		return -EINVAL;
	case MRC_MODE_GEN:
		return 0;
	}
	MRC_ERR_MSG(extack, "profile %llu: unknown mode %u", p->id, p->mode);
	return -EINVAL;
}

int mrc_profile_check(struct mrc_dev *dev, const struct mrc_profile *p,
		      struct netlink_ext_ack *extack)
{
	u32 i, n = p->mode == MRC_MODE_AUTO ? p->want : p->n;
	int err;

	if (!p->id) {
		MRC_ERR_MSG(extack, "profile id 0 means AUTO and cannot be set");
		return -EINVAL;
	}
	if (p->fmt != MRC_FMT_STEV && p->fmt != MRC_FMT_SRV6 && p->fmt != MRC_FMT_UDP) {
		MRC_ERR_MSG(extack, "profile %llu: unknown EV format %u", p->id, p->fmt);
		return -EINVAL;
	}
	err = check_mode(p, extack);
	if (err)
		return err;
	if (n && p->min_active > n) {
		MRC_ERR_MSG(extack, "profile %llu: min-active %u of %u EVs", p->id,
			    p->min_active, n);
		return -EINVAL;
	}
	for (i = 0; !err && i < p->n; i++)
		err = check_ev(dev, p, i, extack);
	return err;
}
