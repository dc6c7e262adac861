// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_group.c - sends datagrams to a group of rdma_cm's, on any RDMA device, and waits until they
 * are sent. mckey(1) does not wait: rdma_rxe then forgets what it has not sent yet.
 *
 *	mrc_group DEV 239.77.2.1 NUMBER LENGTH
 */
#include <arpa/inet.h>
#include <string.h>
#include "vud.h"

#define MCAST_QPN	0xffffff
#define RDMACM_QKEY	0x01234567	/* RDMA_UDP_QKEY */
#define MAX_LEN		4096

static struct ibv_ah *ah_to(const struct vc_dev *d, const char *group)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid.raw = { [10] = 0xff, [11] = 0xff },
			 .sgid_index = (uint8_t)d->gid_index, .hop_limit = 1 },
	};

	if (inet_pton(AF_INET, group, &attr.grh.dgid.raw[12]) != 1)
		vc_die("mrc_group: \"%s\" is no IPv4 address", group);
	return ibv_create_ah(d->pd, &attr);
}

/* One, and it left. */
static void send_one(struct ibv_qp *qp, struct ibv_ah *ah, struct ibv_sge *sge)
{
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = MCAST_QPN, .remote_qkey = RDMACM_QKEY },
	};
	struct ibv_wc wc;

	if (ibv_post_send(qp, &wr, &bad))
		vc_die("mrc_group: ibv_post_send failed");
	wc = vud_next(qp->send_cq, VUD_WAIT_S * 1000);
	if (wc.status != IBV_WC_SUCCESS)
		vc_die("mrc_group: a datagram was not sent: status %d", (int)wc.status);
}

int main(int argc, char **argv)
{
	struct vc_opts opts = { .gid_index = -1, .want_v4 = true };
	static uint8_t buf[MAX_LEN];
	struct ibv_sge sge = { .addr = (uintptr_t)buf };
	struct vc_dev dev;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int i;

	if (argc != 5)
		vc_die("usage: mrc_group DEV GROUP NUMBER LENGTH");
	opts.dev = argv[1];
	sge.length = (uint32_t)strtoul(argv[4], NULL, 0);
	if (sge.length > MAX_LEN)
		vc_die("mrc_group: a datagram of %u bytes; at most %d", sge.length, MAX_LEN);
	vc_open(&dev, &opts);
	mr = ibv_reg_mr(dev.pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	cq = ibv_create_cq(dev.ctx, VUD_SLOTS, NULL, NULL, 0);
	qp = mr && cq ? vud_qp(&dev, cq, NULL, 0) : NULL;
	ah = ah_to(&dev, argv[2]);
	if (!qp || !ah || vud_to_rts(qp))
		vc_die("mrc_group: no queue pair or address handle on %s", argv[1]);
	sge.lkey = mr->lkey;
	for (i = 0; i < atoi(argv[3]); i++)
		send_one(qp, ah, &sge);
	printf("%d datagrams sent\n", i);
	return VC_EXIT_OK;
}
