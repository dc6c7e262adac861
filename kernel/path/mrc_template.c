// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_template.c - see mrc_template.h.
 *
 * A template is validated once, when it is set, with two extremes: all copied bits 0, and all 1. A
 * value that must not be zero is not zero in the first, and a value that must not be all ones is
 * not all ones in the second. Then both hold for any copied bits, because the other bits are
 * constant.
 */
#include <net/ipv6.h>
#include "linux/mrc.h"
#include "compat/mrc_compat_net.h"
#include "path/mrc_template.h"

void mrc_template_addrs(const struct mrc_dev *dev, const struct mrc_profile *prof,
			const union ib_gid *dst, struct mrc_ev_addrs *addrs)
{
	struct in6_addr own = {};

	BUILD_BUG_ON(sizeof(own) != sizeof(addrs->src) || sizeof(*dst) != sizeof(addrs->dst));
	memset(addrs, 0, sizeof(*addrs));
	memcpy(addrs->dst, dst, sizeof(addrs->dst));
	if (prof->from_own && mrc_dev_own_addr(dev, (const struct in6_addr *)dst, &own))
		memcpy(addrs->src, &own, sizeof(addrs->src));
}

void mrc_template_ev(const struct mrc_profile *prof, u32 idx, const struct mrc_ev_addrs *addrs,
		     struct mrc_profile_ev *ev)
{
	const struct mrc_profile_gen *gen;

	*ev = prof->ev[idx];
	if (!prof->is_template)
		return;
	gen = &prof->gen[ev->gen];
	mrc_evgen_copy(gen->copy, gen->n_copy, addrs, ev->value);
}

/* ---- validation ---- */

/* The extremes of an EV: all copied bits 0, or all 1. */
struct template_ends {
	struct mrc_profile_ev zeros, ones;
};

static void ends_of(const struct mrc_profile *prof, u32 idx, struct template_ends *e)
{
	struct mrc_ev_addrs addrs;

	memset(&addrs, 0, sizeof(addrs));
	mrc_template_ev(prof, idx, &addrs, &e->zeros);
	memset(&addrs, 0xff, sizeof(addrs));
	mrc_template_ev(prof, idx, &addrs, &e->ones);
}

/*
 * Checks one address of an SRv6 EV. Returns the extreme that is no unicast address, or NULL. If the first 16 bits are
 * never 0 and the first 8 never all ones, no value can be ::, ::1, IPv4-mapped or multicast.
 */
static const u8 *not_unicast(const u8 *zeros, const u8 *ones)
{
	if (!zeros[0] && !zeros[1])
		return zeros;
	return ones[0] == 0xff ? ones : NULL;
}

static int check_template_srv6(u32 idx, const struct template_ends *e, struct netlink_ext_ack *extack)
{
	const u8 *zeros = e->zeros.value, *ones = e->ones.value;
	const u8 *bad = not_unicast(zeros, ones);

	if (bad) {
		MRC_ERR_MSG(extack, "EV %u: copies can make it %pI6c, no unicast", idx, bad);
		return -EINVAL;
	}
	if (!memchr_inv(ones + 16, 0, 16))
		return 0;	/* no segment, whatever is copied */
	bad = not_unicast(zeros + 16, ones + 16);
	if (!bad)
		return 0;
	MRC_ERR_MSG(extack, "EV %u: copies can make its segment %pI6c", idx, bad);
	return -EINVAL;
}

int mrc_template_check(const struct mrc_profile *prof, struct netlink_ext_ack *extack)
{
	struct template_ends e;
	int err = 0;
	u32 i;

	if (!prof->is_template || prof->fmt != MRC_FMT_SRV6)
		return 0;
	for (i = 0; !err && i < prof->n; i++) {
		ends_of(prof, i, &e);
		err = check_template_srv6(i, &e, extack);
	}
	return err;
}
