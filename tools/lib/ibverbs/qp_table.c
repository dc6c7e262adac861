// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * qp_table.c - finds the QPs of a context by number, for polling.
 *
 * Polling takes no lock (mrc_qp_find()): a page is only removed when none of its QPs has a
 * completion in any queue. QP numbers come from one counter of the host, so the QPs of a program
 * share few pages.
 */
#include <errno.h>
#include <stdlib.h>
#include "mrc_prov.h"

static struct mrc_qp_page **page_of(struct mrc_context *ctx, uint32_t qpn)
{
	return &ctx->qp_page[qpn >> MRC_QPN_LOW];
}

static struct mrc_qp **entry_of(struct mrc_qp_page *page, uint32_t qpn)
{
	return &page->qp[qpn & ((1 << MRC_QPN_LOW) - 1)];
}

int mrc_qp_add(struct mrc_context *ctx, struct mrc_qp *qp)
{
	uint32_t qpn = qp->v.qp.qp_num;
	struct mrc_qp_page **page, *new;
	int ret = 0;

	if (qpn >> MRC_QPN_BITS)
		return EPROTO;
	page = page_of(ctx, qpn);
	pthread_mutex_lock(&ctx->qp_lock);
	if (!*page) {
		new = calloc(1, sizeof(*new));
		if (new)
			__atomic_store_n(page, new, __ATOMIC_RELEASE);
		else
			ret = ENOMEM;
	}
	if (!ret) {
		*entry_of(*page, qpn) = qp;
		(*page)->n++;
	}
	pthread_mutex_unlock(&ctx->qp_lock);
	return ret;
}

void mrc_qp_del(struct mrc_context *ctx, struct mrc_qp *qp)
{
	struct mrc_qp_page **page = page_of(ctx, qp->v.qp.qp_num), *old;

	pthread_mutex_lock(&ctx->qp_lock);
	old = *page;
	*entry_of(old, qp->v.qp.qp_num) = NULL;
	if (--old->n)
		old = NULL;
	else
		__atomic_store_n(page, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ctx->qp_lock);
	free(old);
}
