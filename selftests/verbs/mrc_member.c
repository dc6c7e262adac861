// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_member.c - is a member of a multicast group until it is killed.
 *
 *	mrc_member DEVICE GROUP			a datagram QP is attached to it, as ff0e::1 or ::ffff:239.1.2.3
 *	mrc_member -s NETDEV GROUP		somebody else: a socket, of IPv6 groups
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>
#include "vud.h"

static void attach(const char *dev, const union ibv_gid *group)
{
	struct vc_opts opts = { .dev = dev, .gid_index = -1 };
	struct vc_dev d;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	vc_open(&d, &opts);
	cq = ibv_create_cq(d.ctx, 2 * VUD_SLOTS, NULL, NULL, 0);
	qp = cq ? vud_qp(&d, cq, NULL, 0) : NULL;
	if (!qp || vud_to_rts(qp))
		vc_die("no datagram QP on %s: %m", dev);
	if (ibv_attach_mcast(qp, group, 0))
		vc_die("%s does not attach to the group: %m", dev);
}

static void join(const char *netdev, const union ibv_gid *group)
{
	struct ipv6_mreq r = { .ipv6mr_interface = if_nametoindex(netdev) };
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	memcpy(&r.ipv6mr_multiaddr, group, sizeof(r.ipv6mr_multiaddr));
	if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &r, sizeof(r)))
		vc_die("%s does not join the group: %m", netdev);
}

int main(int argc, char **argv)
{
	bool by_socket = argc == 4 && !strcmp(argv[1], "-s");
	union ibv_gid group;

	if ((argc != 3 && !by_socket) || inet_pton(AF_INET6, argv[argc - 1], &group) != 1) {
		fprintf(stderr, "usage: mrc_member DEVICE GROUP | mrc_member -s NETDEV GROUP\n");
		return VC_EXIT_USAGE;
	}
	if (by_socket)
		join(argv[2], &group);
	else
		attach(argv[1], &group);
	pause();
	return VC_EXIT_OK;
}
