// SPDX-License-Identifier: GPL-2.0
/*
 * verify_data.c - mrc_verify's messages: their kinds, sizes and bytes, all
 * functions of the plan and their number, and the slots that they lie in.
 */
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include "verify.h"

#define GUARD		64
#define GUARD_BYTE	0xa5
#define MAX_REPORTS	10

const char * const op_names[] = {
	"write", "write_imm", "send", "read", "atomic", "mix",
};

struct plan plan = {
	.magic = PLAN_MAGIC, .op = OP_WRITE_IMM, .size = 65536, .q = 16, .timeout = 17,
};
uint8_t *mem;
size_t mem_size;
uint32_t batch, n_recv;
uint64_t *word_now, *word_old;
uint64_t errors, bytes;

static size_t stride, write_off, recv_off, read_off, atomic_off;

void oops(const char *fmt, ...)
{
	va_list ap;

	if (++errors > MAX_REPORTS)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "mrc_verify: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

enum op op_of(uint64_t m)
{
	static const enum op mix[8] = {
		OP_WRITE, OP_WRITE, OP_WRITE_IMM, OP_SEND, OP_SEND, OP_READ, OP_READ, OP_ATOMIC,
	};

	if (plan.op != OP_MIX)
		return plan.op;
	return mix[vc_mix(plan.seed ^ (m + 77)) % 8];
}

uint32_t size_of(uint64_t m)
{
	if (!plan.random_size)
		return plan.size;
	return vc_mix(plan.seed + m * 3 + 1) % (plan.size + 1ull);
}

/* READs take from a slot that is not their own, another one in every round. */
uint64_t read_source(uint64_t m)
{
	return (m * 7 + m / plan.q) % plan.q;
}

/* What a READ source slot holds is numbered apart from all messages. */
uint64_t read_number(uint64_t slot)
{
	return slot | 1ull << 62;
}

static uint64_t pattern_word(uint64_t base, uint64_t i)
{
	uint64_t w = (base + i) * 0x9e3779b97f4a7c15ull;

	return w ^ (w >> 29);
}

static uint64_t pattern_base(uint64_t m)
{
	return vc_mix(plan.seed ^ vc_mix(m));
}

void fill(uint8_t *p, uint32_t len, uint64_t m)
{
	const uint64_t base = pattern_base(m);
	uint32_t i, words = len / 8;
	uint64_t w;

	for (i = 0; i < words; i++) {
		w = pattern_word(base, i);
		memcpy(p + i * 8ull, &w, 8);
	}
	w = pattern_word(base, words);
	memcpy(p + words * 8ull, &w, len % 8);
}

void verify(uint8_t *p, uint32_t len, uint64_t m, const char *what)
{
	const uint64_t base = pattern_base(m);
	uint32_t i, k, words = (len + 7) / 8;
	uint64_t want, got;

	bytes += len;
	for (i = 0; i < words; i++) {
		const uint32_t n = len - i * 8u < 8 ? len - i * 8u : 8;

		want = pattern_word(base, i);
		if (!memcmp(p + i * 8ull, &want, n))
			continue;
		got = 0;
		memcpy(&got, p + i * 8ull, n);
		for (k = 0; k < n && p[i * 8ull + k] == ((uint8_t *)&want)[k]; k++)
			;
		oops("%s of message %llu, %u bytes: byte %u is wrong (word %016llx, want %016llx)",
		     what, (unsigned long long)m, len, i * 8 + k, (unsigned long long)got,
		     (unsigned long long)want);
		return;
	}
	for (i = plan.size; i < stride; i++) {
		if (p[i] == GUARD_BYTE)
			continue;
		oops("%s of message %llu: byte %u behind its slot was overwritten", what,
		     (unsigned long long)m, i - plan.size);
		memset(p + plan.size, GUARD_BYTE, stride - plan.size);
		return;
	}
}

uint8_t *write_slot(uint64_t m) { return mem + write_off + (m % plan.q) * stride; }
uint8_t *read_slot(uint64_t s) { return mem + read_off + (s % plan.q) * stride; }
uint8_t *recv_slot(uint32_t i) { return mem + recv_off + i * stride; }
uint64_t *word(uint64_t m) { return (uint64_t *)(mem + atomic_off) + m % plan.q; }

void set_up_memory(bool client)
{
	const bool sends = plan.op == OP_SEND || plan.op == OP_MIX;
	const bool reads = plan.op == OP_READ || plan.op == OP_MIX;
	uint64_t i, slots;

	stride = ((plan.size + 63ull) & ~63ull) + GUARD;
	batch = plan.q > 1 ? plan.q / 2 : 1;
	n_recv = plan.q + 8;
	write_off = 0;
	recv_off = write_off + plan.q * stride;
	read_off = recv_off + (sends ? n_recv * stride : 0);
	atomic_off = read_off + (reads ? plan.q * stride : 0);
	mem_size = atomic_off + plan.q * 8ull;

	mem = mmap(NULL, mem_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		vc_die("no memory: %zu bytes", mem_size);
	slots = atomic_off / stride;
	for (i = 0; i < slots; i++) {
		memset(mem + i * stride, SPOIL_BYTE, plan.size);
		memset(mem + i * stride + plan.size, GUARD_BYTE, stride - plan.size);
	}
	word_now = calloc(plan.q, 8);
	word_old = calloc(plan.q, 8);
	if (!word_now || !word_old)
		vc_die("no memory");
	for (i = 0; i < plan.q; i++) {
		word_now[i] = vc_mix(plan.seed - i - 1);
		*word(i) = word_now[i];
		if (reads && !client)
			fill(read_slot(i), plan.size, read_number(i));
	}
}
