/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz.h - the parts of mrc_fuzz: the objects that exist and what must be true of them (fuzz_objects.c), what is
 * done with them (fuzz_use.c, fuzz_qp.c), another user who is to be disturbed (fuzz_prey.c), commands that are damaged on their way to the kernel (fuzz_damage.c).
 *
 * All is drawn from one seed, so a round is repeated by its seed; but for what packets and other threads do meanwhile.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <errno.h>
#include <string.h>
#include "vcommon.h"

enum kind { PD, MR, MW, CHANNEL, CQ, SRQ, QP, AH, N_KINDS };

#define FUZZ_DEPS	4
#define FUZZ_OBJECTS	48
#define FUZZ_AREA	(256 * 1024)

struct obj {
	enum kind kind;
	void *p;		/* NULL: this place is free */
	int users;		/* objects that need this one */
	struct obj *dep[FUZZ_DEPS];
};

struct fuzz {
	struct vc_dev dev;
	struct obj obj[FUZZ_OBJECTS];
	uint8_t *area;		/* ours, FUZZ_AREA bytes; behind it nothing is mapped */
	uint64_t seed, state;
	uint64_t step;
	char asked[128];	/* for, of the object that is being made */
	bool strict;		/* nothing is damaged: what must be is asserted */
	uint64_t made, destroyed, refused, busy, posted, completed, hunts, reopened, imported;
};

extern struct fuzz fuzz;

uint64_t fuzz_draw(uint64_t below);
static inline bool fuzz_once_in(uint64_t n)
{
	return !fuzz_draw(n);
}

/* @what was expected; if not, the round and its seed are told, and the program ends. */
#define FUZZ_MUST(cond, ...)						\
	do {								\
		if (fuzz.strict && !(cond))				\
			fuzz_find(#cond, __VA_ARGS__);			\
	} while (0)
void fuzz_find(const char *cond, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* An answer that the manual pages know for a command that cannot be done. */
bool fuzz_known_errno(int err);

/* fuzz_objects.c */
struct obj *fuzz_any(enum kind kind);		/* NULL: there is none */
struct ibv_mr *fuzz_any_mr(void);		/* likewise */
/* One of four multicast groups of a scope: 0 and 1 go nowhere. */
union ibv_gid fuzz_group(uint8_t scope);
void fuzz_create(void);
void fuzz_destroy_any(void);
void fuzz_destroy_all(void);
void fuzz_needs(struct obj *o, int i, struct obj *on);

/* fuzz_qp.c */
void fuzz_use_qp(struct ibv_qp *qp);

/* fuzz_use.c */
void fuzz_use(void);

/* fuzz_prey.c */
void fuzz_prey_load(const char *path);
bool fuzz_preys(uint64_t once_in);	/* now and then, if there is prey */
void fuzz_prey_ah(struct ibv_ah_attr *a);
void fuzz_prey_datagram(struct ibv_send_wr *wr);
void fuzz_prey_hunt(struct ibv_qp *qp);
void fuzz_prey_reopen(void);
void fuzz_prey_import(void);

/* fuzz_damage.c */
enum damage_way { WAY_IOCTL, WAY_WRITE };
void fuzz_damage(enum damage_way way, unsigned int once_in);	/* 0: nothing is damaged */
extern uint64_t fuzz_damaged, fuzz_damaged_taken;

#endif
