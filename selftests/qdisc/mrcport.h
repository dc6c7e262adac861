/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrcport.h - one output port of an MRC switch, as a qdisc. For tests only.
 *
 * Two queues: "high" (control and trimmed packets, strict priority) and "data".
 * What the data queue cannot hold is cut to its headers and goes to the high
 * queue, if its DSCP says that it may; everything else is dropped.
 *
 * sch_mrcport.c: queues, rate, ECN. mrcport_trim.c: what a cut leaves.
 * mrcport_proc.c: settings and counters, /proc/net/mrcport.
 */
#ifndef MRCPORT_H
#define MRCPORT_H

#include <net/pkt_sched.h>

struct mrcport_params {
	u64 rate;		/* bit/s; 0: as fast as packets come */
	u32 limit;		/* bytes in the data queue; the high one holds twice that */
	u32 ecn_min, ecn_max;	/* bytes: mark above max, sometimes above min; 0: never */
	u32 trim;		/* cut instead of dropping */
	u32 lasthop;		/* say that hosts, not switches, are behind this port */
	u32 inner;		/* cut packets: mend the inner IP header, too */
	u32 udplen;		/* ... and the UDP length: no switch should, some may */
	u32 pad;		/* ... bytes behind the packet, beside those of a short frame */
	u32 trimmable, trimmable_rtx, control, trimmed, trimmed_lasthop;	/* DSCP */
};

struct mrcport_queue {
	struct qdisc_skb_head head;
	u64 bytes;		/* held now */
	u64 max_bytes;
	u64 sent_pkts, sent_bytes;
	u64 dropped;
};

struct mrcport {
	struct mrcport_params p;
	struct mrcport_queue data, high;
	u64 marked, trimmed;
	u64 rtx_pkts;		/* came with the DSCP of retransmissions */
	u64 free_at;		/* ns: the line is busy until then */
	struct qdisc_watchdog watchdog;
};

/* sch_mrcport.c. Under rtnl: @sch's state, or NULL when it is another qdisc. */
struct mrcport *mrcport_of(struct Qdisc *sch);

/* mrcport_trim.c. The DSCP of the outermost IP header; -1: no IP. */
int mrcport_dscp(const struct sk_buff *skb);
/* Cut @skb. False: it is not of a kind or length that can be, or there is no memory. */
bool mrcport_trim(struct sk_buff *skb, const struct mrcport_params *p);

/* mrcport_proc.c */
int mrcport_proc_init(void);
void mrcport_proc_exit(void);

#endif
