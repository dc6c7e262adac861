// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_peer_port.c - see mrc_peer_port.h.
 */
#include <linux/ktime.h>
#include "linux/mrc.h"
#include "compat/mrc_compat.h"
#include "core/mrc_dev_plane.h"
#include "core/mrc_event.h"
#include "core/mrc_log.h"
#include "path/mrc_peer_paths.h"
#include "path/mrc_peer_port.h"
#include "path/mrc_peer_users.h"
#include "path/mrc_qpcc.h"

#define MRC_PORT_SURE		2	/* the first announcements use ports that were up before */
#define MRC_PORT_DELAY_NS	(2 * NSEC_PER_MSEC)	/* by then the other end of a new QP usually exists */

static mrc_peer_port_send port_send __read_mostly;

void mrc_peer_port_sender(mrc_peer_port_send send)
{
	port_send = send;
}

/* Under peer->lock. The next packet that is due. Nothing is announced to a host without a local QP to it. */
static bool port_due(struct mrc_peer *peer, u64 now_ns, struct mrc_pkt *pkt)
{
	if (READ_ONCE(peer->dev->dead) || peer->local)
		return false;
	if (!peer->n_users && !mrc_port_owes(&peer->port))
		return false;
	return mrc_port_tx_next(&peer->port, now_ns, pkt);
}

/* Planes up at both ends changed: EVs, the rate for controllers, then the QPs. */
static void port_changed(struct mrc_peer *peer, u32 changed)
{
	u32 up = READ_ONCE(peer->ports_up);

	changed &= mrc_dev_plane_mask(peer->dev);
	mrc_log_ports(peer->dev, &peer->gid, changed & ~up, false);
	mrc_log_ports(peer->dev, &peer->gid, changed & up, true);
	mrc_peer_paths_ports(peer);
	mrc_qpcc_refresh(peer);
	mrc_peer_users_notify_bounded(peer);
	mrc_event_peer(peer, MRC_EVENT_PEER_PORTS);
}

/*
 * Under peer->lock. Computes which of the peer's announced ports count as up after damping. Returns the ports that
 * changed.
 */
static u32 port_believe(struct mrc_peer *peer)
{
	u32 up = mrc_port_remote_up(&peer->port), was = peer->ports_up;

	up &= ~mrc_damp_suppressed(&peer->damp, up);
	WRITE_ONCE(peer->ports_up, up);
	return up ^ was;
}

static void port_arm(struct mrc_peer *peer, u64 now_ns)
{
	u64 at_ns = mrc_damp_deadline_ns(&peer->damp);

	if (peer->local)
		return;
	if (peer->n_users)
		at_ns = min(at_ns, mrc_port_deadline_ns(&peer->port));
	if (at_ns != MRC_TIME_NEVER && !READ_ONCE(peer->dev->dead))
		hrtimer_start(&peer->port_timer,
			      ns_to_ktime(at_ns > now_ns ? at_ns - now_ns : 0),
			      HRTIMER_MODE_REL_SOFT);
}

static bool port_announces(const struct mrc_pkt *pkt)
{
	return pkt->opcode == MRC_OPC_EP_REQ && pkt->u.ep.op == MRC_EP_PORT_STATUS;
}

/*
 * Under peer->lock. A port that came up is first announced over another one: its own routes,
 * and its switch, may be ready only a little later. Repeats use any port.
 */
static u32 port_avoid(const struct mrc_peer *peer, const struct mrc_pkt *pkt)
{
	if (!port_announces(pkt) || mrc_port_tries(&peer->port) > MRC_PORT_SURE)
		return 0;
	return peer->ports_fresh;
}

void mrc_peer_port_run(struct mrc_peer *peer)
{
	u64 now_ns = ktime_get_ns();
	struct mrc_pkt pkt;
	u32 avoid = 0;
	bool due;

	do {
		spin_lock_bh(&peer->lock);
		due = port_due(peer, now_ns, &pkt);
		if (due)
			avoid = port_avoid(peer, &pkt);
		else
			port_arm(peer, now_ns);
		spin_unlock_bh(&peer->lock);
		if (due && !port_send(peer, &pkt, avoid) && port_announces(&pkt))
			mrc_dev_count(peer->dev, port_updates_sent);
	} while (due);
}

static enum hrtimer_restart port_timer(struct hrtimer *t)
{
	struct mrc_peer *peer = container_of(t, struct mrc_peer, port_timer);
	u32 changed;

	spin_lock_bh(&peer->lock);
	mrc_damp_poll(&peer->damp, ktime_get_ns());
	changed = port_believe(peer);
	spin_unlock_bh(&peer->lock);
	if (changed)
		port_changed(peer, changed);
	mrc_peer_port_run(peer);
	return HRTIMER_NORESTART;	/* armed anew inside when needed */
}

static void port_answered(struct mrc_peer *peer, const struct mrc_ep_rsp *answer)
{
	mrc_dev_count(peer->dev, ep_answers);
	mrc_event_answer(peer, answer);
}

/* Under peer->lock. The announced failures of @ports were disproved: take back their damping penalties. */
static void port_forgive(struct mrc_peer *peer, u32 ports)
{
	mrc_dev_count(peer->dev, port_updates_denied);
	for (; ports; ports &= ports - 1)
		mrc_damp_forgive(&peer->damp, (u8)__ffs(ports));
}

/* Under peer->lock. Invalid announcements are counted. */
static bool port_rx(struct mrc_peer *peer, const struct mrc_pkt *pkt, u64 now_ns)
{
	u32 unasked = mrc_port_unmatched(&peer->port), severed = mrc_port_severed(&peer->port);
	u32 denied = mrc_port_denied(&peer->port), withheld = mrc_port_withheld(&peer->port);
	u32 up = mrc_port_remote_up(&peer->port);
	bool changed = mrc_port_rx(&peer->port, pkt, now_ns);

	if (denied != mrc_port_denied(&peer->port))
		port_forgive(peer, mrc_port_remote_up(&peer->port) & ~up);
	if (withheld != mrc_port_withheld(&peer->port))
		mrc_dev_count(peer->dev, ep_withheld);
	if (unasked != mrc_port_unmatched(&peer->port))
		mrc_dev_count(peer->dev, ep_unasked);
	if (severed != mrc_port_severed(&peer->port))
		mrc_dev_count(peer->dev, port_updates_refused);
	return changed;
}

void mrc_peer_port_rx(struct mrc_peer *peer, const struct mrc_pkt *pkt,
		      const struct in6_addr *to)
{
	u64 now_ns = ktime_get_ns();
	struct mrc_ep_rsp answer;
	bool answered, news;
	u32 changed = 0;

	if (port_announces(pkt))
		mrc_dev_count(peer->dev, port_updates_rcvd);
	spin_lock_bh(&peer->lock);
	memcpy(&peer->local_gid, to, sizeof(*to));
	news = port_rx(peer, pkt, now_ns);
	answered = mrc_port_take_rsp(&peer->port, &answer);
	if (news) {
		mrc_damp_set(&peer->damp, mrc_port_remote_up(&peer->port), now_ns);
		changed = port_believe(peer);
	}
	spin_unlock_bh(&peer->lock);
	if (answered)
		port_answered(peer, &answer);
	if (changed)
		port_changed(peer, changed);
	mrc_peer_port_run(peer);
}

static void port_damp_init(struct mrc_peer *peer, u32 up)
{
	struct mrc_damp_cfg cfg;

	mrc_dev_attr_damp(&peer->dev->attr, &cfg);
	mrc_damp_init(&peer->damp, &cfg, up);
}

void mrc_peer_port_damp(struct mrc_peer *peer)
{
	u32 changed;

	spin_lock_bh(&peer->lock);
	port_damp_init(peer, mrc_port_remote_up(&peer->port));
	changed = port_believe(peer);
	spin_unlock_bh(&peer->lock);
	if (changed)
		port_changed(peer, changed);
}

/* Under peer->lock. The state of our ports is read here, so the last caller sets the latest state. */
static void port_planes(struct mrc_peer *peer, u64 now_ns)
{
	u32 up = READ_ONCE(peer->dev->planes_up), was = mrc_port_up(&peer->port);

	if (was == up)
		return;
	peer->ports_fresh = up & ~was;
	mrc_port_set(&peer->port, up, now_ns);
}

void mrc_peer_port_planes(struct mrc_peer *peer)
{
	if (peer->local || peer->group || READ_ONCE(peer->dev->dead))
		return;
	spin_lock_bh(&peer->lock);
	port_planes(peer, ktime_get_ns());
	spin_unlock_bh(&peer->lock);
}

static void port_tell(struct mrc_peer *peer, void (*how)(struct mrc_port *p, u64 now_ns))
{
	if (peer->local || !READ_ONCE(peer->n_users))
		return;
	spin_lock_bh(&peer->lock);
	how(&peer->port, ktime_get_ns());
	spin_unlock_bh(&peer->lock);
	mrc_peer_port_run(peer);
}

void mrc_peer_port_announce(struct mrc_peer *peer)
{
	port_tell(peer, mrc_port_announce);
}

void mrc_peer_port_remind(struct mrc_peer *peer)
{
	port_tell(peer, mrc_port_remind);
}

void mrc_peer_port_meet(struct mrc_peer *peer, bool first)
{
	u64 now_ns = ktime_get_ns();

	if (peer->local || peer->group)
		return;
	spin_lock_bh(&peer->lock);
	port_planes(peer, now_ns);
	mrc_port_meet(&peer->port, mrc_dev_plane_mask(peer->dev), first,
		      now_ns + MRC_PORT_DELAY_NS);
	WRITE_ONCE(peer->greets, mrc_port_greeting(&peer->port));
	port_arm(peer, now_ns);
	spin_unlock_bh(&peer->lock);
}

/* The timer sends it, because the caller may hold a QP's lock. */
void mrc_peer_port_greet(struct mrc_peer *peer)
{
	u64 now_ns = ktime_get_ns();

	spin_lock_bh(&peer->lock);
	WRITE_ONCE(peer->greets, false);
	mrc_port_peer_alive(&peer->port, now_ns);
	port_arm(peer, now_ns);
	spin_unlock_bh(&peer->lock);
}

/* The timer sends the announcement. A burst of such packets takes the lock only once. */
void mrc_peer_port_stray(struct mrc_peer *peer, u8 plane)
{
	u64 now_ns = ktime_get_ns();

	if (!mrc_port_left(&peer->port, now_ns))
		return;
	spin_lock_bh(&peer->lock);
	mrc_port_stray(&peer->port, plane, now_ns);
	port_arm(peer, now_ns);
	spin_unlock_bh(&peer->lock);
}

void mrc_peer_port_init(struct mrc_peer *peer)
{
	u32 up = READ_ONCE(peer->dev->planes_up);

	mrc_hrtimer_setup(&peer->port_timer, port_timer, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
	mrc_port_init(&peer->port, mrc_dev_plane_mask(peer->dev));
	peer->ports_up = mrc_port_remote_up(&peer->port);
	port_damp_init(peer, peer->ports_up);
	if (up != mrc_port_up(&peer->port))
		mrc_port_set(&peer->port, up, ktime_get_ns());
}

void mrc_peer_port_stop(struct mrc_peer *peer)
{
	hrtimer_cancel(&peer->port_timer);
}
