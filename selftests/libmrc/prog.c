// SPDX-License-Identifier: GPL-2.0
/*
 * prog.c - see prog.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "prog.h"

/* It is blocked, so that no call is interrupted. */
static bool interrupted(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGINT);
}

void prog_begin(struct prog *p, int argc, char **argv)
{
	sigset_t set;
	int c;

	*p = (struct prog) { .opts = { .gid_index = 3, .port = "18515" }, .rounds = 40 };
	while ((c = getopt(argc, argv, "d:x:p:n:l:")) != -1) {
		switch (c) {
		case 'd': p->opts.dev = optarg; break;
		case 'x': p->opts.gid_index = atoi(optarg); break;
		case 'p': p->opts.port = optarg; break;
		case 'n': p->rounds = (uint32_t)atoi(optarg); break;
		case 'l': break;	/* prog_verbs.c's */
		default: exit(VC_EXIT_USAGE);
		}
	}
	p->opts.server = argv[optind];
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p->area = mmap(NULL, PROG_AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->area == MAP_FAILED)
		vc_die("mmap: %s", strerror(errno));
	p->fd = vc_tcp(&p->opts);
}

void prog_swap(const struct prog *p, const struct prog_qp *mine, struct prog_qp *theirs)
{
	if (!vc_send(p->fd, mine, sizeof(*mine)) || !vc_recv(p->fd, theirs, sizeof(*theirs)))
		vc_die("the other end is gone");
}

/* ---- messages ---- */

struct head {
	uint32_t round, len;	/* len 0: the end */
};

/* Other bytes in each round, so that none of the one before passes for one of this. */
static uint8_t byte_of(uint32_t round, uint32_t at)
{
	return (uint8_t)(vc_mix((uint64_t)round << 32 | at / 8) >> at % 8 * 8);
}

static uint32_t len_of(uint32_t round)
{
	static const uint32_t lens[] = { 1, 7, 64, 1000, 1024, 4096, 4097, 65536, PROG_AREA };

	return lens[round % (sizeof(lens) / sizeof(*lens))];
}

static bool area_right(const struct prog *p, const struct head *h)
{
	uint32_t i;

	for (i = 0; i < h->len; i++) {
		if (p->area[i] == byte_of(h->round, i))
			continue;
		printf("round %u: byte %u of %u is %u, not %u\n", h->round, i, h->len, p->area[i],
		       byte_of(h->round, i));
		return false;
	}
	return true;
}

static int receive(struct prog *p, void *ctx, void (*arrived)(void *ctx, uint32_t len))
{
	struct head h;
	uint8_t right;

	for (;;) {
		if (!vc_recv(p->fd, &h, sizeof(h)))
			vc_die("the sender is gone");
		if (!h.len)
			return VC_EXIT_OK;
		if (arrived)
			arrived(ctx, h.len);
		right = area_right(p, &h);
		if (!vc_send(p->fd, &right, 1))
			vc_die("the sender is gone");
		if (!right)
			return VC_EXIT_BAD;
	}
}

int prog_run(struct prog *p, void *ctx, void (*send)(void *ctx, uint32_t len),
	     void (*arrived)(void *ctx, uint32_t len))
{
	struct head h = { .round = 0 };
	uint8_t right;
	uint32_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!p->opts.server)
		return receive(p, ctx, arrived);
	for (; !interrupted() && (!p->rounds || h.round < p->rounds); h.round++) {
		h.len = len_of(h.round);
		for (i = 0; i < h.len; i++)
			p->area[i] = byte_of(h.round, i);
		send(ctx, h.len);
		if (!vc_send(p->fd, &h, sizeof(h)) || !vc_recv(p->fd, &right, 1))
			vc_die("the receiver is gone");
		if (!right)
			return VC_EXIT_BAD;
		printf("round %u: %u bytes\n", h.round, h.len);
	}
	h.len = 0;
	vc_send(p->fd, &h, sizeof(h));
	printf("%u rounds, every byte right\n", h.round);
	return VC_EXIT_OK;
}
