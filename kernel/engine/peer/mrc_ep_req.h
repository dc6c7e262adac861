/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ep_req.h - requests to the endpoint of a peer that wait for their response (D8/D9 on QP 2).
 *
 * MRC 1.0 sections 1.10, 3.3 (6.5, 7.4.7, 7.4.8). One table per peer that a controller has sent a
 * request to. A controller probes an EV or announces port states, and receives the round trip of
 * the response. The cookie identifies the requester; it has no meaning here.
 *
 * There is no timeout here: each requester has its own, and later responses are counted and
 * dropped. At most MRC_EP_REQ_MAX requests wait, so they cost the fabric no more than a small
 * window. When the table is full, the oldest request is replaced if it is older than
 * MRC_EP_REQ_OLD_NS.
 *
 * A probe may name a switch over which the answer returns (MRC_EP_RETURN). Then a missing answer blames one path in both
 * directions. Only our implementation does that, and it says so in the answer.
 *
 * The low bits of the id are the slot, so a response costs one lookup, whoever sends it.
 */
#ifndef MRC_EP_REQ_H
#define MRC_EP_REQ_H

#include "wire/mrc_wire.h"

#define MRC_EP_REQ_MAX	64		/* a power of two */
#define MRC_EP_REQ_OLD_NS	100000000ull	/* an older request counts as lost */
#define MRC_EP_REQ_PROBE	0x8000u		/* set in ids of probes; ids of announcements rarely get so far */

struct mrc_ep_req {
	u8 op;			/* enum mrc_ep_op */
	u32 ports_up;		/* for a Port Status Update */
	u64 cookie;		/* of the requester */
	u16 via;		/* of a probe: uSID over which the answer returns; 0: any path */
};

struct mrc_ep_rsp {
	u64 cookie;
	u64 rtt_ns;
	u8 op;
	u8 plane;		/* arrival plane, or MRC_PLANE_NONE */
	u16 via;		/* uSID that was named, if the peer sent the answer over it; else 0 */
};

struct mrc_ep_req_slot {
	u64 cookie;
	u64 sent_ns;
	u16 id;
	u8 op;
	bool waits;
	u16 via;		/* as in the request */
};

struct mrc_ep_req_table {
	struct mrc_ep_req_slot q[MRC_EP_REQ_MAX];
	struct mrc_ep_rsp answer;
	bool answered;		/* answer has not been fetched yet */
	u16 probe_id;		/* of the latest probe */
	u8 n;			/* waiting requests */
};

/* @seed: start of probe ids, random so that a third party cannot guess them. */
void mrc_ep_req_init(struct mrc_ep_req_table *a, u32 seed);
/**
 * mrc_ep_req_probe - add a probe
 * Return: 0 and the probe's @id; -EBUSY: MRC_EP_REQ_MAX requests wait, and none is old.
 */
int mrc_ep_req_probe(struct mrc_ep_req_table *a, const struct mrc_ep_req *q, u64 now_ns, u16 *id);
/* The same for an announcement. @id in: the latest id of announcements; out: the next one with a free slot. */
int mrc_ep_req_next(struct mrc_ep_req_table *a, const struct mrc_ep_req *q, u64 now_ns, u16 *id);
/* The request could not be sent. */
void mrc_ep_req_undo(struct mrc_ep_req_table *a, u16 id);
/* Processes an EP_RSP. False: no such request waits. */
bool mrc_ep_req_rx(struct mrc_ep_req_table *a, const struct mrc_pkt *rsp, u64 now_ns);
/* Fetches the result of the latest mrc_ep_req_rx(), once. */
bool mrc_ep_req_take(struct mrc_ep_req_table *a, struct mrc_ep_rsp *answer);

/* Number of waiting requests. */
static inline u8 mrc_ep_req_waiting(const struct mrc_ep_req_table *a)
{
	return a->n;
}

#endif
