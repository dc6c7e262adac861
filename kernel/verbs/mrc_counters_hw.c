// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_counters_hw.c - see mrc_counters_hw.h.
 *
 * The lists are the X-macros MRC_STATS, MRC_QP_STATS and MRC_DEV_STATS, so a counter that is added
 * there appears here. A counter with an equivalent of another name in mlx5 appears a second time
 * under that name, because dashboards and alarms look for it. mlx5's out_of_sequence is not among
 * them: packets out of order are normal here, and alarms take that counter for loss.
 */
#include <net/netlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include "core/mrc_dev.h"
#include "verbs/mrc_counters.h"
#include "verbs/mrc_counters_hw.h"
#include "verbs/mrc_counters_qp.h"

/* Y(name in mlx5, our counter), of QPs */
#define MLX5_NAMES(Y)							\
	Y(duplicate_request, rx_dup)					\
	Y(local_ack_timeout_err, timeouts)				\
	Y(np_ecn_marked_roce_packets, rx_ecn)				\
	Y(out_of_buffer, rx_rnr)					\
	Y(packet_seq_err, rtx_nack)					\
	Y(resp_remote_access_errors, naks_access)			\
	Y(rnr_nak_retry_err, rtx_rnr)

/* The same for counters of the device alone. */
#define MLX5_DEV_NAMES(Y)						\
	Y(rx_icrc_encapsulated, rx_bad_icrc)

/* Counters of QPs come first: counters of rdma(8) have no others. */
enum {
#define X(name, ...) HW_##name,
	MRC_STATS(X)
	MRC_QP_STATS(X)
	MLX5_NAMES(X)
	HW_QP_N,
	HW_BEFORE_DEV = HW_QP_N - 1,
	MLX5_DEV_NAMES(X)
	MRC_DEV_STATS(X)
	HW_N
#undef X
};

static const struct rdma_stat_desc hw_descs[HW_N] = {
#define X(counter, ...) [HW_##counter] = { .name = #counter },
	MRC_STATS(X)
	MRC_QP_STATS(X)
	MLX5_NAMES(X)
	MLX5_DEV_NAMES(X)
	MRC_DEV_STATS(X)
#undef X
};

/*
 * ib_core answers `rdma statistic` with one message of NLMSG_DEFAULT_SIZE for all counters of a
 * port, and fails if they do not fit. Each counter takes a nest, a name and a value. Counters
 * beyond the limit are disabled there; sysfs and mrcctl show them. On x86-64 these are the last of
 * MRC_DEV_STATS. CPUs that need aligned 64-bit attributes disable a few more.
 */
static u32 hw_bytes(const struct rdma_stat_desc *desc)
{
	return NLA_HDRLEN + nla_total_size(strlen(desc->name) + 1) + nla_total_size_64bit(sizeof(u64));
}

/* The rest of the message: the device's index and name, the port, a nest. */
#define HW_BYTES_ELSE (2 * nla_total_size(sizeof(u32)) + nla_total_size(IB_DEVICE_NAME_MAX) + \
		       NLA_HDRLEN)
/*
 * Likewise for a counter of rdma(8): its number, mode, QP type, task and nests; per QP a nest and a
 * number.
 */
#define HW_BYTES_COUNTER (5 * nla_total_size(sizeof(u32)) + nla_total_size(TASK_COMM_LEN) + \
			  4 * NLA_HDRLEN + \
			  MRC_COUNTER_QPS * (NLA_HDRLEN + nla_total_size(sizeof(u32))))

/* Enables the first @n counters, as far as they fit into a message that has @bytes_else already. */
static struct rdma_hw_stats *hw_alloc(u32 n, u32 bytes_else)
{
	struct rdma_hw_stats *stats;
	u32 i, bytes = bytes_else;

	stats = rdma_alloc_hw_stats_struct(hw_descs, HW_N, RDMA_HW_STATS_DEFAULT_LIFESPAN);
	for (i = 0; stats && i < HW_N; i++) {
		bytes += hw_bytes(&hw_descs[i]);
		if (i >= n || bytes > NLMSG_DEFAULT_SIZE)
			set_bit(i, stats->is_disabled);
	}
	return stats;
}

static void hw_fill(u64 *v, const struct mrc_statset *t)
{
#define X(name, help) v[HW_##name] = t->conn.name;
	MRC_STATS(X)
#undef X
#define X(name, help) v[HW_##name] = t->qp.name;
	MRC_QP_STATS(X)
#undef X
#define Y(name, ours) v[HW_##name] = t->conn.ours;
	MLX5_NAMES(Y)
#undef Y
}

struct rdma_hw_stats *mrc_counters_hw_alloc(struct ib_device *ibdev, u32 port)
{
	return hw_alloc(HW_N, HW_BYTES_ELSE);
}

int mrc_counters_hw_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct mrc_dev *dev = to_mrc_dev(ibdev);
	struct mrc_statset sum;
	u64 *v = stats->value;

	if (!port)
		return -EINVAL;
	mrc_counters_sum_rest(dev, &sum);
	hw_fill(v, &sum);
#define X(name, help) v[HW_##name] = atomic64_read(&dev->stats.name);
	MRC_DEV_STATS(X)
#undef X
#define Y(name, ours) v[HW_##name] = v[HW_##ours];
	MLX5_DEV_NAMES(Y)
#undef Y
	v[HW_out_of_buffer] += v[HW_rx_dgram_no_recv];
	return HW_N;
}

/*
 * The list is as long as a port's, because ib_core adds the two. Counters of the device alone are
 * disabled.
 */
struct rdma_hw_stats *mrc_counters_hw_alloc_qp(struct rdma_counter *counter)
{
	return hw_alloc(HW_QP_N, HW_BYTES_ELSE + HW_BYTES_COUNTER);
}

/*
 * ib_core updates all values each time it shows a single counter of the port. So values are reused
 * for as long as those of a port's file. Without QPs they are not: then ib_core updates them for
 * the last time, and adds them to the port's history.
 */
static bool hw_lasts(struct rdma_counter *counter)
{
	const struct rdma_hw_stats *stats = counter->stats;

	return stats->timestamp && time_before_eq(jiffies, stats->timestamp + stats->lifespan) &&
	       mrc_counters_qp_any(counter);
}

/* Under ib_core's lock of the counter. -ENOENT: no QP was ever bound. */
int mrc_counters_hw_update_qp(struct rdma_counter *counter)
{
	struct mrc_statset sum;

	if (hw_lasts(counter))
		return 0;
	if (!mrc_counters_qp_sum(counter, &sum))
		return -ENOENT;
	hw_fill(counter->stats->value, &sum);
	counter->stats->timestamp = jiffies;
	return 0;
}
