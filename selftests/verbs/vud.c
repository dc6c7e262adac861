// SPDX-License-Identifier: GPL-2.0
/* vud.c - see vud.h. */
#include <unistd.h>
#include "vud.h"

struct ibv_qp *vud_qp(struct vc_dev *d, struct ibv_cq *cq, struct ibv_srq *srq, uint32_t flags)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = IBV_QPT_UD, .pd = d->pd,
		.cap = { .max_send_wr = VUD_SLOTS, .max_recv_wr = VUD_SLOTS, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | (flags ? IBV_QP_INIT_ATTR_CREATE_FLAGS : 0),
		.create_flags = flags,
	};

	return ibv_create_qp_ex(d->ctx, &init);
}

int vud_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = { .qp_state = state, .port_num = 1, .qkey = VUD_QKEY };
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
	else if (state == IBV_QPS_RTS && qp->state == IBV_QPS_RTR)
		mask |= IBV_QP_SQ_PSN;
	return ibv_modify_qp(qp, &a, mask);
}

int vud_to_rts(struct ibv_qp *qp)
{
	return vud_to_state(qp, IBV_QPS_INIT) || vud_to_state(qp, IBV_QPS_RTR) ||
	       vud_to_state(qp, IBV_QPS_RTS);
}

struct ibv_wc vud_next(struct ibv_cq *cq, unsigned int ms)
{
	const uint64_t end = vc_now_ns() + ms * 1000000ull;
	struct ibv_wc wc = {};

	do {
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			return wc;
		usleep(200);
	} while (vc_now_ns() < end);
	wc.status = (enum ibv_wc_status)-1;
	return wc;
}

long long vud_counter(const struct vc_dev *d, const char *name)
{
	long long value = -1;
	char path[256];
	FILE *f;

	usleep(20000);	/* sums are kept for 10 ms */
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 ibv_get_device_name(d->ctx->device), name);
	f = fopen(path, "r");
	if (f && fscanf(f, "%lld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}
