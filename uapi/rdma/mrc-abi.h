/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * mrc-abi.h - what the module and its verbs plug-in share: the private data of
 * uverbs calls, and the rings.
 *
 * Rules: every struct is a multiple of 8 bytes without holes; reserved fields
 * are zero and refused otherwise; structs grow at the end under comp_mask.
 *
 * Rings (send, receive, completion) are vmalloc memory mapped by both sides:
 * MRC_RING_HDR_SIZE bytes with struct mrc_ring_hdr, then `entries` (a power of two) slots of
 * `stride` bytes. Indices run freely; slot = index & (entries - 1). The writer
 * fills slots, then publishes `prod` with a store-release; the reader loads it
 * with acquire and publishes `cons` likewise. Each side keeps a private copy of
 * its own index and never believes the other's without bounding the distance
 * to [0, entries]. A ring holds no kernel pointer. The kernel copies a work
 * request out of its slot before it looks at it.
 *
 * A slot that the kernel is done with may be written again, but the program's right to it comes
 * back only when it has polled the completion of that request or of a later one (mrc_cqe.slot):
 * who posts until there is no room does not overrun a completion queue as large as the work
 * queue. The kernel does not rely on it: a queue that is overrun is its program's own.
 *
 * Many QPs take receives from the ring of an SRQ, and their completions come in any order. So a
 * program counts: posted less completed is at most `entries`. The kernel copies a receive
 * out when a message needs one, in the order of messages of each QP. What a QP had taken and did
 * not use when it is reset or destroyed goes back: the kernel writes it into the slot before `cons`
 * and lowers `cons` by one, for which a program that counts leaves room.
 */
#ifndef MRC_ABI_H
#define MRC_ABI_H

#include <linux/types.h>

/*
 * The number counts changes that an older half would misread. The plug-in and libmrc take modules of this number
 * and of the one before (Documentation/operations/versions.md); 3 is the first that was released.
 */
#define MRC_UVERBS_ABI_VERSION	3
#define MRC_UVERBS_ABI_OLDEST	3
#define MRC_DRIVER_ID		0x4d5243	/* "MRC"; private, compared only */

#define MRC_MAX_SGE		16
#define MRC_MAX_INLINE		256
#define MRC_RING_HDR_SIZE	256

struct mrc_ring_hdr {
	__u32 prod;		/* written by the producer only */
	__u32 pad0[15];
	__u32 cons;		/* written by the consumer only */
	__u32 pad1[15];
	/*
	 * Send ring: the kernel sets need_kick before it goes idle; user space
	 * publishes prod, then (full barrier) reads it, and if set clears it and
	 * rings the doorbell (POST_SEND with no work request).
	 * Receive ring: need_kick is set when the QP is in error and receives must
	 * be announced (POST_RECV with no work request) to be flushed.
	 * Completion ring: user space stores MRC_ARM_*, then (full barrier) polls
	 * once more; the kernel publishes prod, then (full barrier) takes the
	 * value with xchg(0) and, if it matches, signals the channel. Then it writes its prod
	 * to told. Who has stored an arm and sees completions that were not polled, of which the last
	 * signal did not know, asks for one by REQ_NOTIFY_CQ: it comes at once.
	 */
	__u32 need_kick;
	__u32 arm;
	__u32 error;		/* completion ring: 1 after an overrun, or when its queue is gone */
	__u32 told;
	__u32 pad2[12];
};

enum mrc_arm {
	MRC_ARM_NONE = 0,
	MRC_ARM_SOLICITED = 1,
	MRC_ARM_ANY = 2,
};

struct mrc_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/*
 * Send slot: 64 bytes, then num_sge struct mrc_sge or inline_len bytes.
 *
 * IBV_WR_BIND_MW: rkey is the window's from now on, remote_addr and compare_add where and how long,
 * imm_data the lkey of the region, swap the enum ibv_access_flags. IBV_WR_LOCAL_INV: imm_data.
 */
struct mrc_send_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;		/* enum ibv_wr_opcode = enum ib_uverbs_wr_opcode */
	__u8 send_flags;	/* enum ibv_send_flags */
	__u8 num_sge;
	__u8 reserved0;
	__u32 imm_data;		/* network order, or a key (host order) */
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 inline_len;	/* with IBV_SEND_INLINE */
	union {
		struct {		/* atomics */
			__aligned_u64 compare_add;
			__aligned_u64 swap;
		};
		struct {		/* datagrams */
			__u32 ah;	/* number of the address handle */
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved2;
		};
	};
	__aligned_u64 reserved1[2];
};

/* Receive slot: 16 bytes, then num_sge struct mrc_sge. */
struct mrc_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved0;
};

#define MRC_WC_WITH_INV	(1u << 3)	/* IBV_WC_WITH_INV; in the kernel this bit is another's */
#define MRC_CQE_IPV4	(1u << 7)	/* of mark: the GRH is an IPv4 header */

struct mrc_cqe {
	__aligned_u64 wr_id;
	__u32 qpn;
	__u32 byte_len;
	__u32 imm_data;		/* network order, or invalidated rkey (host order) */
	__u8 opcode;		/* enum ibv_wc_opcode */
	__u8 status;		/* enum ibv_wc_status */
	__u8 wc_flags;		/* enum ibv_wc_flags */
	__u8 mark;		/* MRC_CQE_*; the other bits are the reader's own, and written 0 */
	__u32 src_qp;
	__u32 slot;		/* index of the request in its ring; nothing for an SRQ's */
	__aligned_u64 timestamp; /* ns of CLOCK_MONOTONIC; 0 unless MRC_UCQ_TIMESTAMP */
};

struct mrc_ualloc_ucontext_resp {
	__u32 comp_mask;
	__u32 max_inline;
	__u32 max_sge;
	__u32 reserved0;
};

#define MRC_UCQ_TIMESTAMP	(1u << 0)	/* completions say when they were written */

struct mrc_ucreate_cq {
	__u32 comp_mask;
	__u32 flags;		/* MRC_UCQ_* */
};

/*
 * Of a new queue, and of one that was resized: what is not consumed lies in the new ring at the same
 * free-running indices. The program keeps `cons` published and others from the queue meanwhile.
 */
struct mrc_ucreate_cq_resp {
	__u32 comp_mask;
	__u32 entries;
	__aligned_u64 mmap_key;	/* offset for mmap() */
	__aligned_u64 mmap_len;
};

struct mrc_ucreate_srq_resp {
	__u32 comp_mask;
	__u32 entries;
	__u32 stride;
	__u32 reserved0;
	__aligned_u64 mmap_key;
	__aligned_u64 mmap_len;
};

/* With IBV_SRQ_MAX_WR: the call has no answer of its own, so this says where it goes. */
struct mrc_umodify_srq {
	__aligned_u64 resp_addr; /* of a struct mrc_ucreate_srq_resp */
};

#define MRC_UQP_ONLY_SPEC	(1u << 0)	/* mrc.h QP: WRITE and WRITE_IMM only */
#define MRC_UQP_STRICT		(1u << 1)	/* place in the order of PSNs */
#define MRC_UQP_NO_ECHO		(1u << 2)	/* UD: takes none of its own datagrams to a group */

struct mrc_ucreate_qp {
	__u32 comp_mask;
	__u32 flags;		/* MRC_UQP_* */
};

struct mrc_ucreate_qp_resp {
	__u32 comp_mask;
	__u32 qpn;
	__aligned_u64 sq_mmap_key;
	__aligned_u64 sq_mmap_len;
	__aligned_u64 rq_mmap_key;	/* all of rq_* are 0 with an SRQ */
	__aligned_u64 rq_mmap_len;
	__u32 sq_entries, sq_stride;
	__u32 rq_entries, rq_stride;
};

/*
 * QPs of mrc.h. They are created as all others; private data of MODIFY_QP (the extended command)
 * with the transition to INIT makes a QP one, RESET ends it. What the fields mean and which values
 * they take: ocp mrc.h, struct mrc_qp_attr. comp_mask says which are given. Any of them may be given
 * with INIT, RTR and RTS, none with other changes. What is not given by the transition that needs it is
 * the device's usual value (struct mrc_uquery_device_resp). RTR needs the EV profile, wimm_dest,
 * mpr_dest and cap, RTS the others; what comes later than that is checked and changes nothing.
 */
#define MRC_UMODIFY_WIMM	(1u << 0)	/* as enum mrc_qp_attr_mask */
#define MRC_UMODIFY_WIMM_DEST	(1u << 1)
#define MRC_UMODIFY_MPR		(1u << 2)
#define MRC_UMODIFY_MPR_DEST	(1u << 3)
#define MRC_UMODIFY_TIMEOUT	(1u << 4)
#define MRC_UMODIFY_EV_PROFILE	(1u << 5)
#define MRC_UMODIFY_CC_PROFILE	(1u << 6)
#define MRC_UMODIFY_RETRY	(1u << 8)
#define MRC_UMODIFY_CAP		(1u << 9)

#define MRC_UCAP_NO_TRIM_NACK	(1u << 0)	/* the peer answers trimmed packets by no NACK */
#define MRC_UCAP_DYN_MPR	(1u << 1)	/* both ends change the window while it runs */
#define MRC_UCAP_NO_SVC_TIME	(1u << 2)	/* the peer's reflected times include its own delay */

struct mrc_umodify_qp {
	__u32 comp_mask;	/* MRC_UMODIFY_* */
	__u32 cap;		/* MRC_UCAP_* */
	__aligned_u64 ev_profile_id;
	__aligned_u64 cc_profile_id;
	__u16 wimm;		/* receive messages in flight: that we may send */
	__u16 wimm_dest;	/* and that we take */
	__u8 mpr;		/* likewise windows, in units of 128 PSNs */
	__u8 mpr_dest;
	__u8 timeout;		/* 1.024 us << timeout, 0 ... 24 */
	__u8 linear_cnt;
	__u8 exp_cnt;
	__u8 reserved0[7];
};

#define MRC_UDEV_TRIM_NACK	(1u << 0)	/* as enum mrc_device_cap */
#define MRC_UDEV_DYN_MPR	(1u << 1)
#define MRC_UDEV_SVC_TIME	(1u << 2)

/* With the extended QUERY_DEVICE, for who has room for it: what QPs of mrc.h may have. */
struct mrc_uquery_device_resp {
	__u32 comp_mask;
	__u32 cap;		/* MRC_UDEV_* */
	__u16 max_wimm;
	__u16 max_wimm_dest;
	__u8 max_mpr;
	__u8 timeout;		/* of those that do not say, as are the maxima above; cap and profiles: 0 */
	__u8 linear_cnt;
	__u8 exp_cnt;
};

/* Address handles: posted by their number (mrc_send_wqe.ah). */
struct mrc_ucreate_ah_resp {
	__u32 comp_mask;
	__u32 ah;
};

#endif
