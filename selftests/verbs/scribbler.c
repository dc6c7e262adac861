// SPDX-License-Identifier: GPL-2.0
/*
 * scribbler.c - see scribbler.h.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "scribbler.h"
#include "vcommon.h"

#define MAX_MAPS	64

struct map {
	uint32_t *at;
	size_t words;
};

static sigjmp_buf unmapped;
static pthread_t scribbler;
static uint64_t x;

static int device_maps(struct map *maps, int max)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];
	int n = 0;

	while (f && n < max && fgets(line, sizeof(line), f))
		if (strstr(line, "uverbs") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			maps[n++] = (struct map){ (uint32_t *)from, (to - from) / 4 };
	if (f)
		fclose(f);
	return n;
}

/* A ring that was unmapped meanwhile; or another thread, for which this is the end. */
static void on_segv(int sig)
{
	(void)sig;
	if (!pthread_equal(pthread_self(), scribbler))
		_exit(0);
	siglongjmp(unmapped, 1);
}

static void scribble_once(const struct map *maps, int n)
{
	const struct map *m;
	uint32_t word;

	x = vc_mix(x);
	m = &maps[x % (uint64_t)n];
	word = (uint32_t)(x >> 32);
	if (word & 3)	/* indices that are nearly right do most */
		word = m->at[0] + (word >> 2) % 70 - 35;
	__atomic_store_n(&m->at[vc_mix(x ^ 7) % (x & 64 ? 64 : m->words)], word, __ATOMIC_RELAXED);
}

static void *scribble(void *arg)
{
	static struct map maps[MAX_MAPS];
	int i, n;

	(void)arg;
	for (;;) {
		(void)sigsetjmp(unmapped, 1);	/* and look again what is mapped */
		n = device_maps(maps, MAX_MAPS);
		for (i = 0; n && i < 20000; i++)
			scribble_once(maps, n);
		usleep(500);
	}
	return NULL;
}

void scribbler_let_go(void)
{
	struct map maps[MAX_MAPS];
	int i;

	for (i = device_maps(maps, MAX_MAPS) - 1; i >= 0; i--)
		munmap(maps[i].at, maps[i].words * 4);
}

void scribbler_begin(uint64_t seed)
{
	x = seed;
	signal(SIGSEGV, on_segv);
	signal(SIGBUS, on_segv);
	if (pthread_create(&scribbler, NULL, scribble, NULL))
		vc_die("pthread_create");
}
