// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ah.c - see mrc_ah.h.
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/uverbs_ioctl.h>
#include "mem/mrc_pd.h"
#include "mem/mrc_ucontext.h"
#include "data/mrc_av.h"
#include "data/mrc_mcast.h"
#include "verbs/mrc_ah.h"

int mrc_ah_check(struct ib_device *ibdev, const struct rdma_ah_attr *ah, bool groups)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);
	const struct in6_addr *s, *d;

	if (!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH) || !grh->sgid_attr)
		return -EINVAL;
	s = (const struct in6_addr *)&grh->sgid_attr->gid;
	d = (const struct in6_addr *)&grh->dgid;
	if (ipv6_addr_any(d) ||
	    (mrc_dev_addr_is_group(d) && !(groups && mrc_mcast_leaves_host(d))) ||
	    ipv6_addr_v4mapped(s) != ipv6_addr_v4mapped(d)) {
		ibdev_dbg(ibdev, "GID %pI6c cannot be reached from %pI6c\n", d, s);
		return -EINVAL;
	}
	return 0;
}

static int ah_answer(const struct mrc_av *av, struct ib_udata *udata)
{
	struct mrc_ucreate_ah_resp resp = { .ah = av->num };

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/*
 * Only handles of programs count. Those of the kernel belong to connection managers, which must
 * work even if a program has used up the limit.
 */
static int ah_count(struct mrc_ah *ah, bool program)
{
	if (program && !atomic_add_unless(&to_mrc_dev(ah->ibah.device)->n_avs, 1, MRC_MAX_AH))
		return -ENOSPC;
	ah->counted = program;
	return 0;
}

static void ah_uncount(struct mrc_ah *ah)
{
	if (ah->counted)
		atomic_dec(&to_mrc_dev(ah->ibah.device)->n_avs);
}

int mrc_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	const struct ib_global_route *grh = rdma_ah_read_grh(init->ah_attr);
	struct mrc_ah *ah = container_of(ibah, struct mrc_ah, ibah);
	struct mrc_dev *dev = to_mrc_dev(ibah->device);
	struct mrc_av like = { .dev = dev, .pdn = to_mrc_pd(ibah->pd)->pdn };
	int err;

	err = mrc_ah_check(ibah->device, init->ah_attr, true);
	if (!err && udata)
		err = mrc_ucontext_check(udata, 0, sizeof(struct mrc_ucreate_ah_resp));
	if (!err)
		err = ah_count(ah, udata);
	if (err)
		return err;
	like.sgid = grh->sgid_attr->gid;
	like.dgid = grh->dgid;
	if (mrc_dev_addr_is_group((const struct in6_addr *)&like.dgid))
		like.hops = grh->hop_limit;
	ah->av = mrc_av_create(&like, gfp);
	if (IS_ERR(ah->av)) {
		err = PTR_ERR(ah->av);
		goto err_count;
	}
	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;	/* the reference is ib_core's */
	err = udata ? ah_answer(ah->av, udata) : 0;
	if (!err)
		return 0;
	mrc_av_destroy(ah->av);
err_count:
	ah_uncount(ah);
	return err;
}

int mrc_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = container_of(ibah, struct mrc_ah, ibah)->attr;
	return 0;
}

int mrc_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	struct mrc_ah *ah = container_of(ibah, struct mrc_ah, ibah);

	mrc_av_destroy(ah->av);
	ah_uncount(ah);
	return 0;
}

u32 mrc_ah_number(const struct ib_ah *ibah)
{
	return container_of(ibah, struct mrc_ah, ibah)->av->num;
}
