// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ring.c - ring all-reduce through mrc.h, the way collective libraries use RDMA.
 *
 *	mrc_ring -d mrc0 -g 3 -r RANK HOST0 HOST1 ...		on each host, by its number in the list
 *
 * Each rank has two QPs to each neighbour, which carry WRITE and WRITE_WITH_IMM only. A chunk is
 * split over both QPs: each half is a WRITE, followed by an empty WRITE_WITH_IMM. The receive of the
 * immediate completes when the half has arrived, although packets and WRITEs arrive in any order.
 * A rank tells @prev by a WRITE which of its slots is free (a credit), and @next tells this rank.
 *
 * Every element of each result is checked. Rank i contributes i+1 times a number that depends on
 * the round and the place, so the sum is n(n+1)/2 times that number.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "mrc_ring.h"

#define IDLE_LOOKS	50	/* polls before it sleeps, because spinning leaves other programs
				 * no CPU */
#define IDLE_US		200

static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* ---- what is reduced ---- */

static uint32_t number(uint32_t round, uint32_t i)
{
	return (round * 2654435761u ^ i) * 2246822519u + 1;
}

static void fill(struct ring *r, uint32_t round)
{
	uint32_t i;

	for (i = 0; i < r->opt.elements; i++)
		ring_vector(r)[i] = (r->opt.rank + 1) * number(round, i);
}

static void verify(struct ring *r, uint32_t round)
{
	const uint32_t ranks = r->opt.n * (r->opt.n + 1) / 2;
	uint32_t i;

	for (i = 0; i < r->opt.elements; i++)
		if (ring_vector(r)[i] != ranks * number(round, i))
			die("round %u: element %u is %u, not %u", round, i, ring_vector(r)[i],
			    ranks * number(round, i));
}

static uint32_t chunk_begin(const struct ring *r, uint32_t chunk)
{
	const uint64_t begin = (uint64_t)chunk * r->chunk;

	return begin < r->opt.elements ? (uint32_t)begin : r->opt.elements;
}

/* ---- completions ---- */

static void completed(struct ring *r, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		die("a message failed: %s", ibv_wc_status_str(wc->status));
	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
		r->sent++;
		return;
	}
	/* Credits of @next have no immediate, so this is from @prev. */
	if ((ntohl(wc->imm_data) & ~RING_LAST) != (uint32_t)(r->arrived[wc->wr_id] & ~RING_LAST))
		die("QP %u: expected the end of message %u, got that of %u", (unsigned int)wc->wr_id,
		    (uint32_t)r->arrived[wc->wr_id], ntohl(wc->imm_data) & ~RING_LAST);
	r->last_in[r->arrived[wc->wr_id] % RING_SLOTS] = ntohl(wc->imm_data) & RING_LAST;
	r->arrived[wc->wr_id]++;
	ring_post_receive(r->prev.qp[wc->wr_id], (unsigned int)wc->wr_id);
}

/* Takes the completions; sleeps a little after many polls without one. */
static void progress(struct ring *r, unsigned int *idle)
{
	struct ibv_wc wc[16];
	int i, n = mrc_poll_cq(r->cq, 16, wc);

	if (n < 0)
		die("the completion queue has overrun");
	for (i = 0; i < n; i++)
		completed(r, &wc[i]);
	*idle = n ? 0 : *idle + 1;
	if (*idle > IDLE_LOOKS)
		usleep(IDLE_US);
	else if (*idle)
		sched_yield();
}

static void wait_all_sent(struct ring *r)
{
	unsigned int idle = 0;

	while (r->sent < r->posted)
		progress(r, &idle);
}

static void wait_arrived(struct ring *r, uint64_t step)
{
	unsigned int idle = 0;

	while (r->arrived[0] <= step || r->arrived[1] <= step)
		progress(r, &idle);
}

/* ---- messages ---- */

static void post(struct ring *r, struct mrc_qp *qp, struct ibv_send_wr *wr, size_t from, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)r->memory + from, len, r->mr->lkey };
	struct ibv_send_wr *bad;
	int err;

	wr->sg_list = &sge;
	wr->num_sge = len ? 1 : 0;
	wr->send_flags = IBV_SEND_SIGNALED;
	err = mrc_post_send(qp, wr, &bad);
	if (err)
		die("mrc_post_send: %s", strerror(err));
	r->posted++;
}

static void post_write(struct ring *r, const struct link *to, int q, size_t from, size_t at, uint32_t len)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { to->address + at, to->rkey },
	};

	post(r, to->qp[q], &wr, from, len);
}

static void post_end(struct ring *r, int q, uint64_t step)
{
	const uint32_t number_of = (uint32_t)step & ~RING_LAST;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(number_of | (r->last ? RING_LAST : 0)),
		.wr.rdma = { r->next.address, r->next.rkey },
	};

	post(r, r->next.qp[q], &wr, 0, 0);
}

/* @prev may fill the slot of @step. */
static void grant(struct ring *r, uint64_t step)
{
	uint64_t *word = (uint64_t *)(r->memory + ring_grant_at(r, step));

	*word = step + 1;
	post_write(r, &r->prev, 0, ring_grant_at(r, step), ring_credit_at(r, step), sizeof(*word));
}

static void wait_granted(struct ring *r, uint64_t step)
{
	const uint64_t *word = (const uint64_t *)(r->memory + ring_credit_at(r, step));
	unsigned int idle = 0;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != step + 1)
		progress(r, &idle);
}

static void send_chunk(struct ring *r, uint64_t step, uint32_t chunk)
{
	const uint32_t begin = chunk_begin(r, chunk), end = chunk_begin(r, chunk + 1);
	const uint32_t middle = begin + (end - begin) / 2;
	const size_t to = ring_slot_at(r, step);

	wait_granted(r, step);
	if (middle > begin)
		post_write(r, &r->next, 0, 4ul * begin, to, 4 * (middle - begin));
	if (end > middle)
		post_write(r, &r->next, 1, 4ul * middle, to + 4ul * (middle - begin), 4 * (end - middle));
	post_end(r, 0, step);
	post_end(r, 1, step);
}

static void take_chunk(struct ring *r, uint64_t step, uint32_t chunk, bool adds)
{
	const uint32_t *slot = (const uint32_t *)(r->memory + ring_slot_at(r, step));
	const uint32_t begin = chunk_begin(r, chunk), end = chunk_begin(r, chunk + 1);
	uint32_t i;

	wait_arrived(r, step);
	r->last |= r->last_in[step % RING_SLOTS];
	/* The source of a WRITE may be read again until it is acknowledged. */
	wait_all_sent(r);
	for (i = begin; i < end; i++)
		ring_vector(r)[i] = (adds ? ring_vector(r)[i] : 0) + slot[i - begin];
	grant(r, step + RING_SLOTS);
}

/* ---- rounds ---- */

/* n-1 steps pass on sums, and n-1 steps pass on results. */
static uint64_t reduce(struct ring *r, uint64_t step)
{
	const uint32_t n = r->opt.n;
	uint32_t i, chunk = r->opt.rank;

	for (i = 0; i < 2 * (n - 1); i++, step++) {
		const uint32_t before = (chunk + n - 1) % n;

		send_chunk(r, step, chunk);
		take_chunk(r, step, before, i < n - 1);
		chunk = before;
	}
	return step;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Rank 0 decides which round is the last; the others learn it in that round. */
static void run(struct ring *r)
{
	const double start = seconds();
	uint64_t step = 0;
	uint32_t round;

	for (round = 0; !r->last; round++) {
		if (r->opt.rank == 0)
			r->last = interrupted || round + 1 == r->opt.rounds;
		fill(r, round);
		step = reduce(r, step);
		verify(r, round);
		if (r->opt.rank == 0)
			printf("round %u\n", round + 1);
		fflush(stdout);
	}
	wait_all_sent(r);
	printf("rank %u: ok, %u rounds of %u elements, every one right, %.2f MB/s\n", r->opt.rank, round,
	       r->opt.elements, 4.0 * r->opt.elements * round / (seconds() - start) / 1e6);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	struct ring r = {};
	unsigned int i;

	ring_options(&r.opt, argc, argv);
	sigaction(SIGINT, &act, NULL);
	ring_open(&r);
	for (i = 0; i < RING_SLOTS; i++)
		grant(&r, i);
	run(&r);
	ring_together(&r);	/* only QPs that still exist acknowledge the last WRITEs */
	ring_close(&r);
	return 0;
}
