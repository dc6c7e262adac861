// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_profile.c - see mrc_profile.h.
 */
#include <linux/mm.h>
#include <net/ipv6.h>
#include "compat/mrc_compat_net.h"
#include "path/mrc_profile.h"

struct mrc_profile *mrc_profile_alloc(u32 n, u32 n_gen)
{
	struct mrc_profile *p = kvzalloc(struct_size(p, ev, n), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	refcount_set(&p->ref, 1);
	RB_CLEAR_NODE(&p->node);
	if (!n_gen)
		return p;
	p->gen = kvcalloc(n_gen, sizeof(*p->gen), GFP_KERNEL_ACCOUNT);
	if (!p->gen) {
		kvfree(p);
		return NULL;
	}
	return p;
}

static void profile_free_rcu(struct rcu_head *rcu)
{
	struct mrc_profile *p = container_of(rcu, struct mrc_profile, rcu);

	kvfree(p->gen);
	kvfree(p);
}

void mrc_profile_put(struct mrc_profile *p)
{
	if (p && refcount_dec_and_test(&p->ref))
		call_rcu(&p->rcu, profile_free_rcu);
}

/* ---- destinations ---- */

int mrc_profile_cmp(const struct mrc_profile_key *a, const struct mrc_profile_key *b)
{
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(&a->dst, &b->dst, sizeof(a->dst));
}

bool mrc_profile_covers(const struct mrc_profile_key *key, const union ib_gid *dst)
{
	return ipv6_prefix_equal((const struct in6_addr *)&key->dst, (const struct in6_addr *)dst,
				 key->len);
}

int mrc_profile_check_key(const struct mrc_profile_key *key, struct netlink_ext_ack *extack)
{
	struct in6_addr prefix;

	if (key->len > MRC_PROFILE_ONE) {
		MRC_ERR_MSG(extack, "prefix length %u is not in 1 to %u", key->len,
			    MRC_PROFILE_ONE);
		return -EINVAL;
	}
	ipv6_addr_prefix(&prefix, (const struct in6_addr *)&key->dst, key->len);
	if (!memcmp(&prefix, &key->dst, sizeof(prefix)))
		return 0;
	/* Whole also with the longest: Linux 6.12 cuts texts with values after 79 characters. */
	MRC_ERR_MSG(extack, "dst has bits beyond its /%u: %pI6c?", key->len, &prefix);
	return -EINVAL;
}

static bool profile_same_evs(const struct mrc_profile *a, const struct mrc_profile *b)
{
	u32 i;

	for (i = 0; i < a->n; i++)
		if (a->ev[i].port != b->ev[i].port || a->ev[i].gen != b->ev[i].gen ||
		    memcmp(a->ev[i].value, b->ev[i].value, sizeof(a->ev[i].value)))
			return false;
	return true;
}

bool mrc_profile_same(const struct mrc_profile *a, const struct mrc_profile *b)
{
	if (a->fmt != b->fmt || a->mode != b->mode || a->min_active != b->min_active ||
	    a->want != b->want || a->n != b->n || a->n_fmt != b->n_fmt || a->n_gen != b->n_gen)
		return false;
	if (memcmp(a->fmt_width, b->fmt_width, sizeof(a->fmt_width)))
		return false;
	if (a->n_gen && memcmp(a->gen, b->gen, a->n_gen * sizeof(*a->gen)))
		return false;
	return profile_same_evs(a, b);
}

void mrc_profile_deny_as(struct mrc_profile *to, const struct mrc_profile *from)
{
	u32 i;

	/* Sets are made meanwhile: some EV is allowed at any time. */
	for (i = 0; i < to->n; i++)
		if (!from->ev[i].denied)
			WRITE_ONCE(to->ev[i].denied, false);
	for (i = 0; i < to->n; i++)
		if (from->ev[i].denied)
			WRITE_ONCE(to->ev[i].denied, true);
}
