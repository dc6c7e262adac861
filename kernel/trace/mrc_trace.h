/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_trace.h - the tracepoints, /sys/kernel/tracing/events/mrc:
 * Documentation/reference/tracing.md.
 *
 * This file holds all of them and is therefore long. Programs depend on their layout: new fields
 * are appended. Plain values only, so the file knows nothing of the module.
 *
 * Arguments are computed only when a tracepoint is enabled (mrc_trace()).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mrc

#if !defined(MRC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MRC_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/* Emits @event. The arguments are evaluated only while somebody traces the event. */
#ifndef mrc_trace
#define mrc_trace(event, ...)						\
	do {								\
		if (trace_mrc_##event##_enabled())			\
			trace_mrc_##event(__VA_ARGS__);			\
	} while (0)
#endif

/* Plane numbers: callers count from 0, events from 1. Beyond the last plane: 0, no plane. */
#ifndef mrc_trace_plane
#define mrc_trace_plane(p)	((u8)((p) < 32 ? (p) + 1 : 0))
#endif

#ifndef MRC_TRACE_PEER
#define MRC_TRACE_PEER(to, from)					\
	do {								\
		if (from)						\
			memcpy(to, from, sizeof(to));			\
		else							\
			memset(to, 0, sizeof(to));			\
	} while (0)
#endif

/* A packet of a connection is sent: it is built and has its PSN. */
TRACE_EVENT(mrc_tx,
	TP_PROTO(u32 qpn, u32 psn, u8 opcode, u32 ev, u8 plane, u32 bytes, bool resent),
	TP_ARGS(qpn, psn, opcode, ev, plane, bytes, resent),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, ev)
		__field(u32, bytes)
		__field(u8, opcode)
		__field(u8, plane)
		__field(u8, resent)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->ev = ev;
		__entry->bytes = bytes;
		__entry->opcode = opcode;
		__entry->plane = mrc_trace_plane(plane);
		__entry->resent = resent;
	),
	TP_printk("qpn=%u psn=%u opcode=%s ev=%08x plane=%u bytes=%u resent=%u",
		  __entry->qpn, __entry->psn, mrc_trace_opcode(__entry->opcode), __entry->ev,
		  __entry->plane, __entry->bytes, __entry->resent)
);

/*
 * A packet for a connection was received and judged. ahead: for data, how many PSNs behind the
 * first missing packet it is; 0: it is that packet.
 */
TRACE_EVENT(mrc_rx,
	TP_PROTO(u32 qpn, u32 psn, u8 opcode, u32 ev, u8 plane, u32 bytes, u8 verdict, u32 ahead,
		 bool marked, bool trimmed),
	TP_ARGS(qpn, psn, opcode, ev, plane, bytes, verdict, ahead, marked, trimmed),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, ev)
		__field(u32, bytes)
		__field(u32, ahead)
		__field(u8, opcode)
		__field(u8, plane)
		__field(u8, verdict)
		__field(u8, marked)
		__field(u8, trimmed)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->ev = ev;
		__entry->bytes = bytes;
		__entry->ahead = ahead;
		__entry->opcode = opcode;
		__entry->plane = mrc_trace_plane(plane);
		__entry->verdict = verdict;
		__entry->marked = marked;
		__entry->trimmed = trimmed;
	),
	TP_printk("qpn=%u psn=%u opcode=%s ev=%08x plane=%u bytes=%u %s ahead=%u marked=%u trimmed=%u",
		  __entry->qpn, __entry->psn, mrc_trace_opcode(__entry->opcode), __entry->ev,
		  __entry->plane, __entry->bytes, mrc_trace_verdict(__entry->verdict),
		  __entry->ahead, __entry->marked, __entry->trimmed)
);

/*
 * A packet in flight is considered lost. tries: transmissions so far, 3: 3 or more. age_ns: time
 * since the latest.
 */
TRACE_EVENT(mrc_loss,
	TP_PROTO(u32 qpn, u32 psn, u8 cause, u8 plane, u8 tries, u64 age_ns),
	TP_ARGS(qpn, psn, cause, plane, tries, age_ns),
	TP_STRUCT__entry(
		__field(u64, age_ns)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, cause)
		__field(u8, plane)
		__field(u8, tries)
	),
	TP_fast_assign(
		__entry->age_ns = age_ns;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->cause = cause;
		__entry->plane = mrc_trace_plane(plane);
		__entry->tries = tries;
	),
	TP_printk("qpn=%u psn=%u cause=%s plane=%u tries=%u age_ns=%llu", __entry->qpn,
		  __entry->psn, mrc_trace_cause(__entry->cause), __entry->plane,
		  __entry->tries, __entry->age_ns)
);

/* A lost packet is retransmitted, by another path. The counter rtx_ of its cause counts it, too. */
TRACE_EVENT(mrc_resend,
	TP_PROTO(u32 qpn, u32 psn, u8 cause, u32 ev, u8 plane, u32 bytes),
	TP_ARGS(qpn, psn, cause, ev, plane, bytes),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, ev)
		__field(u32, bytes)
		__field(u8, cause)
		__field(u8, plane)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->ev = ev;
		__entry->bytes = bytes;
		__entry->cause = cause;
		__entry->plane = mrc_trace_plane(plane);
	),
	TP_printk("qpn=%u psn=%u cause=%s ev=%08x plane=%u bytes=%u", __entry->qpn,
		  __entry->psn, mrc_trace_cause(__entry->cause), __entry->ev, __entry->plane,
		  __entry->bytes)
);

/* A packet that was considered lost is acknowledged. early: before its retransmission. */
TRACE_EVENT(mrc_recovered,
	TP_PROTO(u32 qpn, u32 psn, u8 cause, u8 plane, u8 tries, bool early),
	TP_ARGS(qpn, psn, cause, plane, tries, early),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, cause)
		__field(u8, plane)
		__field(u8, tries)
		__field(u8, early)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->cause = cause;
		__entry->plane = mrc_trace_plane(plane);
		__entry->tries = tries;
		__entry->early = early;
	),
	TP_printk("qpn=%u psn=%u cause=%s plane=%u tries=%u early=%u", __entry->qpn,
		  __entry->psn, mrc_trace_cause(__entry->cause), __entry->plane,
		  __entry->tries, __entry->early)
);

/* A round trip was measured, of a packet that was sent on @plane. */
TRACE_EVENT(mrc_rtt,
	TP_PROTO(u32 qpn, u8 plane, u32 rtt_ns),
	TP_ARGS(qpn, plane, rtt_ns),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, rtt_ns)
		__field(u8, plane)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->rtt_ns = rtt_ns;
		__entry->plane = mrc_trace_plane(plane);
	),
	TP_printk("qpn=%u plane=%u rtt_ns=%u", __entry->qpn, __entry->plane, __entry->rtt_ns)
);

/* The end of a QP's turn: its window, and its bytes in flight. */
TRACE_EVENT(mrc_window,
	TP_PROTO(u32 qpn, u32 cwnd, u32 in_flight, u32 srtt_ns, u32 lost),
	TP_ARGS(qpn, cwnd, in_flight, srtt_ns, lost),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, cwnd)
		__field(u32, in_flight)
		__field(u32, srtt_ns)
		__field(u32, lost)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->cwnd = cwnd;
		__entry->in_flight = in_flight;
		__entry->srtt_ns = srtt_ns;
		__entry->lost = lost;
	),
	TP_printk("qpn=%u cwnd=%u in_flight=%u srtt_ns=%u lost=%u", __entry->qpn, __entry->cwnd,
		  __entry->in_flight, __entry->srtt_ns, __entry->lost)
);

/* An EV of the paths to @peer (16 bytes: its GID; or NULL) changes its state. */
TRACE_EVENT(mrc_ev,
	TP_PROTO(const u8 *peer, u32 ev, u8 plane, u8 from, u8 to),
	TP_ARGS(peer, ev, plane, from, to),
	TP_STRUCT__entry(
		__array(u8, peer, 16)
		__field(u32, ev)
		__field(u8, plane)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		MRC_TRACE_PEER(__entry->peer, peer);
		__entry->ev = ev;
		__entry->plane = mrc_trace_plane(plane);
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("peer=%pI6c ev=%08x plane=%u %s -> %s", __entry->peer, __entry->ev,
		  __entry->plane, mrc_trace_ev(__entry->from), mrc_trace_ev(__entry->to))
);

/* Planes of the paths to @peer, as masks; bit 0 is plane 1. suspect: assumed to be dead. */
TRACE_EVENT(mrc_planes,
	TP_PROTO(const u8 *peer, u32 local_up, u32 remote_up, u32 suspect),
	TP_ARGS(peer, local_up, remote_up, suspect),
	TP_STRUCT__entry(
		__array(u8, peer, 16)
		__field(u32, local_up)
		__field(u32, remote_up)
		__field(u32, suspect)
	),
	TP_fast_assign(
		MRC_TRACE_PEER(__entry->peer, peer);
		__entry->local_up = local_up;
		__entry->remote_up = remote_up;
		__entry->suspect = suspect;
	),
	TP_printk("peer=%pI6c local_up=%#x remote_up=%#x suspect=%#x", __entry->peer,
		  __entry->local_up, __entry->remote_up, __entry->suspect)
);

/* A completion is added to a completion queue; opcode and status as in struct ib_wc. */
TRACE_EVENT(mrc_completion,
	TP_PROTO(u32 qpn, u64 wr_id, u8 opcode, u8 status, u32 bytes),
	TP_ARGS(qpn, wr_id, opcode, status, bytes),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, qpn)
		__field(u32, bytes)
		__field(u8, opcode)
		__field(u8, status)
	),
	TP_fast_assign(
		__entry->wr_id = wr_id;
		__entry->qpn = qpn;
		__entry->bytes = bytes;
		__entry->opcode = opcode;
		__entry->status = status;
	),
	TP_printk("qpn=%u wr_id=%#llx opcode=%u status=%u bytes=%u", __entry->qpn,
		  __entry->wr_id, __entry->opcode, __entry->status, __entry->bytes)
);

#endif /* MRC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH trace
#define TRACE_INCLUDE_FILE mrc_trace
#include <trace/define_trace.h>
