/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_ud_tx.h - sends datagrams: the turn of a datagram QP.
 */
#ifndef MRC_UD_TX_H
#define MRC_UD_TX_H

#include "data/mrc_ud.h"

/* For mrc_bhwork_init(); softirq. Sends and completes requests, or flushes them in an error state, within a budget. */
void mrc_ud_tx_turn(struct mrc_bhwork *w);

#endif
