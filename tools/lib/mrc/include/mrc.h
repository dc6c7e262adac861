/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc.h - Multipath Reliable Connection for applications: the interface that OCP publishes (API
 * 1.0.1), described in our own words. Names, values and layouts are OCP's.
 *
 * Device, protection domain and memory regions are libibverbs' own objects; all others belong to a
 * struct mrc_context. Calls behave as the calls of libibverbs with the same names, unless a comment
 * says otherwise. Several threads may use an object at once, but not while it is destroyed. The
 * extent of this implementation: Documentation/guide/libmrc.md, mrc(7).
 *
 * Errors: a call that returns a pointer returns NULL and sets errno. A call that returns int
 * returns 0 or an error number, as in libibverbs ("0 or errno"), or 0 or -1 with errno set ("0 or
 * -1").
 */
#ifndef MRC_H
#define MRC_H

#include <stdint.h>
#include <infiniband/verbs.h>
#include "mrc_api_ver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_MAX_VENDOR_CFG_SIZE	128	/* bytes of a vendor's own settings */

/* Bit 31 of a mask, as an int: the type of enumerators. */
#define MRC_BIT31	(-2147483647 - 1)

/* ---- devices ---- */

/* mrc_device_attr has several of them ORed, mrc_qp_init_attr has one. */
enum mrc_protocol_version {
	MRC_PROTOCOL_VERSION_0 = 0,
	MRC_PROTOCOL_VERSION_1 = 1 << 0,	/* MRC 1.0 */
};

enum mrc_device_cap {
	MRC_DEVICE_CAP_TRIM_NACK = 1 << 0,	/* packets that switches trimmed are NACKed */
	MRC_DEVICE_CAP_DYNAMIC_MPR = 1 << 1,	/* a QP's window may change while it runs */
	MRC_DEVICE_CAP_SVC_TIME = 1 << 2,	/* round trips exclude the responder's time */
};

struct mrc_device_attr {
	uint32_t mrc_protocol_version;		/* enum mrc_protocol_version, ORed */
	struct {
		uint16_t max_wimm;		/* WRITE_WITH_IMM in flight, as sender */
		uint16_t max_wimm_dest;		/* likewise, as receiver */
	} wimm_attr;
	struct {
		uint8_t max_mpr;		/* window, units of 128 packets */
		uint8_t mpr_resolution;		/* windows are multiples of this number of units */
	} mpr_attr;
	struct {
		uint32_t max_qp_hint;		/* QP hints of a context */
	} qp_attr;
	uint32_t cap;				/* enum mrc_device_cap, ORed */
};

struct mrc_context;

/* 0 or -1. For a device that is not ours, *supported is 0 and *attr is all zero. */
int mrc_query_device(struct ibv_context *context, struct mrc_device_attr *attr, int *supported);
#if MRC_API_VER_USED >= MRC_API_VER(1, 0, 1)
/* Likewise. mcontext may be NULL; else it must be one of context. */
int mrc_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			struct mrc_device_attr *attr, int *supported);
#endif
/* May be called at any time. Pointers may be NULL. */
void mrc_query_version(uint32_t *current_version, uint32_t *last_supported_version,
		       uint32_t *vendor_version, uint32_t *last_supported_vendor_version);

/* ---- context ---- */

struct mrc_context_attr {
	uint32_t mrc_api_version_used;		/* MRC_API_VER_USED */
	uint32_t mrc_vendor_api_version_used;	/* MRC_VENDOR_API_VER_USED */
};

/*
 * context_attr may be NULL: the current versions. EOPNOTSUPP for a device that is not an MRC
 * device.
 */
struct mrc_context *mrc_create_context(struct ibv_context *vcontext,
				       struct mrc_context_attr *context_attr);
/* 0 or -1; EBUSY: objects are left. vcontext stays open; the program closes it after this. */
int mrc_destroy_context(struct mrc_context *mrc_ctx);

/* ---- completion channels and queues ---- */

struct mrc_comp_channel;
struct mrc_cq;

/* 0 or errno */
int mrc_create_comp_channel(struct mrc_context *mrc_ctx, struct mrc_comp_channel **channel);
/* 0 or -1. The file may be polled, and made non-blocking. */
int mrc_get_comp_channel_fd(struct mrc_comp_channel *channel, int *fd);
/* 0 or errno; EBUSY: queues use it. */
int mrc_destroy_comp_channel(struct mrc_comp_channel *channel);

/* The queue has room for at least cqe completions. channel may be NULL. */
struct mrc_cq *mrc_create_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector);
/*
 * The number of completions, at most num_entries; negative: the queue has overrun, or is no queue.
 */
int mrc_poll_cq(struct mrc_cq *cq, int num_entries, struct ibv_wc *wc);
/* 0 or errno; EBUSY: QPs use it. Waits until the events of the queue are acknowledged. */
int mrc_destroy_cq(struct mrc_cq *cq);
/* 0 or errno. Requests one event for the next completion. */
int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only);
/* 0 or -1. Waits for an event of a queue of the channel. */
int mrc_get_cq_event(struct mrc_comp_channel *channel, struct mrc_cq **cq, void **cq_context);
void mrc_ack_cq_events(struct mrc_cq *cq, unsigned int nevents);

/* ---- QP hints ---- */

enum mrc_qp_hint_attr_mask {
	MRC_QP_HINT_NUM_QPS_PER_PEER = 1 << 0,
	MRC_QP_HINT_NUM_SEND_PEERS = 1 << 1,
	MRC_QP_HINT_NUM_REMOTE_RECV_PEERS = 1 << 2,
	MRC_QP_HINT_VENDOR_CFG = MRC_BIT31,
};

/* The traffic that the program expects; 0: not known. */
struct mrc_qp_hint_attr {
	int num_qps_per_peer;
	int num_send_peers;		/* peers that are sent to at the same time */
	int num_remote_recv_peers;	/* senders that a receiver receives from at the same time */
	uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

struct mrc_qp_hint_init_attr {
	struct mrc_qp_hint_attr attr;
};

struct mrc_qp_hint;

struct mrc_qp_hint *mrc_create_qp_hint(struct mrc_context *mrc_ctx,
				       struct mrc_qp_hint_init_attr *init_attr);
/* 0 or -1; EBUSY: QPs have it. */
int mrc_destroy_qp_hint(struct mrc_qp_hint *qp_hint);
/* 0 or -1 */
int mrc_query_qp_hint(struct mrc_qp_hint *qp_hint, struct mrc_qp_hint_attr *qp_hint_attr,
		      int qp_hint_attr_mask);
int mrc_modify_qp_hint(struct mrc_qp_hint *qp_hint, struct mrc_qp_hint_attr *qp_hint_attr,
		       int qp_hint_attr_mask);

/* ---- queue pairs ---- */

enum mrc_qp_attr_mask {
	MRC_QP_MAX_WIMM = 1 << 0,
	MRC_QP_MAX_WIMM_DEST = 1 << 1,
	MRC_QP_MPR = 1 << 2,
	MRC_QP_MPR_DEST = 1 << 3,
	MRC_QP_TIMEOUT = 1 << 4,
	MRC_QP_EV_PROFILE_ID = 1 << 5,
	MRC_QP_CC_PROFILE_ID = 1 << 6,
	MRC_QP_HINT = 1 << 7,
	MRC_QP_RETRY_CNT = 1 << 8,
	MRC_QP_CAP = 1 << 9,
	MRC_QP_VENDOR_CFG = MRC_BIT31,
};

/* Properties that both ends agree on, or that one end does not support. */
enum mrc_qp_cap {
	MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED = 1 << 0,	/* the peer does not NACK trimmed packets */
	MRC_QP_CAP_DYNAMIC_MPR = 1 << 1,		/* both ends change the window while the
							 * QP runs */
	MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED = 1 << 2,	/* round trips include the peer's time */
};

struct mrc_qp_init_attr {
	void *qp_context;
	struct mrc_cq *send_cq;
	struct mrc_cq *recv_cq;
	struct ibv_qp_cap cap;			/* in: requested; out: granted */
	int sq_sig_all;
	struct ibv_pd *pd;
	uint64_t send_ops_flags;		/* enum ibv_qp_create_send_ops_flags: writes, or 0 */
	enum mrc_protocol_version protocol_version;
};

struct mrc_qp_attr {
	struct {
		uint8_t mpr;			/* the peer's receive window, units of 128
						 * packets */
		uint8_t mpr_dest;		/* our receive window, likewise */
	} mpr;
	struct {
		uint16_t max_wimm;		/* WRITE_WITH_IMM in flight that the peer accepts */
		uint16_t max_wimm_dest;		/* WRITE_WITH_IMM in flight that we accept */
	} wimm;
	uint8_t timeout;			/* 1.024 us * 2^timeout, 0 ... 24 */
	struct {
		uint64_t ev_profile_id;		/* 0: the device's default one */
		uint64_t cc_profile_id;
	} profile;
	struct {
		uint8_t linear_cnt;		/* retries, each after timeout, 0 ... 7 */
		uint8_t exp_cnt;		/* further retries, each after twice the time, 0
						 * ... 24; 25: no limit */
	} retry;
	struct mrc_qp_hint *qp_hint;		/* or NULL */
	uint32_t cap;				/* enum mrc_qp_cap, ORed */
	uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

struct mrc_qp;

struct mrc_qp *mrc_create_qp(struct mrc_context *mrc_ctx, struct mrc_qp_init_attr *mrc_qp_attr);
/* 0 or errno. Waits until the events of the QP are acknowledged. */
int mrc_destroy_qp(struct mrc_qp *qp);
/*
 * 0 or errno. Queries attributes of both kinds. init_attr may be NULL, and so may an attr whose
 * mask is 0.
 */
int mrc_query_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		 struct mrc_qp_attr *mrc_attr, int mrc_attr_mask,
		 struct mrc_qp_init_attr *init_attr);
/*
 * 0 or errno. RESET -> INIT -> RTR -> RTS, any -> ERR, any -> RESET. The transitions to INIT, RTR
 * and RTS may have any attributes of mrc_attr. INIT applies the hint; RTR applies the EV profile,
 * max_wimm_dest, mpr_dest and cap; RTS applies the others. An attribute that is not given by then
 * has the device's default, which mrc_query_qp() returns. An attribute that is given later applies
 * after the next RESET. Port, timeout, retry counts, RNR and READ attributes, alternate path and
 * migration state of ibv_qp_attr are ignored.
 */
int mrc_modify_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		  struct mrc_qp_attr *mrc_attr, int mrc_attr_mask);
/* 0 or -1 */
int mrc_get_qpn(struct mrc_qp *qp, uint32_t *qpn);

/* 0 or -1 with *bad_wr; the requests before it were posted. Receives are for WRITE_WITH_IMM. */
int mrc_post_recv(struct mrc_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
/* 0 or errno, likewise. Only RDMA_WRITE and RDMA_WRITE_WITH_IMM; others: EOPNOTSUPP. */
int mrc_post_send(struct mrc_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/* ---- asynchronous events ---- */

struct mrc_async_event {
	union {
		struct mrc_cq *cq;
		struct mrc_qp *qp;
		int port_num;
	} element;
	enum ibv_event_type event_type;
};

/* 0 or -1. Waits for an event. context->async_fd may be polled, and made non-blocking. */
int mrc_get_async_event(struct mrc_context *mrc_ctx, struct mrc_async_event *event);
void mrc_ack_async_event(struct mrc_async_event *event);

#undef MRC_BIT31

#ifdef __cplusplus
}
#endif

/* The name of this struct before September 2025, which programs still use. */
#ifdef __cplusplus
struct mrc_attr : mrc_device_attr {};
#else
#define mrc_attr	mrc_device_attr
#endif

#endif
