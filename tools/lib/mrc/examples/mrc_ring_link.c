// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_ring_link.c - device, memory and QPs of a rank: see mrc_ring.h.
 *
 * Profile ids are read from MRC_QP_EV_PROFILE_ID and MRC_QP_CC_PROFILE_ID; 0 or unset: the
 * device's default.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "example.h"
#include "mrc_ring.h"

#define SENDS		(4 * RING_SLOTS)	/* per QP: data, its end, and a credit for each
						 * slot */
#define RECEIVES	(2 * RING_SLOTS)

/* What neighbours exchange, in network order. */
struct end {
	uint64_t address;
	uint32_t rkey, elements, psn, qpn[RING_QPS];
	uint8_t gid[16];
};

/* ---- resources ---- */

static void open_memory(struct ring *r)
{
	r->chunk = (r->opt.elements + r->opt.n - 1) / r->opt.n;
	r->chunk += r->chunk & 1;	/* slots and credits lie at multiples of eight */
	r->bytes = ring_grant_at(r, 0) + 8 * RING_SLOTS;
	r->memory = calloc(1, r->bytes);
	r->pd = ibv_alloc_pd(r->device);
	if (!r->memory || !r->pd)
		die("no memory for %zu bytes", r->bytes);
	r->mr = ibv_reg_mr(r->pd, r->memory, r->bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!r->mr)
		die("ibv_reg_mr: %s", strerror(errno));
}

static void open_qps(struct ring *r, struct link *l)
{
	int i;

	for (i = 0; i < RING_QPS; i++) {
		struct mrc_qp_init_attr init = {
			.send_cq = r->cq, .recv_cq = r->cq, .pd = r->pd,
			.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 1,
				 .max_recv_sge = 1 },
			.protocol_version = MRC_PROTOCOL_VERSION_1,
		};

		l->qp[i] = mrc_create_qp(r->ctx, &init);
		if (!l->qp[i])
			die("mrc_create_qp: %s", strerror(errno));
	}
}

/* ---- connections ---- */

static uint64_t profile_from(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

static void step(struct mrc_qp *qp, struct ibv_qp_attr *v, int vmask, int mask)
{
	struct mrc_qp_attr a = {
		.mpr = { 8, 8 },
		.wimm = { 128, 128 },
		.timeout = 8,
		.profile = { profile_from("MRC_QP_EV_PROFILE_ID"),
			     profile_from("MRC_QP_CC_PROFILE_ID") },
		.retry = { 7, 25 },
	};
	int err = mrc_modify_qp(qp, v, vmask | IBV_QP_STATE, &a, mask);

	if (err)
		die("mrc_modify_qp to state %d: %s (MRC_DEBUG=1 says more)", v->qp_state, strerror(err));
}

static void connect_qp(struct ring *r, struct link *l, unsigned int q, const struct end *own,
		       const struct end *peer)
{
	struct ibv_qp_attr v = {
		.qp_state = IBV_QPS_INIT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.port_num = 1,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = ntohl(peer->qpn[q]),
		.rq_psn = ntohl(peer->psn),
		.sq_psn = ntohl(own->psn),
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = (uint8_t)r->opt.gid_index, .hop_limit = 64 },
		},
	};
	struct ibv_port_attr port;
	unsigned int i;

	if (ibv_query_port(r->device, 1, &port))
		die("ibv_query_port: %s", strerror(errno));
	v.path_mtu = port.active_mtu;
	memcpy(v.ah_attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	step(l->qp[q], &v, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	     MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID);
	for (i = 0; i < RECEIVES && l == &r->prev; i++)
		ring_post_receive(l->qp[q], q);
	v.qp_state = IBV_QPS_RTR;
	step(l->qp[q], &v, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	     MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP);
	v.qp_state = IBV_QPS_RTS;
	step(l->qp[q], &v, IBV_QP_SQ_PSN,
	     MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT);
}

static struct end end_of(struct ring *r, struct link *l)
{
	struct end own = {
		.address = htobe64((uintptr_t)r->memory),
		.rkey = htonl(r->mr->rkey),
		.elements = htonl(r->opt.elements),
		.psn = htonl((uint32_t)getpid() & 0xffffff),
	};
	union ibv_gid gid;
	int i;

	if (ibv_query_gid(r->device, 1, r->opt.gid_index, &gid))
		die("no GID %d: %s", r->opt.gid_index, strerror(errno));
	memcpy(own.gid, gid.raw, sizeof(own.gid));
	for (i = 0; i < RING_QPS; i++) {
		uint32_t qpn;

		if (mrc_get_qpn(l->qp[i], &qpn))
			die("mrc_get_qpn");
		own.qpn[i] = htonl(qpn);
	}
	return own;
}

static void connect_link(struct ring *r, struct link *l, const struct end *own)
{
	struct end peer;
	unsigned int q;

	ring_receive(l->tcp, &peer, sizeof(peer));
	if (peer.elements != own->elements)
		die("the ends have %u and %u elements", r->opt.elements, ntohl(peer.elements));
	l->address = be64toh(peer.address);
	l->rkey = ntohl(peer.rkey);
	for (q = 0; q < RING_QPS; q++)
		connect_qp(r, l, q, own, &peer);
}

/* ---- for mrc_ring.c ---- */

void ring_post_receive(struct mrc_qp *qp, unsigned int q)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = q };

	if (mrc_post_recv(qp, &wr, &bad))
		die("mrc_post_recv");
}

void ring_together(struct ring *r)
{
	char c = 'x';

	ring_send(r->next.tcp, &c, 1);
	ring_send(r->prev.tcp, &c, 1);
	ring_receive(r->next.tcp, &c, 1);
	ring_receive(r->prev.tcp, &c, 1);
}

void ring_open(struct ring *r)
{
	struct mrc_context_attr version = { MRC_API_VER_USED, MRC_VENDOR_API_VER_USED };
	struct end to_next, to_prev;

	r->device = open_device(r->opt.device);
	open_memory(r);
	r->ctx = mrc_create_context(r->device, &version);
	if (!r->ctx)
		die("mrc_create_context: %s", strerror(errno));
	r->cq = mrc_create_cq(r->ctx, 2 * RING_QPS * (SENDS + RECEIVES), NULL, NULL, 0);
	if (!r->cq)
		die("mrc_create_cq: %s", strerror(errno));
	open_qps(r, &r->next);
	open_qps(r, &r->prev);
	ring_meet(&r->opt, &r->next.tcp, &r->prev.tcp);
	to_next = end_of(r, &r->next);
	to_prev = end_of(r, &r->prev);
	ring_send(r->next.tcp, &to_next, sizeof(to_next));
	ring_send(r->prev.tcp, &to_prev, sizeof(to_prev));
	connect_link(r, &r->next, &to_next);
	connect_link(r, &r->prev, &to_prev);
	ring_together(r);	/* both can receive */
}

void ring_close(struct ring *r)
{
	int i;

	for (i = 0; i < RING_QPS; i++)
		if (mrc_destroy_qp(r->next.qp[i]) || mrc_destroy_qp(r->prev.qp[i]))
			die("mrc_destroy_qp");
	if (mrc_destroy_cq(r->cq) || mrc_destroy_context(r->ctx))
		die("something is left: %s", strerror(errno));
	ibv_dereg_mr(r->mr);
	ibv_dealloc_pd(r->pd);
	ibv_close_device(r->device);
	free(r->memory);
	close(r->next.tcp);
	close(r->prev.tcp);
}
