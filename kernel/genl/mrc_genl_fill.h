/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_fill.h - writes objects into messages. Returns 0, or -EMSGSIZE after removing an
 * incomplete nest.
 */
#ifndef MRC_GENL_FILL_H
#define MRC_GENL_FILL_H

#include "core/mrc_dev_plane.h"
#include "path/mrc_peer.h"
#include "data/mrc_qp.h"
#include "genl/mrc_genl_cc.h"

/* Any context, whatever lock is held. */
int mrc_genl_put_dev(struct sk_buff *skb, struct mrc_dev *dev);
int mrc_genl_put_plane(struct sk_buff *skb, struct mrc_dev_plane *p);
/*
 * @pos: with as many of its controllers as fit from there on (under path_lock); it moves.
 * Returns -EMSGSIZE with the message sound when some were put, unchanged when none was.
 */
int mrc_genl_put_peer(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos);
/* Any context. Record @n of the log; @whole: with what only CAP_NET_ADMIN may see. */
int mrc_genl_put_record(struct sk_buff *skb, u64 n, const struct mrc_history_rec *rec, u64 lost, bool whole);
/* Process context, no lock held. */
int mrc_genl_put_stats(struct sk_buff *skb, struct mrc_dev *dev);
/* @scratch: too big for the stack, so the dump brings it. @zeros: with counters that have counted nothing. */
int mrc_genl_put_qp(struct sk_buff *skb, struct mrc_qp *qp, struct mrc_conn_info *scratch, bool zeros,
		    bool secrets);
/* As many EVs as fit, from *@idx on, which moves. 0: the last one is in. */
int mrc_genl_put_evs(struct sk_buff *skb, struct mrc_pathset *ps, u32 *idx);

#endif
