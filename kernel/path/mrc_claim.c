// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_claim.c - see mrc_claim.h.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include "core/mrc_net.h"
#include "path/mrc_claim.h"

static const struct rhashtable_params claim_params = {
	.key_len = offsetofend(struct mrc_claim_key, dqpn),	/* without the padding, which is not set */
	.key_offset = offsetof(struct mrc_claim, key),
	.head_offset = offsetof(struct mrc_claim, node),
	.automatic_shrinking = true,
};

/* A container may use a device of another network namespace, but cannot send raw packets there. */
void mrc_claim_owner(const struct mrc_dev *dev, bool kernel, struct mrc_claim_owner *owner)
{
	struct net *net = current->nsproxy ? current->nsproxy->net_ns : NULL;

	*owner = (struct mrc_claim_owner){ .uid = INVALID_UID, .trusted = kernel };
	if (kernel || !net)
		return;
	owner->uid = current_uid();
	owner->net = net->net_cookie;
	owner->trusted = net_eq(net, dev->mnet->net) && ns_capable_noaudit(net->user_ns, CAP_NET_RAW);
}

bool mrc_claim_owner_sees(const struct mrc_claim_owner *owner)
{
	return (uid_valid(owner->uid) && uid_eq(owner->uid, current_uid())) ||
	       ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

struct mrc_claim *mrc_claim_new(const struct mrc_claim_key *key, const struct mrc_claim_owner *owner)
{
	struct mrc_claim *claim = kzalloc(sizeof(*claim), GFP_KERNEL_ACCOUNT);

	if (!claim)
		return NULL;
	claim->key = *key;
	claim->owner = *owner;
	return claim;
}

/* Under dev->claim_lock. The claim that is held on the same QP, or NULL. */
static struct mrc_claim *claim_held(struct mrc_dev *dev, const struct mrc_claim *claim)
{
	return rhashtable_lookup_fast(&dev->claims, &claim->key, claim_params);
}

static bool claim_same_owner(const struct mrc_claim *a, const struct mrc_claim *b)
{
	return a->owner.net == b->owner.net &&
	       (uid_eq(a->owner.uid, b->owner.uid) || !(uid_valid(a->owner.uid) || uid_valid(b->owner.uid)));
}

bool mrc_claim_foreign(struct mrc_dev *dev, const struct mrc_claim *claim)
{
	const struct mrc_claim *held;
	bool foreign;

	spin_lock_bh(&dev->claim_lock);
	held = claim_held(dev, claim);
	foreign = held && !claim_same_owner(held, claim);
	spin_unlock_bh(&dev->claim_lock);
	return foreign;
}

/* Without memory for the table the claim is not listed: a working connection must not fail for that. */
struct mrc_claim *mrc_claim_take(struct mrc_dev *dev, struct mrc_claim *claim)
{
	struct mrc_claim *held, *mine = claim;

	spin_lock_bh(&dev->claim_lock);
	held = claim_held(dev, claim);
	if (!held) {
		if (!rhashtable_insert_fast(&dev->claims, &claim->node, claim_params))
			claim->users = 1;
		claim = NULL;
	} else if (claim_same_owner(held, claim)) {
		held->users++;
		mine = held;
	} else {
		mine = NULL;
	}
	spin_unlock_bh(&dev->claim_lock);
	kfree(claim);
	return mine;
}

void mrc_claim_put(struct mrc_dev *dev, struct mrc_claim *claim)
{
	bool last = true;

	if (!claim)
		return;
	spin_lock_bh(&dev->claim_lock);
	if (claim->users) {
		last = !--claim->users;
		if (last)
			rhashtable_remove_fast(&dev->claims, &claim->node, claim_params);
	}
	spin_unlock_bh(&dev->claim_lock);
	if (last)
		kfree_rcu(claim, rcu);
}

int mrc_claim_init(struct mrc_dev *dev)
{
	spin_lock_init(&dev->claim_lock);
	return rhashtable_init(&dev->claims, &claim_params);
}

void mrc_claim_exit(struct mrc_dev *dev)
{
	rhashtable_destroy(&dev->claims);
}
