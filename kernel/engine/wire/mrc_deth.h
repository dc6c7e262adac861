/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_deth.h - datagrams: SEND ONLY of the unreliable datagram service, plain RoCEv2.
 *
 * BTH | DETH | [ImmDt] | payload. MRC 1.0 has no datagrams. They carry packets that every RoCEv2
 * host must understand, first of all the management packets of connection managers (QP 1). They are
 * not part of the engine's stream: no METH, no acknowledgement, opcodes below 0xc0.
 *
 * The mark: DETH has a byte that is sent as zero and ignored on receipt (IBTA 9.3.1). Our
 * management packets have MRC_DETH_MARK there, so both ends know that they speak MRC before they
 * connect. The ICRC covers it. Datagrams of programs that are sent twice carry it too.
 *
 * The copy: a datagram that must not be lost is sent by two planes (paths/mrc_flowlet.h). The
 * second has an opcode of the manufacturer range and is otherwise identical. A receiver that does
 * not know the opcode drops it (IBTA), so no program of another stack gets a datagram twice. Our
 * receiver drops the later of the two (peer/mrc_dup.h).
 */
#ifndef MRC_DETH_H
#define MRC_DETH_H

#include "wire/mrc_wire.h"

#define MRC_DETH_SEND_ONLY	0x64
#define MRC_DETH_SEND_ONLY_IMM	0x65
#define MRC_DETH_COPY		0x80	/* set in the opcode of a copy: e4, e5 */

#define MRC_QPN_GSI		1	/* management packets */
#define MRC_QPN_MCAST		0xffffff	/* all QPs attached to the multicast group */
#define MRC_DETH_LEN		8
#define MRC_DETH_HDR_MAX	(MRC_BTH_LEN + MRC_DETH_LEN + MRC_IMM_LEN)
#define MRC_DETH_MARK		0x4d
#define MRC_DETH_PAYLOAD_MAX	4096
#define MRC_DETH_QKEY_OWN	0x80000000u	/* in a work request: use the QP's own Q_Key */

/* One datagram, host byte order. */
struct mrc_dgram {
	bool se;		/* solicited event */
	bool has_imm;
	bool marked;		/* MRC_DETH_MARK: the sender speaks MRC */
	bool copy;		/* copy of a datagram that was sent by another path */
	u8 pad;			/* PadCnt; not included in payload_len */
	u16 pkey;
	u16 hdr_len;		/* bytes from BTH to the payload */
	u16 payload_len;
	u32 dqpn, sqpn, psn;	/* 24 bits */
	u32 qkey;
	u32 imm;
};

/**
 * mrc_deth_parse - decode one datagram
 * @buf: first byte of BTH
 * @len: bytes from there to the end of the payload, ICRC excluded
 *
 * Any context. Return: 0; -EOPNOTSUPP for another opcode or transport version, -EMSGSIZE when shorter
 * than its headers or longer than a datagram may be, -EINVAL for a pad beyond the payload.
 */
int mrc_deth_parse(const void *buf, u32 len, struct mrc_dgram *d);

/* Encode; @buf: MRC_DETH_HDR_MAX bytes. pad and hdr_len follow from payload_len. Return: hdr_len. */
u32 mrc_deth_build(void *buf, struct mrc_dgram *d);

/* Turn the datagram at @bth, which is complete, into its copy. */
static inline void mrc_deth_make_copy(void *bth)
{
	*(u8 *)bth |= MRC_DETH_COPY;
}

/*
 * Make the MRC_BTH_LEN bytes at @bth equal for a datagram and its copy: clear the copy bit, and the byte that switches
 * may change (congestion marks, not covered by the ICRC).
 */
static inline void mrc_deth_alike(void *bth)
{
	u8 *b = (u8 *)bth;

	b[0] &= (u8)~MRC_DETH_COPY;
	b[4] = 0;
}

/* The Q_Key to send: @asked is that of the work request, @own that of the QP. */
static inline u32 mrc_deth_qkey(u32 asked, u32 own)
{
	return asked & MRC_DETH_QKEY_OWN ? own : asked;
}

#endif
