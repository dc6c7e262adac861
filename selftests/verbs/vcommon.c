// SPDX-License-Identifier: GPL-2.0
/*
 * vcommon.c - see vcommon.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "vcommon.h"

uint64_t vc_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The finaliser of SplitMix64: every input bit moves every output bit. */
uint64_t vc_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static struct ibv_context *open_dev(const char *name)
{
	struct ibv_device **list;
	struct ibv_context *ctx = NULL;
	int i, n = 0;

	list = ibv_get_device_list(&n);
	if (!list)
		return NULL;
	for (i = 0; i < n && !ctx; i++)
		if (!name || !strcmp(name, ibv_get_device_name(list[i])))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return ctx;
}

static bool is_v4(const union ibv_gid *g)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(g->raw, prefix, sizeof(prefix));
}

static bool is_link_local(const union ibv_gid *g)
{
	return g->raw[0] == 0xfe && (g->raw[1] & 0xc0) == 0x80;
}

/* The first global RoCE v2 address of the family wanted. */
static int choose_gid(struct ibv_context *ctx, const struct vc_opts *o)
{
	static struct ibv_gid_entry e[1024];
	ssize_t n = ibv_query_gid_table(ctx, e, 1024, 0);
	ssize_t i;

	for (i = 0; i < n; i++)
		if (e[i].port_num == 1 && e[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    is_v4(&e[i].gid) == o->want_v4 && !is_link_local(&e[i].gid))
			return (int)e[i].gid_index;
	return -1;
}

static enum ibv_mtu mtu_enum(int bytes)
{
	int e = IBV_MTU_256;

	while (e < IBV_MTU_4096 && (128 << (e + 1)) <= bytes)
		e++;
	return e;
}

void vc_open(struct vc_dev *d, const struct vc_opts *o)
{
	memset(d, 0, sizeof(*d));
	d->ctx = open_dev(o->dev);
	if (!d->ctx)
		vc_die("no RDMA device%s%s", o->dev ? " " : "", o->dev ? o->dev : "");
	if (ibv_query_device(d->ctx, &d->attr))
		vc_die("ibv_query_device: %s", strerror(errno));
	if (ibv_query_port(d->ctx, 1, &d->port))
		vc_die("ibv_query_port: %s", strerror(errno));
	if (d->port.state != IBV_PORT_ACTIVE)
		vc_die("port is %s", ibv_port_state_str(d->port.state));
	d->gid_index = o->gid_index >= 0 ? o->gid_index : choose_gid(d->ctx, o);
	if (d->gid_index < 0)
		vc_die("no global RoCE v2 %s GID", o->want_v4 ? "IPv4" : "IPv6");
	if (ibv_query_gid(d->ctx, 1, d->gid_index, &d->gid))
		vc_die("ibv_query_gid %d: %s", d->gid_index, strerror(errno));
	d->mtu = d->port.active_mtu;
	d->timeout = 16;	/* 268 ms, times eight: a slow machine stands still for long */
	d->rnr_retry = 7;
	if (o->mtu && mtu_enum(o->mtu) < d->mtu)
		d->mtu = mtu_enum(o->mtu);
	d->pd = ibv_alloc_pd(d->ctx);
	if (!d->pd)
		vc_die("ibv_alloc_pd: %s", strerror(errno));
}

void vc_close(struct vc_dev *d)
{
	if (ibv_dealloc_pd(d->pd))
		vc_die("ibv_dealloc_pd: %s", strerror(errno));
	ibv_close_device(d->ctx);
}

static int tcp_listen(const struct addrinfo *ai)
{
	const int one = 1, zero = 0;
	int s, c;

	s = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);
	if (s < 0)
		return -1;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(s, ai->ai_addr, ai->ai_addrlen) || listen(s, 1)) {
		close(s);
		return -1;
	}
	c = accept(s, NULL, NULL);
	close(s);
	return c;
}

static int tcp_connect(const struct addrinfo *ai)
{
	int s = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);

	if (s >= 0 && connect(s, ai->ai_addr, ai->ai_addrlen)) {
		close(s);
		s = -1;
	}
	return s;
}

/*
 * The peer's host may be gone, or the interface that led to it: without traffic, or with a word of ours that nobody
 * takes, that is noticed after one and a half minutes.
 */
static void notice_silence(int fd)
{
	const int on = 1, idle_s = 30, every_s = 10, patience_ms = 90000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof(patience_ms));
}

int vc_tcp(const struct vc_opts *o)
{
	const struct addrinfo hints = {
		.ai_flags = o->server ? 0 : AI_PASSIVE,
		.ai_family = o->server ? AF_UNSPEC : AF_INET6,
		.ai_socktype = SOCK_STREAM,
	};
	const uint64_t give_up = vc_now_ns() + 30000000000ull;
	struct addrinfo *res, *ai, v4 = hints;
	const int one = 1;
	int fd = -1, err;

	err = getaddrinfo(o->server, o->port, &hints, &res);
	if (err)
		vc_die("%s:%s: %s", o->server ? o->server : "*", o->port, gai_strerror(err));
	do {
		for (ai = res; ai && fd < 0; ai = ai->ai_next)
			fd = o->server ? tcp_connect(ai) : tcp_listen(ai);
		if (fd < 0 && !o->server) {	/* a host without IPv6 */
			v4.ai_family = AF_INET;
			freeaddrinfo(res);
			if (getaddrinfo(NULL, o->port, &v4, &res))
				vc_die("no address to listen on");
			fd = tcp_listen(res);
			break;
		}
		if (fd < 0)
			usleep(50000);
	} while (fd < 0 && vc_now_ns() < give_up);
	if (fd < 0)
		vc_die("no TCP connection: %s", strerror(errno));
	freeaddrinfo(res);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	notice_silence(fd);
	return fd;
}

bool vc_send(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

bool vc_recv(int fd, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = recv(fd, p, len, 0);
		if (n <= 0)
			return false;
	}
	return true;
}

bool vc_peer_gone(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

struct ibv_qp *vc_qp_ex(struct vc_dev *d, struct ibv_cq *cq, struct ibv_qp_init_attr_ex init,
			const struct ibv_qp_cap *cap, int access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = access,
	};
	struct ibv_qp *qp;

	init.send_cq = cq;
	init.recv_cq = cq;
	init.cap = *cap;
	init.qp_type = IBV_QPT_RC;
	init.comp_mask |= IBV_QP_INIT_ATTR_PD;
	init.pd = d->pd;
	qp = ibv_create_qp_ex(d->ctx, &init);
	if (!qp)
		vc_die("ibv_create_qp: %s", strerror(errno));
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS);
	if (errno)
		vc_die("QP to INIT: %s", strerror(errno));
	return qp;
}

struct ibv_qp *vc_qp(struct vc_dev *d, struct ibv_cq *cq, const struct ibv_qp_cap *cap,
		     int access)
{
	const struct ibv_qp_init_attr_ex init = {};

	return vc_qp_ex(d, cq, init, cap, access);
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

bool vc_connect(struct vc_dev *d, struct ibv_qp *qp, int fd, uint64_t mr_addr, uint32_t rkey,
		struct vc_peer *peer)
{
	struct vc_peer me = {
		.qpn = htobe32(qp->qp_num),
		.psn = htobe32((uint32_t)vc_mix(vc_now_ns() + qp->qp_num) & 0xffffff),
		.rkey = htobe32(rkey),
		.mtu = htobe32(d->mtu),
		.addr = htobe64(mr_addr),
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	char ready = 1;

	/* What we may ask for and what we can answer: one number serves both. */
	me.rd_atomic = min_u32(d->attr.max_qp_rd_atom, d->attr.max_qp_init_rd_atom);
	me.rd_atomic = htobe32(min_u32(me.rd_atomic, 16));
	memcpy(me.gid, d->gid.raw, sizeof(me.gid));
	if (!vc_send(fd, &me, sizeof(me)) || !vc_recv(fd, peer, sizeof(*peer)))
		return false;
	peer->qpn = be32toh(peer->qpn);
	peer->psn = be32toh(peer->psn);
	peer->rkey = be32toh(peer->rkey);
	peer->mtu = be32toh(peer->mtu);
	peer->addr = be64toh(peer->addr);
	peer->rd_atomic = min_u32(be32toh(peer->rd_atomic), be32toh(me.rd_atomic));

	attr.path_mtu = min_u32(d->mtu, peer->mtu);
	attr.dest_qp_num = peer->qpn;
	attr.rq_psn = peer->psn;
	attr.max_dest_rd_atomic = peer->rd_atomic;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.sgid_index = d->gid_index;
	memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, 16);
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (errno)
		vc_die("QP to RTR: %s", strerror(errno));

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = d->timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = d->rnr_retry;
	attr.sq_psn = be32toh(me.psn);
	attr.max_rd_atomic = peer->rd_atomic;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					 IBV_QP_MAX_QP_RD_ATOMIC);
	if (errno)
		vc_die("QP to RTS: %s", strerror(errno));

	/* Nobody sends before both can receive. */
	return vc_send(fd, &ready, 1) && vc_recv(fd, &ready, 1);
}
