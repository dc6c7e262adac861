// SPDX-License-Identifier: GPL-2.0
/*
 * nccl_run.c - the loop that moves the messages of a collective over all links.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nccl.h"

#define POLL_BATCH	32
#define IDLE_US		100	/* programs that spin leave no processor to others */

void nccl_broken(const struct world *w, const char *fmt, ...)
{
	va_list args;
	int i;

	printf("rank %d: FAIL: ", w->rank);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	for (i = 0; i < w->n_links; i++) {
		const struct link *l = &w->link[i];

		printf("  %s %d: %llu posted, %llu done, by QP %llu %llu, room %u %u\n",
		       l->out ? "to" : "from", l->peer, (unsigned long long)l->posted,
		       (unsigned long long)l->done, (unsigned long long)l->qp_done[0],
		       (unsigned long long)l->qp_done[1], l->sq_free[0], l->sq_free[1]);
	}
	exit(VC_EXIT_BAD);
}

void nccl_post(struct link *l, int q, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(l->qp[q], wr, &bad);

	if (err)
		nccl_broken(l->w, "ibv_post_send to rank %d: %s", l->peer, strerror(err));
}

static bool post_next(struct link *l, const struct job *job)
{
	struct world *w = l->w;
	const uint64_t i = l->posted - l->base;
	struct note *note = &l->notes[l->posted % w->depth];
	uint8_t *buf;
	uint32_t len;

	if (i == job->n || l->posted - l->done == w->depth || (l->out && !job->ready(l, i)))
		return false;
	job->place(l, i, &buf, &len);
	note->buf = buf;
	note->len = len;
	if (!(l->out ? w->t->send : w->t->recv)(l, l->posted, buf, len))
		return false;
	l->posted++;
	if (l->out && l->posted - l->done > w->deepest)
		w->deepest = l->posted - l->done;
	return true;
}

static bool finish_next(struct link *l, const struct job *job)
{
	const uint64_t m = l->done;
	int q;

	for (q = 0; q < l->w->t->n_qps; q++)
		if (l->qp_done[q] <= m)
			return false;
	if (l->flush && l->flushed <= m)
		return false;
	if (m >= l->posted)
		nccl_broken(l->w, "message %llu of rank %d was never posted",
			    (unsigned long long)m, l->peer);
	if (!l->out) {
		l->w->bytes += l->notes[m % l->w->depth].len;
		l->w->messages++;
		job->arrived(l, m - l->base);
	}
	l->done++;
	return true;
}

static bool poll_one(struct world *w, struct ibv_cq *cq)
{
	struct ibv_wc wc[POLL_BATCH];
	int i, n = ibv_poll_cq(cq, POLL_BATCH, wc);

	if (n < 0)
		nccl_broken(w, "ibv_poll_cq failed");
	for (i = 0; i < n; i++) {
		struct link *l = &w->link[wc[i].wr_id >> 40];

		if (wc[i].status)
			nccl_broken(w, "%s, link %s rank %d, QP %d, wr_id %llx",
				    ibv_wc_status_str(wc[i].status), l->out ? "to" : "from",
				    l->peer, (int)(wc[i].wr_id >> 32) & 0xff,
				    (unsigned long long)wc[i].wr_id);
		w->t->completed(l, (int)(wc[i].wr_id >> 32) & 0xff, &wc[i]);
	}
	return n;
}

static bool poll_once(struct world *w)
{
	bool any = false;
	int i;

	if (w->cq)
		return poll_one(w, w->cq);
	for (i = 0; i < w->n_links; i++)
		any |= poll_one(w, w->link[i].cq);
	return any;
}

/* One round over everything; *@busy: something moved. Returns whether the job is over. */
static bool step(struct world *w, const struct job *job, bool *busy)
{
	bool over = true;
	int i;

	*busy = poll_once(w);
	for (i = 0; i < w->n_links; i++) {
		struct link *l = &w->link[i];

		if (job->takes_part && !job->takes_part(l))
			continue;
		while (finish_next(l, job))
			*busy = true;
		while (post_next(l, job))
			*busy = true;
		over &= l->done - l->base == job->n;
	}
	return over;
}

/* The QPs, while they still stand, are shown by what the test names in MRC_WHY. */
static void stalled(const struct world *w)
{
	const char *why = getenv("MRC_WHY");

	fflush(stdout);
	if (why && system(why))
		perror(why);
	nccl_broken(w, "nothing moves");
}

void nccl_run(struct world *w, const struct job *job)
{
	uint64_t moved = vc_now_ns();
	bool busy;
	int i;

	for (i = 0; i < w->n_links; i++)
		w->link[i].base = w->link[i].done;
	while (!step(w, job, &busy)) {
		const uint64_t now = vc_now_ns();

		if (busy)
			moved = now;
		else if (now - moved > w->stall_s * 1000000000ull)
			stalled(w);
		else
			usleep(IDLE_US);
	}
}
