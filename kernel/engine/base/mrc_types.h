/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_types.h - limits and enumerations that several files of the engine share.
 */
#ifndef MRC_TYPES_H
#define MRC_TYPES_H

#include "base/mrc_env.h"

#define MRC_PLANES_MAX		32	/* bits of a Port Status Update mask */
#define MRC_EVS_MAX		4096	/* EVs in one set */
#define MRC_MPR_UNIT		128	/* PSNs per MPR unit, section 2.4 */
#define MRC_MPR_MAX		32	/* 4,096 PSNs */
#define MRC_WINDOW_MAX		(MRC_MPR_MAX * MRC_MPR_UNIT)
#define MRC_WIMM_MAX		1024	/* receive messages in flight */
#define MRC_RD_MAX		128	/* READs and ATOMICs in flight */
#define MRC_TAIL_LEN		16	/* bytes of a WRITE that become visible last */
#define MRC_NONE16		0xffffu	/* "no index" in 16-bit links */
#define MRC_TIME_NEVER		(~0ull)	/* "no deadline" */
#define MRC_RNR_FOREVER		7	/* rnr_retry, as IBTA */
#define MRC_EXP_FOREVER		25	/* exp_cnt, section 2.5 */

/* Operations of work requests and of responses. */
enum mrc_op {
	MRC_OP_WRITE,
	MRC_OP_WRITE_IMM,
	MRC_OP_SEND,
	MRC_OP_SEND_IMM,
	MRC_OP_SEND_INV,
	MRC_OP_READ,
	MRC_OP_CMP_SWAP,
	MRC_OP_FETCH_ADD,
	MRC_OP_READ_RESP,	/* responder's stream */
	MRC_OP_ATOMIC_RESP,	/* responder's stream */
	MRC_OP_LOCAL,		/* sends no packet; completes in order */
};

/* Result of a message; the module maps these to enum ib_wc_status one to one. */
enum mrc_status {
	MRC_ST_OK,
	MRC_ST_FLUSHED,		/* QP in error before this one was done */
	MRC_ST_RETRY_EXC,	/* timeouts and NACKs used up the retry budget */
	MRC_ST_RNR_EXC,		/* rnr_retry used up */
	MRC_ST_REM_ACCESS,	/* NAK remote access error */
	MRC_ST_REM_INV_REQ,	/* NAK invalid request */
	MRC_ST_REM_OP,		/* NAK remote operational error, NACK UNEXP_EVENT */
	MRC_ST_LOC_PROT,	/* local SGE not covered by its MR */
	MRC_ST_LOC_LEN,		/* message longer than the receive buffer */
	MRC_ST_LOC_QP_OP,	/* request malformed */
	MRC_ST_BAD_RESP,	/* peer sent a response without a request */
};

/* IBTA NAK codes carried in AETH (1.11); also reasons of a local reject. */
enum mrc_nak {
	MRC_NAK_PSN_SEQ = 0,
	MRC_NAK_INV_REQ = 1,
	MRC_NAK_REM_ACCESS = 2,
	MRC_NAK_REM_OP = 3,
	MRC_NAK_NONE = 0xff,
};

/* NACK reasons, Table 7-3 (1.8). */
enum mrc_nack {
	MRC_NACK_TRIMMED = 0x01,
	MRC_NACK_TRIMMED_LASTHOP = 0x02,
	MRC_NACK_NO_BITMAP = 0x06,
	MRC_NACK_NO_PKT_BUFFER = 0x07,
	MRC_NACK_NO_RESOURCE = 0x0a,
	MRC_NACK_PSN_OOR_WINDOW = 0x0b,
	MRC_NACK_UNEXP_EVENT = 0x19,
};

/* Why a packet was declared lost, as in the rtx_* counters of mrc_stats.h. */
enum mrc_cause {
	MRC_CAUSE_RACK, MRC_CAUSE_NACK, MRC_CAUSE_TRIM, MRC_CAUSE_RTO,
	MRC_CAUSE_PLANE, MRC_CAUSE_RNR, MRC_CAUSE_SLEEK,
};

/* Traffic class of a packet; the module maps it to a DSCP (section 8). */
enum mrc_tclass {
	MRC_TC_DATA,		/* DSCP_TRIMMABLE */
	MRC_TC_RTX,		/* DSCP_TRIMMABLE_RETX */
	MRC_TC_CONTROL,		/* DSCP_CONTROL: never trimmed nor dropped early */
	MRC_TC_NO_TRIM,		/* DSCP_NO_TRIM: data the peer could not NACK, probes */
};
#define MRC_TCLASSES	4

#endif
