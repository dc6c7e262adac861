// SPDX-License-Identifier: GPL-2.0
/*
 * shim_client.c - a program that knows libibverbs alone, as perftest and NCCL do what it does. Behind
 * mrc_shim.so and shim_device.so: test_libmrc.sh compares what the device hears.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

static void want(bool is, const char *what)
{
	fflush(stdout);
	if (is)
		return;
	fprintf(stderr, "shim_client: not so: %s\n", what);
	exit(1);
}
#define WANT(cond) want(cond, #cond)

static void connect_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_4096, .timeout = 14, .retry_cnt = 6,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE, .ah_attr = { .is_global = 1, .port_num = 1 },
	};

	WANT(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a.qp_state = IBV_QPS_RTR;
	WANT(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	a.qp_state = IBV_QPS_RTS;
	WANT(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
	WANT(qp->state == IBV_QPS_RTS);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *v = ibv_open_device(list[0]);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(v);
	struct ibv_pd *pd = ibv_alloc_pd(v);
	int word, other;
	struct ibv_cq *cq = ibv_create_cq(v, 16, &word, channel, 3);
	struct ibv_qp_init_attr init = { .qp_context = &other, .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC };
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = &other, .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR }, now;
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_RDMA_WRITE };
	struct ibv_async_event event;
	struct ibv_qp *qp, *qp_ex;
	struct ibv_wc wc;

	WANT(channel && channel->fd >= 0);
	WANT(cq && cq->cq_context == &word && cq->channel == channel);
	qp = ibv_create_qp(pd, &init);
	WANT(qp && qp->qp_context == &other && qp->send_cq == cq && init.cap.max_inline_data == 256);
	connect_qp(qp);
	WANT(!ibv_post_send(qp, &wr, &bad) && !ibv_poll_cq(cq, 1, &wc));
	WANT(!ibv_query_qp(qp, &now, IBV_QP_STATE, &init) && now.qp_state == IBV_QPS_RTS && init.recv_cq == cq);
	WANT(!ibv_get_async_event(v, &event) && event.element.qp == qp);
	ibv_ack_async_event(&event);
	qp_ex = ibv_create_qp_ex(v, &ex);
	WANT(qp_ex && qp_ex->qp_context == &other && qp_ex->recv_cq == cq && ex.cap.max_inline_data == 256);
	connect_qp(qp_ex);
	ex.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	WANT(!ibv_create_qp_ex(v, &ex) && errno == EOPNOTSUPP);
	init.qp_type = IBV_QPT_UD;
	WANT(!ibv_create_qp(pd, &init) && errno == EOPNOTSUPP);
	WANT(!ibv_modify_qp(qp, &error, IBV_QP_STATE) && qp->state == IBV_QPS_ERR);
	WANT(!ibv_destroy_qp(qp) && !ibv_destroy_qp(qp_ex) && !ibv_destroy_cq(cq));
	WANT(!ibv_destroy_comp_channel(channel) && !ibv_close_device(v));
	free(list);
	return 0;
}
