// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_objects.c - objects made and destroyed in any order, right and wrong.
 *
 * What must be: good attributes make an object; bad ones make none, with an error that is known; what others
 * need is not destroyed but busy; what nobody needs is destroyed.
 */
#include <infiniband/verbs.h>
#include <unistd.h>
#include "fuzz.h"

static const char * const names[] = { "PD", "MR", "MW", "channel", "CQ", "SRQ", "QP", "AH" };

struct obj *fuzz_any(enum kind kind)
{
	const uint64_t from = fuzz_draw(FUZZ_OBJECTS);
	int i;

	for (i = 0; i < FUZZ_OBJECTS; i++) {
		struct obj *o = &fuzz.obj[(from + (uint64_t)i) % FUZZ_OBJECTS];

		if (o->p && o->kind == kind)
			return o;
	}
	return NULL;
}

struct ibv_mr *fuzz_any_mr(void)
{
	struct obj *o = fuzz_any(MR);

	return o ? o->p : NULL;
}

static struct obj *free_place(void)
{
	int i;

	for (i = 0; i < FUZZ_OBJECTS; i++)
		if (!fuzz.obj[i].p)
			return &fuzz.obj[i];
	return NULL;
}

void fuzz_needs(struct obj *o, int i, struct obj *on)
{
	if (o->dep[i])
		o->dep[i]->users--;
	o->dep[i] = on;
	if (on)
		on->users++;
}

static void *p_of(const struct obj *o)
{
	return o ? o->p : NULL;
}

/* ---- made; *@good: whether it must work */

enum good { BAD, GOOD, EITHER };

static void *make_pd(struct obj *o, enum good *good)
{
	(void)o;
	(void)good;
	return ibv_alloc_pd(fuzz.dev.ctx);
}

/*
 * Memory that may not even be read: up to Linux 6.1 ib_umem_get() takes it by force where a region is
 * only read, whoever's the device is.
 */
static int by_force(uint64_t at, uint64_t len, int access)
{
	return len > FUZZ_AREA - at && len <= FUZZ_AREA + 8192 &&
	       !(access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
			   IBV_ACCESS_MW_BIND));
}

static void *make_mr(struct obj *o, enum good *good)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	static const int bits[] = {
		IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_MW_BIND, IBV_ACCESS_RELAXED_ORDERING,
		IBV_ACCESS_ZERO_BASED, IBV_ACCESS_ON_DEMAND, IBV_ACCESS_HUGETLB, 1 << 27, 1 << 19,
	};
	struct obj *pd = fuzz_any(PD);
	const uint64_t at = fuzz_draw(FUZZ_AREA);
	uint64_t len = 1 + fuzz_draw(FUZZ_AREA - at);
	int access = IBV_ACCESS_LOCAL_WRITE;
	uint64_t n = fuzz_draw(5);

	while (n--)
		access |= bits[fuzz_draw(fuzz_once_in(6) ? 11 : 6)];
	if (fuzz_once_in(5))
		access &= ~IBV_ACCESS_LOCAL_WRITE;
	if (fuzz_once_in(8))
		len = fuzz_once_in(2) ? FUZZ_AREA + 8192 : ~0ull - fuzz_draw(9999);
	if (access & ~(IBV_ACCESS_MW_BIND * 2 - 1) & ~IBV_ACCESS_RELAXED_ORDERING)
		*good = EITHER;		/* what ib_core and libibverbs take has changed over the years */
	if (len > FUZZ_AREA - at || access & 1 << 19 || (!(access & IBV_ACCESS_LOCAL_WRITE) &&
	    access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)))
		*good = BAD;
	else if (!(access & IBV_ACCESS_LOCAL_WRITE) && access & IBV_ACCESS_MW_BIND)
		*good = EITHER;
	if (by_force(at, len, access) && !(access & 1 << 19))
		*good = EITHER;
	snprintf(fuzz.asked, sizeof(fuzz.asked), "%llu at %llu, access %x", (unsigned long long)len,
		 (unsigned long long)at, (unsigned int)access);
	fuzz_needs(o, 0, pd);
	/* At the same place in its page, or uverbs refuses it. */
	if (fuzz_once_in(3))
		return ibv_reg_mr_iova(pd->p, fuzz.area + at, len, fuzz_draw(1 << 28) * page +
				       ((uintptr_t)fuzz.area + at) % page, access);
	return ibv_reg_mr(pd->p, fuzz.area + at, len, access);
}

static void *make_mw(struct obj *o, enum good *good)
{
	const enum ibv_mw_type type = (enum ibv_mw_type)(1 + fuzz_draw(2) + fuzz_draw(9) / 8 * 70);

	*good = type == IBV_MW_TYPE_1 || type == IBV_MW_TYPE_2 ? GOOD : BAD;
	fuzz_needs(o, 0, fuzz_any(PD));
	return ibv_alloc_mw(p_of(o->dep[0]), type);
}

static void *make_channel(struct obj *o, enum good *good)
{
	(void)o;
	(void)good;
	return ibv_create_comp_channel(fuzz.dev.ctx);
}

static void *make_cq(struct obj *o, enum good *good)
{
	struct obj *channel = fuzz_once_in(2) ? fuzz_any(CHANNEL) : NULL;
	struct ibv_cq_init_attr_ex ex = {
		.cqe = (uint32_t)(fuzz_draw(300) + 1), .channel = p_of(channel),
		.wc_flags = fuzz_draw(fuzz_once_in(3) ? 1 << 14 : 1 << 7),
	};
	int cqe = (int)ex.cqe, vector = (int)fuzz_draw((uint64_t)fuzz.dev.ctx->num_comp_vectors);

	if (fuzz_once_in(6))
		cqe = fuzz_once_in(2) ? -(int)fuzz_draw(3) : fuzz.dev.attr.max_cqe + 1;
	if (fuzz_once_in(9))
		vector = (int)fuzz_draw(0x7fffffff);
	*good = cqe > 0 && cqe <= fuzz.dev.attr.max_cqe &&
		vector < fuzz.dev.ctx->num_comp_vectors && vector >= 0 ? GOOD : BAD;
	snprintf(fuzz.asked, sizeof(fuzz.asked), "%d entries, vector %d, flags %llx", cqe, vector,
		 (unsigned long long)ex.wc_flags);
	fuzz_needs(o, 0, channel);
	ex.comp_vector = (uint32_t)vector;
	if (cqe <= 0 || cqe > 4096 || !fuzz_once_in(3))
		return ibv_create_cq(fuzz.dev.ctx, cqe, o, p_of(channel), vector);
	if (*good == GOOD && ex.wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS)
		*good = EITHER;		/* some of the others are known */
	return ibv_create_cq_ex(fuzz.dev.ctx, &ex);
}

static void *make_srq(struct obj *o, enum good *good)
{
	struct ibv_srq_init_attr a = { .attr = {
		.max_wr = 1 + (uint32_t)fuzz_draw(300), .max_sge = (uint32_t)fuzz_draw(4) + 1,
	} };

	if (fuzz_once_in(6)) {
		a.attr.max_wr = (uint32_t)fuzz.dev.attr.max_srq_wr + 1 + (uint32_t)fuzz_draw(9);
		*good = BAD;
	} else if (fuzz_once_in(6)) {
		a.attr.max_sge = (uint32_t)fuzz.dev.attr.max_srq_sge + 1 + (uint32_t)fuzz_draw(1u << 31);
		*good = BAD;
	}
	fuzz_needs(o, 0, fuzz_any(PD));
	return ibv_create_srq(p_of(o->dep[0]), &a);
}

static void spoil_caps(struct ibv_qp_cap *cap, enum good *good)
{
	uint32_t *field[] = { &cap->max_send_wr, &cap->max_recv_wr, &cap->max_send_sge,
			      &cap->max_recv_sge, &cap->max_inline_data };

	*field[fuzz_draw(5)] = 1u << 20 | (uint32_t)fuzz_draw(~0u);
	*good = BAD;
}

static void *make_qp(struct obj *o, enum good *good)
{
	static const enum ibv_qp_type odd[] = {
		IBV_QPT_UC, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_DRIVER,
	};
	struct ibv_qp_init_attr a = {
		.qp_type = fuzz_once_in(3) ? IBV_QPT_UD : IBV_QPT_RC, .sq_sig_all = (int)fuzz_draw(2),
		.cap = {
			.max_send_wr = (uint32_t)fuzz_draw(100), .max_recv_wr = (uint32_t)fuzz_draw(100),
			.max_send_sge = (uint32_t)fuzz_draw(4), .max_recv_sge = (uint32_t)fuzz_draw(4),
			.max_inline_data = (uint32_t)fuzz_draw(200),
		},
	};
	struct obj *srq = fuzz_once_in(3) ? fuzz_any(SRQ) : NULL;

	if (fuzz_once_in(12)) {
		a.qp_type = odd[fuzz_draw(4)];
		*good = BAD;
	}
	if (fuzz_once_in(9))
		spoil_caps(&a.cap, good);
	if (srq && a.qp_type != IBV_QPT_RC)
		srq = NULL;
	snprintf(fuzz.asked, sizeof(fuzz.asked), "type %d, %u %u requests, %u %u SGEs, %u inline, SRQ %p",
		 (int)a.qp_type, a.cap.max_send_wr, a.cap.max_recv_wr, a.cap.max_send_sge,
		 a.cap.max_recv_sge, a.cap.max_inline_data, (void *)srq);
	fuzz_needs(o, 0, fuzz_any(PD));
	fuzz_needs(o, 1, fuzz_any(CQ));
	fuzz_needs(o, 2, fuzz_any(CQ));
	fuzz_needs(o, 3, srq);
	a.send_cq = p_of(o->dep[1]);
	a.recv_cq = p_of(o->dep[2]);
	a.srq = p_of(srq);
	return ibv_create_qp(p_of(o->dep[0]), &a);
}

union ibv_gid fuzz_group(uint8_t scope)
{
	return (union ibv_gid){ .raw = { 0xff, scope, [15] = (uint8_t)fuzz_draw(4) } };
}

static void *make_ah(struct obj *o, enum good *good)
{
	struct ibv_ah_attr a = {
		.is_global = 1, .port_num = 1, .sl = (uint8_t)fuzz_draw(16), .grh = {
			.sgid_index = (uint8_t)fuzz.dev.gid_index, .dgid = fuzz.dev.gid,
			.hop_limit = (uint8_t)(1 + fuzz_draw(255)),
		},
	};

	if (fuzz_preys(2))
		fuzz_prey_ah(&a);
	switch (fuzz_draw(10)) {
	case 0: a.port_num = (uint8_t)(2 + fuzz_draw(254)); *good = BAD; break;
	case 1: a.is_global = 0; *good = BAD; break;
	case 2: a.grh.sgid_index = (uint8_t)(100 + fuzz_draw(156)); *good = BAD; break;
	case 3: a.grh.dgid = fuzz_group(0x0e); break;
	case 4: a.grh.dgid = fuzz_group((uint8_t)fuzz_draw(2)); *good = BAD; break;
	}
	fuzz_needs(o, 0, fuzz_any(PD));
	return ibv_create_ah(p_of(o->dep[0]), &a);
}

static void *(* const makers[N_KINDS])(struct obj *o, enum good *good) = {
	[PD] = make_pd, [MR] = make_mr, [MW] = make_mw, [CHANNEL] = make_channel, [CQ] = make_cq,
	[SRQ] = make_srq, [QP] = make_qp, [AH] = make_ah,
};

static void forget(struct obj *o)
{
	int i;

	for (i = 0; i < FUZZ_DEPS; i++)
		fuzz_needs(o, i, NULL);
	o->p = NULL;
}

void fuzz_create(void)
{
	static const enum kind often[] = { QP, CQ, MR, QP, SRQ };
	const enum kind kind = fuzz_once_in(2) ? often[fuzz_draw(5)] : (enum kind)fuzz_draw(N_KINDS);
	struct obj *o = free_place();
	enum good good = GOOD;

	if (!o || (kind != PD && kind != CQ && kind != CHANNEL && !fuzz_any(PD)) ||
	    (kind == QP && !fuzz_any(CQ)))
		return;
	o->kind = kind;
	fuzz.asked[0] = 0;
	errno = 0;
	o->p = makers[kind](o, &good);
	if (o->p) {
		FUZZ_MUST(good != BAD, "%s was made of what is bad: %s", names[kind], fuzz.asked);
		fuzz.made++;
		return;
	}
	FUZZ_MUST(good != GOOD, "%s was refused: %s: %s", names[kind], strerror(errno), fuzz.asked);
	FUZZ_MUST(fuzz_known_errno(errno), "%s was refused with %d", names[kind], errno);
	fuzz.refused++;
	forget(o);
}

/* ---- and destroyed */

static int destroy(struct obj *o)
{
	switch (o->kind) {
	case PD: return ibv_dealloc_pd(o->p);
	case MR: return ibv_dereg_mr(o->p);
	case MW: return ibv_dealloc_mw(o->p);
	case CHANNEL: return ibv_destroy_comp_channel(o->p);
	case CQ: return ibv_destroy_cq(o->p);
	case SRQ: return ibv_destroy_srq(o->p);
	case QP: return ibv_destroy_qp(o->p);
	default: return ibv_destroy_ah(o->p);
	}
}

static void destroy_one(struct obj *o)
{
	const int users = o->users;
	const int err = destroy(o);

	if (users) {
		FUZZ_MUST(err == EBUSY, "%s that %d objects need: %s", names[o->kind], users,
			  err ? strerror(err) : "destroyed");
		fuzz.busy++;
	} else {
		FUZZ_MUST(!err, "%s that nobody needs: %s", names[o->kind], strerror(err));
	}
	if (!err) {
		fuzz.destroyed++;
		forget(o);
	}
}

void fuzz_destroy_any(void)
{
	struct obj *o = &fuzz.obj[fuzz_draw(FUZZ_OBJECTS)];

	if (o->p)
		destroy_one(o);
}

void fuzz_destroy_all(void)
{
	static const enum kind order[] = { AH, QP, MW, MR, SRQ, CQ, CHANNEL, PD };
	size_t k;
	int i;

	for (k = 0; k < N_KINDS; k++)
		for (i = 0; i < FUZZ_OBJECTS; i++)
			if (fuzz.obj[i].p && fuzz.obj[i].kind == order[k])
				destroy_one(&fuzz.obj[i]);
}
