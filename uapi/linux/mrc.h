/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Generic-netlink family "mrc": devices, planes, EV profiles, peers, QPs, counters, events, the
 * event log, self-probes and avoided links. Documentation/netlink/specs/mrc.yaml explains each
 * attribute; keep the two in step.
 *
 * Gets are unprivileged; every change needs CAP_NET_ADMIN in the device's network namespace. A
 * command acts on devices of the caller's namespace.
 */
#ifndef _UAPI_LINUX_MRC_H
#define _UAPI_LINUX_MRC_H

#define MRC_GENL_NAME		"mrc"
#define MRC_GENL_VERSION	1
#define MRC_GENL_MCGRP_EVENTS	"events"
#define MRC_GENL_MCGRP_LOG	"log"	/* needs CAP_NET_ADMIN to join */

enum {
	MRC_CMD_UNSPEC,
	MRC_CMD_DEV_GET,	/* do: DEV_IFINDEX or DEV_NAME; dump: all */
	MRC_CMD_DEV_SET,	/* DEV_IFINDEX, DEV: settings of a device */
	MRC_CMD_PLANE_GET,	/* dump: all, or of DEV_IFINDEX */
	MRC_CMD_PLANE_SET,	/* DEV_IFINDEX, PLANE {NUMBER, ADMIN, SID}; or {NUMBER, IFNAME}:
				 * reserves the number for that netdev until it joins the device */
	MRC_CMD_PROFILE_GET,	/* dump; a long list of EVs takes several messages */
	MRC_CMD_PROFILE_SET,	/* DEV_IFINDEX, PROFILE: creates or replaces a profile. EVs are
				 * in PROFILE_EV, or in top-level MRC_A_EV if they exceed a nest
				 * of 64 KiB (4096 do): VALUE, PORT and STATE (GOOD or DENIED),
				 * in which path sets start. In mode GEN these are the EVs that
				 * the fields make, in their order, for the sake of STATE. A
				 * change of states alone replaces no path set */
	MRC_CMD_PROFILE_DEL,	/* DEV_IFINDEX, PROFILE {ID, DST, DST_LEN} */
	MRC_CMD_PEER_GET,	/* dump: peers with their path sets and controllers; many
				 * controllers take several messages; may name PEER {GID} */
	MRC_CMD_EV_GET,		/* dump: EVs of path sets: PEER {GID, NAMED}, EV; may name PEER {GID} */
	MRC_CMD_EV_SET,		/* DEV_IFINDEX, PEER {GID}, EV {INDEX, STATE}, repeated: GOOD or
				 * DENIED. With VALUE and PORT: ESTALE if another EV has that
				 * index */
	MRC_CMD_QP_GET,		/* dump; may name QP {NUM} */
	MRC_CMD_STATS_GET,	/* dump: counters per device */
	MRC_CMD_EVENT,		/* notification: EVENT_TYPE and the object */
	MRC_CMD_CC_GET,		/* dump: CC profiles */
	MRC_CMD_CC_SET,		/* DEV_IFINDEX, CC: creates or replaces a CC profile */
	MRC_CMD_CC_DEL,		/* DEV_IFINDEX, CC {ID} */
	MRC_CMD_EP_SEND,	/* DEV_IFINDEX, EP, repeated: requests to peers' endpoints, at
				 * most MRC_EP_MAX; reply: EP {ID, ERROR} of those that were not
				 * sent */
	MRC_CMD_EP_ANSWER,	/* to the requesting socket: EP {ID, GID, OP, PORT, RTT} */
	MRC_CMD_LOG_GET,	/* dump: the event log, the oldest record first: LOG */
	MRC_CMD_LOG,		/* notification: LOG of a new record; later again, with its final
				 * COUNT */
	MRC_CMD_PROBE_SET,	/* DEV_IFINDEX, PROBES, PROBE, repeated: replaces the device's
				 * self-probes; without PROBE, removes them. A probe that is the
				 * same as before continues and keeps its counters */
	MRC_CMD_PROBE_GET,	/* dump: PROBES first, then each PROBE */
	MRC_CMD_AVOID_SET,	/* DEV_IFINDEX, AVOIDS {BY, EXPIRY}, AVOID, repeated: replaces
				 * the list BY of links that the device avoids; without AVOID,
				 * empties it */
	MRC_CMD_AVOID_GET,	/* dump: a message for each list: AVOIDS, AVOID, repeated */
	__MRC_CMD_MAX,
	MRC_CMD_MAX = __MRC_CMD_MAX - 1
};

/* Top level */
enum {
	MRC_A_UNSPEC,
	MRC_A_DEV_IFINDEX,	/* u32: netdev that owns the GIDs */
	MRC_A_DEV_NAME,		/* string: name of that netdev, in requests instead; replies have
				 * both */
	MRC_A_IBDEV_NAME,	/* string */
	MRC_A_DEV,		/* nest MRC_A_DEV_* */
	MRC_A_PLANE,		/* nest MRC_A_PLANE_* */
	MRC_A_PROFILE,		/* nest MRC_A_PROFILE_* */
	MRC_A_PEER,		/* nest MRC_A_PEER_* */
	MRC_A_EV,		/* nest MRC_A_EV_*, repeated */
	MRC_A_QP,		/* nest MRC_A_QP_* */
	MRC_A_STATS,		/* nest of MRC_A_STAT, repeated */
	MRC_A_EVENT_TYPE,	/* u32 enum mrc_event */
	MRC_A_CC,		/* nest MRC_A_CC_* */
	MRC_A_PAD,
	MRC_A_EP,		/* nest MRC_A_EP_*, repeated */
	MRC_A_LOG,		/* nest MRC_A_LOG_* */
	MRC_A_PROBES,		/* nest MRC_A_PROBES_* */
	MRC_A_PROBE,		/* nest MRC_A_PROBE_*, repeated */
	MRC_A_AVOIDS,		/* nest MRC_A_AVOIDS_* */
	MRC_A_AVOID,		/* nest MRC_A_AVOID_*, repeated */
	__MRC_A_MAX,
	MRC_A_MAX = __MRC_A_MAX - 1
};

/* MRC_A_DEV */
enum {
	MRC_A_DEV_UNSPEC,
	MRC_A_DEV_UDP_PORT,	/* u16: UDP port of packets to new peers; also listened on,
				 * beside 4791 and 4971 */
	MRC_A_DEV_ICRC,		/* u8: 1 = sent and checked; 0 = not checked, and sent to peers
				 * that send it */
	MRC_A_DEV_CWND,		/* u32 bytes: fixed window of new QPs without a CC profile */
	MRC_A_DEV_MPR,		/* u8: window of new QPs, in units of 128 PSNs */
	MRC_A_DEV_HOP_LIMIT,	/* u8: of outer headers */
	MRC_A_DEV_DSCP_DATA,	/* u8: data, may be trimmed */
	MRC_A_DEV_DSCP_RTX,	/* u8: retransmitted data, may be trimmed */
	MRC_A_DEV_DSCP_CONTROL,	/* u8: control packets */
	MRC_A_DEV_PROFILE_ID,	/* u64: default EV profile */
	MRC_A_DEV_PLANES,	/* u32: number of planes */
	MRC_A_DEV_QPS,		/* u32: number of QPs */
	MRC_A_DEV_STATE,	/* u32: 0 = RDMA device not registered (yet), 1 = registered */
	MRC_A_DEV_QP_BYTES,	/* u32: kernel memory of one idle QP with 128 WRs, 1 SGE */
	MRC_A_DEV_DSCP_NO_TRIM,	/* u8: data that must not be trimmed */
	MRC_A_DEV_DSCP_TRIMMED,	/* u8: mark of a trimmed packet */
	MRC_A_DEV_DSCP_TRIMMED_LASTHOP, /* u8: likewise, trimmed at the last hop */
	MRC_A_DEV_TRIM_NACK,	/* u8: 1 = trimmed packets are NACKed, and data may be trimmed */
	MRC_A_DEV_ACTIVE_EVS,	/* u32: EVs that a new QP sprays over, 1 ... 4096 */
	MRC_A_DEV_CC_PROFILE_ID, /* u64: default CC profile; 0: none, a fixed window per QP */
	MRC_A_DEV_TIMESTAMPS,	/* u8: 1 = data packets of new QPs carry one */
	MRC_A_DEV_DYN_MPR,	/* u8: 1 = windows of new QPs change while they run; both ends
				 * must agree */
	MRC_A_DEV_STRICT,	/* u8: 1 = new QPs place data in PSN order */
	MRC_A_DEV_SLEEK,	/* u8: 1 = new QPs also detect loss by count */
	MRC_A_DEV_INCAST,	/* u8: 1 = this host asks senders to slow down when many send */
	MRC_A_DEV_DAMP,		/* u32: half-life of flap damping in ms; 0: off */
	MRC_A_DEV_HELD_PKTS,	/* u32: packets held for strict placement now */
	MRC_A_DEV_PAD,
	MRC_A_DEV_OOR_NACK,	/* u8: 1 = new QPs NACK PSNs beyond the window */
	MRC_A_DEV_EXP_CNT,	/* u8: retries of new QPs with doubling timeouts; 25: no limit */
	MRC_A_DEV_EV_PORT_LOW,	/* u8: 1 = the low half of an EV is the UDP source port */
	MRC_A_DEV_MRC_PAD,	/* u8: 1 = new mrc.h QPs pad payload to four bytes */
	MRC_A_DEV_ICRC_BY,	/* string: the method that computes ICRCs, read-only */
	MRC_A_DEV_BURST,	/* u8: packets that new QPs send in a row by one EV, 1 ... 16; 0:
				 * 4 KiB of payload */
	MRC_A_DEV_EP_OP_HIGH,	/* u8: 1 = answers to endpoint requests have op in bits 5:4 of byte 1 */
	MRC_A_DEV_PORT_BIT_1,	/* u8: 1 = bit 1 of port status masks is port 1; both ends must agree */
	__MRC_A_DEV_MAX,
	MRC_A_DEV_MAX = __MRC_A_DEV_MAX - 1
};

/* MRC_A_PLANE */
enum {
	MRC_A_PLANE_UNSPEC,
	MRC_A_PLANE_NUMBER,	/* u8: 1 ... 32 */
	MRC_A_PLANE_IFINDEX,	/* u32 */
	MRC_A_PLANE_IFNAME,	/* string */
	MRC_A_PLANE_ADMIN,	/* u8: 0 = disabled by the controller */
	MRC_A_PLANE_CARRIER,	/* u8: 1 = the link is up and running */
	MRC_A_PLANE_UP,		/* u8: 1 = used: admin and carrier, not held, not small, and the
				 * device is not down */
	MRC_A_PLANE_SID,	/* 16 bytes: this host's locator on the plane: outer source,
				 * and the outer destination accepted */
	MRC_A_PLANE_TX_PKTS,	/* u64 */
	MRC_A_PLANE_TX_BYTES,	/* u64 */
	MRC_A_PLANE_RX_PKTS,	/* u64 */
	MRC_A_PLANE_RX_BYTES,	/* u64 */
	MRC_A_PLANE_SPEED,	/* u32 Mb/s */
	MRC_A_PLANE_HELD,	/* u8: 1 = not used though the link is up: it failed too often */
	MRC_A_PLANE_PAD,
	MRC_A_PLANE_MTU,	/* u32: of the port */
	MRC_A_PLANE_SMALL,	/* u8: 1 = not used: full packets of connections exceed its MTU */
	__MRC_A_PLANE_MAX,
	MRC_A_PLANE_MAX = __MRC_A_PLANE_MAX - 1
};

/* enum mrc_ctl_ev_fmt_mode and mrc_ctl_ev_mode of the OCP interface */
enum { MRC_FMT_STEV = 1, MRC_FMT_SRV6 = 2, MRC_FMT_UDP = 4 };
enum { MRC_MODE_AUTO = 1, MRC_MODE_EXP = 2, MRC_MODE_GEN = 4 };

/*
 * MRC_A_PROFILE: the EVs towards one destination, a prefix, or any destination, under one id. The
 * profile with the longest matching prefix applies.
 */
enum {
	MRC_A_PROFILE_UNSPEC,
	MRC_A_PROFILE_ID,	/* u64, not 0 */
	MRC_A_PROFILE_DST,	/* 16 bytes: GID or prefix; absent: any destination */
	MRC_A_PROFILE_FMT,	/* u32 MRC_FMT_* */
	MRC_A_PROFILE_MODE,	/* u32 MRC_MODE_* */
	MRC_A_PROFILE_MIN_ACTIVE, /* u32 */
	MRC_A_PROFILE_EV,	/* nest MRC_A_EV_{VALUE, PORT}, repeated */
	MRC_A_PROFILE_COUNT,	/* u32: AUTO: number of EVs to make; GEN: use so many of those
				 * described */
	MRC_A_PROFILE_FMT_WIDTHS, /* binary: GEN: bits of each field of the format, u8 each */
	MRC_A_PROFILE_GEN,	/* nest MRC_A_GEN_*, repeated: GEN */
	MRC_A_PROFILE_PAD,
	MRC_A_PROFILE_DST_LEN,	/* u8: prefix length of DST, 1 ... 128, whose other bits are 0;
				 * absent: 128 */
	__MRC_A_PROFILE_MAX,
	MRC_A_PROFILE_MAX = __MRC_A_PROFILE_MAX - 1
};

/* MRC_A_PROFILE_GEN: EVs from fields, see engine/wire/mrc_evgen.h */
enum {
	MRC_A_GEN_UNSPEC,
	MRC_A_GEN_PORT,		/* u8: plane of all its EVs; absent: the device's planes in turn */
	MRC_A_GEN_FIELD,	/* nest MRC_A_FIELD_*, repeated */
	MRC_A_GEN_COPY,		/* nest MRC_A_COPY_*, repeated, at most 8: makes the profile a
				 * template */
	__MRC_A_GEN_MAX,
	MRC_A_GEN_MAX = __MRC_A_GEN_MAX - 1
};

/* MRC_A_GEN_FIELD: struct mrc_ctl_ev_field; what is absent is 0 */
enum {
	MRC_A_FIELD_UNSPEC,
	MRC_A_FIELD_WIDTH,	/* u32: bits, 1 ... 32 */
	MRC_A_FIELD_INIT,	/* u32: the value, except the bits of MASK */
	MRC_A_FIELD_FIRST,	/* u32: smallest number for the bits of MASK */
	MRC_A_FIELD_LAST,	/* u32: likewise, the largest */
	MRC_A_FIELD_MASK,	/* u32: the bits that vary */
	__MRC_A_FIELD_MAX,
	MRC_A_FIELD_MAX = __MRC_A_FIELD_MAX - 1
};

/* MRC_A_GEN_COPY: bits of an address that replace bits of each EV; absent is 0 */
enum {
	MRC_A_COPY_UNSPEC,
	MRC_A_COPY_FROM,	/* u32 enum mrc_copy_from */
	MRC_A_COPY_BIT,		/* u32: first bit of the address, 0 ... 127, 0 = most significant */
	MRC_A_COPY_WIDTH,	/* u32: number of bits, 1 ... 32 */
	MRC_A_COPY_AT,		/* u32: first bit of the EV that is replaced, 0 ... 255 */
	__MRC_A_COPY_MAX,
	MRC_A_COPY_MAX = __MRC_A_COPY_MAX - 1
};

enum mrc_copy_from {
	MRC_COPY_DST,		/* the destination's GID */
	MRC_COPY_SRC,		/* our address towards it: Documentation/guide/fabric.md */
};

/* MRC_A_CC: a CC profile; in MRC_A_PEER a controller in use */
enum {
	MRC_A_CC_UNSPEC,
	MRC_A_CC_ID,		/* u64, not 0 */
	MRC_A_CC_ALGORITHM,	/* string: "uet-1.0-nscc", "fixed"; absent: "fixed" */
	MRC_A_CC_WINDOW,	/* u32 bytes: fixed: the window; else the initial one; 0: default */
	/* struct mrc_ctl_cc_nscc_cfg; 0 or absent: derived from rate, RTT and MTU */
	MRC_A_CC_DISABLE_QA,	/* u8 */
	MRC_A_CC_QA_GATE,	/* u8 */
	MRC_A_CC_QA_THRESHOLD,	/* u32 ns */
	MRC_A_CC_TARGET_DELAY,	/* u32 ns */
	MRC_A_CC_BASE_RTT,	/* u32 ns */
	MRC_A_CC_MAX_CWND,	/* u32 bytes */
	MRC_A_CC_ADJUST_BYTES,	/* u32 bytes */
	MRC_A_CC_ADJUST_PERIOD,	/* u32 ns */
	MRC_A_CC_ETA,		/* u32: bytes, fixed point 24.8 */
	MRC_A_CC_FI,		/* u32: bytes, fixed point 24.8 */
	MRC_A_CC_FI_SCALE,	/* u32: fixed point 16.16 */
	MRC_A_CC_GAMMA,		/* u32: fixed point 16.16, at most 1 */
	MRC_A_CC_MAX_MD_JUMP,	/* u32: fixed point 16.16, at most 1 */
	MRC_A_CC_TRIMMING,	/* u8: 1 = the fabric trims: NSCC aims at a shorter delay */
	/* of a controller in use */
	MRC_A_CC_CWND,		/* u32 bytes */
	MRC_A_CC_INFLIGHT,	/* u32 bytes */
	MRC_A_CC_QPS,		/* u32 */
	MRC_A_CC_PAD,
	__MRC_A_CC_MAX,
	MRC_A_CC_MAX = __MRC_A_CC_MAX - 1
};

/* MRC_A_EV */
enum {
	MRC_A_EV_UNSPEC,
	MRC_A_EV_INDEX,		/* u32: index in the path set; EVs are sorted by plane */
	MRC_A_EV_VALUE,		/* 32 bytes, as mrc_ctl_ev_t: SRv6: outer destination 16,
				 * SRH segment 16; STEV: 4 bytes used; UDP: 2; big-endian,
				 * the rest zero */
	MRC_A_EV_PORT,		/* u8: plane number, 1-based */
	MRC_A_EV_STATE,		/* u32 enum mrc_nl_ev_state */
	MRC_A_EV_ENTROPY,	/* u32: as carried in UDP source port and flow label */
	MRC_A_EV_TX_PKTS,	/* u32 */
	MRC_A_EV_LOST,		/* u32 */
	MRC_A_EV_PAD,
	MRC_A_EV_AVOIDED,	/* u8: 1 = DENIED only because it crosses an avoided link */
	__MRC_A_EV_MAX,
	MRC_A_EV_MAX = __MRC_A_EV_MAX - 1
};

enum mrc_nl_ev_state {
	MRC_NL_EV_GOOD, MRC_NL_EV_SKIP, MRC_NL_EV_ASSUMED_BAD, MRC_NL_EV_DENIED,
};

/* MRC_A_PEER */
enum {
	MRC_A_PEER_UNSPEC,
	MRC_A_PEER_GID,		/* 16 bytes */
	MRC_A_PEER_PORTS_UP,	/* u32: mask of ports that are up, as last announced by the peer
				 * and accepted */
	MRC_A_PEER_PROFILE_ID,	/* u64; 0: AUTO */
	MRC_A_PEER_EVS,		/* u32 */
	MRC_A_PEER_EVS_GOOD,	/* u32 */
	MRC_A_PEER_EVS_SKIP,	/* u32 */
	MRC_A_PEER_EVS_BAD,	/* u32 */
	MRC_A_PEER_EVS_DENIED,	/* u32 */
	MRC_A_PEER_EVS_USABLE,	/* u32 */
	MRC_A_PEER_QPS,		/* u32 */
	MRC_A_PEER_CC,		/* nest MRC_A_CC_{ID, ALGORITHM, CWND, INFLIGHT, QPS}, repeated */
	MRC_A_PEER_PAD,
	MRC_A_PEER_HINTS,	/* u32: MRC_HINT_* */
	MRC_A_PEER_PROFILE_DST_LEN, /* u8: prefix length of the profile in use; 0: any
				     * destination */
	MRC_A_PEER_PATHS,	/* u64: number of the path set, never reused */
	MRC_A_PEER_FIRST_PATHS,	/* u64: number of the peer's first path set; another number: the
				 * peer was removed and added again */
	MRC_A_PEER_TURNED_BAD,	/* u64: changes of EVs to ASSUMED_BAD, in this path set and those
				 * before it */
	MRC_A_PEER_TURNED_GOOD,	/* u64: likewise, from ASSUMED_BAD or DENIED to GOOD or SKIP */
	MRC_A_PEER_NAMED,	/* u64: the profile that QPs named and that this path set is for;
				 * absent: the device's default */
	__MRC_A_PEER_MAX,
	MRC_A_PEER_MAX = __MRC_A_PEER_MAX - 1
};

/* Findings that suggest settings that differ between this host and the peer */
enum mrc_hint {
	MRC_HINT_ICRC = 1,	/* all its packets have a wrong ICRC or none, also
				 * retransmissions */
	MRC_HINT_UDP_PORT = 2,	/* it sends to a UDP port that is not listened on */
	MRC_HINT_HOP_LIMIT = 4,	/* packets to it reached their hop limit on the way */
	MRC_HINT_NO_ANSWER = 8,	/* a QP gave up, and the peer never acknowledged any of its
				 * packets */
	MRC_HINT_PLAIN = 16,	/* it speaks plain RoCEv2: RC QPs to it are refused */
	MRC_HINT_NOBODY = 32,	/* an ICMP error reports that nobody listens there, or its CM
				 * does not answer */
	MRC_HINT_POLICY = 64,	/* an IPsec policy blocks packets to it or from it */
};

#define MRC_EP_MAX	64	/* requests in a message, and requests to a peer under way */

/* MRC_A_EP: a request to a peer's endpoint, or the response */
enum {
	MRC_A_EP_UNSPEC,
	MRC_A_EP_ID,		/* u16: chosen by the requester; the response has it, too */
	MRC_A_EP_GID,		/* 16 bytes: of the peer */
	MRC_A_EP_SRC,		/* 16 bytes: source address, one of the device; absent: the one
				 * that the peer knows */
	MRC_A_EP_OP,		/* u32 enum mrc_nl_ep_op */
	MRC_A_EP_PORTS_UP,	/* u32: PORT_STATUS: mask of our ports that are reported to the
				 * peer as up */
	MRC_A_EP_TC,		/* u8: traffic class; its two low bits are ignored; absent: that
				 * of control packets */
	MRC_A_EP_FMT,		/* u32 MRC_FMT_*: format of VALUE */
	MRC_A_EP_VALUE,		/* 32 bytes: the EV that the request is sent on, as
				 * MRC_A_EV_VALUE */
	MRC_A_EP_PORT,		/* u8: plane of that EV, 1-based; in a response the plane that it
				 * arrived by */
	MRC_A_EP_ERROR,		/* u32: errno of a request that was not sent */
	MRC_A_EP_RTT,		/* u64: ns from sending the request to the response */
	MRC_A_EP_PAD,
	MRC_A_EP_VIA,		/* u16: uSID of a switch over which the answer to an EV probe
				 * should return; in a response it says that it did */
	__MRC_A_EP_MAX,
	MRC_A_EP_MAX = __MRC_A_EP_MAX - 1
};

/* op of ERTH, MRC 1.0 section 1.10 (not that of mrc_ctl.h) */
enum mrc_nl_ep_op {
	MRC_NL_EP_PORT_STATUS, MRC_NL_EP_EV_PROBE,
};

/* MRC_A_QP */
enum {
	MRC_A_QP_UNSPEC,
	MRC_A_QP_NUM,		/* u32 */
	MRC_A_QP_DEST_NUM,	/* u32; only to its owner and CAP_NET_ADMIN */
	MRC_A_QP_STATE,		/* u32 enum ib_qp_state */
	MRC_A_QP_GID,		/* 16 bytes: of the peer */
	MRC_A_QP_PSN_NEXT,	/* u32; only to its owner and CAP_NET_ADMIN */
	MRC_A_QP_PSN_UNA,	/* u32; only to its owner and CAP_NET_ADMIN */
	MRC_A_QP_RX_CACK,	/* u32; only to its owner and CAP_NET_ADMIN */
	MRC_A_QP_INFLIGHT,	/* u32 bytes */
	MRC_A_QP_CWND,		/* u32 bytes */
	MRC_A_QP_SRTT,		/* u32 ns */
	MRC_A_QP_MIN_RTT,	/* u32 ns */
	MRC_A_QP_PID,		/* u32: of its creator, in the reader's PID namespace; absent:
				 * not in it */
	/*
	 * nest of MRC_A_STAT, repeated: the first QP of a dump has all counters; the others have
	 * them in the same order without those that are 0
	 */
	MRC_A_QP_STATS,
	MRC_A_QP_ALGORITHM,	/* string: its congestion control; absent before RTS */
	MRC_A_QP_CC_PROFILE_ID,	/* u64: of its controller; before RTS the requested one; 0: a
				 * window of its own */
	MRC_A_QP_STRICT,	/* u8: 1 = data is placed in PSN order */
	MRC_A_QP_HELD_PKTS,	/* u32: packets held for that now */
	MRC_A_QP_PAD,
	MRC_A_QP_EV_PROFILE_ID,	/* u64: the profile that it named; 0: the device's default */
	__MRC_A_QP_MAX,
	MRC_A_QP_MAX = __MRC_A_QP_MAX - 1
};

/* in MRC_A_STATS and MRC_A_QP_STATS, repeated */
enum {
	MRC_A_STAT_UNSPEC,
	MRC_A_STAT,		/* nest {NAME, VALUE} */
	MRC_A_STAT_NAME,	/* string */
	MRC_A_STAT_VALUE,	/* u64 */
	MRC_A_STAT_PAD,
	__MRC_A_STAT_MAX,
	MRC_A_STAT_MAX = __MRC_A_STAT_MAX - 1
};

/* MRC_A_LOG: a record of the event log */
enum {
	MRC_A_LOG_UNSPEC,
	MRC_A_LOG_ID,		/* u64: number of the record in its device; grows by one */
	MRC_A_LOG_KIND,		/* u32 enum mrc_log_kind */
	MRC_A_LOG_CAUSE,	/* u32 enum mrc_log_cause */
	MRC_A_LOG_BOOT,		/* u64 ns: time of the first event, by CLOCK_BOOTTIME */
	MRC_A_LOG_LAST,		/* u64 ns: time of the latest event, likewise */
	MRC_A_LOG_REAL,		/* u64 ns: time of the first event, by CLOCK_REALTIME */
	MRC_A_LOG_PLANE,	/* u8, 1-based */
	MRC_A_LOG_GID,		/* 16 bytes: the peer; absent: none or many. To CAP_NET_ADMIN only */
	MRC_A_LOG_EV,		/* u32: index of the first EV. To CAP_NET_ADMIN only */
	MRC_A_LOG_ENTROPY,	/* u32: of that EV. To CAP_NET_ADMIN only */
	MRC_A_LOG_COUNT,	/* u32: number of events */
	MRC_A_LOG_LOST,		/* u64: events of the device without a record, so far */
	MRC_A_LOG_PAD,
	__MRC_A_LOG_MAX,
	MRC_A_LOG_MAX = __MRC_A_LOG_MAX - 1
};

enum mrc_log_kind {
	MRC_LOG_PLANE_DOWN,	/* or is still down for another cause */
	MRC_LOG_PLANE_UP,	/* the cause is the one that kept it down */
	MRC_LOG_PORT_DOWN,	/* a peer's port */
	MRC_LOG_PORT_UP,
	MRC_LOG_EV_BAD,		/* assumed bad */
	MRC_LOG_EV_GOOD,	/* usable again */
	MRC_LOG_EV_DENIED,
	MRC_LOG_HINT,		/* the cause is the hint */
	MRC_LOG_PROBES_PAUSED,	/* self-probes */
	MRC_LOG_PROBES_RESUMED,	/* the cause is the one that paused them */
};

enum mrc_log_cause {
	/* of planes */
	MRC_WHY_NONE,		/* nothing keeps it down */
	MRC_WHY_NEW,		/* the plane is new */
	MRC_WHY_DEV_DOWN,	/* the device is down */
	MRC_WHY_ADMIN,	/* disabled by the controller */
	MRC_WHY_PORT_DOWN,	/* the port was set down */
	MRC_WHY_NO_CARRIER,
	MRC_WHY_HELD,		/* the link failed too often */
	MRC_WHY_SMALL,	/* full packets of connections are longer than the MTU */
	MRC_WHY_GONE,		/* the port left the device */
	/* of peers' ports */
	MRC_WHY_NOTICE,	/* the peer announced it */
	/* of EVs */
	MRC_WHY_LOST,		/* packets or probes were lost */
	MRC_WHY_PEER,		/* the peer reported it */
	MRC_WHY_COMPANY,	/* demoted with other bad EVs of its plane */
	MRC_WHY_CONTROLLER,
	MRC_WHY_ANSWERED,	/* its probes were answered */
	MRC_WHY_LATE,		/* packets that were considered lost arrived late */
	MRC_WHY_FORGIVEN,	/* the plane was at fault, or nothing was */
	MRC_WHY_PLANE_BACK,	/* its plane came back */
	MRC_WHY_FLOOR,	/* too few usable EVs were left */
	/* of hints */
	MRC_WHY_ICRC,
	MRC_WHY_UDP_PORT,
	MRC_WHY_HOP_LIMIT,
	MRC_WHY_NO_ANSWER,
	MRC_WHY_PLAIN,
	MRC_WHY_NOBODY,
	MRC_WHY_POLICY,
	/* of self-probes */
	MRC_WHY_STARVED,	/* the module's own timer ran late: the host is starved, so no
				 * path is judged */
	MRC_WHY_EXPIRED,	/* nobody renewed them */
	/* of EVs */
	MRC_WHY_AVOIDED,	/* a link that the EV crosses is avoided, or no longer avoided */
};

#define MRC_AVOIDS_MAX		96	/* links per list and device */

/* Who has links avoided. Each has a list of its own, and changes only that one. */
enum mrc_avoid_by {
	MRC_AVOID_DAEMON,	/* mrcd */
	MRC_AVOID_PERSON,	/* mrcctl */
};

/* MRC_A_AVOIDS: a list of links that a device avoids */
enum {
	MRC_A_AVOIDS_UNSPEC,
	MRC_A_AVOIDS_BY,	/* u32 enum mrc_avoid_by */
	MRC_A_AVOIDS_EXPIRY,	/* u32 s: the list is emptied this long after the last AVOID_SET,
				 * 1 ... 86400; absent: 600 for DAEMON, never for PERSON */
	/* read-only */
	MRC_A_AVOIDS_LEFT,	/* u32 ms until it is emptied; absent: never */
	MRC_A_AVOIDS_COUNT,	/* u32: links */
	__MRC_A_AVOIDS_MAX,
	MRC_A_AVOIDS_MAX = __MRC_A_AVOIDS_MAX - 1
};

/*
 * MRC_A_AVOID: a link. EVs of format SRV6 of this plane cross it if TO follows FROM directly in
 * their uSIDs; without TO, if they have FROM.
 */
enum {
	MRC_A_AVOID_UNSPEC,
	MRC_A_AVOID_PLANE,	/* u8, 1-based */
	MRC_A_AVOID_FROM,	/* u16: a uSID, not 0. To CAP_NET_ADMIN only */
	MRC_A_AVOID_TO,		/* u16: the next one, not 0; absent: any. To CAP_NET_ADMIN only */
	__MRC_A_AVOID_MAX,
	MRC_A_AVOID_MAX = __MRC_A_AVOID_MAX - 1
};

#define MRC_SELFPROBES_MAX	1024	/* of a device */
#define MRC_PROBE_BUCKETS	16	/* buckets of a histogram: below 1024 ns, below 2048 ns,
					 * ...; the last has the rest */

/* MRC_A_PROBES: settings and counters of all self-probes of a device */
enum {
	MRC_A_PROBES_UNSPEC,
	MRC_A_PROBES_EXPIRY,	/* u32 s: they stop this long after the last PROBE_SET, 1 ...
				 * 3600; absent: 60 */
	MRC_A_PROBES_BUDGET,	/* u64: bytes per second and plane; absent: 0.01 % of the plane's
				 * rate */
	MRC_A_PROBES_TIMEOUT,	/* u32 us: a probe that is not back by then is lost, 1000 ...
				 * 10^7; absent: 10000; at most 16 intervals of each probe */
	MRC_A_PROBES_STALL,	/* u32 us: the host is starved if the probes' timer is this late,
				 * 1000 ... 10^7; absent: 5000 */
	MRC_A_PROBES_FULL_EVERY, /* u32: one probe in so many is as long as the plane's MTU; 0:
				  * none; absent: 100 */
	/* read-only */
	MRC_A_PROBES_COUNT,	/* u32 */
	MRC_A_PROBES_LEFT,	/* u32 ms until they stop; 0: stopped */
	MRC_A_PROBES_PAUSED,	/* u8: 1 = the host is starved */
	MRC_A_PROBES_STALLS,	/* u64: how often the host was starved */
	MRC_A_PROBES_LAG_HIGH,	/* u64 ns: largest delay of the timer */
	MRC_A_PROBES_LAG_HIST,	/* MRC_PROBE_BUCKETS u64: delays of the timer */
	MRC_A_PROBES_FORGED,	/* u64: received, but match none that was sent */
	MRC_A_PROBES_PAD,
	__MRC_A_PROBES_MAX,
	MRC_A_PROBES_MAX = __MRC_A_PROBES_MAX - 1
};

/*
 * MRC_A_PROBE: a self-probe: packets to ourselves along a path, one per interval. SENT is the sum
 * of RECEIVED, LOST, CORRUPT, OTHER_PLANE, VOID and those under way.
 */
enum {
	MRC_A_PROBE_UNSPEC,
	MRC_A_PROBE_ID,		/* u32: chosen by the controller, unique in its device */
	MRC_A_PROBE_KIND,	/* u32 enum mrc_probe_kind */
	MRC_A_PROBE_PLANE,	/* u8, 1-based; not of kind HOST */
	MRC_A_PROBE_PATH,	/* 16 bytes: outer destination, whose uSIDs end with ours of the plane; not of
				 * kind HOST. To CAP_NET_ADMIN only */
	MRC_A_PROBE_DSCP,	/* u8; absent: of control packets */
	MRC_A_PROBE_SIZE,	/* u32: bytes of the IP packet, all headers included; absent: the shortest.
				 * At most the plane's MTU is sent */
	MRC_A_PROBE_INTERVAL,	/* u32 us, 1000 ... 10^9; each is up to 10 % shorter or longer */
	/* read-only */
	MRC_A_PROBE_SENT,	/* u64 */
	MRC_A_PROBE_RECEIVED,	/* u64: returned in time, unchanged, by its plane */
	MRC_A_PROBE_LOST,	/* u64: did not return in time */
	MRC_A_PROBE_CORRUPT,	/* u64: returned changed */
	MRC_A_PROBE_OTHER_PLANE, /* u64: returned by another plane: a cable is in the wrong place */
	MRC_A_PROBE_VOID,	/* u64: under way when the host was starved: neither received nor lost */
	MRC_A_PROBE_LATE,	/* u64: of LOST and VOID, those that returned later */
	MRC_A_PROBE_DUPLICATE,	/* u64: received once more */
	MRC_A_PROBE_TRIMMED,	/* u64: of RECEIVED, those that a switch trimmed */
	MRC_A_PROBE_MARKED,	/* u64: of RECEIVED, those with a congestion mark */
	MRC_A_PROBE_FULL_SENT,	/* u64: of SENT, those as long as the MTU */
	MRC_A_PROBE_FULL_LOST,	/* u64: of LOST, those as long as the MTU */
	MRC_A_PROBE_UNSENT,	/* u64: not sent: no carrier, no route, no memory */
	MRC_A_PROBE_OVER_BUDGET, /* u64: not sent: the plane's budget was spent */
	MRC_A_PROBE_RUN,	/* u32: lost in a row, up to now */
	MRC_A_PROBE_LAST_LOST,	/* u64 ns: when one was last found lost, by CLOCK_BOOTTIME; absent: none */
	MRC_A_PROBE_LAST_RECEIVED, /* u64 ns: when one was last received, likewise */
	MRC_A_PROBE_RTT_LOW,	/* u64 ns: the shortest */
	MRC_A_PROBE_RTT_HIGH,	/* u64 ns: the longest */
	MRC_A_PROBE_RTT_SUM,	/* u64 ns: sum over all that were received and not trimmed */
	MRC_A_PROBE_RTT_HIST,	/* MRC_PROBE_BUCKETS u64: these by their round-trip time */
	MRC_A_PROBE_PAD,
	__MRC_A_PROBE_MAX,
	MRC_A_PROBE_MAX = __MRC_A_PROBE_MAX - 1
};

/*
 * A label, except for HOST: that one passes this host's stack, without a plane, and shows whether
 * the host is well
 */
enum mrc_probe_kind {
	MRC_PROBE_T0,		/* to the T0 and back */
	MRC_PROBE_T1,		/* to the T0, a T1 and back */
	MRC_PROBE_SPLIT,	/* up one T1, down another */
	MRC_PROBE_HOST,
};

enum mrc_event {
	MRC_EVENT_DEV_ADD,
	MRC_EVENT_DEV_DEL,
	MRC_EVENT_PLANE,	/* a plane was added or removed, or went up or down */
	MRC_EVENT_PEER_PORTS,	/* a peer announced its ports */
	MRC_EVENT_EV,		/* EV states of a path set changed */
	MRC_EVENT_DEV_SET,	/* settings or EV profiles of a device changed */
};

#endif
