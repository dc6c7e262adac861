/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_statset.h - all counters of a QP: those of the engine about packets
 * (engine/base/mrc_stats.h), and those of the module about requests and reordering.
 *
 * Plain numbers under the QP's lock. Counters of requests have the names of their mlx5 equivalents,
 * which dashboards know (Documentation/reference/verbs-counters.md). X(name, help), as MRC_STATS.
 */
#ifndef MRC_STATSET_H
#define MRC_STATSET_H

#include "engine/base/mrc_stats.h"

#define MRC_QP_STATS(X)							\
	X(rx_ooo_4, "data packets that came 4 to 15 after the first one missing") \
	X(rx_ooo_16, "... 16 to 63 after it")				\
	X(rx_ooo_64, "... 64 to 255 after it")				\
	X(rx_ooo_256, "... 256 or more after it")			\
	X(rx_write_requests, "WRITEs received")				\
	X(rx_read_requests, "READs received and answered, or refused")	\
	X(rx_atomic_requests, "ATOMICs received and executed, or refused") \
	X(req_cqe_error, "send requests that failed, flushed ones too")	\
	X(req_cqe_flush_error, "send requests that were flushed")	\
	X(req_remote_access_errors, "send requests that the peer refused: access") \
	X(req_remote_invalid_request, "send requests that the peer refused: invalid") \
	X(req_transport_retries_exceeded, "send requests given up: no acknowledgement") \
	X(req_rnr_retries_exceeded, "send requests given up: no receive at the peer") \
	X(resp_cqe_error, "receives that failed, flushed ones too")	\
	X(resp_cqe_flush_error, "receives that were flushed")		\
	X(resp_local_length_error, "receives too short for their message")

struct mrc_qp_stats {
#define X(name, help) u64 name;
	MRC_QP_STATS(X)
#undef X
};

struct mrc_statset {
	struct mrc_stats conn;
	struct mrc_qp_stats qp;
};

/* The struct consists of u64 counters only: sums and differences treat it as an array. */
#define MRC_STATSET_N (sizeof(struct mrc_statset) / sizeof(u64))

static inline void mrc_statset_add(struct mrc_statset *sum, const struct mrc_statset *t)
{
	const u64 *from = (const u64 *)t;
	u64 *to = (u64 *)sum;
	u32 i;

	for (i = 0; i < MRC_STATSET_N; i++)
		to[i] += from[i];
}

static inline void mrc_statset_sub(struct mrc_statset *sum, const struct mrc_statset *t)
{
	const u64 *from = (const u64 *)t;
	u64 *to = (u64 *)sum;
	u32 i;

	for (i = 0; i < MRC_STATSET_N; i++)
		to[i] -= from[i];
}

#endif
