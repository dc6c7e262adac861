/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_qp_peer.h - a QP as a user of its peer: it is notified when paths change.
 */
#ifndef MRC_QP_PEER_H
#define MRC_QP_PEER_H

#include "data/mrc_qp.h"

void mrc_qp_peer_init(struct mrc_qp *qp);	/* for a new QP */
/* Process context, under qp->mutex, no spinlock held. The QP becomes a user of @peer: our ports are announced. */
void mrc_qp_peer_link(struct mrc_qp *qp, struct mrc_peer *peer);
/* The same context. The QP is no longer a user of the peer of @paths, which the caller still references. */
void mrc_qp_peer_unlink(struct mrc_qp *qp, struct mrc_peer_paths *paths);

#endif
