// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_types.c - make a device send every type of packet that it knows, for whoever
 * looks at the wire meanwhile.
 *
 *	mrc_types [-d DEV] [-g INDEX] [-4] [-p PORT] [-m MTU] [-r ROUNDS] [SERVER]
 *
 * Cases, each on a queue pair of its own: all operations that succeed, in one packet and in
 * several, with and without immediate; SENDs that invalidate a memory window; a SEND that comes
 * before its receive; a SEND longer than its receive and a WRITE with a wrong R_Key, which are
 * refused. Then datagrams, which are sent twice after a pause, where there are two planes.
 * Status 0: every completion had the status that belongs to the case. What the packets look
 * like is judged elsewhere.
 *
 * What one operation reads no other writes: payload is not copied when its ICRC is reckoned, and an
 * ATOMIC may be executed before the response of the READ that was posted before it has left.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>
#include "vud.h"

#define PART		(16 * 1024)
#define SOURCE		0		/* of SENDs and WRITEs, and at the peer of READs: nobody writes it */
#define TARGET		PART		/* of receives and WRITEs */
#define RESULT		(2 * PART)	/* of READs and ATOMICs */
#define WORD		(3 * PART)	/* of the peer's ATOMICs */
#define AREA		(4 * PART)
#define RECVS		7	/* of one round: what post_round() sends with a receive */
#define ROUND_OPS	13
#define LATE_US		100000
#define PAUSE_US	250000	/* no connection proves a plane to be alive that was silent so long */
#define DGRAMS		4
#define DGRAM_LEN	101
#define WAIT_MS		30000

enum kase { ALL_GOOD, INVALIDATES, LATE_RECV, LONG_SEND, BAD_RKEY, N_CASES };

static const struct {
	const char *name;
	enum ibv_wc_status status;
} cases[N_CASES] = {
	[ALL_GOOD] = { "all operations", IBV_WC_SUCCESS },
	[INVALIDATES] = { "SENDs with invalidate", IBV_WC_SUCCESS },
	[LATE_RECV] = { "a SEND before its receive", IBV_WC_SUCCESS },
	[LONG_SEND] = { "a SEND longer than its receive", IBV_WC_REM_INV_REQ_ERR },
	[BAD_RKEY] = { "WRITE with a wrong R_Key", IBV_WC_REM_ACCESS_ERR },
};

static struct vc_opts opts = { .gid_index = -1, .port = "18517" };
static unsigned int rounds = 10;
static struct vc_dev dev;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct vc_peer peer;
static int tcp;

static void __attribute__((noreturn)) bad(const char *what, int status)
{
	printf("mrc_types: %s: status %d\n", what, status);
	exit(VC_EXIT_BAD);
}

static void barrier(void)
{
	char c = 'b';

	if (!vc_send(tcp, &c, 1) || !vc_recv(tcp, &c, 1))
		bad("the peer is gone", -1);
}

static enum ibv_wc_status next_status(void)
{
	const uint64_t end = vc_now_ns() + WAIT_MS * 1000000ull;
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) <= 0) {
		if (vc_now_ns() > end)
			bad("no completion", -1);
		usleep(200);
	}
	return wc.status;
}

static void expect(const char *what, unsigned int n, enum ibv_wc_status status)
{
	enum ibv_wc_status got;

	while (n--) {
		got = next_status();
		if (got != status)
			bad(what, got);
	}
}

static void post_recv(uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr + TARGET, len, mr->lkey };
	struct ibv_recv_wr *out, wr = { .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(qp, &wr, &out))
		vc_die("ibv_post_recv: %s", strerror(errno));
}

/* What the server says to the client. */
static uint32_t told(uint32_t number)
{
	if (opts.server ? !vc_recv(tcp, &number, sizeof(number)) : !vc_send(tcp, &number, sizeof(number)))
		bad("the peer is gone", -1);
	return number;
}

/* A window on what is received, with another R_Key each time; the peer learns it. */
static void lend(struct ibv_mw *mw)
{
	struct ibv_send_wr *out, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = mw->rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = { mr, (uintptr_t)mr->addr + TARGET, PART, IBV_ACCESS_REMOTE_WRITE },
		},
	};

	errno = ibv_post_send(qp, &wr, &out);
	if (errno)
		vc_die("a window is not bound: %s", strerror(errno));
	expect("a window is bound", 1, IBV_WC_SUCCESS);
	told(mw->rkey);
}

static void post(enum ibv_wr_opcode opcode, uint32_t len, uint32_t flags)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, len, mr->lkey };
	struct ibv_send_wr *out, wr = {
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.sg_list = &sge,
		.num_sge = len > 0,
	};

	switch (opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		sge.addr += RESULT;
		wr.wr.atomic.remote_addr = peer.addr + WORD;
		wr.wr.atomic.rkey = peer.rkey;
		wr.wr.atomic.compare_add = 0x0102030405060708ull;
		wr.wr.atomic.swap = 0x1112131415161718ull;
		break;
	case IBV_WR_RDMA_READ:
		sge.addr += RESULT;
		wr.wr.rdma.remote_addr = peer.addr + SOURCE;
		wr.wr.rdma.rkey = peer.rkey;
		break;
	case IBV_WR_SEND_WITH_INV:
		sge.addr += SOURCE;
		wr.invalidate_rkey = told(0);
		break;
	default:
		sge.addr += SOURCE;
		wr.imm_data = 0x78563412;
		wr.wr.rdma.remote_addr = peer.addr + TARGET;
		wr.wr.rdma.rkey = peer.rkey;
	}
	errno = ibv_post_send(qp, &wr, &out);
	if (errno)
		vc_die("ibv_post_send: %s", strerror(errno));
}

/* ROUND_OPS operations, RECVS of them with a receive. */
static void post_round(uint32_t small, uint32_t large)
{
	post(IBV_WR_SEND, small, 0);
	post(IBV_WR_SEND, large, IBV_SEND_SOLICITED);
	post(IBV_WR_SEND_WITH_IMM, small, 0);
	post(IBV_WR_SEND_WITH_IMM, large, 0);
	post(IBV_WR_RDMA_WRITE, small, 0);
	post(IBV_WR_RDMA_WRITE, large, 0);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, small, 0);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, large, 0);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0);
	post(IBV_WR_RDMA_READ, small, 0);
	post(IBV_WR_RDMA_READ, large, 0);
	post(IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0);
	post(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0);
}

static void client(enum kase k, uint32_t mtu)
{
	unsigned int i;

	switch (k) {
	case ALL_GOOD:
		for (i = 0; i < rounds; i++) {
			barrier();
			post_round(97 + i, 3 * mtu + 1 + i);
			expect(cases[k].name, ROUND_OPS, cases[k].status);
		}
		return;
	case INVALIDATES:
		post(IBV_WR_SEND_WITH_INV, 97, 0);
		expect(cases[k].name, 1, cases[k].status);
		post(IBV_WR_SEND_WITH_INV, 2 * mtu + 1, 0);
		break;
	case LATE_RECV:
		barrier();
		post(IBV_WR_SEND, 100, 0);
		break;
	case LONG_SEND:
		post(IBV_WR_SEND, 2 * mtu, 0);
		break;
	case BAD_RKEY:
		peer.rkey ^= 0x55;
		post(IBV_WR_RDMA_WRITE, 100, 0);
		break;
	case N_CASES:
		break;
	}
	expect(cases[k].name, 1, cases[k].status);
}

static void server(enum kase k)
{
	struct ibv_mw *mw;
	unsigned int i, n;

	switch (k) {
	case ALL_GOOD:
		for (i = 0; i < rounds; i++) {
			for (n = 0; n < RECVS; n++)
				post_recv(PART);
			barrier();
			expect(cases[k].name, RECVS, IBV_WC_SUCCESS);
		}
		return;
	case INVALIDATES:
		mw = ibv_alloc_mw(dev.pd, IBV_MW_TYPE_2);
		if (!mw)
			vc_die("ibv_alloc_mw: %s", strerror(errno));
		for (i = 0; i < 2; i++) {
			post_recv(PART);
			lend(mw);
			expect(cases[k].name, 1, IBV_WC_SUCCESS);
		}
		ibv_dealloc_mw(mw);
		return;
	case LATE_RECV:
		barrier();
		usleep(LATE_US);
		post_recv(PART);
		expect(cases[k].name, 1, IBV_WC_SUCCESS);
		return;
	default:
		return;
	}
}

static void run(enum kase k)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 2 * ROUND_OPS, .max_recv_wr = RECVS * (rounds + 1),
		.max_send_sge = 1, .max_recv_sge = 1,
	};
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	qp = vc_qp(&dev, cq, &cap, access);
	if (k == LONG_SEND && !opts.server)
		post_recv(100);
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)mr->addr, mr->rkey, &peer))
		bad("no connection", -1);
	if (opts.server)
		client(k, 128u << dev.mtu);
	else
		server(k);
	barrier();	/* the client's last acknowledgements need the server's QP */
	usleep(50000);
	ibv_destroy_qp(qp);
	while (ibv_poll_cq(cq, 1, &(struct ibv_wc){ 0 }) > 0)
		;
}

/* From the client to the server, every second one with immediate. */
static void datagrams(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1, .grh = { .sgid_index = (uint8_t)dev.gid_index, .hop_limit = 64 },
	};
	struct ibv_sge sge = { (uintptr_t)mr->addr + SOURCE, DGRAM_LEN, mr->lkey };
	struct ibv_send_wr *out, wr = {
		.send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		.wr.ud = { .remote_qkey = VUD_QKEY },
	};
	struct ibv_ah *ah;
	unsigned int i;

	qp = vud_qp(&dev, cq, NULL, 0);
	memcpy(attr.grh.dgid.raw, peer.gid, sizeof(peer.gid));
	ah = qp ? ibv_create_ah(dev.pd, &attr) : NULL;
	if (!ah || vud_to_rts(qp))
		vc_die("a datagram queue pair: %s", strerror(errno));
	if (!opts.server)
		for (i = 0; i < DGRAMS; i++)
			post_recv(VUD_GRH + DGRAM_LEN);
	wr.wr.ud.remote_qpn = told(qp->qp_num);
	if (opts.server) {
		usleep(PAUSE_US);
		for (i = 0; i < DGRAMS; i++) {
			wr.opcode = i & 1 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
			wr.imm_data = 0x78563412;
			wr.wr.ud.ah = ah;
			errno = ibv_post_send(qp, &wr, &out);
			if (errno)
				vc_die("ibv_post_send: %s", strerror(errno));
		}
	}
	expect("a datagram", DGRAMS, IBV_WC_SUCCESS);
	barrier();
	ibv_destroy_qp(qp);
	ibv_destroy_ah(ah);
}

int main(int argc, char **argv)
{
	static uint8_t area[AREA] __attribute__((aligned(4096)));
	enum kase k;
	uint32_t i;
	int c;

	while ((c = getopt(argc, argv, "d:g:4p:m:r:")) != -1) {
		switch (c) {
		case 'd': opts.dev = optarg; break;
		case 'g': opts.gid_index = atoi(optarg); break;
		case '4': opts.want_v4 = true; break;
		case 'p': opts.port = optarg; break;
		case 'm': opts.mtu = atoi(optarg); break;
		case 'r': rounds = (unsigned int)atoi(optarg); break;
		default:
			fprintf(stderr, "usage: mrc_types [-d DEV] [-g INDEX] [-4] [-p PORT] "
				"[-m MTU] [-r ROUNDS] [SERVER]\n");
			return VC_EXIT_USAGE;
		}
	}
	opts.server = argv[optind];
	for (i = 0; i < AREA; i++)
		area[i] = (uint8_t)vc_mix(i);
	vc_open(&dev, &opts);
	cq = ibv_create_cq(dev.ctx, 4096, NULL, NULL, 0);
	if (!cq)
		vc_die("ibv_create_cq: %s", strerror(errno));
	mr = ibv_reg_mr(dev.pd, area, AREA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
	if (!mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	tcp = vc_tcp(&opts);
	for (k = 0; k < N_CASES; k++)
		run(k);
	datagrams();
	printf("mrc_types: ok\n");
	return VC_EXIT_OK;
}
