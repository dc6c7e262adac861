// SPDX-License-Identifier: GPL-2.0
/*
 * sch_mrcport.c - the qdisc "mrcport": rate, two queues, ECN, trimming.
 *
 *	tc qdisc replace dev PORT root mrcport
 *	echo "PORT rate 50000000 limit 65536 ecn 20000 trim 1" >/proc/net/mrcport
 *
 * iproute2 has no plug-in for it, so it takes no options through netlink.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <net/inet_ecn.h>
#if __has_include(<net/gso.h>)
#include <net/gso.h>
#endif
#include "mrcport.h"

#define HIGH_LIMIT	2		/* times the data queue's */
#define CATCH_UP_NS	NSEC_PER_MSEC	/* a timer that is late costs no capacity */

static const struct mrcport_params defaults = {
	.limit = 1 << 20,
	.trimmable = 8,
	.trimmable_rtx = 12,
	.control = 46,
	.trimmed = 16,
	.trimmed_lasthop = 18,
};

/* ---- in ---- */

static int queue_add(struct Qdisc *sch, struct mrcport_queue *q, struct sk_buff *skb)
{
	__qdisc_enqueue_tail(skb, &q->head);
	q->bytes += qdisc_pkt_len(skb);
	q->max_bytes = max(q->max_bytes, q->bytes);
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}

static int queue_drop(struct Qdisc *sch, struct mrcport_queue *q, struct sk_buff *skb,
		      struct sk_buff **to_free)
{
	q->dropped++;
	return qdisc_drop(skb, sch, to_free);
}

/* As RED between the two thresholds, by the queue's length now. */
static bool mark_wanted(const struct mrcport *m)
{
	const struct mrcport_params *p = &m->p;

	if (!p->ecn_max || m->data.bytes <= p->ecn_min)
		return false;
	if (m->data.bytes > p->ecn_max)
		return true;
	return get_random_u32() % (p->ecn_max - p->ecn_min) < m->data.bytes - p->ecn_min;
}

/* The outermost header's mark: a switch sees no other. */
static void mark(struct mrcport *m, struct sk_buff *skb)
{
	unsigned int len = skb_network_offset(skb) + sizeof(struct iphdr);

	if (mark_wanted(m) && !skb_ensure_writable(skb, len) && INET_ECN_set_ce(skb))
		m->marked++;
}

static bool is_high(const struct mrcport_params *p, int dscp)
{
	return dscp == p->control || dscp == p->trimmed || dscp == p->trimmed_lasthop;
}

static int enqueue_one(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct mrcport *m = qdisc_priv(sch);
	const struct mrcport_params *p = &m->p;
	struct mrcport_queue *q = &m->data;
	int dscp = mrcport_dscp(skb);

	m->rtx_pkts += dscp == p->trimmable_rtx;
	if (is_high(p, dscp)) {
		q = &m->high;
	} else if (q->bytes + qdisc_pkt_len(skb) <= p->limit) {
		mark(m, skb);
		return queue_add(sch, q, skb);
	} else if (p->trim && (dscp == p->trimmable || dscp == p->trimmable_rtx) &&
		   mrcport_trim(skb, p)) {
		m->trimmed++;
		qdisc_skb_cb(skb)->pkt_len = skb->len;
		q = &m->high;
	} else {
		return queue_drop(sch, q, skb, to_free);
	}
	if (q->bytes + qdisc_pkt_len(skb) > HIGH_LIMIT * (u64)p->limit)
		return queue_drop(sch, q, skb, to_free);
	return queue_add(sch, q, skb);
}

/* A switch sees the packets of a burst one behind the other. */
static int enqueue_parts(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sk_buff *parts = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
	struct sk_buff *part, *next;
	int len = 0, taken = 0;

	if (IS_ERR_OR_NULL(parts))
		return qdisc_drop(skb, sch, to_free);
	skb_list_walk_safe(parts, part, next) {
		int l = (int)part->len;

		skb_mark_not_on_list(part);
		qdisc_skb_cb(part)->pkt_len = part->len;
		if (enqueue_one(part, sch, to_free) == NET_XMIT_SUCCESS) {
			len += l;
			taken++;
		}
	}
	if (taken)
		qdisc_tree_reduce_backlog(sch, 1 - taken, (int)qdisc_pkt_len(skb) - len);
	consume_skb(skb);
	return taken ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

static int mrcport_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return skb_is_gso(skb) ? enqueue_parts(skb, sch, to_free) : enqueue_one(skb, sch, to_free);
}

/* ---- out ---- */

static struct sk_buff *queue_take(struct mrcport_queue *q)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&q->head);

	if (skb) {
		q->bytes -= qdisc_pkt_len(skb);
		q->sent_pkts++;
		q->sent_bytes += qdisc_pkt_len(skb);
	}
	return skb;
}

static struct sk_buff *mrcport_dequeue(struct Qdisc *sch)
{
	struct mrcport *m = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	if (!sch->q.qlen)
		return NULL;
	if (m->p.rate && m->free_at > now) {
		qdisc_watchdog_schedule_ns(&m->watchdog, m->free_at);
		return NULL;
	}
	skb = queue_take(&m->high) ?: queue_take(&m->data);
	if (WARN_ON_ONCE(!skb))
		return NULL;
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	if (m->p.rate)
		m->free_at = max(m->free_at, now - CATCH_UP_NS) +
			     div64_u64(qdisc_pkt_len(skb) * 8ull * NSEC_PER_SEC, m->p.rate);
	return skb;
}

/* ---- life ---- */

static void queue_purge(struct mrcport_queue *q)
{
	struct sk_buff *skb;

	while ((skb = __qdisc_dequeue_head(&q->head)))
		rtnl_kfree_skbs(skb, skb);
	q->bytes = 0;
}

static void mrcport_reset(struct Qdisc *sch)
{
	struct mrcport *m = qdisc_priv(sch);

	queue_purge(&m->data);
	queue_purge(&m->high);
	m->free_at = 0;
	qdisc_watchdog_cancel(&m->watchdog);
}

static int mrcport_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct mrcport *m = qdisc_priv(sch);

	qdisc_watchdog_init(&m->watchdog, sch);
	m->p = defaults;
	return 0;
}

static void mrcport_destroy(struct Qdisc *sch)
{
	struct mrcport *m = qdisc_priv(sch);

	qdisc_watchdog_cancel(&m->watchdog);
}

static struct Qdisc_ops mrcport_ops = {
	.id = "mrcport",
	.priv_size = sizeof(struct mrcport),
	.enqueue = mrcport_enqueue,
	.dequeue = mrcport_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = mrcport_init,
	.reset = mrcport_reset,
	.destroy = mrcport_destroy,
	.owner = THIS_MODULE,
};

struct mrcport *mrcport_of(struct Qdisc *sch)
{
	return sch && sch->ops == &mrcport_ops ? qdisc_priv(sch) : NULL;
}

static int __init mrcport_module_init(void)
{
	int err = mrcport_proc_init();

	if (err)
		return err;
	err = register_qdisc(&mrcport_ops);
	if (err)
		mrcport_proc_exit();
	return err;
}

static void __exit mrcport_module_exit(void)
{
	unregister_qdisc(&mrcport_ops);
	mrcport_proc_exit();
}

module_init(mrcport_module_init);
module_exit(mrcport_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Output port of an MRC switch, for tests");
