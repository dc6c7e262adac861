// SPDX-License-Identifier: GPL-2.0
/*
 * watch.bpf.c - BPF programs that count in the kernel for mrcctl latency, reorder and recovery.
 *
 * They read classic tracepoints, whose records have our own layout (events.h), and no types of the
 * kernel or the module. So one object serves every kernel.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "events.h"

/* 0: every QP */
const volatile __u32 only_qpn;

/*
 * Round trips or distances of reordering, by plane; or the time until a loss was found, by cause.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MRC_HIST_ROWS);
	__type(key, __u32);
	__type(value, struct mrc_hist);
} first SEC(".maps");

/* Time until lost data arrived, by cause. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MRC_HIST_ROWS);
	__type(key, __u32);
	__type(value, struct mrc_hist);
} second SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MRC_CAUSES);
	__type(key, __u32);
	__type(value, struct mrc_recovery);
} recovery SEC(".maps");

/* Entries of QPs that ended are not removed: the oldest ones make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct mrc_lost_key);
	__type(value, __u64);
} lost SEC(".maps");

static __always_inline __u32 log2_of(__u64 v)
{
	__u32 n = 0;

	if (v >> 32) {
		v >>= 32;
		n += 32;
	}
	if (v >> 16) {
		v >>= 16;
		n += 16;
	}
	if (v >> 8) {
		v >>= 8;
		n += 8;
	}
	if (v >> 4) {
		v >>= 4;
		n += 4;
	}
	if (v >> 2) {
		v >>= 2;
		n += 2;
	}
	return n + (v >> 1 & 1);
}

static __always_inline __u64 slot_of(__u64 v)
{
	__u64 n;

	if (v < MRC_HIST_EXACT)
		return v;
	n = log2_of(v);
	return MRC_HIST_EXACT + (n - 3) * 4 + (v >> (n - 2) & 3);
}

static __always_inline void note(void *map, __u32 row, __u64 v)
{
	struct mrc_hist *h = bpf_map_lookup_elem(map, &row);
	__u64 slot = slot_of(v);

	if (!h)
		return;
	barrier_var(slot);	/* hides bounds that the compiler knows and the verifier does not */
	if (slot >= MRC_HIST_SLOTS)
		slot = MRC_HIST_SLOTS - 1;
	h->count++;
	h->sum += v;
	h->slot[slot]++;
	if (v > h->max)
		h->max = v;
	if (~v > h->least)
		h->least = ~v;
}

static __always_inline int wanted(__u32 qpn)
{
	return !only_qpn || only_qpn == qpn;
}

SEC("tracepoint/mrc/mrc_rtt")
int latency(struct mrc_tp_rtt *e)
{
	if (wanted(e->qpn))
		note(&first, e->plane, e->rtt_ns);
	return 0;
}

SEC("tracepoint/mrc/mrc_rx")
int reorder(struct mrc_tp_rx *e)
{
	if (e->verdict == MRC_TP_PLACED && wanted(e->qpn))
		note(&first, e->plane, e->ahead);
	return 0;
}

/* The time starts when the first lost copy was sent. */
SEC("tracepoint/mrc/mrc_loss")
int recovery_loss(struct mrc_tp_loss *e)
{
	struct mrc_lost_key key = { e->qpn, e->psn };
	__u64 since = bpf_ktime_get_ns() - e->age_ns;
	__u32 cause = e->cause;
	struct mrc_recovery *r;

	if (!wanted(e->qpn))
		return 0;
	note(&first, cause, e->age_ns);
	bpf_map_update_elem(&lost, &key, &since, BPF_NOEXIST);
	r = bpf_map_lookup_elem(&recovery, &cause);
	if (r)
		r->lost++;
	return 0;
}

SEC("tracepoint/mrc/mrc_resend")
int recovery_resend(struct mrc_tp_resend *e)
{
	__u32 cause = e->cause;
	struct mrc_recovery *r;

	if (!wanted(e->qpn))
		return 0;
	r = bpf_map_lookup_elem(&recovery, &cause);
	if (r)
		r->resent++;
	return 0;
}

SEC("tracepoint/mrc/mrc_recovered")
int recovery_end(struct mrc_tp_recovered *e)
{
	struct mrc_lost_key key = { e->qpn, e->psn };
	__u32 cause = e->cause;
	struct mrc_recovery *r;
	__u64 *since;

	if (!wanted(e->qpn))
		return 0;
	since = bpf_map_lookup_elem(&lost, &key);
	if (!since)		/* it was lost before the measurement */
		return 0;
	note(&second, cause, bpf_ktime_get_ns() - *since);
	bpf_map_delete_elem(&lost, &key);
	r = bpf_map_lookup_elem(&recovery, &cause);
	if (r)
		r->early += e->early;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
