/* SPDX-License-Identifier: GPL-2.0 */
/*
 * verify.h - the parts of mrc_verify: what messages are and where they lie
 * (verify_data.c), their work requests (verify_post.c), and the program.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "vcommon.h"

#define SPOIL_BYTE	0x5a

/* Immediate data: a flag or two and the low bits of a message number or count. */
#define IMM_NOTICE	0x80000000u
#define IMM_LAST	0x40000000u
#define IMM_MASK	0x3fffffffu

enum op {
	OP_WRITE,
	OP_WRITE_IMM,
	OP_SEND,
	OP_READ,
	OP_ATOMIC,
	OP_MIX,
};

extern const char * const op_names[];

/* What kind of work request a send completion is of; upper half of wr_id. */
enum wr_kind {
	WR_MESSAGE = 1,		/* lower half: low bits of the number */
	WR_NOTICE,
	WR_RECV,		/* lower half: receive slot */
};

/* Chosen by the client, sent to the server first; the magic tells the byte order. */
struct plan {
	uint64_t magic;
	uint64_t seed;
	uint32_t op;
	uint32_t size;
	uint32_t q;
	uint32_t random_size;
	uint32_t timeout;
	uint32_t reserved;
};

#define PLAN_MAGIC	0x6d72635f76657231ull

/* -------------------------------------------------------- verify_data.c */

extern struct plan plan;
extern uint8_t *mem;
extern size_t mem_size;
extern uint32_t batch;		/* messages per notice */
extern uint32_t n_recv;		/* receives posted */
extern uint64_t *word_now;	/* client: value of each of the server's atomic words */
extern uint64_t *word_old;	/* client, by slot: what the atomic must return */
extern uint64_t errors;		/* that oops() told of */
extern uint64_t bytes;		/* seen to be right, or sent */

/* Something is wrong; the first of them are printed. */
void oops(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

enum op op_of(uint64_t m);
uint32_t size_of(uint64_t m);
/* The slot that a READ takes from, and the number its pattern has. */
uint64_t read_source(uint64_t m);
uint64_t read_number(uint64_t slot);
void fill(uint8_t *p, uint32_t len, uint64_t m);
void verify(uint8_t *p, uint32_t len, uint64_t m, const char *what);

uint8_t *write_slot(uint64_t m);
uint8_t *read_slot(uint64_t s);
uint8_t *recv_slot(uint32_t i);
uint64_t *word(uint64_t m);
/* As @plan says; the same layout at both ends, so that offsets are common. */
void set_up_memory(bool client);

/* -------------------------------------------------------- verify_post.c */

extern struct ibv_qp *qp;
extern struct ibv_mr *mr;
extern struct vc_peer peer;
extern uint32_t max_inline;	/* 0: no inline data */
extern uint64_t spoiled;	/* this message is sent wrong */

void post_imm(uint32_t imm);
void post_receive(uint32_t i);
void post_message(uint64_t m);

/* --------------------------------------------------------- mrc_verify.c */

/* It makes no sense to go on. */
void broken(const char *what) __attribute__((noreturn));

#endif
