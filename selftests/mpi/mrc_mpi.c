// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mpi.c - what MPI programs do, with every result checked.
 *
 *	mpirun ... mrc_mpi ROUNDS
 *
 * Each round: a ring of messages of up to 1 MiB, allreduce, alltoall, and put, get and accumulate into the
 * neighbours' windows. Numbers depend on round, sender and place, so what is late, lost, doubled or
 * another's is seen. The first difference ends all ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define RING_LEN	(1 << 18)	/* ints */
#define SUM_LEN		10000		/* doubles */
#define BLOCK		4096		/* ints for each rank */
#define WIN_LEN		20000		/* ints that are put and got */
#define WIN_ALL		20480		/* whole pages: MPICH 4.0 misplaces windows of odd sizes in one host */

static int me, n, round_no;

static int value(int rank, int i)
{
	return round_no * 1000003 + rank * 7919 + i;
}

static void differ(const char *what, int i, double got, double want)
{
	fprintf(stderr, "rank %d, round %d: %s[%d] is %.0f, expected %.0f\n", me, round_no, what, i,
		got, want);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(const char *what, const int *got, int len, int rank)
{
	int i;

	for (i = 0; i < len; i++)
		if (got[i] != value(rank, i))
			differ(what, i, got[i], value(rank, i));
}

static int *numbers(int len)
{
	int *p = malloc((size_t)len * sizeof(*p));

	if (!p)
		MPI_Abort(MPI_COMM_WORLD, 2);
	return p;
}

static void fill(int *p, int len)
{
	int i;

	for (i = 0; i < len; i++)
		p[i] = value(me, i);
}

/* Short messages go another way than long ones. */
static void ring(int *out, int *in)
{
	int left = (me + n - 1) % n, right = (me + 1) % n, len;

	fill(out, RING_LEN);
	for (len = 1; len <= RING_LEN; len *= 64) {
		MPI_Sendrecv(out, len, MPI_INT, right, len, in, len, MPI_INT, left, len,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		check("ring", in, len, left);
	}
}

static void allreduce(double *out, double *in)
{
	double want;
	int i;

	for (i = 0; i < SUM_LEN; i++)
		out[i] = (me + 1.0) * (i + round_no);
	MPI_Allreduce(out, in, SUM_LEN, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < SUM_LEN; i++) {
		want = n * (n + 1) / 2.0 * (i + round_no);
		if (in[i] != want)
			differ("allreduce", i, in[i], want);
	}
}

/* Block r of rank s goes to rank r and is what s makes of it. */
static void alltoall(int *out, int *in)
{
	int r, i;

	for (r = 0; r < n; r++)
		for (i = 0; i < BLOCK; i++)
			out[r * BLOCK + i] = value(me, r * BLOCK + i);
	MPI_Alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD);
	for (r = 0; r < n; r++)
		for (i = 0; i < BLOCK; i++)
			if (in[r * BLOCK + i] != value(r, me * BLOCK + i))
				differ("alltoall", r * BLOCK + i, in[r * BLOCK + i],
				       value(r, me * BLOCK + i));
}

/* My numbers into the right one's window, the left one's out of mine and out of its own. */
static void put_get(MPI_Win win, int *mem, int *out, int *in)
{
	int left = (me + n - 1) % n, right = (me + 1) % n, one = 1;

	fill(out, WIN_LEN);
	mem[WIN_LEN] = 0;
	MPI_Win_fence(0, win);
	MPI_Put(out, WIN_LEN, MPI_INT, right, 0, WIN_LEN, MPI_INT, win);
	MPI_Accumulate(&one, 1, MPI_INT, 0, WIN_LEN, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	check("put", mem, WIN_LEN, left);
	if (!me && mem[WIN_LEN] != n)
		differ("accumulate", 0, mem[WIN_LEN], n);
	MPI_Get(in, WIN_LEN, MPI_INT, right, 0, WIN_LEN, MPI_INT, win);
	MPI_Win_fence(0, win);
	check("get", in, WIN_LEN, me);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	double *sum[2];
	int *out, *in, *mem, len;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	len = n * BLOCK > RING_LEN ? n * BLOCK : RING_LEN;
	out = numbers(len);
	in = numbers(len);
	sum[0] = malloc(sizeof(double) * SUM_LEN);
	sum[1] = malloc(sizeof(double) * SUM_LEN);
	if (!sum[0] || !sum[1])
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Win_allocate(WIN_ALL * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &mem, &win);
	for (round_no = 0; round_no < rounds; round_no++) {
		ring(out, in);
		allreduce(sum[0], sum[1]);
		alltoall(out, in);
		put_get(win, mem, out, in);
	}
	MPI_Win_free(&win);
	if (!me)
		printf("%d ranks, %d rounds, all checked\n", n, rounds);
	free(sum[1]);
	free(sum[0]);
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
