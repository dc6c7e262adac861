/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_port.h - port status and EV probes between two endpoints (D8/D9 on QP 2).
 *
 * MRC 1.0 sections 1.10, 3.6 (6.5, 7.4.7, 7.4.8). One object per peer. When local ports change, a
 * Port Status Update informs the peer. The protocol is best effort, so the update repeats until
 * answered, at most MRC_PORT_TRIES times. Announcements of the peer go into its evset. The caller
 * pulls packets, as with mrc_conn.h.
 *
 * Bounds against hostile input: at most one answer per request, MRC_PORT_ANSWERS remembered,
 * MRC_PORT_CHANGES accepted changes in a row. Three kinds of announcement are not accepted: one
 * that leaves no common port (its sender has one), one that is older than the latest (a late
 * repeat), and for MRC_PORT_STALE_NS the first one of a peer that restarted. An announcement that
 * is not accepted is not answered, so an honest peer repeats it.
 *
 * A "down" takes effect at once and is checked (mrc_down_check.h). If the peer still answers by
 * that port, the notice is dropped, and no other "down" of that port is accepted for
 * MRC_PORT_DOUBT_NS. So a permanent forger disturbs one round trip per that time. A peer does not
 * answer probes on a port that it announced as down, because it may only drain it. A forged "up" of
 * such a port attracts traffic; then the owner of the port announces again (mrc_port_stray()).
 *
 * Requests of controllers (mrc_port_request()) use memory of the caller, because few peers need it:
 * mrc_ep_req.h.
 */
#ifndef MRC_PORT_H
#define MRC_PORT_H

#include "peer/mrc_ep_req.h"
#include "peer/mrc_down_check.h"
#include "wire/mrc_wire.h"
#include "paths/mrc_ev.h"

#define MRC_PORT_TRIES	16	/* 13 s in all: a switch may forward late after its port is up */
#define MRC_PORT_STALE_NS 409600000ull	/* how long an old announcement may stay in a paused host's ring */
#define MRC_PORT_WAIT_NS 200000ull	/* first repeat; doubles */
#define MRC_PORT_ANSWERS 16		/* limit of pending answers to EV probes */

/* Changes of a peer's ports are expensive: limit of a burst, and interval of further ones. */
#define MRC_PORT_CHANGES 8
#define MRC_PORT_CHANGE_NS 1000000ull
#define MRC_PORT_DOUBT_NS 100000000ull	/* meanwhile losses would reveal a real failure */
#define MRC_PORT_STRAY_NS 100000000ull	/* time that a peer needs at most to stop using a port */

struct mrc_port_answer {
	u16 id;
	u16 tx_ts;		/* timestamp to reflect */
	u16 via;		/* uSID over which to return; 0: any path */
	u8 op;			/* enum mrc_ep_op */
	u8 plane;		/* arrival plane; for via */
};

struct mrc_port {
	u32 up;			/* local ports that are up */
	u32 said;		/* ports announced last, by the device or by a controller */
	u32 remote_up;		/* latest announcement, without disproved "down"s; at first all ones */
	u32 doubted;		/* ports whose "down" was disproved recently */
	u64 denied_ns;		/* when the latest "down" was disproved */
	struct mrc_down_check doubt;
	u64 heard_ns;		/* time of the peer's latest announcement */
	u64 change_ns;		/* pacing: when the next change would be due at the permitted rate */
	u64 next_ns;		/* next repeat of the own announcement */
	u64 announced_ns;	/* start of the latest own announcement */
	u16 heard_id;		/* id of the peer's latest announcement */
	u16 req_id;		/* id of the latest own announcement */
	u8 tries;
	bool announcing;	/* the own announcement has not been answered yet */
	bool greeting;		/* start to announce when a packet of the peer arrives */
	bool heard;		/* heard_id and heard_ns are valid */
	bool status_owed;	/* answer to a Port Status Update is pending; it precedes probes */
	u8 rsp_owed;		/* pending answers, status included */
	u8 first;		/* oldest entry of the ring */
	struct mrc_port_answer status;
	struct mrc_port_answer answer[MRC_PORT_ANSWERS];
	u32 limited;		/* requests not accepted: too many */
	u32 stale;		/* announcements older than the latest */
	u32 severed;		/* announcements that leave no port in common */
	u32 denied;		/* "down"s of a port by which the peer answered */
	u32 withheld;		/* probes not answered: arrival port is announced as down */
	u32 unasked;		/* responses without a request */
	struct mrc_ep_req_table *ask;	/* owned by the caller; NULL: no requests of controllers yet */
};

void mrc_port_init(struct mrc_port *p, u32 up);
/* Start a new announcement of the local ports. */
void mrc_port_announce(struct mrc_port *p, u64 now_ns);
/* The same, unless an announcement is in progress. */
void mrc_port_remind(struct mrc_port *p, u64 now_ns);
/*
 * A packet of the peer arrived by local port @plane, 0-based. If that port is down, announce the ports again: the peer
 * has wrong information, perhaps from a forger. Not shortly after an announcement, when old packets may arrive.
 */
void mrc_port_stray(struct mrc_port *p, u8 plane, u64 now_ns);
/* Local ports changed: start to announce. */
void mrc_port_set(struct mrc_port *p, u32 up, u64 now_ns);
/*
 * A connection to the peer is created; @first: it is the only one. Either host may have restarted since the last
 * connection and lost or kept old port states. @all: all local ports. If some are down, announce them from @at_ns on,
 * and again for a further connection. If all are up, wait for a packet of the peer (mrc_port_peer_alive()): before
 * that, it may not know this host and would drop the announcement.
 */
void mrc_port_meet(struct mrc_port *p, u32 all, bool first, u64 at_ns);
/* A packet of the peer arrived, of a connection or of its endpoint. */
void mrc_port_peer_alive(struct mrc_port *p, u64 now_ns);
/**
 * mrc_port_rx - process a D8 or D9 packet of this peer
 * Return: true when remote_up changed: hand it to mrc_evset_remote_planes() of
 * every set towards this peer, then mrc_conn_plane_event() to its connections.
 */
bool mrc_port_rx(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns);
/*
 * Next control packet to this peer (dqpn 2), or false. If its plane is MRC_PLANE_NONE, the caller picks any EV. Otherwise
 * it must leave by an EV of that plane, although the plane is not in use: mrc_evset_nth_of() with pkt->ev as number.
 * An answer with pkt->u.ep.via leaves by an EV of its plane that crosses this uSID, in use or not. If there is none, the
 * caller sends it by any EV, with vendor_info 0.
 */
bool mrc_port_tx_next(struct mrc_port *p, u64 now_ns, struct mrc_pkt *pkt);
u64 mrc_port_deadline_ns(const struct mrc_port *p);

/* Enable requests of controllers. @ask: initialised; must live as long as @p. */
void mrc_port_set_reqs(struct mrc_port *p, struct mrc_ep_req_table *ask);
/**
 * mrc_port_request - build a controller's request to the peer
 *
 * Return: 0 and the packet, which the caller sends once or takes back; -EBUSY: too many requests wait, or
 * (Port Status Update) an own announcement is in progress, which the peer would then take for older.
 * pkt->ev has the bits that the packet's EV must have in EV[15:0]: those of @q->via.
 */
int mrc_port_request(struct mrc_port *p, const struct mrc_ep_req *q, u64 now_ns,
		     struct mrc_pkt *pkt);
void mrc_port_request_undo(struct mrc_port *p, const struct mrc_pkt *pkt);
/* After mrc_port_rx(): fetch the answer to a controller's request, once. */
bool mrc_port_take_rsp(struct mrc_port *p, struct mrc_ep_rsp *answer);

/* Has the peer had time to stop using ports that were announced as down? May be called without the lock. */
static inline bool mrc_port_left(const struct mrc_port *p, u64 now_ns)
{
	return now_ns >= READ_ONCE(p->announced_ns) + MRC_PORT_STRAY_NS;
}

/* Local ports that are up; and the peer's, according to its announcements. */
static inline u32 mrc_port_up(const struct mrc_port *p)
{
	return p->up;
}

static inline u32 mrc_port_remote_up(const struct mrc_port *p)
{
	return p->remote_up;
}

/* Port status masks of which bit 1 is port 1 (Documentation/reference/disputed.md, D5), from and to ours: 31 ports. */
static inline u32 mrc_port_mask_to_1(u32 mask)
{
	return mask << 1;
}

static inline u32 mrc_port_mask_from_1(u32 mask)
{
	return mask >> 1;
}

/* The table of mrc_port_set_reqs(); NULL: none yet. May be called without the lock. */
static inline struct mrc_ep_req_table *mrc_port_reqs(const struct mrc_port *p)
{
	return READ_ONCE(p->ask);
}

/* Number of responses without a request. */
static inline u32 mrc_port_unmatched(const struct mrc_port *p)
{
	return p->unasked;
}

/* Is an announcement in progress? */
static inline bool mrc_port_announcing(const struct mrc_port *p)
{
	return p->announcing;
}

/* Does an announcement wait for mrc_port_peer_alive()? */
static inline bool mrc_port_greeting(const struct mrc_port *p)
{
	return p->greeting;
}

/* Number of announcements not accepted, because they leave no port in common. */
static inline u32 mrc_port_severed(const struct mrc_port *p)
{
	return p->severed;
}

/* Number of "down"s that an answer by that port disproved. */
static inline u32 mrc_port_denied(const struct mrc_port *p)
{
	return p->denied;
}

/* Number of probes not answered, because their arrival port is announced as down. */
static inline u32 mrc_port_withheld(const struct mrc_port *p)
{
	return p->withheld;
}

/* How often the latest announcement was sent. */
static inline u8 mrc_port_tries(const struct mrc_port *p)
{
	return p->tries;
}

/* Is an answer to the peer pending? */
static inline bool mrc_port_owes(const struct mrc_port *p)
{
	return p->rsp_owed;
}

#endif
