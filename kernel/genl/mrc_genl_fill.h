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

/* Any context, with or without locks. */
int mrc_genl_put_dev(struct sk_buff *skb, struct mrc_dev *dev);
int mrc_genl_put_plane(struct sk_buff *skb, struct mrc_dev_plane *p);
/*
 * @pos: adds as many of its controllers after *@pos as fit (takes path_lock), and advances it. Returns
 * -EMSGSIZE with a valid message if some of them fitted, and with an unchanged one if none did.
 */
int mrc_genl_put_peer(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos);
/* Any context. Record @n of the log; @whole: with attributes that require CAP_NET_ADMIN. */
int mrc_genl_put_record(struct sk_buff *skb, u64 n, const struct mrc_history_rec *rec, u64 lost, bool whole);
/* Process context, no lock held. */
int mrc_genl_put_stats(struct sk_buff *skb, struct mrc_dev *dev);
/*
 * @scratch: memory of the caller, too large for the stack. @zeros: with counters that are zero. @secrets: with numbers that
 * would help to forge packets.
 */
int mrc_genl_put_qp(struct sk_buff *skb, struct mrc_qp *qp, struct mrc_conn_info *scratch, bool zeros,
		    bool secrets);
/* Adds as many EVs from *@idx on as fit, and advances it. 0: all are in. */
int mrc_genl_put_evs(struct sk_buff *skb, struct mrc_pathset *ps, u32 *idx);

#endif
