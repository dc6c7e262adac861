// SPDX-License-Identifier: GPL-2.0
/*
 * prog_bench.c - a program of the pattern of OCP's benchmark: GID index 3 and port 1 unless it is told otherwise,
 * no attribute of MRC at any transition (masks of 0), WRITEs that are polled for.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <mrc.h>
#include "prog.h"

struct bench {
	struct prog p;
	struct vc_dev dev;
	struct mrc_context *ctx;
	struct mrc_cq *cq;
	struct mrc_qp *qp;
	struct ibv_mr *mr;
	struct prog_qp theirs;
};

#define MUST(cond) do { if (!(cond)) vc_die("%s: %s", #cond, strerror(errno)); } while (0)

static void modify(struct bench *b, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr v = {
		.qp_state = to, .port_num = 1, .path_mtu = b->dev.mtu,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.dest_qp_num = b->theirs.qpn, .rq_psn = b->theirs.psn, .sq_psn = 7,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = b->theirs.gid, .hop_limit = 64,
				 .sgid_index = (uint8_t)b->dev.gid_index },
		},
	};
	struct mrc_qp_attr mrc;

	memset(&mrc, 0x77, sizeof(mrc));	/* nobody may look at it */
	errno = mrc_modify_qp(b->qp, &v, mask | IBV_QP_STATE, &mrc, 0);
	if (errno)
		vc_die("to state %d failed: %d", to, errno);
}

static void send_it(void *arg, uint32_t len)
{
	struct bench *b = arg;
	struct ibv_sge sge = { (uintptr_t)b->p.area, len, b->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = len, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { b->theirs.addr, b->theirs.rkey },
	};
	struct ibv_wc wc;
	int n;

	MUST(!mrc_post_send(b->qp, &wr, &bad));
	while ((n = mrc_poll_cq(b->cq, 1, &wc)) == 0)
		;
	if (n < 0 || wc.status || wc.wr_id != len)
		vc_die("completion: %d, %s", n, n < 0 ? "none" : ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
	struct mrc_context_attr versions = { MRC_API_VER_USED, MRC_VENDOR_API_VER_USED };
	struct mrc_qp_init_attr init = {
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct prog_qp mine = { .psn = 7 };
	struct mrc_device_attr attr;
	struct mrc_qp_attr now;
	int supported = 0, rc;
	struct bench b;

	memset(&b, 0, sizeof(b));
	prog_begin(&b.p, argc, argv);
	vc_open(&b.dev, &b.p.opts);
	MUST(!mrc_query_device_ex(b.dev.ctx, NULL, &attr, &supported) && supported);
	b.ctx = mrc_create_context(b.dev.ctx, &versions);
	MUST(b.ctx);
	b.mr = ibv_reg_mr(b.dev.pd, b.p.area, PROG_AREA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	b.cq = mrc_create_cq(b.ctx, 32, NULL, NULL, 0);
	MUST(b.mr && b.cq);
	init.send_cq = init.recv_cq = b.cq;
	init.pd = b.dev.pd;
	b.qp = mrc_create_qp(b.ctx, &init);
	MUST(b.qp && !mrc_get_qpn(b.qp, &mine.qpn));
	mine.rkey = b.mr->rkey;
	mine.addr = (uintptr_t)b.p.area;
	mine.gid = b.dev.gid;
	prog_swap(&b.p, &mine, &b.theirs);
	modify(&b, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(&b, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
	modify(&b, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	MUST(!mrc_query_qp(b.qp, NULL, 0, &now, MRC_QP_MPR | MRC_QP_TIMEOUT, NULL));
	printf("mpr %u max_wimm %u timeout %u retries %u %u\n", now.mpr.mpr, now.wimm.max_wimm, now.timeout,
	       now.retry.linear_cnt, now.retry.exp_cnt);
	prog_swap(&b.p, &mine, &b.theirs);	/* both are ready */
	rc = prog_run(&b.p, &b, send_it, NULL);
	MUST(!mrc_destroy_qp(b.qp) && !mrc_destroy_cq(b.cq) && !mrc_destroy_context(b.ctx));
	ibv_dereg_mr(b.mr);
	vc_close(&b.dev);
	return rc;
}
