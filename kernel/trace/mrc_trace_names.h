/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_trace_names.h - the names of numbers in tracepoints.
 *
 * The lists use literal numbers, not the engine's enumerators: programs read them in the format
 * files of the events, where an enumerator has no meaning. mrc_trace.c checks them.
 */
#ifndef MRC_TRACE_NAMES_H
#define MRC_TRACE_NAMES_H

#define mrc_trace_opcode(n)						\
	__print_symbolic(n,						\
		{ 0xc0, "SEND_FIRST" },		{ 0xc1, "SEND_MIDDLE" },	\
		{ 0xc2, "SEND_LAST" },		{ 0xc3, "SEND_LAST_IMM" },	\
		{ 0xc4, "SEND_ONLY" },		{ 0xc5, "SEND_ONLY_IMM" },	\
		{ 0xc6, "WRITE_FIRST" },	{ 0xc7, "WRITE_MIDDLE" },	\
		{ 0xc8, "WRITE_LAST" },		{ 0xc9, "WRITE_LAST_IMM" },	\
		{ 0xca, "WRITE_ONLY" },		{ 0xcb, "WRITE_ONLY_IMM" },	\
		{ 0xcc, "READ_REQ" },		{ 0xcd, "READ_RESP_FIRST" },	\
		{ 0xce, "READ_RESP_MIDDLE" },	{ 0xcf, "READ_RESP_LAST" },	\
		{ 0xd0, "READ_RESP_ONLY" },	{ 0xd1, "ACK" },		\
		{ 0xd2, "ATOMIC_ACK" },		{ 0xd3, "CMP_SWAP" },		\
		{ 0xd4, "FETCH_ADD" },		{ 0xd6, "SEND_LAST_INV" },	\
		{ 0xd7, "SEND_ONLY_INV" },	{ 0xd8, "EP_REQ" },		\
		{ 0xd9, "EP_RSP" },		{ 0xdc, "SACK" },		\
		{ 0xdd, "NACK" },		{ 0xde, "PROBE" })

/* The names of the counters of retransmissions: rtx_rack ... */
#define mrc_trace_cause(n)						\
	__print_symbolic(n, { 0, "rack" }, { 1, "nack" }, { 2, "trim" }, { 3, "rto" },	\
			 { 4, "plane" }, { 5, "rnr" }, { 6, "sleek" })

#define mrc_trace_ev(n)							\
	__print_symbolic(n, { 0, "good" }, { 1, "skip" }, { 2, "assumed-bad" }, { 3, "denied" })

#define mrc_trace_verdict(n)						\
	__print_symbolic(n, { 0, "dropped" }, { 1, "taken" }, { 2, "placed" })

#endif
