/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * verbs.h - libibverbs' own calls, whatever else in the process has their names.
 *
 * A preloaded library may export ibv_create_qp() and make its QPs by mrc_create_qp(). A call by name
 * would lead back to that library. So each context holds the addresses of the calls in libibverbs.so.1
 * itself, and those that the device's plug-in had given for posting and polling.
 */
#ifndef MRC_VERBS_H
#define MRC_VERBS_H

#include <infiniband/verbs.h>

/* f(name, version) for each call that libmrc uses. */
#define MRC_VERBS_CALLS(f)				\
	f(create_comp_channel, "IBVERBS_1.0")		\
	f(destroy_comp_channel, "IBVERBS_1.0")		\
	f(get_cq_event, "IBVERBS_1.1")			\
	f(ack_cq_events, "IBVERBS_1.1")			\
	f(create_cq, "IBVERBS_1.1")			\
	f(destroy_cq, "IBVERBS_1.1")			\
	f(create_qp, "IBVERBS_1.1")			\
	f(destroy_qp, "IBVERBS_1.1")			\
	f(modify_qp, "IBVERBS_1.1")			\
	f(query_qp, "IBVERBS_1.1")			\
	f(get_async_event, "IBVERBS_1.1")		\
	f(ack_async_event, "IBVERBS_1.1")

struct mrc_verbs {
#define MRC_VERBS_CALL(name, version) __typeof__(&ibv_##name) name;
	MRC_VERBS_CALLS(MRC_VERBS_CALL)
#undef MRC_VERBS_CALL
	/* inline in libibverbs' verbs.h: functions of the context */
	int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
};

/* 0, or errno. EOPNOTSUPP: there is no libibverbs.so.1, or it lacks a call. */
int mrc_verbs_load(struct mrc_verbs *verbs, const struct ibv_context *v);

#endif
