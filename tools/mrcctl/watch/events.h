/* SPDX-License-Identifier: GPL-2.0 */
/*
 * events.h - tracepoints of the module as a program in the kernel gets them, and what such
 * programs count. C for clang's BPF target and C++: both sides compile it.
 *
 * Layouts are those of kernel/trace/mrc_trace.h; tracer.cc holds them against the running
 * kernel's format files, so no type information (BTF) of the module is needed.
 */
#ifndef MRC_WATCH_EVENTS_H
#define MRC_WATCH_EVENTS_H

#include <linux/types.h>

/* In front of every event: type, flags, pid. */
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
 * A histogram: numbers below 8 one by one, then four steps to each doubling, so that the width
 * of a step is at most a quarter of where it begins. The last one has all that is beyond.
 */
#define MRC_HIST_SLOTS	160
#define MRC_HIST_EXACT	8

struct mrc_hist {
	__u64 count, sum, max, least;	/* least: ~ of the smallest, so that 0 is none yet */
	__u64 slot[MRC_HIST_SLOTS];
};

/* Rows: planes (0: not known, 1 ... 32), or causes. */
#define MRC_HIST_ROWS	33
#define MRC_CAUSES	7

/* What the recovery programs count besides, by cause. */
struct mrc_recovery {
	__u64 lost, resent, early;
};

/* A packet that is lost, by whom; its value: when its lost copy was sent. */
struct mrc_lost_key {
	__u32 qpn, psn;
};

#endif
