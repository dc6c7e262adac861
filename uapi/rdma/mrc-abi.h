/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * mrc-abi.h - the interface between the module and its verbs plug-in: the private data of uverbs
 * calls, and the rings.
 *
 * Rules: every struct is a multiple of 8 bytes without holes; reserved fields are zero and refused
 * otherwise; structs grow at the end under comp_mask.
 *
 * Rings (send, receive, completion) are vmalloc memory mapped by both sides: MRC_RING_HDR_SIZE
 * bytes with struct mrc_ring_hdr, then `entries` (a power of two) slots of `stride` bytes. Indices
 * run freely; slot = index & (entries - 1). The writer fills slots, then publishes `prod` with a
 * store-release; the reader loads it with acquire and publishes `cons` likewise. Each side keeps a
 * private copy of its own index, and bounds the distance to the other's to [0, entries]. A ring
 * holds no kernel pointer. The kernel copies a work request out of its slot before it examines it.
 *
 * When the kernel has copied a request, its slot is free. But the program may reuse it only when it
 * has polled the completion of that request or of a later one (mrc_cqe.slot). So a program that
 * posts until there is no room does not overrun a completion queue as large as the work queue. The
 * kernel does not rely on it: an overrun harms only the program itself.
 *
 * Many QPs take receives from the ring of an SRQ, and their completions come in any order. So a
 * program counts: posted minus completed is at most `entries`. The kernel copies a receive out when
 * a message needs one, in the order of messages of each QP. When a QP is reset or destroyed, the
 * kernel gives back receives that it had taken and did not use: it writes each into the slot before
 * `cons` and lowers `cons` by one. A program that counts leaves room for it.
 */
#ifndef MRC_ABI_H
#define MRC_ABI_H

#include <linux/types.h>

/*
 * The number counts incompatible changes. The plug-in and libmrc accept modules of this number and
 * of the one before (Documentation/operations/versions.md); 3 is the first that was released.
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
	 * Send ring: the kernel sets need_kick before it goes idle. User space publishes prod, then
	 * (full barrier) reads need_kick. If it is set, user space clears it and rings the doorbell
	 * (POST_SEND with no work request).
	 *
	 * Receive ring: need_kick is set when the QP is in error. Then receives must be announced
	 * (POST_RECV with no work request) to be flushed.
	 *
	 * Completion ring: user space stores MRC_ARM_*, then (full barrier) polls once more. The
	 * kernel publishes prod, then (full barrier) reads arm. If it matches, the kernel writes
	 * its prod to told, clears arm with xchg() and signals the channel. A program that has
	 * armed and sees unpolled completions that are newer than told requests a signal by
	 * REQ_NOTIFY_CQ, which comes at once.
	 */
	__u32 need_kick;
	__u32 arm;
	__u32 error;		/* completion ring: 1 after an overrun, or when the queue was
				 * destroyed */
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
 * IBV_WR_BIND_MW: rkey is the window's new key; remote_addr and compare_add are the address and
 * length; imm_data is the lkey of the region, swap the enum ibv_access_flags. IBV_WR_LOCAL_INV:
 * imm_data is the key.
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

#define MRC_WC_WITH_INV	(1u << 3)	/* IBV_WC_WITH_INV; in the kernel this bit has another
					 * meaning */
#define MRC_CQE_IPV4	(1u << 7)	/* of mark: the GRH is an IPv4 header */

struct mrc_cqe {
	__aligned_u64 wr_id;
	__u32 qpn;
	__u32 byte_len;
	__u32 imm_data;		/* network order, or invalidated rkey (host order) */
	__u8 opcode;		/* enum ibv_wc_opcode */
	__u8 status;		/* enum ibv_wc_status */
	__u8 wc_flags;		/* enum ibv_wc_flags */
	__u8 mark;		/* MRC_CQE_*; written as 0 otherwise: those bits are the reader's */
	__u32 src_qp;
	__u32 slot;		/* index of the request in its ring; undefined for an SRQ's */
	__aligned_u64 timestamp; /* ns of CLOCK_MONOTONIC; 0 unless MRC_UCQ_TIMESTAMP */
};

struct mrc_ualloc_ucontext_resp {
	__u32 comp_mask;
	__u32 max_inline;
	__u32 max_sge;
	__u32 reserved0;
};

#define MRC_UCQ_TIMESTAMP	(1u << 0)	/* completions have the time when they were
						 * written */

struct mrc_ucreate_cq {
	__u32 comp_mask;
	__u32 flags;		/* MRC_UCQ_* */
};

/*
 * For a new queue, and for a resized one. After a resize, unconsumed completions are in the new
 * ring at the same free-running indices. Meanwhile the program keeps `cons` published and its other
 * threads from the queue.
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

/* With IBV_SRQ_MAX_WR. The call has no response of its own, so this says where to write it. */
struct mrc_umodify_srq {
	__aligned_u64 resp_addr; /* of a struct mrc_ucreate_srq_resp */
};

#define MRC_UQP_ONLY_SPEC	(1u << 0)	/* MRC 1.0 without extensions: WRITE and
						 * WRITE_IMM only */
#define MRC_UQP_STRICT		(1u << 1)	/* places data in PSN order */
#define MRC_UQP_NO_ECHO		(1u << 2)	/* UD: does not receive its own datagrams to a
						 * group */

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
 * QPs of mrc.h. They are created as all others. Private data of MODIFY_QP (the extended command)
 * with the transition to INIT makes a QP one of them; RESET ends that. The fields and their ranges
 * are those of struct mrc_qp_attr (OCP's mrc.h). comp_mask says which ones are given. The
 * transitions to INIT, RTR and RTS may have any of them, other changes none. RTR uses the EV
 * profile, wimm_dest, mpr_dest and cap; RTS uses the others. A field that is not given by then has
 * the device's default (struct mrc_uquery_device_resp). A field that is given later is checked and
 * changes nothing.
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

#define MRC_UCAP_NO_TRIM_NACK	(1u << 0)	/* the peer does not NACK trimmed packets */
#define MRC_UCAP_DYN_MPR	(1u << 1)	/* both ends change the window while the QP runs */
#define MRC_UCAP_NO_SVC_TIME	(1u << 2)	/* the peer's reflected times include its own delay */

struct mrc_umodify_qp {
	__u32 comp_mask;	/* MRC_UMODIFY_* */
	__u32 cap;		/* MRC_UCAP_* */
	__aligned_u64 ev_profile_id;
	__aligned_u64 cc_profile_id;
	__u16 wimm;		/* receive messages in flight that we may send */
	__u16 wimm_dest;	/* and that we accept */
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

/* With the extended QUERY_DEVICE, if the response has room: limits and defaults of QPs of mrc.h. */
struct mrc_uquery_device_resp {
	__u32 comp_mask;
	__u32 cap;		/* MRC_UDEV_* */
	__u16 max_wimm;
	__u16 max_wimm_dest;
	__u8 max_mpr;
	__u8 timeout;		/* defaults, as are the maxima above; cap and profiles: 0 */
	__u8 linear_cnt;
	__u8 exp_cnt;
};

/* Address handles: posted by their number (mrc_send_wqe.ah). */
struct mrc_ucreate_ah_resp {
	__u32 comp_mask;
	__u32 ah;
};

#endif
