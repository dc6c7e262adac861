// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_deth.c - see mrc_deth.h.
 */
#include "wire/mrc_deth.h"
#include "wire/mrc_bth.h"

int mrc_deth_parse(const void *buf, u32 len, struct mrc_dgram *d)
{
	const u8 *b = buf, *deth;
	u8 opcode;
	u32 hdr;

	memset(d, 0, sizeof(*d));
	if (len < MRC_BTH_LEN + MRC_DETH_LEN)
		return -EMSGSIZE;
	deth = b + MRC_BTH_LEN;
	opcode = (u8)(b[0] & ~MRC_DETH_COPY);
	if ((opcode != MRC_DETH_SEND_ONLY && opcode != MRC_DETH_SEND_ONLY_IMM) || b[1] & BTH_TVER_MASK)
		return -EOPNOTSUPP;
	d->copy = b[0] & MRC_DETH_COPY;
	d->has_imm = opcode == MRC_DETH_SEND_ONLY_IMM;
	hdr = MRC_BTH_LEN + MRC_DETH_LEN + (d->has_imm ? MRC_IMM_LEN : 0);
	if (len < hdr || len - hdr > MRC_DETH_PAYLOAD_MAX)
		return -EMSGSIZE;
	d->pad = (b[1] >> BTH_PAD_SHIFT) & BTH_PAD_MASK;
	if (len - hdr < d->pad)
		return -EINVAL;
	d->se = b[1] & BTH_SE;
	d->pkey = get_unaligned_be16(b + 2);
	d->dqpn = get_low24(b + 4);
	d->psn = get_low24(b + 8);
	d->qkey = get_unaligned_be32(deth);
	d->marked = deth[4] == MRC_DETH_MARK;
	d->sqpn = get_low24(deth + 4);
	if (d->has_imm)
		d->imm = get_unaligned_be32(deth + MRC_DETH_LEN);
	d->hdr_len = (u16)hdr;
	d->payload_len = (u16)(len - hdr - d->pad);
	return 0;
}

u32 mrc_deth_build(void *buf, struct mrc_dgram *d)
{
	u8 *b = buf, *deth = b + MRC_BTH_LEN;

	mrc_assert(d->payload_len <= MRC_DETH_PAYLOAD_MAX);
	d->pad = (u8)(-(u32)d->payload_len & BTH_PAD_MASK);
	d->hdr_len = (u16)(MRC_BTH_LEN + MRC_DETH_LEN + (d->has_imm ? MRC_IMM_LEN : 0));
	b[0] = d->has_imm ? MRC_DETH_SEND_ONLY_IMM : MRC_DETH_SEND_ONLY;
	if (d->copy)
		mrc_deth_make_copy(b);
	b[1] = (u8)((d->se ? BTH_SE : 0) | BTH_MIGRATED | d->pad << BTH_PAD_SHIFT);
	put_unaligned_be16(d->pkey, b + 2);
	put_unaligned_be32(d->dqpn & 0xffffff, b + 4);
	put_unaligned_be32(d->psn & 0xffffff, b + 8);
	put_unaligned_be32(d->qkey, deth);
	put_unaligned_be32((d->marked ? (u32)MRC_DETH_MARK << 24 : 0) | (d->sqpn & 0xffffff),
			   deth + 4);
	if (d->has_imm)
		put_unaligned_be32(d->imm, deth + MRC_DETH_LEN);
	return d->hdr_len;
}
