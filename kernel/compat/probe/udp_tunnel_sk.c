// { "since": "after 6.12, by 7.2", "what": "setup_udp_tunnel_sock() and udp_tunnel_sock_release() take a struct sock *", "used_by": "device/mrc_sock.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <net/udp_tunnel.h>

void mrc_probe(struct net *net, struct sock *sk, struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net, sk, cfg);
	udp_tunnel_sock_release(sk);
}
