// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_evnews.c - see mrc_evnews.h.
 */
#include "paths/mrc_evnews.h"

void mrc_evnews_add(struct mrc_ev_turns *t, const struct mrc_ev_news *one)
{
	u8 i;

	for (i = 0; i < t->n_news; i++) {
		struct mrc_ev_news *had = &t->news[i];

		if (had->state == one->state && had->why == one->why && had->plane == one->plane) {
			had->count += one->count;
			return;
		}
	}
	if (t->n_news == MRC_EV_NEWS) {
		t->news_lost += one->count;
		return;
	}
	t->news[t->n_news++] = *one;
}

bool mrc_evnews_take(struct mrc_ev_turns *t, struct mrc_ev_news *one)
{
	if (!t->n_news)
		return false;
	*one = t->news[0];
	t->n_news--;
	memmove(&t->news[0], &t->news[1], t->n_news * sizeof(t->news[0]));
	return true;
}
