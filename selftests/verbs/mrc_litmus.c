// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_litmus.c - the rings' memory ordering between two processors: the plug-in's side is its own (ring.h), and the
 * module's written here with the same barriers.
 *
 *	mrc_litmus [-n ROUNDS] [-w]
 *
 * A producer publishes bursts of slots and rings when the other side wants it; a consumer checks every word and goes to
 * sleep. Lost: it sleeps, all doorbells were taken, and there is something in the ring. That is a store, a barrier and
 * a load on each side (ring.h). With -w the producer has no barrier: how often that loses says what the machine shows.
 * Then the same for completions: the program arms and polls once more.
 *
 * No clock: who is asleep, and how many doorbells he has taken, is one word.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "ring.h"

#define ENTRIES	16u
#define BURST	3u

static struct {
	_Alignas(64) struct mrc_ring_hdr hdr;
	_Alignas(64) uint64_t slots[ENTRIES][8];
	_Alignas(64) uint64_t consumed;
	_Alignas(64) uint64_t state;	/* doorbells taken * 2, + 1: asleep */
	_Alignas(64) uint64_t rung;
} s;

static struct mrc_uring ring = { .hdr = &s.hdr, .slots = (uint8_t *)s.slots, .entries = ENTRIES, .stride = 64 };
static uint64_t rounds = 100000, lost, wrong, slept;
static bool weak, completions;

/* The other one is met in the act only if both run. */
static void wait_a_little(unsigned int *spun)
{
	if (++*spun % 4096 == 0)
		sched_yield();
}

/* ---- who fills: a program its send queue, or the module a completion queue ---- */

/* True: ring. As mrc_cq_signal(). */
static bool told_after(uint32_t prod)
{
	__atomic_store_n(&s.hdr.prod, prod, __ATOMIC_RELEASE);
	full_barrier();
	return __atomic_load_n(&s.hdr.arm, __ATOMIC_RELAXED) && __atomic_exchange_n(&s.hdr.arm, 0, __ATOMIC_SEQ_CST);
}

static bool publish_weakly(void)
{
	uint32_t *flag = completions ? &s.hdr.arm : &s.hdr.need_kick;

	__atomic_store_n(&s.hdr.prod, ring.idx, __ATOMIC_RELEASE);
	return __atomic_load_n(flag, __ATOMIC_RELAXED) && __atomic_exchange_n(flag, 0, __ATOMIC_RELAXED);
}

static bool publish(void)
{
	if (weak)
		return publish_weakly();
	return completions ? told_after(ring.idx) : sq_publish(&ring);
}

static void ring_doorbell(void)
{
	__atomic_store_n(&s.rung, s.rung + 1, __ATOMIC_RELEASE);
}

static void fill(void)
{
	uint64_t *slot = (uint64_t *)mrc_slot(&ring, ring.idx);
	int i;

	for (i = 0; i < 8; i++)
		slot[i] = ring.idx * 8ull + (unsigned int)i;
	ring.idx++;
}

static bool all_consumed(void) { return __atomic_load_n(&s.consumed, __ATOMIC_ACQUIRE) == ring.idx; }

/* He has taken all doorbells: he stays asleep until the next, and what he has not consumed by now he never will. */
static bool sleeps(void) { return __atomic_load_n(&s.state, __ATOMIC_SEQ_CST) == (s.rung << 1 | 1); }

static void *producer(void *arg)
{
	unsigned int i, spun = 0;
	uint64_t round;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i <= round % BURST; i++)
			fill();
		if (publish())
			ring_doorbell();
		while (!all_consumed()) {
			if (sleeps() && !all_consumed()) {
				lost++;
				ring_doorbell();
			}
			wait_a_little(&spun);
		}
	}
	return arg;
}

/* ---- who empties: the module, or a program that polls ---- */

static uint32_t avail(uint32_t cons)
{
	return __atomic_load_n(&s.hdr.prod, __ATOMIC_ACQUIRE) - cons;
}

static void check(uint32_t idx)
{
	const uint64_t *slot = (const uint64_t *)mrc_slot(&ring, idx);
	int i;

	for (i = 0; i < 8; i++)
		wrong += slot[i] != idx * 8ull + (unsigned int)i;
}

/* As flow_idle(), or as mrc_req_notify_cq(). */
static void want_doorbell(void)
{
	if (completions)
		__atomic_store_n(&s.hdr.arm, MRC_ARM_ANY, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&s.hdr.need_kick, 1, __ATOMIC_RELAXED);
	full_barrier();
}

static void await_doorbell(uint64_t taken)
{
	unsigned int spun = 0;

	slept++;
	__atomic_store_n(&s.state, taken << 1 | 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s.rung, __ATOMIC_ACQUIRE) == taken)
		wait_a_little(&spun);
	__atomic_store_n(&s.state, (taken + 1) << 1, __ATOMIC_SEQ_CST);
}

static void consume(uint32_t total)
{
	uint64_t taken = 0;
	uint32_t cons = 0;

	while (cons != total) {
		for (; avail(cons); cons++)
			check(cons);
		__atomic_store_n(&s.consumed, cons, __ATOMIC_RELEASE);
		if (cons == total)
			break;
		want_doorbell();
		if (!avail(cons))
			await_doorbell(taken++);
		/* Rung while awake, as a doorbell of a QP that has a turn anyway. */
		else if (__atomic_load_n(&s.rung, __ATOMIC_ACQUIRE) != taken)
			__atomic_store_n(&s.state, ++taken << 1, __ATOMIC_SEQ_CST);
	}
}

static void run(bool of_completions)
{
	uint64_t round, total = 0;
	pthread_t thread;

	for (round = 0; round < rounds; round++)
		total += round % BURST + 1;
	memset(&s, 0, sizeof(s));
	ring.idx = 0;
	lost = wrong = slept = 0;
	completions = of_completions;
	if (pthread_create(&thread, NULL, producer, NULL))
		abort();
	consume((uint32_t)total);
	pthread_join(thread, NULL);
	printf("%s: rounds %llu slept %llu lost %llu wrong %llu\n", completions ? "completions" : "requests",
	       (unsigned long long)rounds, (unsigned long long)slept, (unsigned long long)lost, (unsigned long long)wrong);
}

int main(int argc, char **argv)
{
	uint64_t bad = 0;
	int option;

	while ((option = getopt(argc, argv, "n:w")) != -1) {
		if (option == 'n')
			rounds = strtoull(optarg, NULL, 0);
		else if (option == 'w')
			weak = true;
		else
			return 2;
	}
	run(false);
	bad += lost + wrong;
	run(true);
	bad += lost + wrong;
	return bad && !weak;
}
