// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_threads.c - several threads, one context of mrc.h: library, plug-in and this program under ThreadSanitizer,
 * on the real device.
 *
 *	MRC_TEST_DEV=mrc0 mrc_threads lives|queue|events
 *
 * lives: each thread makes, connects, uses and destroys QPs of its own, all with one hint. queue: some post to one
 * QP, others poll its CQs, and each message is told once at either end. events: QPs fail while another
 * thread hears of it, and are destroyed at that time. ThreadSanitizer sees what threads do to each other's
 * memory, not what the kernel does to the rings.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include "mpair.h"

#define THREADS		4
#define ROUNDS		12
#define POSTERS		3
#define POSTS		400	/* of each */
#define CREDITS		48	/* receives posted, fewer than a QP has room for */

#define MUST(what) do {								\
		if (!(what)) {							\
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, strerror(errno));	\
			exit(VC_EXIT_BAD);					\
		}								\
	} while (0)

static struct mpair p;

static void at_once(unsigned int n, void *(*const f[])(void *))
{
	pthread_t all[16];
	unsigned int i;

	for (i = 0; i < n; i++)
		MUST(!pthread_create(&all[i], NULL, f[i], (void *)(uintptr_t)i));
	for (i = 0; i < n; i++)
		pthread_join(all[i], NULL);
}

/* ---- pairs of a thread's own ---- */

static void pair_open(struct mend end[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		end[i].cq = mrc_create_cq(p.ctx, 64, &end[i], NULL, 0);
		MUST(end[i].cq);
		end[i].qp = mpair_qp(&p, &end[i]);
		MUST(end[i].qp && !mrc_get_qpn(end[i].qp, &end[i].qpn));
	}
	MUST(!mpair_up(&p, end[0].qp, end[1].qpn) && !mpair_up(&p, end[1].qp, end[0].qpn));
}

static void pair_close(struct mend end[2])
{
	int i;

	for (i = 0; i < 2; i++)
		MUST(!mrc_destroy_qp(end[i].qp) && !mrc_destroy_cq(end[i].cq));
}

/* The @number-th eight bytes of one half to those of the other. */
static int post(struct mrc_qp *qp, uint32_t number, uint32_t rkey)
{
	const uint64_t at = (uintptr_t)p.area + 8 * number % MPAIR_LEN;
	struct ibv_sge sge = { at, 8, p.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = number, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htonl(number),
		.wr.rdma = { at + MPAIR_LEN, rkey },
	};

	return mrc_post_send(qp, &wr, &bad);
}

static int receive(struct mrc_qp *qp)
{
	struct ibv_recv_wr *bad, wr = {};

	return mrc_post_recv(qp, &wr, &bad);
}

static void *lives(void *arg)
{
	const uint32_t number = (uint32_t)(uintptr_t)arg;
	struct mrc_qp_attr a;
	struct mend end[2];
	struct ibv_wc wc;
	int n;

	for (n = 0; n < ROUNDS; n++) {
		pair_open(end);
		MUST(!receive(end[1].qp) && !post(end[0].qp, number, p.mr->rkey));
		MUST(mpair_wc(&end[1], &wc) && wc.status == IBV_WC_SUCCESS && ntohl(wc.imm_data) == number);
		MUST(mpair_wc(&end[0], &wc) && wc.status == IBV_WC_SUCCESS);
		MUST(!mrc_query_qp(end[0].qp, NULL, 0, &a, MRC_QP_HINT, NULL) && a.qp_hint == p.attr.qp_hint);
		if (n & 1)
			MUST(!mpair_step(&p, end[0].qp, IBV_QPS_RESET, 0));
		pair_close(end);
	}
	return NULL;
}

static void test_lives(void)
{
	void *(*const f[THREADS])(void *) = { lives, lives, lives, lives };
	struct mrc_qp_hint_init_attr init = {};

	p.attr.qp_hint = mrc_create_qp_hint(p.ctx, &init);
	MUST(p.attr.qp_hint);
	at_once(THREADS, f);
	MUST(!mrc_destroy_qp_hint(p.attr.qp_hint));	/* nobody has it: each use was given back */
}

/* ---- one pair, and all work on it ---- */

static atomic_int credits;
static atomic_uint told[2];		/* completions of either end */
static atomic_uchar seen[2][POSTERS * POSTS];

static void *poster(void *arg)
{
	const uint32_t first = (uint32_t)(uintptr_t)arg * POSTS;
	uint32_t n;
	int err;

	for (n = first; n < first + POSTS; n++) {
		while (atomic_fetch_sub(&credits, 1) <= 0) {
			atomic_fetch_add(&credits, 1);
			sched_yield();
		}
		while ((err = post(p.end[0].qp, n, p.mr->rkey)) == ENOMEM)	/* until a completion was polled */
			sched_yield();
		MUST(!err);
	}
	return NULL;
}

static void note(int end, uint32_t number)
{
	MUST(number < POSTERS * POSTS && !atomic_fetch_add(&seen[end][number], 1));
	atomic_fetch_add(&told[end], 1);
}

/* Of end 1 each has taken a receive, which is posted again. */
static void poll_all(int end)
{
	struct ibv_wc wc[4];
	int i, n;

	while (atomic_load(&told[end]) < POSTERS * POSTS) {
		n = mrc_poll_cq(p.end[end].cq, 4, wc);
		MUST(n >= 0);
		for (i = 0; i < n; i++) {
			MUST(wc[i].status == IBV_WC_SUCCESS);
			if (end) {
				MUST(!receive(p.end[1].qp));
				atomic_fetch_add(&credits, 1);
			}
			note(end, end ? ntohl(wc[i].imm_data) : (uint32_t)wc[i].wr_id);
		}
		if (!n)
			sched_yield();
	}
}

static void *sent(void *arg)
{
	poll_all(0);
	return arg;
}

static void *received(void *arg)
{
	poll_all(1);
	return arg;
}

static void test_queue(void)
{
	void *(*const f[])(void *) = { poster, poster, poster, sent, sent, received, received };

	MUST(!mpair_connect(&p));
	for (; credits < CREDITS; credits++)
		MUST(!mpair_recv(&p, 1));
	at_once(sizeof(f) / sizeof(*f), f);
}

/* ---- failures ---- */

static _Atomic(struct mrc_qp *) failing[THREADS];
static atomic_int failed[THREADS], at_work = THREADS;

/* Of each, one has to be told of in time; the next is destroyed whenever that is. */
static void *fails(void *arg)
{
	const unsigned int me = (unsigned int)(uintptr_t)arg;
	struct mend end[2];
	struct ibv_wc wc;
	int n;

	for (n = 0; n < ROUNDS; n++) {
		pair_open(end);
		atomic_store(&failed[me], 0);
		atomic_store(&failing[me], end[1].qp);
		MUST(!receive(end[1].qp) && !post(end[0].qp, me, p.mr->rkey + 1));
		MUST(mpair_wc(&end[0], &wc) && wc.status == IBV_WC_REM_ACCESS_ERR);
		while (!(n & 1) && !atomic_load(&failed[me]))
			sched_yield();
		pair_close(end);
	}
	atomic_fetch_sub(&at_work, 1);
	return NULL;
}

static void *hears(void *arg)
{
	struct pollfd pfd = { .fd = p.dev.ctx->async_fd, .events = POLLIN };
	struct mrc_async_event event;
	int i;

	MUST(!fcntl(pfd.fd, F_SETFL, O_NONBLOCK));
	while (atomic_load(&at_work)) {
		poll(&pfd, 1, 10);
		if (mrc_get_async_event(p.ctx, &event))
			continue;
		if (event.event_type == IBV_EVENT_QP_ACCESS_ERR)
			for (i = 0; i < THREADS; i++)
				if (atomic_load(&failing[i]) == event.element.qp)
					atomic_store(&failed[i], 1);
		mrc_ack_async_event(&event);
	}
	return arg;
}

static void test_events(void)
{
	void *(*const f[])(void *) = { fails, fails, fails, fails, hears };

	at_once(sizeof(f) / sizeof(*f), f);
}

/* A plug-in without ThreadSanitizer would find nothing. */
static void check_plugin(void)
{
	Dl_info info;

	MUST(dladdr((void *)p.dev.ctx->ops.poll_cq, &info) && strstr(info.dli_fname, "/tsan/"));
	MUST(dladdr((void *)mrc_post_send, &info) && strstr(info.dli_fname, "/tsan/"));
}

int main(int argc, char **argv)
{
	const char *which = argc == 2 ? argv[1] : "";

	mpair_open(&p);
	check_plugin();
	if (!strcmp(which, "lives"))
		test_lives();
	else if (!strcmp(which, "queue"))
		test_queue();
	else if (!strcmp(which, "events"))
		test_events();
	else
		return VC_EXIT_USAGE;
	mpair_close(&p);
	return 0;
}
