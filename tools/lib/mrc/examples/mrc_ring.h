/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* mrc_ring.h - one rank of a ring all-reduce: its connections to both neighbours. */
#ifndef MRC_RING_H
#define MRC_RING_H

#include <stdbool.h>
#include <mrc.h>

#define RING_QPS	2	/* to each neighbour; data is split over them */
#define RING_SLOTS	2	/* chunks that may be on their way to a rank */
#define RING_LAST	(1u << 31)	/* in an immediate: this round is the last one */

struct ring_options {
	const char *device;
	const char *port;	/* of TCP */
	char **hosts;		/* addresses of all ranks */
	unsigned int n, rank;
	int gid_index;
	uint32_t elements, rounds;	/* rounds 0: until SIGINT to rank 0 */
};

/* The QPs to one neighbour, and where it has its memory. */
struct link {
	int tcp;
	struct mrc_qp *qp[RING_QPS];
	uint64_t address;
	uint32_t rkey;
};

struct ring {
	struct ring_options opt;
	struct link next, prev;
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *ctx;
	struct mrc_cq *cq;

	/*
	 * One region with the same layout at all ranks: the elements; slots that @prev writes;
	 * credits that @next writes; and credits to be sent to @prev.
	 */
	uint8_t *memory;
	size_t bytes;
	uint32_t chunk;		/* elements of a chunk, the last of which is shorter */

	uint64_t posted, sent;	/* WRITEs and WRITE_IMMs */
	uint64_t arrived[RING_QPS];	/* WRITE_IMMs */
	/*
	 * Rank 0 sets it, and each rank passes it on. A slot's value may be of the next round
	 * already.
	 */
	bool last, last_in[RING_SLOTS];
};

void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void ring_options(struct ring_options *opt, int argc, char **argv);

/* mrc_ring_link.c: opens the device and connects the QPs; and closes all. */
void ring_open(struct ring *r);
void ring_close(struct ring *r);
/* Returns when both neighbours have called it, too. */
void ring_together(struct ring *r);
void ring_post_receive(struct mrc_qp *qp, unsigned int q);

/* mrc_ring_tcp.c */
void ring_meet(const struct ring_options *opt, int *next, int *prev);
void ring_send(int tcp, const void *data, size_t len);
void ring_receive(int tcp, void *data, size_t len);

static inline uint32_t *ring_vector(struct ring *r)
{
	return (uint32_t *)r->memory;
}

static inline size_t ring_slot_at(const struct ring *r, uint64_t step)
{
	return (size_t)4 * r->chunk * (r->opt.n + step % RING_SLOTS);
}

static inline size_t ring_credit_at(const struct ring *r, uint64_t step)
{
	return ring_slot_at(r, 0) + (size_t)4 * r->chunk * RING_SLOTS + 8 * (step % RING_SLOTS);
}

/* The offset of the word that a credit is sent from. */
static inline size_t ring_grant_at(const struct ring *r, uint64_t step)
{
	return ring_credit_at(r, step) + 8 * RING_SLOTS;
}

#endif
