// SPDX-License-Identifier: GPL-2.0
/*
 * test_plugin_ring.c - the verbs plug-in without a kernel.
 *
 * The plug-in's own object files are linked with stand-ins for the uverbs calls
 * they make; rings live in a memfd at the mmap offsets that the "kernel" here
 * hands out (plugin_kernel.h), and this file plays the kernel's part on them. The real
 * verbs_set_ops of the installed library is called too: it must put our
 * functions where the public struct ibv_context has them.
 *
 * With the argument "layout" it prints "name offset" of every context operation,
 * which test_plugin.sh compares with the library's own table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "mrc_prov.h"
#include "plugin_kernel.h"

static int n_tests, n_failed;

static void check(bool ok, const char *name)
{
	n_tests++;
	if (!ok)
		n_failed++;
	printf("%sok %d %s\n", ok ? "" : "not ", n_tests, name);
}

static void poll_one(struct mrc_qp *qp)
{
	struct ibv_wc wc;

	if (mrc_poll_cq(qp->v.qp.send_cq, 1, &wc) != 1)
		abort();
}

/* --------------------------------------------------------------- the tests */

#define OP_LINE(ret, name, args) \
	printf(#name " %zu\n", offsetof(struct verbs_context_ops, name));
#define NO_LINE(name) \
	printf(#name " %zu\n", offsetof(struct verbs_context_ops, name));

static void print_layout(void)
{
	VERBS_CONTEXT_OPS(OP_LINE, NO_LINE)
}

static void test_set_ops(void)
{
	static const struct verbs_context_ops ops = {
		.poll_cq = mrc_poll_cq,
		.post_send = mrc_post_send,
		.post_recv = mrc_post_recv,
		.req_notify_cq = mrc_req_notify_cq,
		.create_qp_ex = mrc_create_qp_ex,
		.query_device_ex = mrc_query_device_ex,
	};
	struct verbs_context *v = calloc(1, sizeof(*v));
	const struct ibv_context_ops *pub = &v->context.ops;

	v->priv = calloc(1, 8192);	/* opaque; holds a copy of the table */
	v->sz = sizeof(*v);
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs_set_ops(v, &ops);
	check(pub->poll_cq == mrc_poll_cq && pub->post_send == mrc_post_send &&
	      pub->post_recv == mrc_post_recv && pub->req_notify_cq == mrc_req_notify_cq,
	      "the library finds the data operations in our table");
	check(v->create_qp_ex == mrc_create_qp_ex &&
	      v->query_device_ex == mrc_query_device_ex,
	      "the library finds the extended operations in our table");
	free(v->priv);
	free(v);
}

static struct ibv_send_wr write_wr(struct ibv_sge *sge, struct ibv_send_wr *next)
{
	struct ibv_send_wr wr = {
		.wr_id = 0x1122334455667788,
		.next = next,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = 0xabcd1234,
		.wr.rdma.remote_addr = 0x1000,
		.wr.rdma.rkey = 7,
	};

	return wr;
}

static int posted(struct mrc_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int n = 0;

	while (!mrc_post_send(&qp->v.qp, wr, &bad))
		n++;
	return n;
}

/* The ring is full; there is room when completions were polled, and not earlier. */
static void test_slots(struct mrc_qp *qp, struct ibv_send_wr *wr)
{
	qp->sq.hdr->cons = 8;
	check(posted(qp, wr) == 0, "slots that the kernel has copied are not free");
	send_cqe(qp, 0);
	check(posted(qp, wr) == 0, "nor are those of completions that nobody has polled");
	poll_one(qp);
	check(posted(qp, wr) == 1, "one polled, one slot");
	send_cqe(qp, 3);
	poll_one(qp);
	check(posted(qp, wr) == 3, "a completion returns those of unsignaled requests before it");
	send_cqe(qp, 100);
	poll_one(qp);
	check(posted(qp, wr) == 0, "one of what was never posted returns none");
	send_cqe(qp, 11);
	poll_one(qp);
	check(posted(qp, wr) == 8, "all of them");
}

static void test_send(struct mrc_qp *qp)
{
	struct ibv_sge sge = { .addr = 0x5000, .length = 100, .lkey = 9 };
	struct ibv_send_wr a, b, c, *bad = NULL;
	struct mrc_ring_hdr *hdr = qp->sq.hdr;
	const struct mrc_send_wqe *wqe;
	const struct mrc_sge *s;
	char text[300] = "inline data";
	struct ibv_qp *ibqp = &qp->v.qp;
	int i;

	a = write_wr(&sge, NULL);
	ibqp->state = IBV_QPS_INIT;
	check(mrc_post_send(ibqp, &a, &bad) == EINVAL && bad == &a,
	      "a QP that is not ready to send refuses");
	ibqp->state = IBV_QPS_RTS;

	check(!mrc_post_send(ibqp, &a, &bad) && hdr->prod == 1 && !kicks,
	      "post_send publishes, and rings no bell that nobody asked for");
	wqe = mrc_slot(&qp->sq, 0);
	s = (const void *)(wqe + 1);
	check(wqe->wr_id == a.wr_id && wqe->opcode == a.opcode && wqe->num_sge == 1 &&
	      wqe->imm_data == a.imm_data && wqe->remote_addr == 0x1000 && wqe->rkey == 7 &&
	      wqe->send_flags == IBV_SEND_SIGNALED && s->addr == 0x5000 && s->length == 100 &&
	      s->lkey == 9, "a WRITE_IMM arrives whole");

	hdr->need_kick = 1;
	b = write_wr(&sge, NULL);
	a = write_wr(&sge, &b);
	check(!mrc_post_send(ibqp, &a, &bad) && hdr->prod == 3 && kicks == 1 &&
	      !hdr->need_kick, "a sleeping kernel gets one doorbell for a list");

	hdr->need_kick = 1;
	kick_error = EIO;
	a = write_wr(&sge, NULL);
	bad = NULL;
	check(!mrc_post_send(ibqp, &a, &bad) && !bad && hdr->prod == 4,
	      "the requests of a doorbell that fails are posted");
	check(mrc_post_send(ibqp, &a, &bad) == EIO && bad == &a && hdr->prod == 4,
	      "while it fails nothing more is");
	kick_error = 0;
	kicks = 0;
	check(!mrc_post_send(ibqp, &a, &bad) && hdr->prod == 5 && kicks == 1,
	      "the next post rings first");
	hdr->need_kick = 0;
	qp->sq.idx = hdr->prod = 4;	/* as if it had not been */

	c = write_wr(&sge, NULL);
	b = write_wr(&sge, &c);
	b.num_sge = 17;
	a = write_wr(&sge, &b);
	check(mrc_post_send(ibqp, &a, &bad) == EINVAL && bad == &b && hdr->prod == 5,
	      "a bad request in a list: those before it are posted, bad_wr names it");

	a = write_wr(&sge, NULL);
	a.opcode = IBV_WR_SEND;
	a.send_flags = IBV_SEND_INLINE;
	sge.addr = (uintptr_t)text;
	sge.length = 12;
	check(!mrc_post_send(ibqp, &a, &bad), "inline send");
	wqe = mrc_slot(&qp->sq, 5);
	check(wqe->inline_len == 12 && !wqe->num_sge && !strcmp((char *)(wqe + 1), text) &&
	      (wqe->send_flags & IBV_SEND_INLINE), "inline data lie in the slot");
	sge.length = 257;
	check(mrc_post_send(ibqp, &a, &bad) == EINVAL, "too much inline data");

	a = write_wr(&sge, NULL);
	a.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	a.wr.atomic.remote_addr = 0x1004;
	a.wr.atomic.compare_add = 5;
	a.wr.atomic.rkey = 3;
	sge.length = 8;
	check(mrc_post_send(ibqp, &a, &bad) == EINVAL, "an atomic on an odd address");
	a.wr.atomic.remote_addr = 0x1008;
	check(!mrc_post_send(ibqp, &a, &bad), "an atomic");
	wqe = mrc_slot(&qp->sq, 6);
	check(wqe->compare_add == 5 && wqe->rkey == 3 && wqe->remote_addr == 0x1008,
	      "an atomic arrives whole");
	a.opcode = IBV_WR_TSO;
	check(mrc_post_send(ibqp, &a, &bad) == EINVAL, "an opcode we do not offer");

	a = write_wr(&sge, NULL);
	check(!mrc_post_send(ibqp, &a, &bad) && hdr->prod == 8, "the last free slot");
	check(mrc_post_send(ibqp, &a, &bad) == ENOMEM && bad == &a && hdr->prod == 8,
	      "a full ring");
	test_slots(qp, &a);

	/* Around the end of the ring and of the 32-bit index. */
	qp->sq.idx = qp->sq.done = hdr->prod = hdr->cons = 0xfffffffe;
	for (i = 0; i < 4; i++)
		if (mrc_post_send(ibqp, &a, &bad))
			break;
	check(i == 4 && hdr->prod == 2, "indices wrap");
	send_cqe(qp, 1);
	poll_one(qp);
	check(qp->sq.done == 2, "those of completions, too");
}

static void test_wr_api(struct mrc_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->v.qp_ex;
	struct mrc_ring_hdr *hdr = qp->sq.hdr;
	const uint32_t start = hdr->prod;
	const struct mrc_send_wqe *wqe;
	char text[] = "abc";
	int i, ret;

	check(ibv_qp_to_qp_ex(&qp->v.qp) == ex, "the library sees an extended QP");
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(ex, 77, 0x2000, 0x99);
	ibv_wr_set_sge(ex, 5, 0x3000, 64);
	ex->wr_id = 2;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, text, 3);
	check(hdr->prod == start, "nothing is published before ibv_wr_complete");
	ret = ibv_wr_complete(ex);
	wqe = mrc_slot(&qp->sq, start);
	check(!ret && hdr->prod == start + 2 && wqe->wr_id == 1 && wqe->rkey == 77 &&
	      wqe->imm_data == 0x99 && wqe->num_sge == 1, "ibv_wr_rdma_write_imm");
	wqe = mrc_slot(&qp->sq, start + 1);
	check(wqe->wr_id == 2 && wqe->inline_len == 3 && !memcmp(wqe + 1, "abc", 3),
	      "ibv_wr_send with inline data");

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	for (i = 0; i < SQ_ENTRIES + 1; i++) {
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, 1, 2, 3);
	}
	check(ibv_wr_complete(ex) == ENOMEM && hdr->prod == start + 2 &&
	      qp->sq.idx == start + 2, "a batch that does not fit leaves nothing behind");
	send_cqe(qp, start + 1);
	poll_one(qp);
}

static void test_recv(struct mrc_qp *qp)
{
	struct ibv_sge sge = { .addr = 0x7000, .length = 11, .lkey = 3 };
	struct ibv_recv_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	const struct mrc_recv_wqe *wqe = mrc_slot(&qp->rq, 0);
	const struct mrc_sge *s = (const void *)(wqe + 1);
	const int before = kicks;
	int i;

	check(!mrc_post_recv(&qp->v.qp, &wr, &bad) && wqe->wr_id == 9 && wqe->num_sge == 1 &&
	      s->addr == 0x7000 && s->length == 11 && s->lkey == 3, "a receive");
	wr.num_sge = 0;
	for (i = 1; i < RQ_ENTRIES; i++)
		if (mrc_post_recv(&qp->v.qp, &wr, &bad))
			break;
	check(i == RQ_ENTRIES && qp->rq.hdr->prod == RQ_ENTRIES, "receives without memory");
	check(mrc_post_recv(&qp->v.qp, &wr, &bad) == ENOMEM && bad == &wr,
	      "a full receive ring");
	check(kicks == before, "receives cost no system call");
	qp->rq.hdr->cons = RQ_ENTRIES;
	check(mrc_post_recv(&qp->v.qp, &wr, &bad) == ENOMEM,
	      "receive slots that the kernel is done with are not free");
	kernel_cqe((struct mrc_cq *)qp->v.qp.recv_cq, (struct mrc_cqe){
		.qpn = 42, .opcode = IBV_WC_RECV, .slot = 0 });
	poll_one(qp);
	check(!mrc_post_recv(&qp->v.qp, &wr, &bad) &&
	      mrc_post_recv(&qp->v.qp, &wr, &bad) == ENOMEM, "one polled, one receive slot");
}

static void test_poll(struct mrc_cq *cq, struct mrc_qp *qp)
{
	struct mrc_cqe cqe = {
		.wr_id = 5, .qpn = 42, .byte_len = 64, .imm_data = 0x1234,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .status = IBV_WC_SUCCESS,
		.wc_flags = IBV_WC_WITH_IMM, .src_qp = 17,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_poll_cq_attr poll_attr = {};
	struct ibv_cq_ex *ex = &cq->v.cq_ex;
	struct ibv_cq *ibcq = &cq->v.cq;
	struct mrc_ring_hdr *hdr = cq->ring.hdr;
	struct ibv_wc wc[8];
	int i, n = 0;

	check(mrc_poll_cq(ibcq, 8, wc) == 0, "an empty queue");
	kernel_cqe(cq, cqe);
	memset(wc, 0xff, sizeof(wc));
	check(mrc_poll_cq(ibcq, 8, wc) == 1 && hdr->cons == hdr->prod && wc[0].wr_id == 5 &&
	      wc[0].qp_num == 42 && wc[0].byte_len == 64 && wc[0].imm_data == 0x1234 &&
	      wc[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc[0].wc_flags == IBV_WC_WITH_IMM &&
	      wc[0].status == IBV_WC_SUCCESS && !wc[0].vendor_err && wc[0].src_qp == 17,
	      "a completion arrives whole");

	for (i = 0; i < CQ_ENTRIES; i++)
		kernel_cqe(cq, cqe);
	check(mrc_poll_cq(ibcq, 3, wc) == 3 && mrc_poll_cq(ibcq, 3, wc) == 1, "polled in parts");
	hdr->prod += CQ_ENTRIES + 1;
	check(mrc_poll_cq(ibcq, 8, wc) == 0, "an absurd producer index is not believed");
	hdr->prod -= CQ_ENTRIES + 1;

	mrc_req_notify_cq(ibcq, 1);
	check(hdr->arm == MRC_ARM_SOLICITED, "armed for solicited");
	mrc_req_notify_cq(ibcq, 0);
	check(hdr->arm == MRC_ARM_ANY, "armed for any");
	mrc_req_notify_cq(ibcq, 1);
	check(hdr->arm == MRC_ARM_ANY, "never weaker");

	ibcq->channel = (void *)hdr;	/* only looked whether there is one */
	mrc_req_notify_cq(ibcq, 0);
	check(!notified, "an empty queue is armed without a system call");
	kernel_cqe(cq, cqe);
	mrc_req_notify_cq(ibcq, 0);
	check(notified == 1, "a completion that nobody was told of is told at once");
	hdr->told = hdr->prod;
	mrc_req_notify_cq(ibcq, 0);
	check(notified == 1, "not one that an event has told of");
	check(mrc_poll_cq(ibcq, 8, wc) == 1, "it is polled");
	ibcq->channel = NULL;

	kernel_cqe(cq, cqe);
	cqe.wr_id = 6;
	cqe.status = IBV_WC_REM_ACCESS_ERR;
	kernel_cqe(cq, cqe);
	if (!ibv_start_poll(ex, &poll_attr)) {
		n = ex->wr_id == 5 && ibv_wc_read_qp_num(ex) == 42 &&
		    ibv_wc_read_imm_data(ex) == 0x1234;
		n += !ibv_next_poll(ex) && ex->wr_id == 6 && ex->status == IBV_WC_REM_ACCESS_ERR;
		n += ibv_next_poll(ex) == ENOENT;
		ibv_end_poll(ex);
	}
	check(n == 3 && hdr->cons == hdr->prod, "extended polling");
	check(ibv_start_poll(ex, &poll_attr) == ENOENT && mrc_poll_cq(ibcq, 1, wc) == 0,
	      "extended polling of an empty queue leaves it unlocked");

	kernel_cqe(cq, cqe);
	cqe.qpn = 43;
	kernel_cqe(cq, cqe);
	mrc_modify_qp(&qp->v.qp, &attr, IBV_QP_STATE);
	check(mrc_poll_cq(ibcq, 8, wc) == 1 && wc[0].qp_num == 43 && qp->sq.done == qp->sq.idx,
	      "a reset forgets the QP's completions and no others");

	attr = (struct ibv_qp_attr) { .rq_psn = 0xab123456, .sq_psn = 0xffffffff };
	mrc_modify_qp(&qp->v.qp, &attr, IBV_QP_RQ_PSN | IBV_QP_SQ_PSN);
	check(modified.rq_psn == 0x123456 && modified.sq_psn == 0xffffff && attr.rq_psn == 0xab123456,
	      "the kernel gets PSNs of 24 bits, and has nothing to log");

	kernel_cqe(cq, cqe);
	hdr->error = 1;
	check(mrc_poll_cq(ibcq, 8, wc) == 1 && mrc_poll_cq(ibcq, 8, wc) < 0,
	      "an overrun shows after what was completed before it");
}

/* Two QPs that share receives: what counts is how many completed, of whichever QP. */
static void test_srq(struct ibv_pd *pd, struct mrc_cq *cq)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = RQ_ENTRIES, .max_sge = 16 } };
	struct ibv_sge sge = { .addr = 0x7000, .length = 11, .lkey = 3 };
	struct ibv_recv_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_srq *ibsrq = mrc_create_srq(pd, &attr);
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_type = IBV_QPT_RC, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
		.send_cq = &cq->v.cq, .recv_cq = &cq->v.cq, .srq = ibsrq,
	};
	struct mrc_cqe cqe = { .qpn = 42, .opcode = IBV_WC_RECV, .slot = 77 };
	const struct mrc_recv_wqe *wqe;
	struct mrc_srq *srq = to_msrq(ibsrq);
	struct mrc_qp *qp;
	struct ibv_wc wc;
	int i;

	check(ibsrq, "an SRQ maps its ring");
	qp = (struct mrc_qp *)mrc_create_qp_ex(pd->context, &qp_attr);
	check(qp && !qp->rq.hdr && qp->srq == srq, "a QP on it has no receive ring");
	if (!ibsrq || !qp)
		return;
	check(mrc_post_recv(&qp->v.qp, &wr, &bad) == EINVAL, "nor takes receives itself");
	for (i = 0; i < RQ_ENTRIES; i++)
		if (mrc_post_srq_recv(ibsrq, &wr, &bad))
			break;
	wqe = mrc_slot(&srq->ring, 0);
	check(i == RQ_ENTRIES && srq->ring.hdr->prod == RQ_ENTRIES && wqe->wr_id == 9,
	      "receives are shared");
	srq->ring.hdr->cons = RQ_ENTRIES;
	check(mrc_post_srq_recv(ibsrq, &wr, &bad) == ENOMEM && bad == &wr,
	      "what QPs have taken counts until it is completed");
	kernel_cqe(cq, cqe);
	kernel_cqe(cq, cqe);
	check(mrc_poll_cq(&cq->v.cq, 1, &wc) == 1 && !mrc_post_srq_recv(ibsrq, &wr, &bad) &&
	      mrc_post_srq_recv(ibsrq, &wr, &bad) == ENOMEM, "one polled, one posted");
	mrc_destroy_qp(&qp->v.qp);
	check(mrc_poll_cq(&cq->v.cq, 1, &wc) == 0 && !mrc_post_srq_recv(ibsrq, &wr, &bad) &&
	      mrc_post_srq_recv(ibsrq, &wr, &bad) == ENOMEM,
	      "completions that go with their QP return theirs");
	check(!mrc_destroy_srq(ibsrq), "an SRQ is destroyed");
}

static void test_resize(struct mrc_cq *cq)
{
	struct mrc_cqe cqe = { .qpn = 43, .opcode = IBV_WC_RECV };
	struct ibv_cq *ibcq = &cq->v.cq;
	struct ibv_wc wc[8];
	int i;

	for (i = 0; i < 3; i++) {
		cqe.wr_id = i;
		kernel_cqe(cq, cqe);
	}
	check(mrc_poll_cq(ibcq, 1, wc) == 1 && !mrc_resize_cq(ibcq, 2 * CQ_ENTRIES) &&
	      cq->ring.entries == 2 * CQ_ENTRIES, "a queue is resized");
	for (; i < 3 + 6; i++) {
		cqe.wr_id = i;
		kernel_cqe(cq, cqe);
	}
	check(mrc_poll_cq(ibcq, 8, wc) == 8 && wc[0].wr_id == 1 && wc[7].wr_id == 8,
	      "what was not polled is in the new ring, and more comes");
	check(mrc_resize_cq(ibcq, 0) == EINVAL, "not to nothing");
}

static void test_domains(struct ibv_pd *ibpd)
{
	struct mrc_pd of = { .pd = *ibpd };
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = { .pd = &of.pd };
	struct ibv_pd *pd;

	of.pd.handle = 5;
	attr.td = mrc_alloc_td(ibpd->context, &td_attr);
	pd = mrc_alloc_parent_domain(ibpd->context, &attr);
	check(attr.td && pd && pd->handle == 5, "a parent domain has its domain's handle");
	attr.pd = pd;
	check(!mrc_alloc_parent_domain(ibpd->context, &attr) && errno == EINVAL,
	      "it is no protection domain");
	check(mrc_dealloc_td(attr.td) == EBUSY && mrc_dealloc_pd(&of.pd) == EBUSY,
	      "which stays, and the thread domain, while it is there");
	check(!mrc_dealloc_pd(pd) && !mrc_dealloc_td(attr.td) && !of.users, "and goes before them");
	attr = (struct ibv_parent_domain_init_attr){ .pd = &of.pd, .comp_mask = 1u << 31 };
	check(!mrc_alloc_parent_domain(ibpd->context, &attr) && errno == EINVAL,
	      "what is not known is refused");
}

/* The handle by its number, never what it stands for. */
static void test_datagram(struct mrc_qp *qp)
{
	struct mrc_ah ah = { .number = 7 };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 5, .opcode = IBV_WR_SEND,
		.wr.ud = { .ah = &ah.ah, .remote_qpn = 0x1234, .remote_qkey = 0x80010000 },
	};
	const struct mrc_send_wqe *wqe = mrc_slot(&qp->sq, qp->sq.idx);

	qp->sq.done = qp->sq.idx;
	qp->v.qp.qp_type = IBV_QPT_UD;
	qp->v.qp.state = IBV_QPS_RTS;
	check(!mrc_post_send(&qp->v.qp, &wr, &bad) && wqe->ah == 7 &&
	      wqe->remote_qpn == 0x1234 && wqe->remote_qkey == 0x80010000 && !wqe->rkey,
	      "a datagram");
	wr.opcode = IBV_WR_RDMA_WRITE;
	check(mrc_post_send(&qp->v.qp, &wr, &bad) == EINVAL && bad == &wr,
	      "a WRITE is no datagram");
	wr.opcode = IBV_WR_SEND;
	wr.wr.ud.ah = NULL;
	check(mrc_post_send(&qp->v.qp, &wr, &bad) == EINVAL, "one without an address is refused");
	qp->v.qp.qp_type = IBV_QPT_RC;
}

int main(int argc, char **argv)
{
	struct mrc_context *ctx = calloc(1, sizeof(*ctx));
	struct ibv_context *ic = &ctx->vctx.context;
	struct ibv_pd pd = { .context = ic };
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = CQ_ENTRIES, .wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_qp_init_attr_ex qp_attr = {
		.cap = { .max_send_wr = SQ_ENTRIES, .max_recv_wr = RQ_ENTRIES,
			 .max_send_sge = 16, .max_recv_sge = 16 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = &pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp_init_attr plain = { .qp_type = IBV_QPT_UC };
	struct mrc_cq *cq;
	struct mrc_qp *qp;

	if (argc > 1 && !strcmp(argv[1], "layout")) {
		print_layout();
		return 0;
	}
	puts("TAP version 13");
	memfd = memfd_create("rings", 0);
	ic->cmd_fd = memfd;
	test_set_ops();

	spoil = 1;
	check(!mrc_create_cq(ic, CQ_ENTRIES, NULL, 0) && errno == EPROTO,
	      "a ring that is no power of two is refused");
	spoil = 2;
	check(!mrc_create_cq(ic, CQ_ENTRIES, NULL, 0) && errno == EPROTO,
	      "a ring too short is refused");
	spoil = 0;

	cq = (struct mrc_cq *)mrc_create_cq_ex(ic, &cq_attr);
	check(cq, "create_cq_ex maps its ring");
	qp_attr.send_cq = qp_attr.recv_cq = &cq->v.cq;
	qp = (struct mrc_qp *)mrc_create_qp_ex(ic, &qp_attr);
	check(qp && qp->sq.hdr && qp->rq.hdr && qp->max_inline == 256,
	      "create_qp_ex maps its rings");
	check(!mrc_create_qp(&pd, &plain) && errno == EOPNOTSUPP, "a UC QP is refused");
	if (!cq || !qp) {
		puts("Bail out! no rings");
		return 1;
	}

	test_send(qp);
	test_wr_api(qp);
	test_recv(qp);
	test_poll(cq, qp);
	test_datagram(qp);
	cq->ring.hdr->error = 0;
	test_resize(cq);
	check(!mrc_destroy_qp(&qp->v.qp), "a QP is destroyed");
	test_srq(&pd, cq);
	test_domains(&pd);
	check(!mrc_destroy_cq(&cq->v.cq), "a CQ is destroyed");
	printf("1..%d\n", n_tests);
	free(ctx);
	return n_failed != 0;
}
