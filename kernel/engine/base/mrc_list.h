/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_list.h - the records of the send window, and doubly linked lists of them.
 *
 * One record per PSN in the window. A link is a slot number of the window, not a pointer, so a
 * record takes 16 bytes. Each data packet enters and leaves one list: all functions are inline. The
 * caller serialises the calls; the connection owns the memory.
 */
#ifndef MRC_LIST_H
#define MRC_LIST_H

#include "base/mrc_types.h"
#include "paths/mrc_plane.h"

/* One PSN between una and psn_next. 16 bytes; times in MRC_TICK_NS. */
struct mrc_rec {
	u32 sent;		/* tick of the latest send */
	u16 prev, next;		/* links: window slots */
	u16 ev;			/* index in the evset, of the latest send */
	u16 msg;		/* index in its ring; with MRC_REC_RESP: ring of responses */
	u16 len;		/* payload bytes */
	u8 plane;		/* of the latest send; selects the sent list */
	u8 state : 2;		/* enum mrc_rec_state */
	u8 cause : 3;		/* enum mrc_cause of the latest loss */
	u8 charged : 1;		/* that loss was reported to the controller */
	u8 tries : 2;		/* sends so far, saturating */
};
#define MRC_REC_RESP	0x8000u
#define MRC_TRIES_MAX	3u

struct mrc_list {
	u16 head, tail;
	u32 count;
};

static inline void mrc_list_init(struct mrc_list *l)
{
	l->head = MRC_NONE16;
	l->tail = MRC_NONE16;
	l->count = 0;
}

static inline void mrc_list_add_tail(struct mrc_rec *rec, struct mrc_list *l, u16 slot)
{
	struct mrc_rec *r = &rec[slot];
	u16 tail = l->tail;

	r->prev = tail;
	r->next = MRC_NONE16;
	if (tail == MRC_NONE16)
		l->head = slot;
	else
		rec[tail].next = slot;
	l->tail = slot;
	l->count++;
}

static inline void mrc_list_add_head(struct mrc_rec *rec, struct mrc_list *l, u16 slot)
{
	struct mrc_rec *r = &rec[slot];

	r->next = l->head;
	r->prev = MRC_NONE16;
	if (l->head == MRC_NONE16)
		l->tail = slot;
	else
		rec[l->head].prev = slot;
	l->head = slot;
	l->count++;
}

static inline void mrc_list_del(struct mrc_rec *rec, struct mrc_list *l, u16 slot)
{
	u16 prev = rec[slot].prev, next = rec[slot].next;

	if (prev == MRC_NONE16)
		l->head = next;
	else
		rec[prev].next = next;
	if (next == MRC_NONE16)
		l->tail = prev;
	else
		rec[next].prev = prev;
	l->count--;
}

#endif
