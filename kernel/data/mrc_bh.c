// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_bh.c - the softirq scheduler: which QP runs next on this CPU.
 *
 * Each CPU has a list of QPs and a BH work item. A QP is queued at most once (MRC_BH_QUEUED), runs
 * one bounded turn (mrc_flow_run()) and goes to the end of the list if it wants more (round robin).
 * In the packet path the work item runs after the NET_RX softirq, so all packets of a batch are
 * answered together. A kick while the work item runs does not queue the work item again (awake),
 * because the BH workqueue would repeat it at once, before NET_RX.
 *
 * A QP is queued on the CPU of its event (packet, doorbell, timer), unless it has more than a few
 * packets in flight: then on the CPU that sent them. Each CPU has transmit queues of its own
 * (veth's backlog, a NIC's rings). If one of them is delayed, later packets of another overtake,
 * and the earlier ones look lost. TCP keeps to its queue for the same reason (ooo_okay). Single
 * messages run on the CPU of the event, because another CPU would answer later. After many turns a
 * QP follows its event once; otherwise QPs that started on one CPU would stay there.
 *
 * The list holds a reference on each QP in it. So does the list of QPs whose timers must be set.
 */
#include <linux/percpu.h>
#include <linux/smp.h>
#include "compat/mrc_compat_bhwork.h"
#include "data/mrc_bh.h"
#include "data/mrc_flow.h"
#include "data/mrc_qp_timer.h"

/* Budget of one run, before other softirqs run; like NAPI's. */
#define MRC_BH_PACKETS	300	/* as netdev_budget */
#define MRC_BH_JIFFIES	2	/* as netdev_budget_usecs */
#define MRC_BH_TURNS	64	/* because turns that send nothing cost time, too */

#define MRC_BH_PUT_OFF	8	/* timers are set after at most this many runs of NET_RX, within one jiffy */

#define MRC_BH_STAY	8	/* a QP with this many packets in flight stays on its CPU, */
#define MRC_BH_MOVE	16384	/* for this many turns; a paused CPU takes none */

struct mrc_bh {
	raw_spinlock_t lock;	/* irqs off, on PREEMPT_RT too: timers kick from hard interrupt */
	struct list_head qps;
	bool awake;		/* the work item will examine qps once more; under lock */
	struct list_head arms;	/* QPs whose timers must be set; only the work item uses it */
	u8 put_off;		/* how often the setting was put off */
	unsigned long since;	/* jiffies when arms got its first QP */
	struct mrc_bhwork work;
	call_single_data_t csd;
};

static DEFINE_PER_CPU(struct mrc_bh, mrc_bh);

static void bh_wake(void *arg)
{
	struct mrc_bh *bh = arg;

	mrc_bhwork_queue(&bh->work);
}

/* Interrupts off. The CPU for the next turn. If several CPUs call this at once, each result is acceptable. */
static int bh_cpu(struct mrc_qp *qp)
{
	int here = smp_processor_id(), last = READ_ONCE(qp->bh_cpu);

	if (likely(last == here))
		return here;
	if (mrc_conn_in_flight(&qp->conn) >= MRC_BH_STAY &&
	    READ_ONCE(qp->bh_turns) < MRC_BH_MOVE && cpu_online(last))
		return last;
	WRITE_ONCE(qp->bh_cpu, here);
	WRITE_ONCE(qp->bh_turns, 0);
	return here;
}

void mrc_bh_kick(struct mrc_qp *qp)
{
	struct mrc_bh *bh;
	unsigned long flags;
	bool awake;
	int cpu;

	if (test_and_set_bit(MRC_BH_QUEUED, &qp->bh))
		return;
	/* A packet found the QP under RCU, but the last reference was dropped. A destroyed QP needs no turn. */
	if (unlikely(!mrc_qp_try_get(qp)))
		return;
	/*
	 * With BH off, a work item queued from process context runs at
	 * local_bh_enable() instead of waking ksoftirqd. Not in hard interrupt:
	 * there it runs on the way out anyway.
	 */
	if (!in_hardirq() && !irqs_disabled())
		local_bh_disable();
	local_irq_save(flags);
	cpu = bh_cpu(qp);
	bh = per_cpu_ptr(&mrc_bh, cpu);
	raw_spin_lock(&bh->lock);
	list_add_tail(&qp->bh_link, &bh->qps);
	awake = bh->awake;
	bh->awake = true;
	raw_spin_unlock(&bh->lock);
	/* -EBUSY: an IPI is pending already. -ENXIO: that CPU has just gone offline, so this one runs the list. */
	if (!awake && (likely(cpu == smp_processor_id()) ||
		       smp_call_function_single_async(cpu, &bh->csd) == -ENXIO))
		mrc_bhwork_queue(&bh->work);
	local_irq_restore(flags);
	if (!in_hardirq() && !irqs_disabled())
		local_bh_enable();
}

enum hrtimer_restart mrc_bh_timer(struct hrtimer *t)
{
	struct mrc_qp *qp = container_of(t, struct mrc_qp, timer);

	if (mrc_qp_timer_fired(qp))
		mrc_bh_kick(qp);
	return HRTIMER_NORESTART;
}

static struct mrc_qp *bh_pop(struct mrc_bh *bh)
{
	struct mrc_qp *qp;

	raw_spin_lock_irq(&bh->lock);
	qp = list_first_entry_or_null(&bh->qps, struct mrc_qp, bh_link);
	if (qp)
		list_del_init(&qp->bh_link);
	else
		bh->awake = false;
	raw_spin_unlock_irq(&bh->lock);
	return qp;
}

/* ---- timers ---- */

/*
 * Puts off setting the QP's timer, because packets in the receive ring may make it unnecessary. If the QP is in the
 * list of another CPU, sets the timer at once, because that CPU may be paused.
 */
static void bh_arm_later(struct mrc_bh *bh, struct mrc_qp *qp)
{
	int here = smp_processor_id();

	if (!READ_ONCE(qp->timer_deferred))
		return;
	if (test_and_set_bit(MRC_BH_ARMS, &qp->bh)) {
		if (READ_ONCE(qp->arms_cpu) != here)
			mrc_qp_timer_set(qp);
		return;
	}
	WRITE_ONCE(qp->arms_cpu, here);
	mrc_qp_get(qp);
	if (list_empty(&bh->arms))
		bh->since = jiffies;
	list_add_tail(&qp->bh_arms, &bh->arms);
}

/* Packets have arrived. They may make the timers unnecessary, so they are processed first. */
static bool bh_rx_pending(struct mrc_bh *bh)
{
	return local_softirq_pending() & BIT(NET_RX_SOFTIRQ) && jiffies == bh->since &&
	       bh->put_off++ < MRC_BH_PUT_OFF;
}

static void bh_arm(struct mrc_bh *bh)
{
	struct mrc_qp *qp, *next;

	bh->put_off = 0;
	list_for_each_entry_safe(qp, next, &bh->arms, bh_arms) {
		list_del(&qp->bh_arms);
		clear_bit_unlock(MRC_BH_ARMS, &qp->bh);	/* from here on another CPU may use bh_arms */
		smp_mb__after_atomic();
		mrc_qp_timer_set(qp);
		mrc_qp_put(qp);
	}
}

/* Runs turns within the budget. True: the list may not be empty. */
static bool bh_turns(struct mrc_bh *bh)
{
	unsigned long end = jiffies + MRC_BH_JIFFIES;
	u32 turns = 0, packets = 0;
	struct mrc_qp *qp;

	while (turns++ < MRC_BH_TURNS && packets < MRC_BH_PACKETS && time_before(jiffies, end)) {
		qp = bh_pop(bh);
		if (!qp)
			return false;
		/* Cleared before the turn, so that an event during the turn queues the QP again. */
		clear_bit_unlock(MRC_BH_QUEUED, &qp->bh);	/* from here on another CPU may use bh_link */
		smp_mb__after_atomic();
		WRITE_ONCE(qp->bh_turns, qp->bh_turns + 1);
		if (mrc_flow_run(qp, &packets))
			mrc_bh_kick(qp);
		bh_arm_later(bh, qp);
		mrc_qp_put(qp);
	}
	return true;
}

static void bh_work(struct mrc_bhwork *w)
{
	struct mrc_bh *bh = container_of(w, struct mrc_bh, work);
	bool again = bh_turns(bh);

	if (!list_empty(&bh->arms)) {
		if (!again && bh_rx_pending(bh))
			again = true;
		else
			bh_arm(bh);
	}
	if (again)
		mrc_bhwork_again(w);
}

int mrc_bh_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct mrc_bh *bh = per_cpu_ptr(&mrc_bh, cpu);

		raw_spin_lock_init(&bh->lock);
		INIT_LIST_HEAD(&bh->qps);
		INIT_LIST_HEAD(&bh->arms);
		mrc_bhwork_init(&bh->work, bh_work);
		INIT_CSD(&bh->csd, bh_wake, bh);
	}
	return 0;
}

/* All QPs are destroyed, so the turns that are left only drop references. */
void mrc_bh_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct mrc_bh *bh = per_cpu_ptr(&mrc_bh, cpu);

		while (!list_empty_careful(&bh->qps) || !list_empty_careful(&bh->arms)) {
			mrc_bhwork_run(&bh->work);
			cond_resched();
		}
	}
	/*
	 * A CPU may have emptied its list before it took the IPI of a kick. IPIs are taken in order: when
	 * all CPUs have answered this one, bh_wake() is not called any more.
	 */
	kick_all_cpus_sync();
	for_each_possible_cpu(cpu)
		mrc_bhwork_end(&per_cpu_ptr(&mrc_bh, cpu)->work);
}
