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
#define MRC_PORT_STALE_NS 409600000ull	/* an older announcement may still be in the ring of a host that slept */
#define MRC_PORT_WAIT_NS 200000ull	/* first repeat; doubles */
#define MRC_PORT_ANSWERS 16		/* EV probes waiting for their answer */

/* A peer's changes are costly: so many at once, and one more per so long. */
#define MRC_PORT_CHANGES 8
#define MRC_PORT_CHANGE_NS 1000000ull
#define MRC_PORT_DOUBT_NS 100000000ull	/* meanwhile losses tell of a true failure */
#define MRC_PORT_STRAY_NS 100000000ull	/* the peer needs so long, at most, to leave a port */

struct mrc_port_answer {
	u16 id;
	u16 tx_ts;		/* to be reflected */
	u8 op;			/* enum mrc_ep_op */
};

struct mrc_port {
	u32 up;			/* local ports, to be announced */
	u32 said;		/* as the peer was told last, by us or by a controller */
	u32 remote_up;		/* last heard, less what was denied; all ones before */
	u32 doubted;		/* ports whose notices were denied since... */
	u64 denied_ns;		/* the latest denial */
	struct mrc_down_check doubt;
	u64 heard_ns;		/* when */
	u64 change_ns;		/* pacing of the peer's changes: next one's place in line */
	u64 next_ns;
	u64 said_ns;		/* when the latest announcement began */
	u16 heard_id;		/* and of which announcement */
	u16 req_id;		/* of the announcement under way */
	u8 tries;
	bool announcing;
	bool greeting;		/* begin to announce when the peer is heard */
	bool heard;
	bool status_owed;	/* the answer to a Port Status Update, ahead of probes */
	u8 rsp_owed;		/* answers waiting, status included */
	u8 first;		/* of the ring */
	struct mrc_port_answer status;
	struct mrc_port_answer answer[MRC_PORT_ANSWERS];
	u32 limited;		/* requests not taken: too many */
	u32 stale;		/* announcements older than the latest */
	u32 severed;		/* announcements that leave no port in common */
	u32 denied;		/* "down" of a port by which the peer answered */
	u32 withheld;		/* probes by a port that was announced as down: not answered */
	u32 unasked;		/* responses to nothing that was asked */
	struct mrc_ep_req_table *ask;	/* the caller's; NULL: a controller has asked nothing yet */
};

void mrc_port_init(struct mrc_port *p, u32 up);
/* Say once more which local ports are up: the peer must hear from us. */
void mrc_port_announce(struct mrc_port *p, u64 now_ns);
/* Likewise, unless it is being told already. */
void mrc_port_remind(struct mrc_port *p, u64 now_ns);
/*
 * The peer sent by local port @plane, 0-based. If that is down, the ports are announced once more: the peer was told
 * otherwise since, perhaps by a forger. Packets under way while an announcement is new prove nothing.
 */
void mrc_port_stray(struct mrc_port *p, u8 plane, u64 now_ns);
/* Local ports changed: begin to announce. */
void mrc_port_set(struct mrc_port *p, u32 up, u64 now_ns);
/*
 * A connection to the peer is made; @first: there was none. Either end may have begun anew since the last
 * one: the peer may hold what a former one of us said, and does not know what its own former one was told.
 * Of @all ports that there are some are down: it is told from @at_ns on, and for a further connection
 * once more, unless it is just being told. All are up: that waits until it is heard (mrc_port_peer_alive()), for
 * before it may not know us, and would not listen.
 */
void mrc_port_meet(struct mrc_port *p, u32 all, bool first, u64 at_ns);
/* A packet of the peer's came, of a connection or of its endpoint. */
void mrc_port_peer_alive(struct mrc_port *p, u64 now_ns);
/**
 * mrc_port_rx - take a D8 or D9 packet of this peer
 * Return: true when remote_up changed: hand it to mrc_evset_remote_planes() of
 * every set towards this peer, then mrc_conn_plane_event() to its connections.
 */
bool mrc_port_rx(struct mrc_port *p, const struct mrc_pkt *pkt, u64 now_ns);
/*
 * Next control packet to this peer (dqpn 2), or false. Its plane is MRC_PLANE_NONE: the caller picks the EV. Else
 * it leaves by an EV of that plane, though that is not in use: the caller may take mrc_evset_nth_of() with its ev.
 */
bool mrc_port_tx_next(struct mrc_port *p, u64 now_ns, struct mrc_pkt *pkt);
u64 mrc_port_deadline_ns(const struct mrc_port *p);

/* From now on a controller may ask. @ask: initialised, and there for as long as @p. */
void mrc_port_set_reqs(struct mrc_port *p, struct mrc_ep_req_table *ask);
/**
 * mrc_port_request - a controller asks the peer by an EV that it names
 *
 * Return: 0 and the packet, which leaves once, or is taken back; -EBUSY: too many wait for their answer, or
 * (Port Status Update) the peer is just being told of our ports, which would be taken for older.
 */
int mrc_port_request(struct mrc_port *p, const struct mrc_ep_req *q, u64 now_ns,
		     struct mrc_pkt *pkt);
void mrc_port_request_undo(struct mrc_port *p, const struct mrc_pkt *pkt);
/* After mrc_port_rx(): the packet answered what a controller asked. Once. */
bool mrc_port_take_rsp(struct mrc_port *p, struct mrc_ep_rsp *answer);

/* The peer has had the time to leave ports that were announced as down. May be asked without the lock. */
static inline bool mrc_port_left(const struct mrc_port *p, u64 now_ns)
{
	return now_ns >= READ_ONCE(p->said_ns) + MRC_PORT_STRAY_NS;
}

/* The local ports that are up, as last set; and the peer's, as last heard. */
static inline u32 mrc_port_up(const struct mrc_port *p)
{
	return p->up;
}

static inline u32 mrc_port_remote_up(const struct mrc_port *p)
{
	return p->remote_up;
}

/* What mrc_port_set_reqs() was given; NULL: no controller may ask yet. May be asked without the lock. */
static inline struct mrc_ep_req_table *mrc_port_reqs(const struct mrc_port *p)
{
	return READ_ONCE(p->ask);
}

/* How many responses came to nothing that was asked. */
static inline u32 mrc_port_unmatched(const struct mrc_port *p)
{
	return p->unasked;
}

/* An announcement is under way. */
static inline bool mrc_port_announcing(const struct mrc_port *p)
{
	return p->announcing;
}

/* One waits for mrc_port_peer_alive(). */
static inline bool mrc_port_greeting(const struct mrc_port *p)
{
	return p->greeting;
}

/* How many announcements were not believed, since they leave no port in common. */
static inline u32 mrc_port_severed(const struct mrc_port *p)
{
	return p->severed;
}

/* How many announcements of a port as down were denied by an answer through it. */
static inline u32 mrc_port_denied(const struct mrc_port *p)
{
	return p->denied;
}

/* How many probes were not answered, for we announced the port that they came by as down. */
static inline u32 mrc_port_withheld(const struct mrc_port *p)
{
	return p->withheld;
}

/* How often it was sent. */
static inline u8 mrc_port_tries(const struct mrc_port *p)
{
	return p->tries;
}

/* The peer waits for an answer. */
static inline bool mrc_port_owes(const struct mrc_port *p)
{
	return p->rsp_owed;
}

#endif
