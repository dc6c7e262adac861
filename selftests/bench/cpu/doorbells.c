// SPDX-License-Identifier: GPL-2.0
/*
 * doorbells.c - to be preloaded: how many doorbells a program rang, into the file $MRC_DOORBELLS. mrc's plug-in and
 * rdma_rxe's ring by a write() of POST_SEND without a request (tools/lib/ibverbs/doorbell.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/ib_user_verbs.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_ulong rung;

/* Not by timeout(1), which waits for who did. */
static void __attribute__((destructor)) tell(void)
{
	const char *path = atomic_load(&rung) ? getenv("MRC_DOORBELLS") : NULL;
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%lu\n", atomic_load(&rung));
	fclose(out);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	static ssize_t (*next)(int, const void *, size_t);
	const struct ib_uverbs_cmd_hdr *hdr = buf;

	if (!next)
		next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (n == sizeof(*hdr) + sizeof(struct ib_uverbs_post_send) && hdr->command == IB_USER_VERBS_CMD_POST_SEND)
		atomic_fetch_add(&rung, 1);
	return next(fd, buf, n);
}
