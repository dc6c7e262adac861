// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_wire.c - encodes and decodes MRC headers (MRC 1.0 section 1).
 *
 * One constant table defines what each opcode carries; everything else follows from it. A data
 * packet is
 *	BTH | METH | [TSETH] | RETH | [ImmDt or IETH] | [atomic operands] | payload
 * and a control packet is BTH and exactly one fixed header.
 *
 * The length is checked once, against the table, before any header is read. The readers below need
 * no further checks. Reserved bits are sent as zero and ignored on receipt. So is the ftype of a
 * timestamp header, because its position in the packet determines its meaning.
 *
 * Not here: ICRC, UDP and IP, and the meaning of a field for the connection.
 */
#include "wire/mrc_wire.h"
#include "wire/mrc_bth.h"

#define TS_TSR		0x8000	/* second half of tx_timestamp | tsr | ftype */
#define TS_FTYPE	0x0001

#define SETH_M_SHIFT	5	/* byte 1 */
#define SETH_M_MASK	0x3
#define SETH_PR		0x02
#define CCS_OOO_MASK	0x7fff
#define CCS_RESTORE	0x80	/* byte 32 */
#define CCS_PEN_MASK	0x7f

#define EP_OP_MASK	0x3

#define LEN_DATA	(MRC_BTH_LEN + MRC_METH_LEN + MRC_RETH_LEN)
#define OPC_DATA(op, f, extra) \
	[op] = { MRC_OPF_DATA | (f), LEN_DATA + (extra) }
#define OPC_CTRL(op, hdr) \
	[op] = { 0, MRC_BTH_LEN + (hdr) }
#define OPC_SEND(op, f, extra)	OPC_DATA(op, MRC_OPF_PAYLOAD | MRC_OPF_SEND | (f), extra)
#define OPC_WRITE(op, f, extra)	OPC_DATA(op, MRC_OPF_PAYLOAD | MRC_OPF_WRITE | (f), extra)
#define OPC_RRESP(op, f)		OPC_DATA(op, MRC_OPF_PAYLOAD | MRC_OPF_READ_RESP | (f), 0)

const struct mrc_opc mrc_opc_table[256] = {
	OPC_SEND(MRC_OPC_SEND_FIRST, MRC_OPF_FIRST, 0),
	OPC_SEND(MRC_OPC_SEND_MIDDLE, 0, 0),
	OPC_SEND(MRC_OPC_SEND_LAST, MRC_OPF_LAST, 0),
	OPC_SEND(MRC_OPC_SEND_LAST_IMM, MRC_OPF_LAST | MRC_OPF_IMM, MRC_IMM_LEN),
	OPC_SEND(MRC_OPC_SEND_ONLY, MRC_OPF_ONLY, 0),
	OPC_SEND(MRC_OPC_SEND_ONLY_IMM, MRC_OPF_ONLY | MRC_OPF_IMM, MRC_IMM_LEN),
	OPC_WRITE(MRC_OPC_WRITE_FIRST, MRC_OPF_FIRST, 0),
	OPC_WRITE(MRC_OPC_WRITE_MIDDLE, 0, 0),
	OPC_WRITE(MRC_OPC_WRITE_LAST, MRC_OPF_LAST, 0),
	OPC_WRITE(MRC_OPC_WRITE_LAST_IMM, MRC_OPF_LAST | MRC_OPF_IMM, MRC_IMM_LEN),
	OPC_WRITE(MRC_OPC_WRITE_ONLY, MRC_OPF_ONLY, 0),
	OPC_WRITE(MRC_OPC_WRITE_ONLY_IMM, MRC_OPF_ONLY | MRC_OPF_IMM, MRC_IMM_LEN),
	OPC_DATA(MRC_OPC_READ_REQ, MRC_OPF_ONLY, 0),
	OPC_RRESP(MRC_OPC_READ_RESP_FIRST, MRC_OPF_FIRST),
	OPC_RRESP(MRC_OPC_READ_RESP_MIDDLE, 0),
	OPC_RRESP(MRC_OPC_READ_RESP_LAST, MRC_OPF_LAST),
	OPC_RRESP(MRC_OPC_READ_RESP_ONLY, MRC_OPF_ONLY),
	OPC_CTRL(MRC_OPC_ACK, MRC_AETH_LEN),
	OPC_DATA(MRC_OPC_ATOMIC_ACK, MRC_OPF_ONLY | MRC_OPF_ATOMACK, MRC_ATOMACK_LEN),
	OPC_DATA(MRC_OPC_CMP_SWAP, MRC_OPF_ONLY | MRC_OPF_ATOMIC, MRC_ATOMIC_LEN),
	OPC_DATA(MRC_OPC_FETCH_ADD, MRC_OPF_ONLY | MRC_OPF_ATOMIC, MRC_ATOMIC_LEN),
	OPC_SEND(MRC_OPC_SEND_LAST_INV, MRC_OPF_LAST | MRC_OPF_IETH, MRC_IETH_LEN),
	OPC_SEND(MRC_OPC_SEND_ONLY_INV, MRC_OPF_ONLY | MRC_OPF_IETH, MRC_IETH_LEN),
	OPC_CTRL(MRC_OPC_EP_REQ, MRC_ERTH_LEN),
	OPC_CTRL(MRC_OPC_EP_RSP, MRC_EETH_LEN),
	OPC_CTRL(MRC_OPC_SACK, MRC_SETH_LEN),
	OPC_CTRL(MRC_OPC_NACK, MRC_NETH_LEN),
	OPC_CTRL(MRC_OPC_PROBE, MRC_PETH_LEN),
};

static inline void put_8_24(u8 *word, u8 high, u32 low)
{
	put_unaligned_be32((u32)high << 24 | (low & 0xffffff), word);
}

static inline void put_ts(u8 *b, u16 tx_ts, u8 tsr)
{
	put_unaligned_be16(tx_ts, b);
	put_unaligned_be16(tsr ? TS_TSR | TS_FTYPE : TS_FTYPE, b + 2);
}

static inline u8 get_tsr(const u8 *b)
{
	return b[2] >> 7;
}

static inline void get_bth(const u8 *b, struct mrc_pkt *p)
{
	p->opcode = b[0];
	p->se = b[1] & BTH_SE;
	p->pad = (b[1] >> BTH_PAD_SHIFT) & BTH_PAD_MASK;
	p->pkey = get_unaligned_be16(b + 2);
	p->dqpn = get_low24(b + 4);
	p->ackreq = b[8] & BTH_A;
	p->rtx = b[8] & BTH_RTX;
	p->has_ts = b[8] & BTH_TS;
	p->psn = get_low24(b + 8);
}

static inline void put_bth(u8 *b, const struct mrc_pkt *p, bool ts)
{
	u32 flags = 0;

	b[0] = p->opcode;
	b[1] = (u8)((p->se ? BTH_SE : 0) |
		    (p->pad & BTH_PAD_MASK) << BTH_PAD_SHIFT);
	put_unaligned_be16(p->pkey, b + 2);
	put_8_24(b + 4, 0, p->dqpn);
	if (p->ackreq)
		flags |= BTH_A;
	if (p->rtx)
		flags |= BTH_RTX;
	if (ts)
		flags |= BTH_TS;
	put_8_24(b + 8, (u8)flags, p->psn);
}

/* The header after RETH; there is at most one. */
static void get_extra(const u8 *b, u32 flags, struct mrc_pkt *p)
{
	if (flags & (MRC_OPF_IMM | MRC_OPF_IETH)) {
		p->imm = get_unaligned_be32(b);
	} else if (flags & MRC_OPF_ATOMIC) {
		p->swap_add = get_unaligned_be64(b);
		p->compare = get_unaligned_be64(b + 8);
	} else {
		p->swap_add = get_unaligned_be64(b);
	}
}

static void put_extra(u8 *b, u32 flags, const struct mrc_pkt *p)
{
	if (flags & (MRC_OPF_IMM | MRC_OPF_IETH)) {
		put_unaligned_be32(p->imm, b);
	} else if (flags & MRC_OPF_ATOMIC) {
		put_unaligned_be64(p->swap_add, b);
		put_unaligned_be64(p->compare, b + 8);
	} else {
		put_unaligned_be64(p->swap_add, b);
	}
}

static int parse_data(const u8 *b, u32 len, const struct mrc_opc *o,
		      struct mrc_pkt *p)
{
	u32 hdr_len = o->len + (p->has_ts ? MRC_TSETH_LEN : 0u);
	u32 rest;

	if (unlikely(len < hdr_len))
		return -EMSGSIZE;
	rest = len - hdr_len;
	if (unlikely(rest && !(o->flags & MRC_OPF_PAYLOAD)))
		return -EMSGSIZE;
	if (unlikely(rest < p->pad))
		return -EINVAL;

	p->hdr_len = (u16)hdr_len;
	p->payload_len = (u16)(rest - p->pad);
	b += MRC_BTH_LEN;
	p->rqmsn = get_unaligned_be16(b);
	p->msn = get_unaligned_be16(b + 2);
	b += MRC_METH_LEN;
	if (p->has_ts) {
		p->tx_ts = get_unaligned_be16(b);
		p->tsr = get_tsr(b);
		b += MRC_TSETH_LEN;
	}
	p->va = get_unaligned_be64(b);
	p->rkey = get_unaligned_be32(b + 8);
	p->dmalen = get_unaligned_be32(b + 12);
	if (o->flags & MRC_OPF_EXTRA)
		get_extra(b + MRC_RETH_LEN, o->flags, p);
	return 0;
}

/* A switch trimmed the packet: parse METH and TSETH if they are left. */
static int parse_trimmed(const u8 *b, u32 len, const struct mrc_opc *o,
			 struct mrc_pkt *p)
{
	u32 off = MRC_BTH_LEN;

	/* Control packets are too small to be trimmed. */
	if (unlikely(!(o->flags & MRC_OPF_DATA)))
		return -EINVAL;

	if (len >= off + MRC_METH_LEN) {
		p->rqmsn = get_unaligned_be16(b + off);
		p->msn = get_unaligned_be16(b + off + 2);
		off += MRC_METH_LEN;
	}
	/* has_ts promises a valid tx_ts: clear it if TSETH was cut off. */
	p->has_ts = p->has_ts && off > MRC_BTH_LEN &&
		    len >= off + MRC_TSETH_LEN;
	if (p->has_ts) {
		p->tx_ts = get_unaligned_be16(b + off);
		p->tsr = get_tsr(b + off);
		off += MRC_TSETH_LEN;
	}
	p->hdr_len = (u16)off;
	return 0;
}

static int get_seth(const u8 *b, struct mrc_sack *s)
{
	u16 ooo = get_unaligned_be16(b + 30);

	s->m = (b[1] >> SETH_M_SHIFT) & SETH_M_MASK;
	if (unlikely(s->m > MRC_M_ALWAYS_SKIP))
		return -EINVAL;
	s->pr = b[1] & SETH_PR;
	if (s->pr)
		s->probe_id = get_unaligned_be16(b + 2);
	else
		s->ack_psn_offset = (s16)get_unaligned_be16(b + 2);
	s->ev = get_unaligned_be32(b + 4);
	s->spdcid = get_unaligned_be16(b + 8);
	s->dpdcid = get_unaligned_be16(b + 10);
	s->cack = get_low24(b + 12);
	s->cc_type = b[16] >> 4;
	s->cc_fl = b[16] & 0x0f;
	s->mpr = b[17];
	s->sack_offset = (s16)get_unaligned_be16(b + 18);
	s->bitmap = get_unaligned_be64(b + 20);
	s->tx_ts = get_unaligned_be16(b + 28);
	s->ooo_count = ooo & CCS_OOO_MASK;
	s->restore_cwnd = b[32] & CCS_RESTORE;
	s->rcv_cwnd_pen = b[32] & CCS_PEN_MASK;
	s->rcvd_bytes = get_low24(b + 32);
	return 0;
}

static void put_seth(u8 *b, const struct mrc_sack *s)
{
	u16 offset = s->pr ? s->probe_id : (u16)s->ack_psn_offset;
	u8 pen = s->rcv_cwnd_pen & CCS_PEN_MASK;

	b[0] = 0;
	b[1] = (u8)((s->m & SETH_M_MASK) << SETH_M_SHIFT |
		    (s->pr ? SETH_PR : 0));
	put_unaligned_be16(offset, b + 2);
	put_unaligned_be32(s->ev, b + 4);
	put_unaligned_be16(s->spdcid, b + 8);
	put_unaligned_be16(s->dpdcid, b + 10);
	put_8_24(b + 12, 0, s->cack);
	b[16] = (u8)(s->cc_type << 4 | (s->cc_fl & 0x0f));
	b[17] = s->mpr;
	put_unaligned_be16((u16)s->sack_offset, b + 18);
	put_unaligned_be64(s->bitmap, b + 20);
	put_unaligned_be16(s->tx_ts, b + 28);
	put_unaligned_be16(s->ooo_count & CCS_OOO_MASK, b + 30);
	put_8_24(b + 32, (u8)(s->restore_cwnd ? CCS_RESTORE | pen : pen),
		 s->rcvd_bytes);
}

static void get_neth(const u8 *b, struct mrc_nack_hdr *n)
{
	n->reason = b[2];
	n->vendor_info = b[3];
	n->ev = get_unaligned_be32(b + 4);
	n->spdcid = get_unaligned_be16(b + 8);
	n->dpdcid = get_unaligned_be16(b + 10);
	n->psn = get_low24(b + 12);
	n->cc_type = b[16] >> 4;
	n->cc_fl = b[16] & 0x0f;
	n->tx_ts = get_unaligned_be16(b + 18);
}

static void put_neth(u8 *b, const struct mrc_nack_hdr *n)
{
	put_unaligned_be16(0, b);
	b[2] = n->reason;
	b[3] = n->vendor_info;
	put_unaligned_be32(n->ev, b + 4);
	put_unaligned_be16(n->spdcid, b + 8);
	put_unaligned_be16(n->dpdcid, b + 10);
	put_8_24(b + 12, 0, n->psn);
	b[16] = (u8)(n->cc_type << 4 | (n->cc_fl & 0x0f));
	b[17] = 0;
	put_unaligned_be16(n->tx_ts, b + 18);
}

static void get_peth(const u8 *b, struct mrc_probe_hdr *h)
{
	h->vendor_info = b[3];
	h->probe_id = get_unaligned_be16(b + 4);
	h->spdcid = get_unaligned_be16(b + 8);
	h->dpdcid = get_unaligned_be16(b + 10);
	h->tx_ts = get_unaligned_be16(b + 12);
	h->tsr = get_tsr(b + 12);
}

static void put_peth(u8 *b, const struct mrc_probe_hdr *h)
{
	put_unaligned_be32(h->vendor_info, b);
	put_unaligned_be16(h->probe_id, b + 4);
	put_unaligned_be16(0, b + 6);
	put_unaligned_be16(h->spdcid, b + 8);
	put_unaligned_be16(h->dpdcid, b + 10);
	put_ts(b + 12, h->tx_ts, h->tsr);
}

static int get_erth(const u8 *b, struct mrc_ep_hdr *h)
{
	h->op = b[1] & EP_OP_MASK;
	if (unlikely(h->op > MRC_EP_EV_PROBE))
		return -EINVAL;
	h->vendor_info = b[3];
	h->port_status_mask = get_unaligned_be32(b + 4);
	h->tx_ts = get_unaligned_be16(b + 12);
	h->tsr = get_tsr(b + 12);
	return 0;
}

static void put_erth(u8 *b, const struct mrc_ep_hdr *h)
{
	b[0] = 0;
	b[1] = h->op & EP_OP_MASK;
	b[2] = 0;
	b[3] = h->vendor_info;
	put_unaligned_be32(h->port_status_mask, b + 4);
	put_unaligned_be32(0, b + 8);
	put_ts(b + 12, h->tx_ts, h->tsr);
}

/* EETH is mostly reserved: it carries only op, the reflected timestamp, and MRC_EP_RETURN. */
static int get_eeth(const u8 *b, struct mrc_ep_hdr *h)
{
	h->op = (b[1] >> MRC_EETH_OP_SHIFT) & EP_OP_MASK;
	h->op_high = !h->op && ((b[1] >> MRC_EETH_OP_SHIFT_HIGH) & EP_OP_MASK) == MRC_EP_EV_PROBE;
	if (h->op_high)
		h->op = MRC_EP_EV_PROBE;
	if (unlikely(h->op > MRC_EP_EV_PROBE))
		return -EINVAL;
	h->vendor_info = b[3];
	h->tx_ts = get_unaligned_be16(b + 28);
	return 0;
}

static void put_eeth(u8 *b, const struct mrc_ep_hdr *h)
{
	memset(b, 0, MRC_EETH_LEN);
	b[1] = (u8)((h->op & EP_OP_MASK) << (h->op_high ? MRC_EETH_OP_SHIFT_HIGH : MRC_EETH_OP_SHIFT));
	b[3] = h->vendor_info;
	put_unaligned_be16(h->tx_ts, b + 28);
}

static int parse_control(const u8 *b, u32 len, const struct mrc_opc *o,
			 struct mrc_pkt *p)
{
	if (unlikely(len != o->len))
		return -EMSGSIZE;
	if (unlikely(p->pad))
		return -EINVAL;
	p->has_ts = false;	/* TSETH exists in data packets only */
	p->hdr_len = o->len;
	b += MRC_BTH_LEN;

	switch (p->opcode) {
	case MRC_OPC_SACK:
		return get_seth(b, &p->u.sack);
	case MRC_OPC_NACK:
		get_neth(b, &p->u.nack);
		return 0;
	case MRC_OPC_PROBE:
		get_peth(b, &p->u.probe);
		return 0;
	case MRC_OPC_EP_REQ:
		return get_erth(b, &p->u.ep);
	case MRC_OPC_EP_RSP:
		return get_eeth(b, &p->u.ep);
	case MRC_OPC_ACK:
		p->u.aeth.syndrome = b[0];
		p->u.aeth.msn = get_low24(b);
		return 0;
	}
	return -EOPNOTSUPP;
}

static int build_control(u8 *b, const struct mrc_pkt *p)
{
	switch (p->opcode) {
	case MRC_OPC_SACK:
		put_seth(b, &p->u.sack);
		return 0;
	case MRC_OPC_NACK:
		put_neth(b, &p->u.nack);
		return 0;
	case MRC_OPC_PROBE:
		put_peth(b, &p->u.probe);
		return 0;
	case MRC_OPC_EP_REQ:
		put_erth(b, &p->u.ep);
		return 0;
	case MRC_OPC_EP_RSP:
		put_eeth(b, &p->u.ep);
		return 0;
	case MRC_OPC_ACK:
		put_8_24(b, p->u.aeth.syndrome, p->u.aeth.msn);
		return 0;
	}
	return -EOPNOTSUPP;
}

/*
 * In pieces: for one memset() of this size gcc emits "rep stos", whose start
 * alone takes longer than the rest of parsing a data packet.
 */
static inline void pkt_clear(struct mrc_pkt *p)
{
	const size_t va = offsetof(struct mrc_pkt, va);
	const size_t u = offsetof(struct mrc_pkt, u);
	const size_t half = sizeof(p->u) / 2;

	u8 *b = (u8 *)p;

	memset(b, 0, va);
	memset(b + va, 0, u - va);
	memset(b + u, 0, half);
	memset(b + u + half, 0, sizeof(*p) - u - half);
}

int mrc_wire_parse(const void *buf, u32 len, u8 trimmed, struct mrc_pkt *p)
{
	const struct mrc_opc *o;
	const u8 *b = (const u8 *)buf;

	pkt_clear(p);
	/* No UDP datagram is longer; payload_len relies on it. */
	if (unlikely(len < MRC_BTH_LEN || len > 0xffff))
		return -EMSGSIZE;
	o = &mrc_opc_table[b[0]];
	if (unlikely(!o->len || (b[1] & BTH_TVER_MASK)))
		return -EOPNOTSUPP;

	get_bth(b, p);
	p->trimmed = trimmed;
	if (unlikely(trimmed))
		return parse_trimmed(b, len, o, p);
	if (likely(o->flags & MRC_OPF_DATA))
		return parse_data(b, len, o, p);
	return parse_control(b, len, o, p);
}

int mrc_wire_build(void *buf, u32 cap, const struct mrc_pkt *p)
{
	const struct mrc_opc *o = &mrc_opc_table[p->opcode];
	bool ts = p->has_ts && (o->flags & MRC_OPF_DATA);
	u32 hdr_len = o->len + (ts ? MRC_TSETH_LEN : 0u);
	u8 *b = (u8 *)buf;

	if (unlikely(!o->len))
		return -EOPNOTSUPP;
	if (unlikely(cap < hdr_len))
		return -EMSGSIZE;
	/* A wider value would be truncated silently and name another QP or packet. */
	mrc_assert(!(p->dqpn >> 24) && !(p->psn >> 24));
	mrc_assert(p->pad <= ((o->flags & MRC_OPF_PAYLOAD) ? BTH_PAD_MASK : 0));

	put_bth(b, p, ts);
	b += MRC_BTH_LEN;
	if (unlikely(!(o->flags & MRC_OPF_DATA)))
		return build_control(b, p) ?: (int)hdr_len;

	put_unaligned_be16(p->rqmsn, b);
	put_unaligned_be16(p->msn, b + 2);
	b += MRC_METH_LEN;
	if (ts) {
		put_ts(b, p->tx_ts, p->tsr);
		b += MRC_TSETH_LEN;
	}
	put_unaligned_be64(p->va, b);
	put_unaligned_be32(p->rkey, b + 8);
	put_unaligned_be32(p->dmalen, b + 12);
	if (o->flags & MRC_OPF_EXTRA)
		put_extra(b + MRC_RETH_LEN, o->flags, p);
	return (int)hdr_len;
}

u32 mrc_wire_hdr_len(u8 opcode, bool ts)
{
	const struct mrc_opc *o = &mrc_opc_table[opcode];

	return o->len + (ts && (o->flags & MRC_OPF_DATA) ? MRC_TSETH_LEN : 0u);
}

u32 mrc_wire_reads(const void *bth)
{
	const u8 *b = (const u8 *)bth;
	u32 len = mrc_wire_hdr_len(b[0], b[8] & BTH_TS);

	return len ?: MRC_HDR_MAX;
}
