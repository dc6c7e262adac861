// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_stranger.c - what any program may send: one datagram to a QP of a host; QP 1, whose Q_Key it
 * cannot know, unless another one is named.
 *
 *	mrc_stranger DEV ADDRESS [QPN]	fd00:6d72:63::1 or ::ffff:10.77.0.1
 */
#include <arpa/inet.h>
#include <string.h>
#include "vud.h"

#define QPN_GSI		1

static struct ibv_ah *ah_to(const struct vc_dev *d, const char *address)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = (uint8_t)d->gid_index, .hop_limit = 64 },
	};

	if (inet_pton(AF_INET6, address, &attr.grh.dgid) != 1)
		vc_die("mrc_stranger: \"%s\" is no IPv6 address", address);
	return ibv_create_ah(d->pd, &attr);
}

int main(int argc, char **argv)
{
	struct vc_opts opts = { .gid_index = -1 };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .remote_qpn = QPN_GSI, .remote_qkey = VUD_QKEY },
	};
	struct vc_dev dev;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	if (argc < 3 || argc > 4)
		vc_die("usage: mrc_stranger DEV ADDRESS [QPN]");
	if (argc == 4)
		wr.wr.ud.remote_qpn = (uint32_t)strtoul(argv[3], NULL, 0);
	opts.dev = argv[1];
	opts.want_v4 = !strncmp(argv[2], "::ffff:", 7);
	vc_open(&dev, &opts);
	cq = ibv_create_cq(dev.ctx, VUD_SLOTS, NULL, NULL, 0);
	qp = cq ? vud_qp(&dev, cq, NULL, 0) : NULL;
	wr.wr.ud.ah = ah_to(&dev, argv[2]);
	if (!qp || !wr.wr.ud.ah || vud_to_rts(qp))
		vc_die("mrc_stranger: no queue pair or address handle on %s", argv[1]);
	if (ibv_post_send(qp, &wr, &bad) ||
	    vud_next(cq, VUD_WAIT_S * 1000).status != IBV_WC_SUCCESS)
		vc_die("mrc_stranger: the datagram was not sent");
	return VC_EXIT_OK;
}
