// { "what": "setup_udp_tunnel_sock() and udp_tunnel_sock_release() take a struct socket *, where udp_tunnel_sk is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <net/udp_tunnel.h>

void mrc_probe(struct net *net, struct socket *sock, struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net, sock, cfg);
	udp_tunnel_sock_release(sock);
}
