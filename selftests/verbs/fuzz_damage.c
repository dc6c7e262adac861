// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_damage.c - commands on their way from libibverbs to the kernel, damaged.
 *
 * ioctl() and write() are ours: the program is linked so that libibverbs and plug-ins find them. A command
 * that was drawn for it goes to the kernel with something wrong in it, and then as it was, or not at all. With
 * WAY_WRITE the kernel seems to know no ioctl, so libibverbs takes the older interface.
 */
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include "fuzz.h"

#define MAX_CMD		4096
#define MAX_ATTRS	64

uint64_t fuzz_damaged, fuzz_damaged_taken;
static enum damage_way the_way;
static unsigned int rate;
static uint8_t scratch[65536 + 64];

void fuzz_damage(enum damage_way way, unsigned int once_in)
{
	the_way = way;
	rate = once_in;
}

static uint64_t bad_u64(uint64_t good)
{
	switch (fuzz_draw(9)) {
	case 0: return 0;
	case 1: return ~0ull;
	case 2: return 0xffff888000000000ull + fuzz_draw(1 << 20);	/* the kernel's */
	case 3: return (uintptr_t)fuzz.area + FUZZ_AREA - fuzz_draw(64);	/* nothing behind it */
	case 4: return (uintptr_t)fuzz.area + fuzz_draw(4096);
	case 5: return fuzz_draw(64);
	case 6: return good ^ 1ull << fuzz_draw(64);
	case 7: return good + fuzz_draw(9) - 4;
	default: return vc_mix(fuzz_draw(~0ull));
	}
}

static uint16_t bad_u16(uint16_t good)
{
	static const uint16_t odd[] = { 0, 1, 4, 8, 0x7fff, 0x8000, 0xffff, 0x1000 };

	return fuzz_once_in(2) ? odd[fuzz_draw(8)] : (uint16_t)(good + fuzz_draw(7) - 3);
}

static void damage_words(uint8_t *p, size_t len)
{
	uint64_t n = 1 + fuzz_draw(3);

	while (n-- && len >= 4) {
		const size_t at = fuzz_draw(len / 4) * 4;
		uint32_t word;

		memcpy(&word, p + at, 4);
		word = (uint32_t)bad_u64(word);
		memcpy(p + at, &word, 4);
	}
}

/* ---- ioctl */

static void damage_attr(struct ib_uverbs_ioctl_hdr *hdr, struct ib_uverbs_attr *a)
{
	switch (fuzz_draw(8)) {
	case 0: a->attr_id = fuzz_once_in(2) ? (uint16_t)(fuzz_draw(24) | fuzz_draw(16) << 12) :
			     bad_u16(a->attr_id); break;
	case 1: a->len = bad_u16(a->len); break;
	case 2: a->flags = bad_u16(a->flags); break;
	case 3: a->attr_data.reserved = bad_u16(0); break;
	case 4: *a = hdr->attrs[fuzz_draw(hdr->num_attrs)]; break;
	case 5:
	case 6:
		if (a->len > 8 && a->data > 4096) {
			memcpy(scratch, (const void *)(uintptr_t)a->data, a->len);
			a->data = (uintptr_t)scratch;
			damage_words(scratch, a->len);
			break;
		}
		/* fallthrough */
	default: a->data = bad_u64(a->data);
	}
}

static void damage_hdr(struct ib_uverbs_ioctl_hdr *hdr)
{
	switch (fuzz_draw(6)) {
	case 0: hdr->length = bad_u16(hdr->length); break;
	case 1: hdr->object_id = (uint16_t)fuzz_draw(24) | (fuzz_once_in(3) ? 1 << 12 : 0); break;
	case 2: hdr->method_id = (uint16_t)fuzz_draw(12) | (fuzz_once_in(3) ? 1 << 12 : 0); break;
	case 3: hdr->num_attrs = bad_u16(hdr->num_attrs); break;
	case 4: hdr->driver_id = (uint32_t)fuzz_draw(30); break;
	default: hdr->reserved1 = fuzz_draw(2); hdr->reserved2 = (uint32_t)fuzz_draw(2);
	}
}

/*
 * GET_CONTEXT by ioctl(), when it fails, leaves a reference to the task behind: ib_uverbs drops it only in its older
 * interface. It is so for every device (host/runuml.sh), and a search for leaks would find nothing else.
 */
static bool leaks_in_ib_uverbs(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE && hdr->method_id == UVERBS_METHOD_GET_CONTEXT;
}

static int damaged_ioctl(int fd, const struct ib_uverbs_ioctl_hdr *good)
{
	static _Alignas(8) uint8_t copy[MAX_CMD];
	struct ib_uverbs_ioctl_hdr *hdr = (struct ib_uverbs_ioctl_hdr *)copy;
	uint64_t n = 1 + fuzz_draw(2);

	memcpy(copy, good, good->length);
	while (n--)
		if (fuzz_once_in(4) || !good->num_attrs)
			damage_hdr(hdr);
		else
			damage_attr(hdr, &hdr->attrs[fuzz_draw(good->num_attrs)]);
	if (leaks_in_ib_uverbs(hdr))
		return -1;
	fuzz_damaged++;
	return (int)syscall(SYS_ioctl, fd, RDMA_VERBS_IOCTL, hdr);
}

/* "Only" once in two: what was taken stands, and the program never learns of it. */
static bool instead(long answer)
{
	if (answer < 0)
		return false;
	fuzz_damaged_taken++;
	return fuzz_once_in(2);
}

int ioctl(int fd, unsigned long request, ...)
{
	const struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL) {
		hdr = arg;
		if (the_way == WAY_WRITE) {
			errno = ENOTTY;
			return -1;
		}
		if (rate && fuzz.dev.ctx && hdr->length <= MAX_CMD && fuzz_once_in(rate) &&
		    instead(damaged_ioctl(fd, hdr)))
			return 0;
	}
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* ---- write */

static long damaged_write(int fd, const void *good, size_t len)
{
	static _Alignas(8) uint8_t copy[MAX_CMD];
	struct ib_uverbs_cmd_hdr *hdr = (struct ib_uverbs_cmd_hdr *)copy;
	uint64_t at;

	memcpy(copy, good, len);
	switch (fuzz_draw(6)) {
	case 0: hdr->command = fuzz_once_in(2) ? (uint32_t)fuzz_draw(64) :
			       hdr->command ^ 1u << fuzz_draw(32); break;
	case 1: hdr->in_words = bad_u16(hdr->in_words); break;
	case 2: hdr->out_words = bad_u16(hdr->out_words); break;
	case 3: len -= fuzz_draw(len); break;
	case 4:
		if (len >= sizeof(*hdr) + 8) {	/* where the answer goes, as a rule */
			memcpy(&at, copy + sizeof(*hdr), 8);
			at = bad_u64(at);
			memcpy(copy + sizeof(*hdr), &at, 8);
			break;
		}
		/* fallthrough */
	default:
		damage_words(copy + sizeof(*hdr), len > sizeof(*hdr) ? len - sizeof(*hdr) : 0);
	}
	fuzz_damaged++;
	return syscall(SYS_write, fd, copy, len);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	if (rate && fuzz.dev.ctx && fd == fuzz.dev.ctx->cmd_fd && len >= sizeof(struct ib_uverbs_cmd_hdr) &&
	    len <= MAX_CMD && fuzz_once_in(rate) && instead(damaged_write(fd, buf, len)))
		return (ssize_t)len;
	return syscall(SYS_write, fd, buf, len);
}
