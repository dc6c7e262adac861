// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - an example of libmrcsim: ring all-reduce, driven by callbacks.
 *
 *	mrcsim-ring SCENARIO RANKS BYTES COMPUTE_NS
 *
 * In each of 2 (ranks - 1) steps a rank sends a part to the next one, once it has received one from
 * the rank before; in the first half it computes before that. Prints the job's time.
 */
#include "mrcsim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	struct mrcsim *sim;
	uint32_t ranks, steps, left;
	uint64_t bytes, compute_ns;
};

struct rank {
	struct job *job;
	uint32_t number, step; /* parts received so far */
};

static void send_part(void *arg)
{
	struct rank *r = arg;
	struct job *j = r->job;

	mrcsim_send(j->sim, r->number, (r->number + 1) % j->ranks, j->bytes / j->ranks, 0, NULL, NULL);
}

static void received(void *arg)
{
	struct rank *r = arg;
	struct job *j = r->job;

	if (++r->step == j->steps) {
		if (--j->left == 0)
			mrcsim_finished(j->sim);
		return;
	}
	mrcsim_recv(j->sim, r->number, (r->number + j->ranks - 1) % j->ranks, 0, received, r);
	if (r->step < j->ranks)
		mrcsim_schedule(j->sim, j->compute_ns, send_part, r);
	else
		send_part(r);
}

int main(int argc, char **argv)
{
	struct job j = { 0 };
	struct rank *ranks;
	char why[500];
	int rc;

	if (argc != 5) {
		fprintf(stderr, "usage: %s SCENARIO RANKS BYTES COMPUTE_NS\n", argv[0]);
		return 2;
	}
	j.ranks = (uint32_t)strtoul(argv[2], NULL, 0);
	j.bytes = strtoull(argv[3], NULL, 0);
	j.compute_ns = strtoull(argv[4], NULL, 0);
	j.left = j.ranks;
	if (j.ranks < 2 || j.bytes < j.ranks) {
		fprintf(stderr, "two ranks at least, and a byte for each\n");
		return 2;
	}
	j.steps = 2 * (j.ranks - 1);
	j.sim = mrcsim_open(argv[1], why, sizeof(why));
	ranks = calloc(j.ranks, sizeof(*ranks));
	if (!j.sim || !ranks) {
		fprintf(stderr, "%s\n", j.sim ? "no memory" : why);
		return 2;
	}
	for (uint32_t i = 0; i < j.ranks; i++) {
		ranks[i].job = &j;
		ranks[i].number = i;
		if (mrcsim_recv(j.sim, i, (i + j.ranks - 1) % j.ranks, 0, received, &ranks[i]) ||
		    mrcsim_send(j.sim, i, (i + 1) % j.ranks, j.bytes / j.ranks, 0, NULL, NULL)) {
			fprintf(stderr, "the scenario has fewer hosts\n");
			return 2;
		}
	}
	rc = mrcsim_run(j.sim);
	if (rc || j.left) {
		fprintf(stderr, "not done: %s\n", rc < 0 ? mrcsim_error(j.sim) : "the scenario's limit");
		return 1;
	}
	printf("job_us %.3f\n", (double)mrcsim_time_ns(j.sim) / 1000);
	mrcsim_close(j.sim);
	free(ranks);
	return 0;
}
