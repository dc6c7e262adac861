// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_order.c - in which order do WRITEs become visible in memory?
 *
 *	mrc_order [options]			server: watches its memory
 *	mrc_order [options] SERVER		client: writes
 *
 * Message s = 1, 2, 3 ... is a plain WRITE of the number s, over and over, into
 * slot s % slots. Nothing tells the server that it came but the memory itself.
 * With placement in PSN order ("strict"), whoever sees s in the last word of its slot
 * sees s in the first word, and s - 1 or later in the slot before. MRC's own
 * placement promises the former only for the very last bytes, and not the latter.
 *
 * Ends with one line of key=value. Status 1 when the order was broken (-R: not
 * then), or when the memory is not right at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include "vcommon.h"

struct plan {
	uint32_t slots, size, q, reserved;
	uint64_t messages;
};

static struct vc_opts opts = { .gid_index = -1, .port = "18517" };
static struct plan plan = { .slots = 64, .size = 8192, .q = 32, .messages = 2000 };
static bool relaxed;
static uint64_t stall_s = 60;

static struct vc_dev dev;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct vc_peer peer;
static uint8_t *mem;
static int tcp;

static uint64_t looks, broken_slots, broken_words;

static uint64_t *word_of(uint64_t slot, bool last)
{
	return (uint64_t *)(mem + slot * plan.size + (last ? plan.size - 8 : 0));
}

/* ------------------------------------------------------------------ server */

/* One look at slot @k and the one before it. */
static void look(uint64_t k)
{
	uint64_t s = __atomic_load_n(word_of(k, true), __ATOMIC_ACQUIRE), first, before;

	if (!s)
		return;
	looks++;
	first = __atomic_load_n(word_of(k, false), __ATOMIC_ACQUIRE);
	before = __atomic_load_n(word_of((k + plan.slots - 1) % plan.slots, true),
				 __ATOMIC_ACQUIRE);
	broken_words += first < s;
	broken_slots += before < s - 1;
}

static bool told_to_stop(void)
{
	struct pollfd pfd = { .fd = tcp, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

static bool memory_right(void)
{
	uint64_t first = plan.messages >= plan.slots ? plan.messages - plan.slots + 1 : 1, s;
	uint32_t i;

	for (s = first; s <= plan.messages; s++)
		for (i = 0; i < plan.size / 8; i++)
			if (word_of(s % plan.slots, false)[i] != s)
				return false;
	return true;
}

static bool server(void)
{
	uint64_t round = 0, k;
	char ok;

	while (!told_to_stop()) {
		/* Against the order of writing, and from a new start each time. */
		for (k = plan.slots; k-- > 0; )
			look((k + round) % plan.slots);
		round++;
		sched_yield();
	}
	if (!vc_recv(tcp, &ok, 1))
		return false;
	ok = memory_right();
	printf("mrc_order: looks=%llu broken_words=%llu broken_slots=%llu memory=%s\n",
	       (unsigned long long)looks, (unsigned long long)broken_words,
	       (unsigned long long)broken_slots, ok ? "right" : "wrong");
	return vc_send(tcp, &ok, 1) && ok && (relaxed || !(broken_words + broken_slots));
}

/* ------------------------------------------------------------------ client */

static bool post(uint64_t s)
{
	uint8_t *from = mem + s % plan.q * plan.size;
	struct ibv_sge sge = { (uintptr_t)from, plan.size, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = s,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.remote_addr = peer.addr + s % plan.slots * plan.size,
			.rkey = peer.rkey,
		},
	}, *bad;
	uint32_t i;

	for (i = 0; i < plan.size / 8; i++)
		((uint64_t *)from)[i] = s;
	return !ibv_post_send(qp, &wr, &bad);
}

static bool client(void)
{
	uint64_t posted = 0, done = 0, last = vc_now_ns();
	struct ibv_wc wc;
	char ok = 0;
	int n;

	while (done < plan.messages) {
		if (posted < plan.messages && posted - done < plan.q) {
			if (!post(++posted))
				return false;
			continue;
		}
		n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0 || (n && wc.status) || vc_now_ns() - last > stall_s * 1000000000ull) {
			printf("mrc_order: client %s after %llu of %llu\n",
			       n > 0 ? ibv_wc_status_str(wc.status) : "stalled",
			       (unsigned long long)done, (unsigned long long)plan.messages);
			return false;
		}
		if (n) {
			done++;
			last = vc_now_ns();
		} else {
			sched_yield();
		}
	}
	return vc_send(tcp, &ok, 1) && vc_recv(tcp, &ok, 1) && ok;
}

/* ------------------------------------------------------------------ set-up */

static void set_up(void)
{
	struct ibv_qp_cap cap = { .max_send_sge = 1, .max_recv_sge = 1, .max_recv_wr = 1 };
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	size_t len;

	vc_open(&dev, &opts);
	tcp = vc_tcp(&opts);
	if (opts.server ? !vc_send(tcp, &plan, sizeof(plan)) : !vc_recv(tcp, &plan, sizeof(plan)))
		vc_die("the peer is gone");
	if (!plan.slots || !plan.q || plan.size < 8 || plan.size % 8 || plan.size > 1u << 20 ||
	    plan.slots > 65536 || plan.q > plan.slots)
		vc_die("the peer speaks otherwise");
	len = (size_t)plan.size * plan.slots;
	mem = aligned_alloc(4096, (len + 4095) / 4096 * 4096);
	if (!mem)
		vc_die("no memory");
	memset(mem, 0, len);
	cq = ibv_create_cq(dev.ctx, (int)plan.q + 1, NULL, NULL, 0);
	mr = ibv_reg_mr(dev.pd, mem, len, access);
	if (!cq || !mr)
		vc_die("ibv_create_cq or ibv_reg_mr: %s", strerror(errno));
	cap.max_send_wr = plan.q;
	qp = vc_qp(&dev, cq, &cap, access);
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)mem, mr->rkey, &peer))
		vc_die("the peer is gone");
}

static void tear_down(void)
{
	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dereg_mr(mr))
		vc_die("cleaning up: %s", strerror(errno));
	vc_close(&dev);
	free(mem);
	close(tcp);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: mrc_order [options] [SERVER]\n"
	      "  -d DEV     RDMA device (the first)\n"
	      "  -p PORT    TCP port (18517)\n"
	      "  -T SECS    give up when nothing completes for so long (60)\n"
	      "  -R         server: a broken order is reported, but no failure\n"
	      "client only:\n"
	      "  -s SIZE    bytes of a message (8192)\n"
	      "  -n N       messages (2000)\n"
	      "  -q N       messages outstanding (32)\n", stderr);
	exit(VC_EXIT_USAGE);
}

int main(int argc, char **argv)
{
	bool ok;
	int c;

	while ((c = getopt(argc, argv, "d:p:T:Rs:n:q:")) != -1) {
		switch (c) {
		case 'd': opts.dev = optarg; break;
		case 'p': opts.port = optarg; break;
		case 'T': stall_s = strtoull(optarg, NULL, 0); break;
		case 'R': relaxed = true; break;
		case 's': plan.size = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'n': plan.messages = strtoull(optarg, NULL, 0); break;
		case 'q': plan.q = (uint32_t)strtoul(optarg, NULL, 0); break;
		default: usage();
		}
	}
	if (optind < argc)
		opts.server = argv[optind++];
	if (optind < argc)
		usage();
	set_up();
	ok = opts.server ? client() : server();
	tear_down();
	return ok ? VC_EXIT_OK : VC_EXIT_BAD;
}
