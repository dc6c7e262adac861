// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_fill.c - writes objects into netlink messages.
 *
 * Device, plane and peer are also part of events, in any context and possibly under the lock of
 * that object. So their functions take no lock, and read fields that change concurrently with
 * READ_ONCE. QPs and EVs appear only in dumps, under their locks.
 */
#include "linux/mrc.h"
#include "data/mrc_icrc.h"
#include "path/mrc_pathset.h"
#include "path/mrc_peer_paths.h"
#include "verbs/mrc_counters.h"
#include "verbs/mrc_qp_create.h"
#include "genl/mrc_genl_cc.h"
#include "genl/mrc_genl_fill.h"

static u32 count_planes(struct mrc_dev *dev)
{
	u32 i, n = 0;

	for (i = 0; i < MRC_PLANES_MAX; i++)
		n += !!rcu_access_pointer(dev->plane[i]);
	return n;
}

static int put_dev_dscps(struct sk_buff *skb, const struct mrc_dev_attr *a)
{
	if (nla_put_u8(skb, MRC_A_DEV_DSCP_DATA, READ_ONCE(a->dscp[MRC_TC_DATA])) ||
	    nla_put_u8(skb, MRC_A_DEV_DSCP_RTX, READ_ONCE(a->dscp[MRC_TC_RTX])) ||
	    nla_put_u8(skb, MRC_A_DEV_DSCP_CONTROL, READ_ONCE(a->dscp[MRC_TC_CONTROL])) ||
	    nla_put_u8(skb, MRC_A_DEV_DSCP_NO_TRIM, READ_ONCE(a->dscp[MRC_TC_NO_TRIM])) ||
	    nla_put_u8(skb, MRC_A_DEV_DSCP_TRIMMED, READ_ONCE(a->dscp_trimmed)) ||
	    nla_put_u8(skb, MRC_A_DEV_DSCP_TRIMMED_LASTHOP,
		       READ_ONCE(a->dscp_trimmed_lasthop)))
		return -EMSGSIZE;
	return 0;
}

static int put_dev_switches(struct sk_buff *skb, const struct mrc_dev_attr *a)
{
	if (nla_put_u8(skb, MRC_A_DEV_ICRC, READ_ONCE(a->icrc)) ||
	    nla_put_u8(skb, MRC_A_DEV_TRIM_NACK, READ_ONCE(a->trim_nack)) ||
	    nla_put_u8(skb, MRC_A_DEV_TIMESTAMPS, READ_ONCE(a->timestamps)) ||
	    nla_put_u8(skb, MRC_A_DEV_DYN_MPR, READ_ONCE(a->dyn_mpr)) ||
	    nla_put_u8(skb, MRC_A_DEV_STRICT, READ_ONCE(a->strict)) ||
	    nla_put_u8(skb, MRC_A_DEV_SLEEK, READ_ONCE(a->sleek)) ||
	    nla_put_u8(skb, MRC_A_DEV_INCAST, READ_ONCE(a->incast)) ||
	    nla_put_u8(skb, MRC_A_DEV_OOR_NACK, READ_ONCE(a->oor_nack)) ||
	    nla_put_u8(skb, MRC_A_DEV_EV_PORT_LOW, READ_ONCE(a->ev_port_low)) ||
	    nla_put_u8(skb, MRC_A_DEV_MRC_PAD, READ_ONCE(a->mrc_pad)) ||
	    nla_put_u8(skb, MRC_A_DEV_EP_OP_HIGH, READ_ONCE(a->ep_op_high)) ||
	    nla_put_u8(skb, MRC_A_DEV_PORT_BIT_1, READ_ONCE(a->port_bit_1)))
		return -EMSGSIZE;
	return 0;
}

int mrc_genl_put_dev(struct sk_buff *skb, struct mrc_dev *dev)
{
	const struct mrc_dev_attr *a = &dev->attr;
	struct nlattr *nest = nla_nest_start(skb, MRC_A_DEV);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u16(skb, MRC_A_DEV_UDP_PORT, READ_ONCE(a->udp_port)) ||
	    nla_put_u32(skb, MRC_A_DEV_CWND, READ_ONCE(a->cwnd_bytes)) ||
	    nla_put_u8(skb, MRC_A_DEV_MPR, READ_ONCE(a->mpr)) ||
	    nla_put_u8(skb, MRC_A_DEV_HOP_LIMIT, READ_ONCE(a->hop_limit)) ||
	    nla_put_u8(skb, MRC_A_DEV_EXP_CNT, READ_ONCE(a->exp_cnt)) ||
	    nla_put_u8(skb, MRC_A_DEV_BURST, READ_ONCE(a->burst)) ||
	    put_dev_dscps(skb, a) || put_dev_switches(skb, a) ||
	    nla_put_u32(skb, MRC_A_DEV_ACTIVE_EVS, READ_ONCE(a->active_evs)) ||
	    nla_put_u64_64bit(skb, MRC_A_DEV_CC_PROFILE_ID, READ_ONCE(a->cc_profile_id),
			      MRC_A_DEV_PAD) ||
	    nla_put_u32(skb, MRC_A_DEV_DAMP, READ_ONCE(a->damp_ms)) ||
	    nla_put_u32(skb, MRC_A_DEV_HELD_PKTS, (u32)atomic_read(&dev->held_pkts)) ||
	    nla_put_u64_64bit(skb, MRC_A_DEV_PROFILE_ID, READ_ONCE(a->profile_id),
			      MRC_A_DEV_PAD) ||
	    nla_put_u32(skb, MRC_A_DEV_PLANES, count_planes(dev)) ||
	    nla_put_u32(skb, MRC_A_DEV_QPS, READ_ONCE(dev->n_qps)) ||
	    nla_put_u32(skb, MRC_A_DEV_STATE, READ_ONCE(dev->registered)) ||
	    nla_put_u32(skb, MRC_A_DEV_QP_BYTES, mrc_qp_idle_bytes()) ||
	    nla_put_string(skb, MRC_A_DEV_ICRC_BY, mrc_icrc_by())) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

int mrc_genl_put_plane(struct sk_buff *skb, struct mrc_dev_plane *p)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PLANE);
	struct mrc_dev_plane_sum sum;

	if (!nest)
		return -EMSGSIZE;
	mrc_dev_plane_sum_up(p, &sum);
	if (nla_put_u8(skb, MRC_A_PLANE_NUMBER, p->num + 1) ||
	    nla_put_u32(skb, MRC_A_PLANE_IFINDEX, p->ndev->ifindex) ||
	    nla_put_string(skb, MRC_A_PLANE_IFNAME, p->ndev->name) ||
	    nla_put_u8(skb, MRC_A_PLANE_ADMIN, READ_ONCE(p->admin)) ||
	    nla_put_u8(skb, MRC_A_PLANE_CARRIER, READ_ONCE(p->carrier)) ||
	    nla_put_u8(skb, MRC_A_PLANE_UP, mrc_dev_plane_up(p)) ||
	    nla_put_u8(skb, MRC_A_PLANE_HELD, READ_ONCE(p->held)) ||
	    nla_put_u8(skb, MRC_A_PLANE_SMALL, READ_ONCE(p->small)) ||
	    nla_put_u32(skb, MRC_A_PLANE_MTU, READ_ONCE(p->ndev->mtu)) ||
	    (smp_load_acquire(&p->has_sid) &&
	     nla_put(skb, MRC_A_PLANE_SID, sizeof(p->sid), &p->sid)) ||
	    nla_put_u64_64bit(skb, MRC_A_PLANE_TX_PKTS, sum.tx_pkts, MRC_A_PLANE_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PLANE_TX_BYTES, sum.tx_bytes, MRC_A_PLANE_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PLANE_RX_PKTS, sum.rx_pkts, MRC_A_PLANE_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PLANE_RX_BYTES, sum.rx_bytes, MRC_A_PLANE_PAD) ||
	    nla_put_u32(skb, MRC_A_PLANE_SPEED, READ_ONCE(p->speed_mbps))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * The profile of a path set and its prefix length (0: any destination), and how often its EVs changed. In dumps the latter is
 * consistent with the EV states, because both are read under path_lock; in events it is a hint.
 */
static int put_paths(struct sk_buff *skb, const struct mrc_pathset *ps)
{
	const struct mrc_peer_paths *paths = ps->paths;
	u8 len = ps->prof ? ps->prof->key.len : 0;
	u64 bad = READ_ONCE(paths->turns.bad), good = READ_ONCE(paths->turns.good);

	if (nla_put_u64_64bit(skb, MRC_A_PEER_PROFILE_ID, ps->profile_id, MRC_A_PEER_PAD) ||
	    nla_put_u8(skb, MRC_A_PEER_PROFILE_DST_LEN, len) ||
	    nla_put_u64_64bit(skb, MRC_A_PEER_PATHS, ps->id, MRC_A_PEER_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PEER_FIRST_PATHS, ps->first_id, MRC_A_PEER_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PEER_TURNED_BAD, bad, MRC_A_PEER_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_PEER_TURNED_GOOD, good, MRC_A_PEER_PAD))
		return -EMSGSIZE;
	return paths->named ? nla_put_u64_64bit(skb, MRC_A_PEER_NAMED, paths->named, MRC_A_PEER_PAD) : 0;
}

int mrc_genl_put_peer(struct sk_buff *skb, struct mrc_peer *peer, struct mrc_genl_cc_pos *pos)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PEER);
	struct mrc_genl_cc_pos was = {};
	struct mrc_pathset *ps;
	struct mrc_evset_sum s;
	int err;

	if (!nest)
		return -EMSGSIZE;
	ps = mrc_peer_paths_get(peer);
	mrc_evset_sum_up(&ps->evs, &s);
	err = put_paths(skb, ps);
	mrc_pathset_put(ps);
	if (err ||
	    nla_put(skb, MRC_A_PEER_GID, sizeof(peer->gid), &peer->gid) ||
	    nla_put_u32(skb, MRC_A_PEER_PORTS_UP, READ_ONCE(peer->ports_up)) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS, s.n) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS_GOOD, s.in_state[MRC_EV_GOOD]) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS_SKIP, s.in_state[MRC_EV_SKIP]) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS_BAD, s.in_state[MRC_EV_ASSUMED_BAD]) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS_DENIED, s.in_state[MRC_EV_DENIED]) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS_USABLE, s.usable) ||
	    nla_put_u32(skb, MRC_A_PEER_QPS, READ_ONCE(peer->n_users)) ||
	    nla_put_u32(skb, MRC_A_PEER_HINTS, (u32)READ_ONCE(peer->hints)))
		goto cancel;
	if (pos) {
		was = *pos;
		err = mrc_genl_put_peer_ccs(skb, peer, pos);
		if (err && pos->profile_id == was.profile_id && pos->ops == was.ops)
			goto cancel;
	}
	nla_nest_end(skb, nest);
	return err;
cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

/* ---- counters ---- */

/* Which counters to add: all, or those that are not zero. */
enum stats_of { STATS_ALL, STATS_COUNTED };

static int put_stat(struct sk_buff *skb, const char *name, u64 value, enum stats_of which)
{
	struct nlattr *nest;

	if (!value && which == STATS_COUNTED)
		return 0;
	nest = nla_nest_start(skb, MRC_A_STAT);
	if (!nest || nla_put_string(skb, MRC_A_STAT_NAME, name) ||
	    nla_put_u64_64bit(skb, MRC_A_STAT_VALUE, value, MRC_A_STAT_PAD))
		return -EMSGSIZE;	/* the caller cancels its own nest */
	nla_nest_end(skb, nest);
	return 0;
}

static int put_conn_stats(struct sk_buff *skb, const struct mrc_stats *s, enum stats_of which)
{
#define X(name, help)							\
	if (put_stat(skb, #name, s->name, which))			\
		return -EMSGSIZE;
	MRC_STATS(X)
#undef X
	return 0;
}

static int put_qp_stats(struct sk_buff *skb, const struct mrc_qp_stats *s, enum stats_of which)
{
#define X(name, help)							\
	if (put_stat(skb, #name, s->name, which))			\
		return -EMSGSIZE;
	MRC_QP_STATS(X)
#undef X
	return 0;
}

static int put_dev_stats(struct sk_buff *skb, const struct mrc_dev_stats *s)
{
#define X(name, help)							\
	if (put_stat(skb, #name, atomic64_read(&s->name), STATS_ALL))	\
		return -EMSGSIZE;
	MRC_DEV_STATS(X)
#undef X
	return 0;
}

int mrc_genl_put_stats(struct sk_buff *skb, struct mrc_dev *dev)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_STATS);
	struct mrc_statset sum;

	if (!nest)
		return -EMSGSIZE;
	mrc_counters_sum(dev, &sum);
	if (put_conn_stats(skb, &sum.conn, STATS_ALL) || put_qp_stats(skb, &sum.qp, STATS_ALL) ||
	    put_dev_stats(skb, &dev->stats)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* ---- QPs ---- */

/* Numbers that would help to forge packets. */
static int put_qp_secrets(struct sk_buff *skb, const struct mrc_conn_info *i, u32 dqpn)
{
	return nla_put_u32(skb, MRC_A_QP_DEST_NUM, dqpn) ||
	       nla_put_u32(skb, MRC_A_QP_PSN_NEXT, i->psn_next) ||
	       nla_put_u32(skb, MRC_A_QP_PSN_UNA, i->psn_una) ||
	       nla_put_u32(skb, MRC_A_QP_RX_CACK, i->rx_cack) ? -EMSGSIZE : 0;
}

static int put_qp_conn(struct sk_buff *skb, const struct mrc_conn_info *i,
		       const struct mrc_qp_stats *stats, enum stats_of which)
{
	struct nlattr *nest;

	if (nla_put_u32(skb, MRC_A_QP_INFLIGHT, i->inflight_bytes) ||
	    nla_put_u32(skb, MRC_A_QP_CWND, i->cwnd_bytes) ||
	    nla_put_u32(skb, MRC_A_QP_SRTT, i->srtt_ns) ||
	    nla_put_u32(skb, MRC_A_QP_MIN_RTT, i->min_rtt_ns))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, MRC_A_QP_STATS);
	if (!nest || put_conn_stats(skb, &i->stats, which) || put_qp_stats(skb, stats, which))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Attributes of a QP that are not part of its connection. */
struct mrc_qp_sum {
	enum ib_qp_state state;
	union ib_gid dgid;
	u32 dqpn, n_hold;
	u64 cc_profile_id, ev_profile_id;
	struct mrc_qp_stats stats;
	const char *algorithm;	/* of the engine's table; NULL before RTS */
};

static void sum_qp(struct mrc_qp *qp, struct mrc_qp_sum *s, struct mrc_conn_info *info)
{
	spin_lock_bh(&qp->lock);
	s->state = qp->state;
	s->dgid = qp->dgid;
	s->dqpn = qp->attr.dest_qp_num;
	s->n_hold = qp->n_hold;
	/* Before RTS, the profile that it will use: deleting that profile would break the QP. */
	s->cc_profile_id = qp->qpcc ? qp->qpcc->profile_id : qp->spec.cc_profile_id;
	s->ev_profile_id = qp->spec.ev_profile_id;
	s->algorithm = mrc_conn_cc_name(&qp->conn);
	s->stats = qp->stats;
	mrc_conn_info(&qp->conn, info);
	spin_unlock_bh(&qp->lock);
}

int mrc_genl_put_qp(struct sk_buff *skb, struct mrc_qp *qp, struct mrc_conn_info *scratch, bool zeros,
		    bool secrets)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_QP);
	u32 pid = pid_vnr(qp->pid);	/* in the reader's pid namespace; 0: not visible there */
	struct mrc_qp_sum s;

	if (!nest)
		return -EMSGSIZE;
	sum_qp(qp, &s, scratch);
	if (nla_put_u32(skb, MRC_A_QP_NUM, qp->qpn) ||
	    (secrets && put_qp_secrets(skb, scratch, s.dqpn)) ||
	    nla_put_u32(skb, MRC_A_QP_STATE, s.state) ||
	    nla_put(skb, MRC_A_QP_GID, sizeof(s.dgid), &s.dgid) ||
	    (pid && nla_put_u32(skb, MRC_A_QP_PID, pid)) ||
	    (s.algorithm && nla_put_string(skb, MRC_A_QP_ALGORITHM, s.algorithm)) ||
	    nla_put_u64_64bit(skb, MRC_A_QP_CC_PROFILE_ID, s.cc_profile_id, MRC_A_QP_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_QP_EV_PROFILE_ID, s.ev_profile_id, MRC_A_QP_PAD) ||
	    nla_put_u8(skb, MRC_A_QP_STRICT, qp->strict) ||
	    nla_put_u32(skb, MRC_A_QP_HELD_PKTS, s.n_hold) ||
	    put_qp_conn(skb, scratch, &s.stats, zeros ? STATS_ALL : STATS_COUNTED)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* ---- EVs of a path set, in parts ---- */

static int put_ev(struct sk_buff *skb, const struct mrc_pathset *ps, u32 i)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_EV);
	struct mrc_ev_info ev;
	u8 value[MRC_EV_BYTES];

	if (!nest)
		return -EMSGSIZE;
	mrc_pathset_value(ps, (u16)i, value);
	mrc_evset_info(&ps->evs, (u16)i, &ev);
	if (nla_put_u32(skb, MRC_A_EV_INDEX, i) ||
	    nla_put(skb, MRC_A_EV_VALUE, sizeof(value), value) ||
	    nla_put_u8(skb, MRC_A_EV_PORT, ev.plane + 1) ||
	    nla_put_u32(skb, MRC_A_EV_STATE, ev.state) ||
	    nla_put_u32(skb, MRC_A_EV_ENTROPY, ev.value) ||
	    nla_put_u32(skb, MRC_A_EV_TX_PKTS, ev.tx_pkts) ||
	    nla_put_u32(skb, MRC_A_EV_LOST, ev.lost_pkts) ||
	    (ev.aside && nla_put_u8(skb, MRC_A_EV_AVOIDED, 1))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

int mrc_genl_put_evs(struct sk_buff *skb, struct mrc_pathset *ps, u32 *idx)
{
	struct mrc_peer *peer = ps->peer;
	struct nlattr *nest = nla_nest_start(skb, MRC_A_PEER);
	u32 first = *idx;
	int err = 0;

	BUILD_BUG_ON((int)MRC_NL_EV_GOOD != (int)MRC_EV_GOOD ||
		     (int)MRC_NL_EV_SKIP != (int)MRC_EV_SKIP ||
		     (int)MRC_NL_EV_ASSUMED_BAD != (int)MRC_EV_ASSUMED_BAD ||
		     (int)MRC_NL_EV_DENIED != (int)MRC_EV_DENIED);
	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&peer->path_lock);
	if (nla_put(skb, MRC_A_PEER_GID, sizeof(peer->gid), &peer->gid) || put_paths(skb, ps) ||
	    nla_put_u32(skb, MRC_A_PEER_EVS, mrc_evset_n(&ps->evs))) {
		spin_unlock_bh(&peer->path_lock);
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	for (; *idx < mrc_evset_n(&ps->evs); (*idx)++) {
		err = put_ev(skb, ps, *idx);
		if (err)
			break;
	}
	spin_unlock_bh(&peer->path_lock);
	if (err && *idx == first)
		nla_nest_cancel(skb, nest);
	return err;
}

static int put_record_where(struct sk_buff *skb, const struct mrc_history_event *event, bool whole)
{
	static const u8 nobody[sizeof(event->peer)];

	if (event->plane != MRC_HISTORY_NO_PLANE && nla_put_u8(skb, MRC_A_LOG_PLANE, event->plane + 1))
		return -EMSGSIZE;
	if (!whole)
		return 0;
	if (memcmp(event->peer, nobody, sizeof(nobody)) &&
	    nla_put(skb, MRC_A_LOG_GID, sizeof(event->peer), event->peer))
		return -EMSGSIZE;
	if (event->ev != MRC_HISTORY_NO_EV && (nla_put_u32(skb, MRC_A_LOG_EV, event->ev) ||
					       nla_put_u32(skb, MRC_A_LOG_ENTROPY, event->value)))
		return -EMSGSIZE;
	return 0;
}

int mrc_genl_put_record(struct sk_buff *skb, u64 n, const struct mrc_history_rec *rec, u64 lost, bool whole)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_LOG);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, MRC_A_LOG_ID, n, MRC_A_LOG_PAD) ||
	    nla_put_u32(skb, MRC_A_LOG_KIND, rec->event.kind) ||
	    nla_put_u32(skb, MRC_A_LOG_CAUSE, rec->event.cause) ||
	    nla_put_u64_64bit(skb, MRC_A_LOG_BOOT, rec->at_ns, MRC_A_LOG_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_LOG_LAST, rec->last_ns, MRC_A_LOG_PAD) ||
	    nla_put_u64_64bit(skb, MRC_A_LOG_REAL, rec->real_ns, MRC_A_LOG_PAD) ||
	    put_record_where(skb, &rec->event, whole) ||
	    nla_put_u32(skb, MRC_A_LOG_COUNT, rec->event.count) ||
	    nla_put_u64_64bit(skb, MRC_A_LOG_LOST, lost, MRC_A_LOG_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}
