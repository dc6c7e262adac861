// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profile_check.c - see mrc_profile_check.h.
 *
 * Every error message names the EV, generator or field, and the value. An EV may be listed more
 * than once, which gives its path more weight.
 */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_profile_check.h"
#include "path/mrc_profile_gen.h"
#include "path/mrc_template.h"

/* ---- EVs ---- */

static int check_ev_srv6(u32 idx, const struct mrc_profile_ev *ev, struct netlink_ext_ack *extack)
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

int mrc_profile_check_ev(struct mrc_dev *dev, u32 fmt, u32 idx, const struct mrc_profile_ev *ev,
			 struct netlink_ext_ack *extack)
{
	int err = mrc_profile_port_check(dev, "EV", idx, ev->port, extack);

	if (err)
		return err;
	return fmt == MRC_FMT_SRV6 ? check_ev_srv6(idx, ev, extack) : 0;
}

/* ---- the whole ---- */

static int check_mode(const struct mrc_profile *p, struct netlink_ext_ack *extack)
{
	switch (p->mode) {
	case MRC_MODE_EXP:
		if (p->n)
			return 0;
		MRC_ERR_MSG(extack, "profile %llu: no EVs in explicit mode", p->key.id);
		return -EINVAL;
	case MRC_MODE_AUTO:
		if (p->n) {
			MRC_ERR_MSG(extack, "profile %llu: mode AUTO takes no EVs", p->key.id);
			return -EINVAL;
		}
		if (p->fmt != MRC_FMT_SRV6)
			return 0;
		MRC_ERR_MSG(extack, "profile %llu: SRv6 EVs cannot be made up (mode AUTO)",
			    p->key.id);
		return -EINVAL;
	case MRC_MODE_GEN:
		return 0;
	}
	MRC_ERR_MSG(extack, "profile %llu: unknown mode %u", p->key.id, p->mode);
	return -EINVAL;
}

/* Refuse a profile with only denied EVs: QPs would wait without end. */
static int check_denied(const struct mrc_profile *p, struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (!p->ev[i].denied)
			return 0;
	if (!p->n)
		return 0;
	MRC_ERR_MSG(extack, "profile %llu: all of its %u EVs would be denied", p->key.id, p->n);
	return -EBUSY;
}

int mrc_profile_check(struct mrc_dev *dev, const struct mrc_profile *p,
		      struct netlink_ext_ack *extack)
{
	u32 i, n = p->mode == MRC_MODE_AUTO ? p->want : p->n;
	int err;

	if (!p->key.id) {
		MRC_ERR_MSG(extack, "profile id 0 means AUTO and cannot be set");
		return -EINVAL;
	}
	if (p->fmt != MRC_FMT_STEV && p->fmt != MRC_FMT_SRV6 && p->fmt != MRC_FMT_UDP) {
		MRC_ERR_MSG(extack, "profile %llu: unknown EV format %u", p->key.id, p->fmt);
		return -EINVAL;
	}
	err = mrc_profile_check_key(&p->key, extack) ?: check_mode(p, extack);
	if (err)
		return err;
	if (n && p->min_active > n) {
		MRC_ERR_MSG(extack, "profile %llu: min-active %u of %u EVs", p->key.id,
			    p->min_active, n);
		return -EINVAL;
	}
	for (i = 0; !err && i < p->n; i++)
		err = mrc_profile_check_ev(dev, p->fmt, i, &p->ev[i], extack);
	return err ?: mrc_profile_gen_names(p, extack) ?: check_denied(p, extack) ?:
	       mrc_template_check(p, extack);
}
