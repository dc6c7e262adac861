// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_cq.c - completion queues: the kernel writes, their users poll.
 *
 * The producer index is private and only published. The consumer index comes from user space; it
 * only decides whether there is room, so a wrong value harms only the program itself. A queue that
 * overran is dead: its header says so, it raises one IB_EVENT_CQ_ERR and takes no more completions.
 * So completions that the program reads until then are complete and in order.
 *
 * Kernel users have the same ring and poll it here (mrc_cq_poll()).
 *
 * QPs hold references, so a queue may outlive its verbs object. cq->ibcq, under cq->lock, says
 * whether there is a user to notify. Destroy clears the verbs object's pointer to the queue,
 * because some versions of ib_core still query the object for rdma(8) (mrc_restrack.c).
 */
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "trace/mrc_trace.h"
#include "core/mrc_dev.h"
#include "mem/mrc_cq.h"
#include "mem/mrc_ucontext.h"

static void cq_free_work(struct work_struct *work)
{
	struct mrc_cq *cq = container_of(to_rcu_work(work), struct mrc_cq, free_work);

	mrc_ring_free(&cq->ring);
	xa_destroy(&cq->qps);
	kfree(cq);
}

static void cq_release(struct kref *ref)
{
	struct mrc_cq *cq = container_of(ref, struct mrc_cq, ref);

	queue_rcu_work(mrc_wq, &cq->free_work);
}

void mrc_cq_put(struct mrc_cq *cq)
{
	kref_put(&cq->ref, cq_release);
}

static mrc_cq_overrun_fn cq_overrun_tell __read_mostly;

void mrc_cq_on_overrun(mrc_cq_overrun_fn tell)
{
	cq_overrun_tell = tell;
}

static void cq_overrun_work(struct work_struct *work)
{
	struct mrc_cq *cq = container_of(work, struct mrc_cq, overrun_work);

	cq_overrun_tell(cq);
	mrc_cq_put(cq);
}

static void cq_overrun(struct mrc_cq *cq)
{
	struct ib_event ev = { .event = IB_EVENT_CQ_ERR };

	if (cq->overrun)
		return;
	WRITE_ONCE(cq->overrun, true);
	smp_store_release(&cq->ring.hdr->error, 1);	/* a reader that sees it also sees all completions before it */
	mrc_dev_count(cq->dev, cq_overruns);
	/*
	 * All QPs of the queue fail, idle ones too. A work item does that, because QPs' locks are
	 * taken before this one.
	 */
	kref_get(&cq->ref);
	queue_work(mrc_wq, &cq->overrun_work);
	if (!cq->ibcq || !cq->ibcq->event_handler)
		return;
	ev.device = cq->ibcq->device;
	ev.element.cq = cq->ibcq;
	cq->ibcq->event_handler(&ev, cq->ibcq->cq_context);
}

/*
 * Called after prod was published. User space stores its arm and then polls once more; the kernel
 * publishes prod and then reads the arm. Both have a full barrier between the two, so one of them
 * sees the other's store. A completion that is not solicited leaves an arm for solicited ones in
 * place. Failures match any arm (IBTA).
 */
void mrc_cq_signal(struct mrc_cq *cq, bool solicited)
{
	struct mrc_ring_hdr *hdr = cq->ring.hdr;
	u32 arm;

	smp_mb();	/* pairs with the barrier after storing arm in user space */
	arm = READ_ONCE(hdr->arm);
	if (arm == MRC_ARM_NONE || (arm == MRC_ARM_SOLICITED && !solicited))
		return;
	cq->told = cq->prod;
	WRITE_ONCE(hdr->told, cq->told);
	if (xchg(&hdr->arm, MRC_ARM_NONE) == MRC_ARM_NONE)
		return;
	if (cq->ibcq && cq->ibcq->comp_handler)
		cq->ibcq->comp_handler(cq->ibcq, cq->ibcq->cq_context);
}

/* ---- moderation ---- */

/*
 * Under cq->lock. Restarts a timer whose function is running, because the function may already have raised its event.
 * If it still waits for the lock instead, there may be one event too many.
 */
static void cq_moder_later(struct mrc_cq *cq)
{
	const u64 period = cq->mod_period * (u64)NSEC_PER_USEC;

	if (!hrtimer_is_queued(&cq->mod_timer))
		hrtimer_start(&cq->mod_timer, ns_to_ktime(period), MRC_CQ_TIMER_MODE);
}

/*
 * Under cq->lock, after prod was published. True: the event is raised later, by more completions or
 * by the timer at the end of the period.
 */
static bool cq_moder_waits(struct mrc_cq *cq)
{
	smp_mb();	/* as in mrc_cq_signal() */
	if (READ_ONCE(cq->ring.hdr->arm) == MRC_ARM_NONE || ++cq->mod_n >= cq->mod_count) {
		cq->mod_n = 0;
		hrtimer_try_to_cancel(&cq->mod_timer);
		return false;
	}
	cq_moder_later(cq);
	return true;
}

/*
 * Under cq->lock. Notifies the user of a new completion, now or when moderation allows. Failures do
 * not wait.
 */
static void cq_notify(struct mrc_cq *cq, bool solicited, bool failed)
{
	solicited |= failed;
	if (solicited)
		cq->solicited = cq->prod;
	solicited |= cq->mod_solicited;
	cq->mod_solicited = false;
	if (unlikely(cq->mod_count) && !failed && cq_moder_waits(cq))
		cq->mod_solicited = solicited;
	else
		mrc_cq_signal(cq, solicited);
}

/* Softirq. The moderation period is over. */
static enum hrtimer_restart cq_moder_timer(struct hrtimer *timer)
{
	struct mrc_cq *cq = container_of(timer, struct mrc_cq, mod_timer);

	spin_lock_bh(&cq->lock);
	cq->mod_n = 0;
	mrc_cq_signal(cq, cq->mod_solicited);
	cq->mod_solicited = false;
	spin_unlock_bh(&cq->lock);
	return HRTIMER_NORESTART;
}

void mrc_cq_post(struct mrc_cq *cq, const struct mrc_cqe *cqe, bool solicited)
{
	struct mrc_ring *r = &cq->ring;
	struct mrc_cqe *slot;

	spin_lock_bh(&cq->lock);
	if (!cq->ibcq)
		goto out;
	/* Full, or an impossible consumer index: both are an overrun. */
	if (cq->overrun ||
	    cq->prod - smp_load_acquire(&r->hdr->cons) >= r->entries) {
		cq_overrun(cq);
		goto out;
	}
	slot = mrc_ring_slot(r, cq->prod);
	*slot = *cqe;
	if (cq->stamp)
		slot->timestamp = ktime_get_ns();
	mrc_trace(completion, cqe->qpn, cqe->wr_id, cqe->opcode, cqe->status, cqe->byte_len);
	cq->prod++;
	smp_store_release(&r->hdr->prod, cq->prod);
	cq_notify(cq, solicited, cqe->status != IB_WC_SUCCESS);
out:
	spin_unlock_bh(&cq->lock);
}

/* ---- verbs ---- */

struct mrc_ucreate_cq_resp mrc_cq_answer(const struct mrc_ring *ring, u64 key)
{
	return (struct mrc_ucreate_cq_resp) {
		.entries = ring->entries,
		.mmap_key = key,
		.mmap_len = ring->bytes,
	};
}

/*
 * A program gets at least MRC_MIN_CQE entries: a page holds them anyway, and programs rely on the
 * rounding of adapters. ib_send_lat -e requests one entry, and does not poll a send completion when
 * the peer's answer overtakes it.
 */
static u32 cq_entries(u32 asked)
{
	return roundup_pow_of_two(max_t(u32, asked, MRC_MIN_CQE));
}

static int cq_read_udata(struct ib_udata *udata, struct mrc_ucreate_cq *req)
{
	int err = mrc_ucontext_check(udata, sizeof(*req), sizeof(struct mrc_ucreate_cq_resp));

	if (err)
		return err;
	if (ib_copy_from_udata(req, udata, sizeof(*req)))
		return -EFAULT;
	return req->comp_mask || req->flags & ~MRC_UCQ_TIMESTAMP ? -EOPNOTSUPP : 0;
}

int mrc_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  mrc_create_cq_arg *arg)
{
	struct mrc_ibcq *shell = container_of(ibcq, struct mrc_ibcq, ibcq);
	struct ib_udata *udata = mrc_create_cq_udata(arg);
	struct ib_ucontext *ctx = mrc_ucontext_of(udata);
	struct mrc_dev *dev = to_mrc_dev(ibcq->device);
	struct mrc_ucreate_cq_resp resp;
	struct mrc_ucreate_cq req = { };
	struct mrc_cq *cq;
	u64 key = 0;
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > MRC_MAX_CQE)
		return -EINVAL;
	err = ctx ? cq_read_udata(udata, &req) : 0;
	if (err)
		return err;
	/* The limit applies to programs only. */
	if (ctx && !atomic_add_unless(&dev->n_cqs, 1, MRC_MAX_CQ))
		return -ENOSPC;
	err = -ENOMEM;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);
	if (!cq)
		goto err_count;
	err = mrc_ring_create(&cq->ring, ctx, cq_entries(attr->cqe),
			      sizeof(struct mrc_cqe), &key);
	if (err)
		goto err_free;
	kref_init(&cq->ref);
	INIT_RCU_WORK(&cq->free_work, cq_free_work);
	INIT_WORK(&cq->overrun_work, cq_overrun_work);
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_mutex);
	spin_lock_init(&cq->poll_lock);
	xa_init(&cq->qps);
	cq->kernel = !ctx;
	cq->ibcq = ibcq;
	cq->dev = dev;
	cq->stamp = req.flags & MRC_UCQ_TIMESTAMP;
	mrc_hrtimer_setup(&cq->mod_timer, cq_moder_timer, CLOCK_MONOTONIC, MRC_CQ_TIMER_MODE);
	resp = mrc_cq_answer(&cq->ring, key);
	err = ctx ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto err_ring;
	ibcq->cqe = cq->ring.entries;
	shell->cq = cq;
	return 0;

err_ring:
	mrc_ring_unmap(&cq->ring);
	mrc_ring_free(&cq->ring);
err_free:
	kfree(cq);
err_count:
	if (ctx)
		atomic_dec(&dev->n_cqs);
	return err;
}

int mrc_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct mrc_ibcq *shell = container_of(ibcq, struct mrc_ibcq, ibcq);
	struct mrc_cq *cq = shell->cq;

	WRITE_ONCE(shell->cq, NULL);
	spin_lock_bh(&cq->lock);
	cq->ibcq = NULL;
	/* The device may be gone: a program that only polls must get an error. */
	smp_store_release(&cq->ring.hdr->error, 1);
	spin_unlock_bh(&cq->lock);
	hrtimer_cancel(&cq->mod_timer);	/* nothing restarts it */
	if (cancel_work_sync(&cq->overrun_work))	/* it uses the device, which may be removed next */
		mrc_cq_put(cq);
	mrc_ring_unmap(&cq->ring);
	if (!cq->kernel)
		atomic_dec(&cq->dev->n_cqs);
	mrc_cq_put(cq);
	return 0;
}

/* ---- users in the kernel ---- */

int mrc_cq_add_qp(struct mrc_cq *cq, u32 qpn, struct ib_qp *ibqp)
{
	if (!cq->kernel)
		return 0;
	return xa_err(xa_store(&cq->qps, qpn, ibqp, GFP_KERNEL_ACCOUNT));
}

void mrc_cq_del_qp(struct mrc_cq *cq, u32 qpn)
{
	unsigned long flags;

	if (!cq->kernel)
		return;
	xa_erase(&cq->qps, qpn);
	/* Wait for pollers that have found the QP. */
	spin_lock_irqsave(&cq->poll_lock, flags);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

/* False: the QP is destroyed. */
static bool cq_fill_wc(struct mrc_cq *cq, const struct mrc_cqe *cqe, struct ib_wc *wc)
{
	struct ib_qp *ibqp = xa_load(&cq->qps, cqe->qpn);

	if (!ibqp)
		return false;
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.byte_len = cqe->byte_len,
		.qp = ibqp,
		.ex.imm_data = (__force __be32)cqe->imm_data,
		.src_qp = cqe->src_qp,
		.wc_flags = cqe->wc_flags,
		.port_num = 1,
	};
	/* The ring has the flags of user space's headers. */
	if (cqe->wc_flags & MRC_WC_WITH_INV) {
		wc->wc_flags ^= MRC_WC_WITH_INV | IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->imm_data;
	}
	if (cqe->wc_flags & IB_WC_GRH) {
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->mark & MRC_CQE_IPV4 ? RDMA_NETWORK_IPV4 :
								 RDMA_NETWORK_IPV6;
		/*
		 * The GIDs of the port belong to the VLAN's netdev: ib_core looks for GID and VLAN
		 * together.
		 */
		if (is_vlan_dev(cq->dev->ndev)) {
			wc->wc_flags |= IB_WC_WITH_VLAN;
			wc->vlan_id = vlan_dev_vlan_id(cq->dev->ndev);
		}
	}
	return true;
}

int mrc_cq_poll(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct mrc_cq *cq = container_of(ibcq, struct mrc_ibcq, ibcq)->cq;
	unsigned long flags;
	int done = 0;

	if (!cq->kernel)
		return -EOPNOTSUPP;	/* programs poll by themselves */
	spin_lock_irqsave(&cq->poll_lock, flags);
	while (done < n && mrc_ring_avail(&cq->ring, cq->cons)) {
		const struct mrc_cqe *cqe = mrc_ring_slot(&cq->ring, cq->cons);

		done += cq_fill_wc(cq, cqe, &wc[done]);
		cq->cons++;
	}
	smp_store_release(&cq->ring.hdr->cons, cq->cons);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
	return done;
}

/* Is the completion before index @upto unpolled, and newer than the last event? */
static bool cq_unnotified(const struct mrc_cq *cq, u32 upto)
{
	u32 behind = cq->prod - upto;

	return behind < cq->prod - READ_ONCE(cq->ring.hdr->cons) && behind < cq->prod - cq->told;
}

/*
 * Under cq->lock, armed. Verbs promise an event for later completions only. mlx5 also raises one at once if unpolled
 * completions are there, and UCX, which polls and then arms, relies on that. No second event is raised for the same
 * completions, because most programs arm after an event and then poll.
 */
static void cq_arm_notify(struct mrc_cq *cq)
{
	bool solicited = cq_unnotified(cq, cq->solicited);

	if (!cq_unnotified(cq, cq->prod))
		return;
	if (!cq->mod_count) {
		mrc_cq_signal(cq, solicited);
		return;
	}
	cq->mod_solicited |= solicited;
	cq_moder_later(cq);
}

/* Arming for all events is never weakened to solicited events. */
static int cq_arm(struct mrc_cq *cq, enum ib_cq_notify_flags flags)
{
	struct mrc_ring_hdr *hdr = cq->ring.hdr;
	bool missed;

	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		cmpxchg(&hdr->arm, MRC_ARM_NONE, MRC_ARM_SOLICITED);
	else
		xchg(&hdr->arm, MRC_ARM_ANY);
	/* atomics above are full barriers: prod is read after arm is visible */
	missed = READ_ONCE(hdr->prod) != READ_ONCE(hdr->cons);
	return flags & IB_CQ_REPORT_MISSED_EVENTS ? missed : 0;
}

/*
 * A plug-in normally arms by a store to the ring, and calls this if an event is due at once. Users in the kernel may
 * arm in their handler, which runs under cq->lock; they request a report of missed events, and their queues are not
 * resized.
 */
int mrc_cq_arm(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct mrc_cq *cq = mrc_cq_of(ibcq);
	int missed;

	if (cq->kernel)
		return cq_arm(cq, flags);
	spin_lock_bh(&cq->lock);	/* against a resize */
	missed = cq_arm(cq, flags);
	cq_arm_notify(cq);
	spin_unlock_bh(&cq->lock);
	return missed;
}
