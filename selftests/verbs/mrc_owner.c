// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_owner.c - memory is whose it is: what a program took back is not touched any more, and
 * what it asks for is counted.
 *
 *	mrc_owner [-d DEV] [-g INDEX] [-p PORT] CASE [SERVER]	a pair; the client prints the verdict
 *	mrc_owner [-d DEV] [-g INDEX] cqs N ENTRIES	that many completion queues
 *	mrc_owner [-d DEV] [-g INDEX] mrs N		that many empty memory regions
 *	mrc_owner [-d DEV] [-g INDEX] huge		a region of 1 TiB
 *
 * CASE is what happens while the client reads or writes a large region of the server over a
 * slow cable: "read" and "write" deregister it, "error" moves the server's QP to error first.
 * The others print how many they got, and the errno of the next; with "wait" behind, they
 * then live until the end of input.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vcommon.h"

#define LEN	(8u << 20)
#define BEFORE	0x3c		/* in the server's memory */
#define AFTER	0xc3		/* what the server puts there when it is its own again */
#define CLIENT	0x5a
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct vc_opts opts = { .gid_index = -1, .port = "18616" };
static struct vc_dev dev;
static struct ibv_cq *cq;
static uint8_t *area;
static int tcp;

static void say(char c)
{
	if (!vc_send(tcp, &c, 1))
		vc_die("the peer is gone");
}

static char hear(void)
{
	char c;

	if (!vc_recv(tcp, &c, 1))
		vc_die("the peer is gone");
	return c;
}

/* The first bytes have come: the transfer is under way, and will be for a second. */
static void wait_for_change(uint8_t from)
{
	const volatile uint8_t *p = area;

	while (*p == from)
		usleep(100);
}

/* Pinned pages of this process, in kB. */
static unsigned long pinned(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %lu", &kb);
	if (f)
		fclose(f);
	return kb;
}

static size_t count(uint8_t byte)
{
	size_t i, n = 0;

	for (i = 0; i < LEN; i++)
		n += area[i] == byte;
	return n;
}

static struct ibv_mr *reg(void)
{
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, area, LEN, ALL);

	if (!mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	return mr;
}

static struct ibv_qp *qp_new(void)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
	};

	cq = ibv_create_cq(dev.ctx, 16, NULL, NULL, 0);
	if (!cq)
		vc_die("ibv_create_cq: %s", strerror(errno));
	return vc_qp(&dev, cq, &cap, ALL);
}

/* What it says to the client: '.' all well, 'p' pages stayed pinned, 'm' memory changed. */
static int server(const char *what)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	const bool write = !strcmp(what, "write"), error = !strcmp(what, "error");
	struct ibv_qp *qp = qp_new();
	unsigned long before = pinned();
	struct ibv_mr *mr;
	struct vc_peer peer;
	size_t landed;
	int i;

	memset(area, BEFORE, LEN);
	mr = reg();
	tcp = vc_tcp(&opts);
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)area, mr->rkey, &peer))
		vc_die("vc_connect: %s", strerror(errno));
	if (write)
		wait_for_change(BEFORE);
	else
		hear();
	if (error && ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		vc_die("QP to ERR");
	if (ibv_dereg_mr(mr))
		vc_die("ibv_dereg_mr");
	landed = count(CLIENT);
	for (i = 0; error && i < 600 && pinned() > before; i++)
		usleep(100000);
	if (error && pinned() > before)
		say('p');
	usleep(300000);		/* what the host's queues held has left */
	if (write) {
		usleep(700000);
		say(count(CLIENT) == landed ? '.' : 'm');
	} else {
		memset(area, AFTER, LEN);
		say('.');
	}
	hear();
	ibv_destroy_qp(qp);
	return VC_EXIT_OK;
}

static int wait_wc(struct ibv_wc *wc)
{
	const uint64_t end = vc_now_ns() + 60000000000ull;

	while (ibv_poll_cq(cq, 1, wc) <= 0) {
		if (vc_now_ns() > end)
			return -1;
		usleep(1000);
	}
	return 0;
}

static int client(const char *what)
{
	const bool write = !strcmp(what, "write"), error = !strcmp(what, "error");
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.num_sge = 1,
		.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_qp *qp = qp_new();
	struct ibv_sge sge = { .length = LEN };
	struct ibv_wc wc = {};
	struct vc_peer peer;
	struct ibv_mr *mr;
	size_t leaked;
	char said;
	int rc;

	memset(area, CLIENT, LEN);
	mr = reg();
	tcp = vc_tcp(&opts);
	dev.timeout = error ? 16 : 17;	/* nobody answers then: an error after 2 s */
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)area, mr->rkey, &peer))
		vc_die("vc_connect: %s", strerror(errno));
	sge.addr = (uintptr_t)area;
	sge.lkey = mr->lkey;
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = peer.addr;
	wr.wr.rdma.rkey = peer.rkey;
	if (ibv_post_send(qp, &wr, &bad))
		vc_die("ibv_post_send");
	if (!write) {
		wait_for_change(CLIENT);
		say('g');
	}
	said = hear();
	rc = wait_wc(&wc);
	say('b');
	leaked = write ? 0 : count(AFTER);
	printf("server says %c, %s, %zu bytes of what came after\n", said,
	       rc ? "no completion" : ibv_wc_status_str(wc.status), leaked);
	if (said != '.' || rc || leaked)
		return VC_EXIT_BAD;
	if (error)
		return wc.status == IBV_WC_SUCCESS ? VC_EXIT_BAD : VC_EXIT_OK;
	return wc.status == IBV_WC_REM_ACCESS_ERR ? VC_EXIT_OK : VC_EXIT_BAD;
}

static int pair(const char *what)
{
	area = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		vc_die("mmap: %s", strerror(errno));
	return opts.server ? client(what) : server(what);
}

/* ---- how much is to be had ---- */

static void told(unsigned long n, int err, bool wait)
{
	char line[16];

	printf("%lu %s\n", n, err ? strerrorname_np(err) : "ok");
	fflush(stdout);
	while (wait && fgets(line, sizeof(line), stdin))
		;
}

static int cqs(unsigned long n, int entries, bool wait)
{
	unsigned long i;
	int err = 0;

	for (i = 0; i < n; i++) {
		errno = 0;
		if (ibv_create_cq(dev.ctx, entries, NULL, NULL, 0))
			continue;
		err = errno ? errno : EIO;
		break;
	}
	told(i, err, wait);
	return VC_EXIT_OK;
}

static int mrs(unsigned long n, bool wait)
{
	unsigned long i;
	int err = 0;

	for (i = 0; i < n; i++) {
		errno = 0;
		if (ibv_reg_mr(dev.pd, (void *)(uintptr_t)4096, 0, 0))
			continue;
		err = errno ? errno : EIO;
		break;
	}
	told(i, err, wait);
	return VC_EXIT_OK;
}

static int huge(void)
{
	const size_t len = 1ull << 40;
	void *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		vc_die("mmap: %s", strerror(errno));
	errno = 0;
	if (ibv_reg_mr(dev.pd, p, len, 0))
		errno = 0;
	told(0, errno, false);
	return VC_EXIT_OK;
}

int main(int argc, char **argv)
{
	const char *what;
	bool wait;
	int opt;

	while ((opt = getopt(argc, argv, "d:g:p:")) != -1) {
		if (opt == 'd')
			opts.dev = optarg;
		else if (opt == 'g')
			opts.gid_index = atoi(optarg);
		else if (opt == 'p')
			opts.port = optarg;
		else
			return VC_EXIT_USAGE;
	}
	argc -= optind;
	argv += optind;
	if (argc < 1)
		return VC_EXIT_USAGE;
	what = argv[0];
	wait = !strcmp(argv[argc - 1], "wait");
	argc -= wait;
	vc_open(&dev, &opts);
	if (!strcmp(what, "cqs") && argc == 3)
		return cqs(strtoul(argv[1], NULL, 0), atoi(argv[2]), wait);
	if (!strcmp(what, "mrs") && argc == 2)
		return mrs(strtoul(argv[1], NULL, 0), wait);
	if (!strcmp(what, "huge"))
		return huge();
	opts.server = argc > 1 ? argv[1] : NULL;
	return pair(what);
}
