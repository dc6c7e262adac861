// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_nccl.c - what NCCL and UCX do with verbs, without a GPU: one rank of a ring allreduce or an all-to-all.
 *
 *	mrc_nccl -d DEV -x DIR -r RANK -n RANKS [options]
 *
 * Ranks meet in DIR, which all of them see. Rank 0 says which iteration is the last, when its
 * time is over or SIGINT comes. Each prints one line; status 0 means that every byte was right.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "nccl.h"

static struct world w = {
	.t = &nccl_net, .rank = -1, .depth = 256, .piece = 16384, .pieces = 64, .stall_s = 60,
	.flushes = true,
};
static struct vc_opts opts = { .gid_index = -1 };
static uint64_t iterations = 3;
static unsigned int seconds;
static bool ring = true;
static volatile sig_atomic_t stop;

static void on_int(int sig)
{
	(void)sig;
	stop = 1;
}

/*
 * A rank ends an iteration only when all have begun it. So when rank 0 has ended @done, no other
 * has ended the one after it, and what it writes now they all see there.
 */
static void say_last(uint64_t done)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/last", w.dir);
	snprintf(tmp, sizeof(tmp), "%s/last.new", w.dir);
	f = fopen(tmp, "w");
	if (!f || fprintf(f, "%llu\n", (unsigned long long)done + 1) < 0 || fclose(f) ||
	    rename(tmp, path))
		vc_die("%s: %s", path, strerror(errno));
}

static uint64_t last(void)
{
	unsigned long long n = ULLONG_MAX;
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/last", w.dir);
	f = fopen(path, "r");
	if (!f)
		return n;
	if (fscanf(f, "%llu", &n) != 1)
		vc_die("%s cannot be read", path);
	fclose(f);
	return n;
}

/* For whoever waits until it runs. */
static void tell_progress(uint64_t done)
{
	char path[PATH_MAX], text[32];
	int fd;

	snprintf(path, sizeof(path), "%s/done.%d", w.dir, w.rank);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	if (fd < 0 || pwrite(fd, text, (size_t)sprintf(text, "%llu\n", (unsigned long long)done), 0) < 0)
		vc_die("%s: %s", path, strerror(errno));
	close(fd);
}

static uint64_t run(void)
{
	const uint64_t end = vc_now_ns() + seconds * 1000000000ull;
	uint64_t done = 0;
	bool said = false;

	while (done <= last()) {
		(ring ? nccl_ring : nccl_all2all)(&w, done);
		if (!w.rank && !said &&
		    (stop || (seconds ? vc_now_ns() > end : done + 2 >= iterations))) {
			say_last(done);
			said = true;
		}
		tell_progress(++done);
	}
	return done;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: mrc_nccl -d DEV -x DIR -r RANK -n RANKS [options]\n"
	      "  -o ring|all2all  collective (ring)\n"
	      "  -m nccl|ucx      how messages go (nccl)\n"
	      "  -s BYTES         of a message, a multiple of 4 up to 1 MiB (16384)\n"
	      "  -p N             messages for each rank and step (64)\n"
	      "  -q N             of them under way, on each link (256)\n"
	      "  -b               memory is a dma-buf (NCCL)\n"
	      "  -F               no READ behind each message (NCCL), which QPs of mrc.h have not\n"
	      "  -i N             iterations, two or more (3)\n"
	      "  -t SECS          instead of that; or until SIGINT\n"
	      "  -T SECS          give up when nothing moves for so long (60)\n", stderr);
	exit(VC_EXIT_USAGE);
}

static void parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "d:x:r:n:o:m:s:p:q:i:t:T:bF")) != -1) {
		switch (o) {
		case 'd': opts.dev = optarg; break;
		case 'x': w.dir = optarg; break;
		case 'r': w.rank = atoi(optarg); break;
		case 'n': w.n = atoi(optarg); break;
		case 'o': ring = strcmp(optarg, "all2all"); break;
		case 'm': w.t = strcmp(optarg, "ucx") ? &nccl_net : &nccl_ucx; break;
		case 's': w.piece = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'p': w.pieces = (unsigned int)strtoul(optarg, NULL, 0); break;
		case 'q': w.depth = (unsigned int)strtoul(optarg, NULL, 0); break;
		case 'i': iterations = strtoull(optarg, NULL, 0); break;
		case 't': seconds = (unsigned int)strtoul(optarg, NULL, 0); break;
		case 'b': w.use_dmabuf = true; break;
		case 'F': w.flushes = false; break;
		case 'T': w.stall_s = (unsigned int)strtoul(optarg, NULL, 0); break;
		default: usage();
		}
	}
	if (optind < argc || !w.dir || w.rank < 0 || w.n < 2 || w.n > NCCL_MAX_RANKS ||
	    w.rank >= w.n || !w.piece || w.piece % 4 || w.piece > 1 << 20 || !w.pieces || !w.depth ||
	    w.depth > 4096 || w.pieces > 65536)
		usage();
}

int main(int argc, char **argv)
{
	uint64_t n;

	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGINT, on_int);
	w.data_len = ((ring ? nccl_ring_bytes(&w) : nccl_all2all_bytes(&w)) + 4095) / 4096 * 4096;
	nccl_begin(&w, &opts, ring);
	n = run();
	nccl_end(&w);
	printf("rank %d: ok collective=%s transport=%s iterations=%llu messages=%llu bytes=%llu "
	       "deepest=%llu empty_imms=%llu eager=%llu reads=%llu flushed=%llu relaxed=%d dmabufs=%d\n",
	       w.rank,
	       ring ? "ring" : "all2all", w.t->name, (unsigned long long)n,
	       (unsigned long long)w.messages, (unsigned long long)w.bytes,
	       (unsigned long long)w.deepest, (unsigned long long)w.empty_imms,
	       (unsigned long long)w.eagers, (unsigned long long)w.reads,
	       (unsigned long long)w.flushed, w.relaxed, w.dmabufs);
	return VC_EXIT_OK;
}
