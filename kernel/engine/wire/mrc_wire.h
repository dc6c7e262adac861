/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_wire.h - the wire format: every header between UDP and the payload.
 *
 * MRC 1.0 section 1 (Tables 6-3 ... 7-22) and the project's extension for SEND, READ and ATOMIC:
 * opcode = 0xC0 | IBTA RC opcode, METH and RETH in every packet. struct mrc_pkt is the host-endian
 * form of one packet. mrc_wire_parse() is the trust boundary: it reads nothing past len and accepts
 * only complete, known packets. mrc_wire_build() is its inverse. The caller handles the ICRC and
 * everything outside UDP.
 */
#ifndef MRC_WIRE_H
#define MRC_WIRE_H

#include "base/mrc_types.h"

#define MRC_UDP_PORT		4791	/* RoCEv2's; the default */
#define MRC_UDP_PORT_ALT	4971	/* as printed in 7.5.5.2; accepted too */
#define MRC_QPN_ENDPOINT	2	/* destination of D8/D9 */
#define MRC_ICRC_LEN		4
#define MRC_NOMINAL_HDR		40	/* nominal_hdrsize, 8.3.1 */

enum mrc_opcode {
	MRC_OPC_SEND_FIRST = 0xc0,
	MRC_OPC_SEND_MIDDLE = 0xc1,
	MRC_OPC_SEND_LAST = 0xc2,
	MRC_OPC_SEND_LAST_IMM = 0xc3,
	MRC_OPC_SEND_ONLY = 0xc4,
	MRC_OPC_SEND_ONLY_IMM = 0xc5,
	MRC_OPC_WRITE_FIRST = 0xc6,
	MRC_OPC_WRITE_MIDDLE = 0xc7,
	MRC_OPC_WRITE_LAST = 0xc8,
	MRC_OPC_WRITE_LAST_IMM = 0xc9,
	MRC_OPC_WRITE_ONLY = 0xca,
	MRC_OPC_WRITE_ONLY_IMM = 0xcb,
	MRC_OPC_READ_REQ = 0xcc,
	MRC_OPC_READ_RESP_FIRST = 0xcd,
	MRC_OPC_READ_RESP_MIDDLE = 0xce,
	MRC_OPC_READ_RESP_LAST = 0xcf,
	MRC_OPC_READ_RESP_ONLY = 0xd0,
	MRC_OPC_ACK = 0xd1,		/* transport ACK or NAK: AETH */
	MRC_OPC_ATOMIC_ACK = 0xd2,
	MRC_OPC_CMP_SWAP = 0xd3,
	MRC_OPC_FETCH_ADD = 0xd4,
	MRC_OPC_SEND_LAST_INV = 0xd6,
	MRC_OPC_SEND_ONLY_INV = 0xd7,
	MRC_OPC_EP_REQ = 0xd8,		/* ERTH */
	MRC_OPC_EP_RSP = 0xd9,		/* EETH */
	MRC_OPC_SACK = 0xdc,		/* SETH + CC_STATE */
	MRC_OPC_NACK = 0xdd,		/* NETH */
	MRC_OPC_PROBE = 0xde,		/* PETH */
};

/* Header sizes in bytes. */
#define MRC_BTH_LEN	12
#define MRC_METH_LEN	4
#define MRC_TSETH_LEN	4
#define MRC_RETH_LEN	16
#define MRC_IMM_LEN	4
#define MRC_IETH_LEN	4	/* R_Key to invalidate, D6/D7 */
#define MRC_ATOMIC_LEN	16	/* swap_add 8, compare 8; after RETH in D3/D4 */
#define MRC_ATOMACK_LEN	8	/* original value; after RETH in D2 */
#define MRC_AETH_LEN	4
#define MRC_SETH_LEN	36	/* SETH 28 + CC_STATE 8 */
#define MRC_NETH_LEN	20
#define MRC_PETH_LEN	16
#define MRC_ERTH_LEN	16
#define MRC_EETH_LEN	36
#define MRC_HDR_MAX	(MRC_BTH_LEN + MRC_METH_LEN + MRC_TSETH_LEN + \
			 MRC_RETH_LEN + MRC_ATOMIC_LEN + MRC_IMM_LEN)

/* m field of SETH (1.7). */
enum mrc_sack_m {
	MRC_M_NONE = 0,
	MRC_M_SKIP_ONCE = 1,
	MRC_M_ALWAYS_SKIP = 2,
};

/* op of ERTH / EETH (1.10). */
enum mrc_ep_op {
	MRC_EP_PORT_STATUS = 0,
	MRC_EP_EV_PROBE = 1,
};

/* cc_type of SETH (1.7) and of NETH (1.8). */
#define MRC_CC_TYPE_SACK	0x0
#define MRC_CC_TYPE_NACK	0x2

#define MRC_TS_SHIFT	7	/* timestamps count 128 ns (tsr 0), 16 bits of them */

static inline u16 mrc_ts16(u64 ns)
{
	return (u16)(ns >> MRC_TS_SHIFT);
}

/*
 * EETH carries op in bits 3:2 of byte 1, or in bits 5:4 (ambiguous: Documentation/reference/disputed.md, D4). op is 0 or 1,
 * so both are understood.
 */
#define MRC_EETH_OP_SHIFT	2
#define MRC_EETH_OP_SHIFT_HIGH	4

/*
 * Project extension: an EV probe names a switch, and the answer returns over that switch (Documentation/reference/protocol.md).
 * vendor_info of ERTH has this value, and EV[15:0] of the request is a uSID. The answer has the same value in byte 3 of
 * EETH, which MRC 1.0 reserves, if it took such a path. Peers that do not know it answer by any path.
 */
#define MRC_EP_RETURN	0x52

#define MRC_AETH_CREDIT_NONE	0x1f	/* ACK syndrome: no end-to-end credits */
#define MRC_AETH_NAK		0x60	/* | enum mrc_nak */

struct mrc_sack {
	u8 m;			/* enum mrc_sack_m */
	bool pr;		/* answer to a reliability probe */
	s16 ack_psn_offset;	/* triggering PSN - cack; undefined if pr */
	u16 probe_id;		/* same wire bytes, when pr */
	u32 ev;			/* entropy of the packet answered */
	u16 spdcid, dpdcid;
	u32 cack;		/* all PSNs up to this one have arrived */
	u8 cc_type, cc_fl;
	u8 mpr;			/* 128-PSN units; 0: dynamic MPR off */
	s16 sack_offset;	/* bitmap base - cack */
	u64 bitmap;		/* bit i: PSN cack + sack_offset + i */
	u16 tx_ts;		/* reflected */
	u16 ooo_count;		/* 15 bits */
	bool restore_cwnd;
	u8 rcv_cwnd_pen;	/* 7 bits */
	u32 rcvd_bytes;		/* 24 bits, units of 256 B */
};

struct mrc_nack_hdr {
	u8 reason;		/* enum mrc_nack */
	u8 vendor_info;		/* NO_RESOURCE: IBTA RNR timer code (project extension) */
	u32 ev;
	u16 spdcid, dpdcid;
	u32 psn;
	u8 cc_type, cc_fl;
	u16 tx_ts;
};

struct mrc_probe_hdr {
	u8 vendor_info;
	u16 probe_id;
	u16 spdcid, dpdcid;
	u16 tx_ts;
	u8 tsr;
};

struct mrc_ep_hdr {		/* ERTH and EETH */
	u8 op;			/* enum mrc_ep_op */
	bool op_high;		/* EETH: op is in bits 5:4 */
	u8 vendor_info;		/* 0 or MRC_EP_RETURN */
	u16 via;		/* EP_RSP that is sent: uSID that its path must cross; 0: any path. Not on the wire */
	u32 port_status_mask;	/* ERTH only: bit p set = port p + 1 reachable */
	u16 tx_ts;
	u8 tsr;
};

#define MRC_PLANE_NONE	0xff

/*
 * One packet, host byte order. After parsing, fields that its opcode does not have are zero. plane, ev, ecn_ce, trimmed
 * and udp_len come from outer headers: the receiving caller fills them in.
 */
struct mrc_pkt {
	u8 opcode;		/* enum mrc_opcode */
	u8 pad;			/* PadCnt; not included in payload_len */
	bool se;		/* solicited event */
	bool has_ts;		/* TS: TSETH present; data packets only */
	u16 pkey;
	u8 tsr;			/* TSETH */
	u8 plane;		/* arrival plane, 0-based; MRC_PLANE_NONE: by none (lo) */
	u32 dqpn;		/* 24 bits */
	u32 psn;		/* 24 bits; meaning per opcode, 1.3 */

	union {
		struct {
			u16 rqmsn, msn;
		};
		u32 meth;	/* METH: both */
	};
	u16 tx_ts;		/* TSETH */
	u16 payload_len;

	/* Zero in most packets: adjacent, so that one store or test covers all. */
	u16 hdr_len;		/* bytes from BTH to the payload */
	u16 udp_len;		/* as in the UDP header; sizes rcvd_bytes */
	union {
		struct {
			bool ecn_ce;
			u8 trimmed;	/* 0, MRC_NACK_TRIMMED or MRC_NACK_TRIMMED_LASTHOP */
			bool rtx;	/* RTX */
			bool ackreq;	/* A */
		};
		u32 notable;		/* any of them */
	};

	u64 va;			/* RETH: address, or offset in the message */
	u32 rkey;
	u32 dmalen;
	u32 ev;			/* from UDP source port and flow label */
	u32 imm;		/* ImmDt, or the R_Key of IETH for *_INV */
	u64 swap_add, compare;	/* CMP_SWAP, FETCH_ADD; swap_add: orig in ATOMIC_ACK */
	union {
		struct {
			u8 syndrome;
			u32 msn;
		} aeth;
		struct mrc_sack sack;
		struct mrc_nack_hdr nack;
		struct mrc_probe_hdr probe;
		struct mrc_ep_hdr ep;
	} u;
};

/**
 * mrc_wire_parse - decode one packet
 * @buf: first byte of BTH
 * @len: bytes from there to the end of the payload, ICRC excluded
 * @trimmed: 0, or MRC_NACK_TRIMMED*: the payload (and RETH) may be missing;
 *	only BTH, METH and TSETH are then filled in
 * @p: out; zeroed first
 *
 * Any context. Return: 0; -EMSGSIZE when shorter than its headers (or a control
 * packet longer than them); -EOPNOTSUPP for an unknown opcode or transport version;
 * -EINVAL for a field with an impossible value (e.g. pad beyond the payload).
 */
int mrc_wire_parse(const void *buf, u32 len, u8 trimmed, struct mrc_pkt *p);

/**
 * mrc_wire_build - encode the headers of one packet
 * @buf: room for @cap bytes, MRC_HDR_MAX always suffices
 *
 * Any context. The payload, padding and ICRC follow at the returned offset.
 * Return: header length, or -EMSGSIZE / -EOPNOTSUPP.
 */
int mrc_wire_build(void *buf, u32 cap, const struct mrc_pkt *p);

/* Header bytes that @opcode carries (with TSETH if @ts), 0 if unknown. */
u32 mrc_wire_hdr_len(u8 opcode, bool ts);

/* Upper limit of the bytes that mrc_wire_parse() reads of the packet that starts with @bth (MRC_BTH_LEN bytes). */
u32 mrc_wire_reads(const void *bth);

/* Was the packet sent because an answer is missing? Such packets try other ports and ICRC settings. */
static inline bool mrc_pkt_insists(const struct mrc_pkt *p)
{
	return p->rtx || p->opcode == MRC_OPC_PROBE || p->opcode == MRC_OPC_EP_REQ;
}

/* Properties of an opcode, and the headers that it carries. */
enum mrc_opc_flag {
	MRC_OPF_DATA = 1 << 0,		/* METH, RETH; consumes a PSN */
	MRC_OPF_FIRST = 1 << 1,
	MRC_OPF_LAST = 1 << 2,
	MRC_OPF_IMM = 1 << 3,		/* ImmDt */
	MRC_OPF_IETH = 1 << 4,		/* same place as ImmDt */
	MRC_OPF_ATOMIC = 1 << 5,	/* swap_add, compare */
	MRC_OPF_ATOMACK = 1 << 6,	/* original value */
	MRC_OPF_PAYLOAD = 1 << 7,	/* anything may follow the headers */
	MRC_OPF_SEND = 1 << 8,
	MRC_OPF_WRITE = 1 << 9,
	MRC_OPF_READ_RESP = 1 << 10,
	MRC_OPF_ONLY = MRC_OPF_FIRST | MRC_OPF_LAST,
	MRC_OPF_EXTRA = MRC_OPF_IMM | MRC_OPF_IETH | MRC_OPF_ATOMIC | MRC_OPF_ATOMACK,
};

struct mrc_opc {
	u16 flags;	/* enum mrc_opc_flag */
	u16 len;	/* of all headers except TSETH; 0: no such opcode */
};

/* An entry for every byte value, so that the frequent lookups need no range check. */
extern const struct mrc_opc mrc_opc_table[256];

/* Facts about an opcode; false for unknown ones. */
static inline bool mrc_opc_has(u8 opcode, u32 flags)
{
	return mrc_opc_table[opcode].flags & flags;
}

/* Consumes a PSN: C0-D0, D2-D4, D6, D7. */
static inline bool mrc_opc_is_data(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_DATA);
}

/* LAST or ONLY of its message, and one-packet requests. */
static inline bool mrc_opc_is_last(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_LAST);
}

/* FIRST or ONLY. */
static inline bool mrc_opc_is_first(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_FIRST);
}

static inline bool mrc_opc_has_imm(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_IMM);
}

static inline bool mrc_opc_is_send(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_SEND);
}

static inline bool mrc_opc_is_write(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_WRITE);
}

static inline bool mrc_opc_is_read_resp(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_READ_RESP);
}

/* Belongs to SEND*, or is WRITE_*_IMM: a WRITE carries an immediate only in its last packet. */
static inline bool mrc_opc_consumes_recv(u8 opcode)
{
	return mrc_opc_has(opcode, MRC_OPF_SEND | MRC_OPF_IMM);
}

#endif
