// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_selfmsg.c - builds and parses self-probes, which a host sends to itself along a path out and
 * back. mrc_selfmsg.h has the format.
 *
 * Parsing needs the bytes up to the secret, so it accepts trimmed probes. It also accepts forged
 * ones: mrc_selfprobe.h compares number and secret, and the caller checks the ICRC.
 */
#include "base/mrc_prng.h"
#include "wire/mrc_selfmsg.h"

/* Another pattern in each probe: what a link garbles may depend on the bits. */
static void selfmsg_fill(u8 *to, u32 len, u64 seed)
{
	struct mrc_prng r = { .state = seed };
	u8 last[8];

	for (; len >= 8; to += 8, len -= 8)
		put_unaligned_be64(mrc_prng_u64(&r), to);
	put_unaligned_be64(mrc_prng_u64(&r), last);
	memcpy(to, last, len);
}

void mrc_selfmsg_build(void *bth, u32 len, const struct mrc_selfmsg *m)
{
	u8 *b = (u8 *)bth;

	put_unaligned_be32((u32)MRC_OPC_SELF << 24 | 0xffff, b);
	put_unaligned_be32(MRC_QPN_ENDPOINT, b + 4);
	put_unaligned_be32(m->seq & 0xffffff, b + 8);
	put_unaligned_be32(m->id, b + 12);
	put_unaligned_be32(m->seq, b + 16);
	put_unaligned_be64(m->secret, b + 20);
	selfmsg_fill(b + MRC_SELFMSG_LEN, len - MRC_SELFMSG_LEN, m->secret ^ m->seq);
}

bool mrc_selfmsg_parse(const void *bth, u32 len, struct mrc_selfmsg *m)
{
	const u8 *b = (const u8 *)bth;

	if (len < MRC_SELFMSG_LEN || b[0] != MRC_OPC_SELF)
		return false;
	m->id = get_unaligned_be32(b + 12);
	m->seq = get_unaligned_be32(b + 16);
	m->secret = get_unaligned_be64(b + 20);
	return true;
}
