/* SPDX-License-Identifier: GPL-2.0 */
/*
 * events.h - the layout of the module's tracepoints, and of the counts of the programs that read
 * them. C for clang's BPF target and for C++: both sides compile it.
 *
 * Layouts are those of kernel/trace/mrc_trace.h; tracer.cc compares them with the running kernel's
 * format files, so no type information (BTF) of the module is needed.
 */
#ifndef MRC_WATCH_EVENTS_H
#define MRC_WATCH_EVENTS_H

#include <linux/types.h>

/* The common header of events: type, flags, pid. */
struct mrc_tp_loss {
	__u64 common;
	__u64 age_ns;
	__u32 qpn, psn;
	__u8 cause, plane, tries;
};

struct mrc_tp_resend {
	__u64 common;
	__u32 qpn, psn, ev, bytes;
	__u8 cause, plane;
};

struct mrc_tp_recovered {
	__u64 common;
	__u32 qpn, psn;
	__u8 cause, plane, tries, early;
};

struct mrc_tp_rtt {
	__u64 common;
	__u32 qpn, rtt_ns;
	__u8 plane;
};

struct mrc_tp_rx {
	__u64 common;
	__u32 qpn, psn, ev, bytes, ahead;
	__u8 opcode, plane, verdict, marked, trimmed;
};

#define MRC_TP_PLACED	2	/* verdict */

/*
 * A histogram: a slot for each number below 8, then four slots per doubling, so a slot is at most a
 * quarter as wide as its lower end. The last slot has all larger numbers.
 */
#define MRC_HIST_SLOTS	160
#define MRC_HIST_EXACT	8

struct mrc_hist {
	__u64 count, sum, max, least;	/* least: complement of the smallest, so that 0 means
					 * none yet */
	__u64 slot[MRC_HIST_SLOTS];
};

/* Rows: planes (0: unknown, 1 ... 32), or causes. */
#define MRC_HIST_ROWS	33
#define MRC_CAUSES	7

/* Further counts of the recovery programs, by cause. */
struct mrc_recovery {
	__u64 lost, resent, early;
};

/* Key of a lost packet. The value is the time when the lost copy was sent. */
struct mrc_lost_key {
	__u32 qpn, psn;
};

#endif
