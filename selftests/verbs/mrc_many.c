// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_many.c - one more connected queue pair for each line that is read, towards a peer
 * that need not exist.
 *
 *	mrc_many [-d DEV] [-g INDEX] GID
 *
 * Answers each line with the number of queue pairs. They live until the end of input and
 * send nothing. For whoever looks at what the device keeps per peer.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "vcommon.h"

#define PEER_QPN	0x4242

/* All that the peer of vc_connect() would say, at once. */
static void speak_for_peer(int fd, const struct vc_dev *dev, const struct in6_addr *gid)
{
	struct vc_peer peer = {
		.qpn = htobe32(PEER_QPN),
		.mtu = htobe32(dev->mtu),
	};
	char ready = 1;

	memcpy(peer.gid, gid, sizeof(peer.gid));
	if (!vc_send(fd, &peer, sizeof(peer)) || !vc_send(fd, &ready, 1))
		vc_die("socketpair: %s", strerror(errno));
}

static void one_more(struct vc_dev *dev, struct ibv_cq *cq, const struct in6_addr *gid)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};
	struct ibv_qp *qp = vc_qp(dev, cq, &cap, 0);
	struct vc_peer peer;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		vc_die("socketpair: %s", strerror(errno));
	speak_for_peer(fd[1], dev, gid);
	if (!vc_connect(dev, qp, fd[0], 0, 0, &peer))
		vc_die("vc_connect: %s", strerror(errno));
	close(fd[0]);
	close(fd[1]);
}

int main(int argc, char **argv)
{
	struct vc_opts opts = { .gid_index = -1 };
	struct in6_addr gid;
	struct vc_dev dev;
	struct ibv_cq *cq;
	unsigned int n = 0;
	char line[80];
	int opt;

	while ((opt = getopt(argc, argv, "d:g:")) != -1) {
		if (opt == 'd')
			opts.dev = optarg;
		else if (opt == 'g')
			opts.gid_index = atoi(optarg);
		else
			return VC_EXIT_USAGE;
	}
	if (optind != argc - 1 || inet_pton(AF_INET6, argv[optind], &gid) != 1)
		return VC_EXIT_USAGE;
	vc_open(&dev, &opts);
	cq = ibv_create_cq(dev.ctx, 1, NULL, NULL, 0);
	if (!cq)
		vc_die("ibv_create_cq: %s", strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		one_more(&dev, cq, &gid);
		printf("%u\n", ++n);
	}
	/* The end of the process is the end of all that it opened. */
	return VC_EXIT_OK;
}
