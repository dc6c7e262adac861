// SPDX-License-Identifier: GPL-2.0
/*
 * nccl_coll.c - a ring allreduce and an all-to-all. What every rank puts in is a function of (iteration,
 * rank, place), so each knows what must come out, and looks at every byte of it.
 *
 * Data are used the moment a message is over: added, sent on, or compared. So a message
 * that is told before all of its bytes are there gives wrong results.
 */
#include <string.h>
#include "nccl.h"

static struct {
	uint64_t iteration;
	uint32_t *sum;		/* ring: N segments; what we have, then what all have together */
	uint32_t *landing;	/* ring: where pieces to be added come to, by message % depth */
	uint8_t *out, *in;	/* all-to-all: for and from each rank */
} c;

static uint32_t element(uint64_t iteration, int rank, uint64_t i)
{
	return (uint32_t)vc_mix(iteration << 40 ^ (uint64_t)rank << 32 ^ i);
}

/* ---- ring allreduce: reduce-scatter, then allgather; 2 (n - 1) steps of so many pieces */

static uint32_t piece_words(const struct world *w)
{
	return w->piece / 4;
}

static uint64_t ring_words(const struct world *w)
{
	return (uint64_t)w->n * w->pieces * piece_words(w);
}

size_t nccl_ring_bytes(const struct world *w)
{
	return (size_t)ring_words(w) * 4 + (size_t)w->depth * w->piece + NCCL_GUARD;
}

/* Of message @i: at step s we send segment rank - s, and that before it comes to us. */
static uint32_t *ring_at(const struct link *l, uint64_t i)
{
	const struct world *w = l->w;
	const uint64_t s = i / w->pieces, n = (uint64_t)w->n;
	const uint64_t segment = ((uint64_t)w->rank + 2 * n - s - (l->out ? 0 : 1)) % n;

	return c.sum + (segment * w->pieces + i % w->pieces) * piece_words(w);
}

static bool is_added(const struct world *w, uint64_t i)
{
	return i / w->pieces < (uint64_t)w->n - 1;
}

static uint32_t *ring_landing(const struct link *l, uint64_t i)
{
	return c.landing + (l->base + i) % l->w->depth * piece_words(l->w);
}

static void ring_place(struct link *l, uint64_t i, uint8_t **buf, uint32_t *len)
{
	const bool lands = !l->out && is_added(l->w, i);

	*buf = (uint8_t *)(lands ? ring_landing(l, i) : ring_at(l, i));
	*len = piece_words(l->w) * 4;
}

/* What we send has come the step before. */
static bool ring_ready(struct link *l, uint64_t i)
{
	const struct link *in = nccl_link(l->w, (l->w->rank + l->w->n - 1) % l->w->n, false);

	return i < l->w->pieces || in->done - in->base > i - l->w->pieces;
}

static void ring_arrived(struct link *l, uint64_t i)
{
	uint32_t *sum = ring_at(l, i);
	const uint32_t *add = ring_landing(l, i);
	uint32_t j;

	if (is_added(l->w, i))
		for (j = 0; j < piece_words(l->w); j++)
			sum[j] += add[j];
}

void nccl_ring(struct world *w, uint64_t iteration)
{
	const struct job job = {
		.n = 2 * ((uint64_t)w->n - 1) * w->pieces, .place = ring_place, .ready = ring_ready,
		.arrived = ring_arrived,
	};
	uint64_t i;
	int r;

	c.sum = (uint32_t *)w->mem;
	c.landing = c.sum + ring_words(w);
	for (i = 0; i < ring_words(w); i++)
		c.sum[i] = element(iteration, w->rank, i);
	nccl_run(w, &job);
	for (i = 0; i < ring_words(w); i++) {
		uint32_t want = 0;

		for (r = 0; r < w->n; r++)
			want += element(iteration, r, i);
		if (c.sum[i] != want)
			nccl_broken(w, "iteration %llu: word %llu of %llu is %08x, not %08x",
				    (unsigned long long)iteration, (unsigned long long)i,
				    (unsigned long long)ring_words(w), c.sum[i], want);
	}
}

/* ---- all-to-all: messages of any length, none too */

static uint32_t a2a_len(const struct world *w, int from, int to, uint64_t i)
{
	const uint64_t x = vc_mix(c.iteration << 40 ^ (uint64_t)from << 32 ^ (uint64_t)to << 24 ^ i);

	if (x % 16 == 0)
		return 0;
	return x % 16 == 1 ? w->piece : (uint32_t)(x >> 8) % (w->piece + 1);
}

static size_t a2a_stride(const struct world *w)
{
	return w->piece + NCCL_GUARD;
}

size_t nccl_all2all_bytes(const struct world *w)
{
	return 2 * (size_t)w->n * w->pieces * a2a_stride(w);
}

static void a2a_fill(const struct world *w, uint8_t *p, int from, int to, uint64_t i)
{
	const uint32_t len = a2a_len(w, from, to, i);
	uint32_t j;

	for (j = 0; j < len; j += 4) {
		const uint32_t word = element(c.iteration, from << 8 | to, i << 24 | j);

		memcpy(p + j, &word, len - j < 4 ? len - j : 4);
	}
}

static uint8_t *a2a_at(const struct link *l, uint64_t i)
{
	return (l->out ? c.out : c.in) + ((uint64_t)l->peer * l->w->pieces + i) * a2a_stride(l->w);
}

static void a2a_place(struct link *l, uint64_t i, uint8_t **buf, uint32_t *len)
{
	*buf = a2a_at(l, i);
	*len = l->out ? a2a_len(l->w, l->w->rank, l->peer, i) : a2a_len(l->w, l->peer, l->w->rank, i);
}

/* At once; but in the first iteration as one whose data are late, when the peer waits for all of them. */
static bool a2a_ready(struct link *l, uint64_t i)
{
	const struct world *w = l->w;
	const uint64_t all = w->pieces < w->depth ? w->pieces : w->depth;
	uint64_t m;

	if (c.iteration || i || !w->t->invited)
		return true;
	for (m = l->base; m < l->base + all; m++)
		if (!w->t->invited(l, m))
			return false;
	return true;
}

/* All of it, and behind it nothing. */
static void a2a_arrived(struct link *l, uint64_t i)
{
	static uint8_t want[1 << 20];
	const struct world *w = l->w;
	const uint32_t len = a2a_len(w, l->peer, w->rank, i);
	const uint8_t *got = a2a_at(l, i);
	uint32_t j;

	a2a_fill(w, want, l->peer, w->rank, i);
	for (j = 0; j < a2a_stride(w); j++)
		if (got[j] != (j < len ? want[j] : 0x5a))
			nccl_broken(w, "iteration %llu, from rank %d: byte %u of message %llu of %u bytes",
				    (unsigned long long)c.iteration, l->peer, j,
				    (unsigned long long)i, len);
}

void nccl_all2all(struct world *w, uint64_t iteration)
{
	const struct job job = {
		.n = w->pieces, .place = a2a_place, .ready = a2a_ready, .arrived = a2a_arrived,
	};
	const size_t half = nccl_all2all_bytes(w) / 2;
	uint64_t i;
	int r;

	c.iteration = iteration;
	c.out = w->mem;
	c.in = w->mem + half;
	memset(c.in, 0x5a, half);
	for (r = 0; r < w->n; r++)
		for (i = 0; r != w->rank && i < w->pieces; i++)
			a2a_fill(w, c.out + ((uint64_t)r * w->pieces + i) * a2a_stride(w), w->rank,
				 r, i);
	nccl_run(w, &job);
}
