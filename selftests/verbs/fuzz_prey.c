// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_prey.c - a user who knows the numbers of another, and has one aim: to disturb that one.
 *
 * The numbers are lines of a file, "KIND NUMBER", of the kinds gid (of the peer's host), qpn (of the prey and of its
 * peer), psn, key and addr. The file is read by each round, so whoever writes it keeps it up to date. Numbers are taken as
 * they are, or as one of their neighbours. Nothing that is drawn here must work; what must not happen is seen by
 * the prey alone.
 */
#include <arpa/inet.h>
#include <unistd.h>
#include "fuzz.h"

#define QKEY_OF_CM	0x80010000
#define NUMBERS		64

struct numbers {
	uint64_t at[NUMBERS];
	uint32_t n;
};

static struct numbers qpns, psns, keys, addrs;
static union ibv_gid gid;
static bool there;

static void add(struct numbers *to, const char *text)
{
	if (to->n < NUMBERS)
		to->at[to->n++] = strtoull(text, NULL, 0);
}

void fuzz_prey_load(const char *path)
{
	FILE *f = fopen(path, "r");
	char kind[16], text[64];

	if (!f)
		vc_die("%s: %s", path, strerror(errno));
	while (fscanf(f, "%15s %63s", kind, text) == 2) {
		if (!strcmp(kind, "gid"))
			there = inet_pton(AF_INET6, text, &gid) == 1;
		else if (!strcmp(kind, "qpn"))
			add(&qpns, text);
		else if (!strcmp(kind, "psn"))
			add(&psns, text);
		else if (!strcmp(kind, "key"))
			add(&keys, text);
		else if (!strcmp(kind, "addr"))
			add(&addrs, text);
	}
	fclose(f);
}

bool fuzz_preys(uint64_t once_in)
{
	return there && fuzz_once_in(once_in);
}

/* One of them, or a neighbour. */
static uint64_t number(const struct numbers *of)
{
	const uint64_t is = of->n ? of->at[fuzz_draw(of->n)] : fuzz_draw(1ull << 32);

	return fuzz_once_in(3) ? is + fuzz_draw(2048) - 1024 : is;
}

/* A key that is known, or a guess: keys are numbered, and the low byte is random, so the prey's are near one's own. */
static uint32_t a_key(void)
{
	struct ibv_mr *own = fuzz_any_mr();

	if (keys.n && !fuzz_once_in(3))
		return (uint32_t)number(&keys);
	return (own ? own->lkey : 0) + (uint32_t)((fuzz_draw(64) - 48) << 8 | fuzz_draw(256));
}

static uint32_t a_qpn(void)
{
	return fuzz_once_in(8) ? (uint32_t)fuzz_draw(3) : (uint32_t)number(&qpns) & 0xffffff;
}

void fuzz_prey_ah(struct ibv_ah_attr *a)
{
	a->grh.dgid = gid;
}

void fuzz_prey_datagram(struct ibv_send_wr *wr)
{
	wr->wr.ud.remote_qpn = a_qpn();
	wr->wr.ud.remote_qkey = fuzz_once_in(2) ? QKEY_OF_CM : (uint32_t)number(&keys);
}

/* ---- as if it were the prey */

static int step(struct ibv_qp *qp, struct ibv_qp_attr *a, enum ibv_qp_state to, int mask)
{
	a->qp_state = to;
	return ibv_modify_qp(qp, a, IBV_QP_STATE | mask);
}

/* False: refused. */
static bool pose(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.path_mtu = IBV_MTU_1024, .port_num = 1, .timeout = (uint8_t)(1 + fuzz_draw(14)),
		.dest_qp_num = a_qpn(), .rq_psn = (uint32_t)number(&psns) & 0xffffff,
		.sq_psn = (uint32_t)number(&psns) & 0xffffff, .retry_cnt = (uint8_t)fuzz_draw(8),
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.max_rd_atomic = 4, .max_dest_rd_atomic = 4,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = (uint8_t)fuzz.dev.gid_index, .dgid = gid, .hop_limit = 64 },
		},
	};

	return !step(qp, &a, IBV_QPS_RESET, 0) &&
	       !step(qp, &a, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) &&
	       !step(qp, &a, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) &&
	       !step(qp, &a, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Its own memory or the prey's, at either end. */
static void send_one(struct ibv_qp *qp)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV,
	};
	struct ibv_mr *mr = fuzz_any_mr();
	struct ibv_sge sge = { (uintptr_t)fuzz.area, (uint32_t)fuzz_draw(2000), mr ? mr->lkey : 0 };
	struct ibv_send_wr *bad, wr = {
		.opcode = ops[fuzz_draw(7)], .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
	};

	if (fuzz_once_in(4))
		sge = (struct ibv_sge){ number(&addrs), (uint32_t)fuzz_draw(5000), a_key() };
	if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = number(&addrs) & ~7ull;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = a_key();
	} else if (wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV) {
		wr.invalidate_rkey = a_key();
	} else {
		wr.wr.rdma.remote_addr = number(&addrs);
		wr.wr.rdma.rkey = a_key();
	}
	fuzz.posted += !ibv_post_send(qp, &wr, &bad);
}

static void hunt(struct ibv_qp *qp)
{
	uint64_t n = 1 + fuzz_draw(24);

	fuzz.hunts++;
	if (!pose(qp)) {
		fuzz.refused++;
		return;
	}
	while (n--)
		send_one(qp);
}

void fuzz_prey_hunt(struct ibv_qp *qp)
{
	if (qp->qp_type == IBV_QPT_RC)
		hunt(qp);
}

/* A QP of another context, or of another's domain, and the hunt by it. */
struct hunter {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct hunter begin(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_cq *cq = pd ? ibv_create_cq(ctx, 16, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = cq ? ibv_create_qp(pd, &init) : NULL;

	if (qp)
		hunt(qp);
	return (struct hunter){ cq, qp };
}

static void end(const struct hunter *h)
{
	FUZZ_MUST(!h->qp || !ibv_destroy_qp(h->qp), "ibv_destroy_qp of a hunter: %s", strerror(errno));
	FUZZ_MUST(!h->cq || !ibv_destroy_cq(h->cq), "ibv_destroy_cq of a hunter: %s", strerror(errno));
}

/*
 * The device opened once more, a hunt by a QP of that, and the file closed while all is under way, or everything destroyed in
 * order. The first is what the kernel does for a killed process. What libibverbs keeps of it then stays in this process, which
 * ends with its round.
 */
void fuzz_prey_reopen(void)
{
	struct ibv_context *ctx = ibv_open_device(fuzz.dev.ctx->device);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct hunter h = begin(ctx, pd);

	fuzz.reopened += !!ctx;
	if (ctx && fuzz_once_in(2)) {
		close(ctx->cmd_fd);
		/* libibverbs is not to close another file of that number. */
		ctx->cmd_fd = -1;
		return;
	}
	end(&h);
	FUZZ_MUST(!pd || !ibv_dealloc_pd(pd), "ibv_dealloc_pd of a device opened again: %s", strerror(errno));
	FUZZ_MUST(!ctx || !ibv_close_device(ctx), "ibv_close_device of a device opened again: %s", strerror(errno));
}

/* The number of an object of this file, or a guess: they are numbered from zero. */
static uint32_t a_handle(uint32_t own)
{
	if (!fuzz_once_in(3))
		return own;
	return (uint32_t)fuzz_draw(fuzz_once_in(4) ? 1ull << 32 : 16);
}

/*
 * The same file imported, as if somebody had lent it, and what has these numbers in it: what is there of the right kind is this
 * program's alone. A hunt by a QP of such a domain.
 */
void fuzz_prey_import(void)
{
	const int fd = dup(fuzz.dev.ctx->cmd_fd);
	struct ibv_context *ctx = fd < 0 ? NULL : ibv_import_device(fd);
	struct obj *domain = fuzz_any(PD);
	struct ibv_mr *own = fuzz_any_mr();
	struct ibv_pd *pd = ctx ? ibv_import_pd(ctx, a_handle(domain ? ((struct ibv_pd *)domain->p)->handle : 0)) : NULL;
	struct ibv_mr *mr = pd ? ibv_import_mr(pd, a_handle(own ? own->handle : 0)) : NULL;
	struct hunter h = begin(ctx, pd);

	fuzz.imported += !!pd;
	end(&h);
	if (mr)
		ibv_unimport_mr(mr);
	if (pd)
		ibv_unimport_pd(pd);
	FUZZ_MUST(!ctx || !ibv_close_device(ctx), "ibv_close_device of an imported device: %s", strerror(errno));
}
