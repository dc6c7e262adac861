// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_rec_mem.c - memory for a connection's records: small at first, full size once it is busy.
 *
 * Most of thousands of connections are idle, and the window takes most of a connection's memory:
 * one record per PSN in flight and per retransmitted PSN. A small connection (mrc_conn_cfg) starts
 * with a part of both. It works with a smaller window of its own. When that window limits it,
 * mrc_conn_wants_mem() says so, and the caller provides the rest at any time, during traffic. The
 * peer notices nothing: the window that it is offered is the same.
 */
#include "conn/mrc_conn.h"

#define MRC_SMALL_PSNS		128	/* also the limit of packets in flight before RTS */
#define MRC_SMALL_RESENDS	16

/* Number of records and of retransmission entries. */
struct mrc_rec_mem {
	u32 psns;
	u16 resends;
};

/* The tables before growing. */
struct mrc_rec_mem_old {
	const struct mrc_rec *rec;
	u16 mask;
	const struct mrc_resend *tab;
	u16 resends;
};

static struct mrc_rec_mem mrc_rec_mem_of(const struct mrc_conn_cfg *cfg, bool small)
{
	struct mrc_rec_mem r = {
		.psns = (u32)cfg->mpr_max * MRC_MPR_UNIT,
		.resends = MRC_RESENDS,
	};

	if (small) {
		r.psns = MRC_SMALL_PSNS;	/* the minimum of mpr_max */
		r.resends = MRC_SMALL_RESENDS;
	}
	return r;
}

size_t mrc_rec_mem_bytes(const struct mrc_conn_cfg *cfg, bool small)
{
	struct mrc_rec_mem r = mrc_rec_mem_of(cfg, small);

	BUILD_BUG_ON(sizeof(struct mrc_rec) % 8 || sizeof(struct mrc_resend) % 8);
	return r.psns * sizeof(struct mrc_rec) + r.resends * sizeof(struct mrc_resend);
}

/* Use @mem for the records. The caller initialises them. */
void mrc_rec_mem_take(struct mrc_conn *c, const struct mrc_conn_cfg *cfg, bool small, u8 *mem)
{
	struct mrc_rec_mem r = mrc_rec_mem_of(cfg, small);

	c->snd.rec = (struct mrc_rec *)(void *)mem;
	c->snd.mask = (u16)(r.psns - 1);
	mem += r.psns * sizeof(struct mrc_rec);
	c->resent.tab = (struct mrc_resend *)(void *)mem;
	mrc_resent_size(c, r.resends);
	c->small = small;
	c->crowded = false;
}

/* ---- growing ---- */

/* The new slot of the record that was in @slot of a table with @mask + 1 records. */
static u16 mrc_rec_mem_slot(const struct mrc_conn *c, u16 slot, u16 mask)
{
	if (slot == MRC_NONE16)
		return slot;
	return (u16)(mrc_psn_add(c->snd.una, (s32)((slot - c->snd.una) & mask)) & c->snd.mask);
}

static void mrc_rec_mem_move_list(const struct mrc_conn *c, struct mrc_list *l, u16 mask)
{
	l->head = mrc_rec_mem_slot(c, l->head, mask);
	l->tail = mrc_rec_mem_slot(c, l->tail, mask);
}

/* Records before una move, too: a late SACK needs the EV in them (mrc_ack_ev()). */
static void mrc_rec_mem_move_recs(struct mrc_conn *c, const struct mrc_rec *old, u16 mask)
{
	u32 i;
	u8 p;

	memset(c->snd.rec, 0, (c->snd.mask + 1u) * sizeof(*c->snd.rec));
	for (i = 0; i <= c->snd.mask; i++)
		c->snd.rec[i].ev = MRC_NONE16;
	for (i = 0; i <= mask; i++) {
		u32 psn = mrc_psn_add(c->snd.next, -1 - (s32)i);
		struct mrc_rec *r = &c->snd.rec[psn & c->snd.mask];

		*r = old[psn & mask];
		if (r->state == MRC_REC_FREE)
			continue;
		r->prev = mrc_rec_mem_slot(c, r->prev, mask);
		r->next = mrc_rec_mem_slot(c, r->next, mask);
	}
	for (p = 0; p < MRC_PLANES_MAX; p++)
		mrc_rec_mem_move_list(c, &c->snd.sent[p], mask);
	mrc_rec_mem_move_list(c, &c->snd.lost, mask);
	mrc_rec_mem_move_list(c, &c->snd.paced, mask);
}

size_t mrc_conn_grow_size(const struct mrc_conn *c)
{
	return c->small ? mrc_rec_mem_bytes(&c->cfg, false) : 0;
}

/* The caller tests this after each turn. True if most of the small window is in flight, or a table was full. */
bool mrc_conn_wants_mem(const struct mrc_conn *c)
{
	u32 out = (c->snd.next - c->snd.una) & MRC_PSN_MASK;

	if (likely(!c->small) || !c->rx_ready || c->fail)
		return false;
	return c->crowded || (c->snd.known && c->snd.range < c->snd.allowed && 4 * out >= 3u * c->snd.range);
}

void mrc_conn_grow(struct mrc_conn *c, void *mem)
{
	const struct mrc_rec_mem_old old = {
		c->snd.rec, c->snd.mask, c->resent.tab, c->resent.n,
	};

	if (mrc_assert(c->small))
		return;
	mrc_rec_mem_take(c, &c->cfg, false, (u8 *)mem);
	mrc_rec_mem_move_recs(c, old.rec, old.mask);
	mrc_resent_move(c, old.tab, old.resends);
	mrc_snd_allow(c, c->snd.allowed);
}
