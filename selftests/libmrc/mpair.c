// SPDX-License-Identifier: GPL-2.0
/*
 * mpair.c - see mpair.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "mpair.h"

#define LIMIT_NS 30000000000ull

struct mrc_qp *mpair_qp(struct mpair *p, struct mend *end)
{
	struct mrc_qp_init_attr init = {
		.qp_context = end,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 2, .max_recv_sge = 1 },
		.sq_sig_all = 1,
		.pd = p->dev.pd,
		.protocol_version = MRC_PROTOCOL_VERSION_1,
	};

	return mrc_create_qp(p->ctx, &init);
}

static void end_open(struct mpair *p, struct mend *end)
{
	end->cq = mrc_create_cq(p->ctx, 256, end, p->channel, 0);
	if (!end->cq)
		vc_die("mrc_create_cq: %s", strerror(errno));
	end->qp = mpair_qp(p, end);
	if (!end->qp || mrc_get_qpn(end->qp, &end->qpn))
		vc_die("mrc_create_qp: %s", strerror(errno));
}

void mpair_open(struct mpair *p)
{
	const struct vc_opts opts = { .dev = getenv("MRC_TEST_DEV"), .gid_index = -1 };
	struct mrc_context_attr attr = { MRC_API_VER_USED, MRC_VENDOR_API_VER_USED };

	memset(p, 0, sizeof(*p));
	vc_open(&p->dev, &opts);
	p->ctx = mrc_create_context(p->dev.ctx, &attr);
	if (!p->ctx)
		vc_die("mrc_create_context: %s", strerror(errno));
	if (mrc_create_comp_channel(p->ctx, &p->channel))
		vc_die("mrc_create_comp_channel");
	p->mr = ibv_reg_mr(p->dev.pd, p->area, sizeof(p->area),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!p->mr)
		vc_die("ibv_reg_mr: %s", strerror(errno));
	p->attr = (struct mrc_qp_attr) {
		.mpr = { 8, 8 },
		.wimm = { 32, 32 },
		.timeout = 14,
		.retry = { 7, 3 },
	};
	end_open(p, &p->end[0]);
	end_open(p, &p->end[1]);
}

void mpair_close(struct mpair *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (p->end[i].qp && mrc_destroy_qp(p->end[i].qp))
			vc_die("mrc_destroy_qp");
		if (mrc_destroy_cq(p->end[i].cq))
			vc_die("mrc_destroy_cq");
	}
	if (mrc_destroy_comp_channel(p->channel) || mrc_destroy_context(p->ctx))
		vc_die("mrc_destroy_context: %s", strerror(errno));
	ibv_dereg_mr(p->mr);
	vc_close(&p->dev);
}

void mpair_vattr(const struct mpair *p, enum ibv_qp_state to, uint32_t dest,
		 struct ibv_qp_attr *v)
{
	*v = (struct ibv_qp_attr) {
		.qp_state = to,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.rq_psn = 1000,
		.sq_psn = 1000,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = p->dev.gid, .sgid_index = p->dev.gid_index, .hop_limit = 64 },
		},
	};
}

int mpair_step(struct mpair *p, struct mrc_qp *qp, enum ibv_qp_state to, uint32_t dest)
{
	static const struct {
		int v, mrc;
	} masks[] = {
		[IBV_QPS_INIT] = { MPAIR_INIT_V, MPAIR_INIT },
		[IBV_QPS_RTR] = { MPAIR_RTR_V, MPAIR_RTR },
		[IBV_QPS_RTS] = { MPAIR_RTS_V, MPAIR_RTS },
		[IBV_QPS_RESET] = { IBV_QP_STATE, 0 },
		[IBV_QPS_ERR] = { IBV_QP_STATE, 0 },
	};
	struct ibv_qp_attr v;

	mpair_vattr(p, to, dest, &v);
	return mrc_modify_qp(qp, &v, masks[to].v, &p->attr, masks[to].mrc);
}

int mpair_up(struct mpair *p, struct mrc_qp *qp, uint32_t dest)
{
	int err = mpair_step(p, qp, IBV_QPS_INIT, dest);

	if (!err)
		err = mpair_step(p, qp, IBV_QPS_RTR, dest);
	return err ? err : mpair_step(p, qp, IBV_QPS_RTS, dest);
}

int mpair_connect(struct mpair *p)
{
	int err = mpair_up(p, p->end[0].qp, p->end[1].qpn);

	return err ? err : mpair_up(p, p->end[1].qp, p->end[0].qpn);
}

int mpair_post(struct mpair *p, enum ibv_wr_opcode opcode, uint32_t len, uint32_t imm)
{
	struct ibv_sge sge = { (uintptr_t)p->area, len, p->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = imm,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.imm_data = htonl(imm),
		.wr.rdma = { (uintptr_t)p->area + MPAIR_LEN, p->mr->rkey },
	};

	return mrc_post_send(p->end[0].qp, &wr, &bad);
}

int mpair_recv(struct mpair *p, int end)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = 77 };

	return mrc_post_recv(p->end[end].qp, &wr, &bad);
}

bool mpair_wc(struct mend *end, struct ibv_wc *wc)
{
	const uint64_t limit = vc_now_ns() + LIMIT_NS;

	while (mrc_poll_cq(end->cq, 1, wc) != 1) {
		if (vc_now_ns() > limit)
			return false;
		usleep(200);
	}
	return true;
}
