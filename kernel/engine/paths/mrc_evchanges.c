// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_evchanges.c - see mrc_evchanges.h.
 */
#include "paths/mrc_evchanges.h"

void mrc_evchanges_add(struct mrc_ev_turns *t, const struct mrc_ev_change *one)
{
	u8 i;

	for (i = 0; i < t->n_news; i++) {
		struct mrc_ev_change *had = &t->news[i];

		if (had->state == one->state && had->why == one->why && had->plane == one->plane) {
			had->count += one->count;
			return;
		}
	}
	if (t->n_news == MRC_EV_CHANGES) {
		t->news_lost += one->count;
		return;
	}
	t->news[t->n_news++] = *one;
}

bool mrc_evchanges_take(struct mrc_ev_turns *t, struct mrc_ev_change *one)
{
	if (!t->n_news)
		return false;
	*one = t->news[0];
	t->n_news--;
	memmove(&t->news[0], &t->news[1], t->n_news * sizeof(t->news[0]));
	return true;
}
