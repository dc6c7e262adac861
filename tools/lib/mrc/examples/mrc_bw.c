// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_bw.c - write bandwidth through mrc.h, for messages of each power of two.
 *
 *	mrc_bw -d mrc0 -g 3				one host: waits
 *	mrc_bw -d mrc0 -g 3 fd00:6d72:63::2		the other: writes, and prints
 *
 * The QPs' numbers and addresses are exchanged over TCP (port 18515). Each size is written -n times
 * with a window of WRITEs. Each WRITE has a completion, or with -Q N every Nth. The last WRITE carries an immediate, so
 * that the receiver knows that all have arrived; it then compares every byte.
 * MRC_QP_EV_PROFILE_ID and MRC_QP_CC_PROFILE_ID name profiles; 0 or unset: the device's default.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "example.h"
#include "mrc_bw.h"

#define RECEIVES	4

struct bw {
	struct bw_options opt;
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct mrc_context *ctx;
	struct mrc_comp_channel *channel;	/* with -e */
	struct mrc_cq *cq;
	struct mrc_qp *qp;
	struct bw_end own, peer;
	int tcp;
};

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("mrc_bw: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

/* Byte @i of a message of @size. */
static uint8_t pattern(uint32_t size, uint32_t i)
{
	return (uint8_t)(i * 31 + i / 251 + size);
}

/* ---- resources ---- */

static void check_device(struct bw *b)
{
	struct mrc_device_attr attr;
	struct ibv_port_attr port;
	int supported;

	if (mrc_query_device(b->device, &attr, &supported))
		die("mrc_query_device: %s", strerror(errno));
	if (!supported)
		die("%s does not do MRC", ibv_get_device_name(b->device->device));
	if (ibv_query_port(b->device, 1, &port))
		die("ibv_query_port: %s", strerror(errno));
	if (b->opt.mtu > port.active_mtu)
		b->opt.mtu = port.active_mtu;
	if (b->opt.mpr > attr.mpr_attr.max_mpr)
		die("mpr %u: at most %u", b->opt.mpr, attr.mpr_attr.max_mpr);
}

static void open_all(struct bw *b)
{
	struct mrc_context_attr version = { MRC_API_VER_USED, MRC_VENDOR_API_VER_USED };
	struct mrc_qp_init_attr init = {
		.cap = { .max_send_wr = BW_WINDOW, .max_recv_wr = RECEIVES, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.protocol_version = MRC_PROTOCOL_VERSION_1,
	};
	void *memory;

	b->device = open_device(b->opt.device);
	check_device(b);
	b->pd = ibv_alloc_pd(b->device);
	/* Page-aligned: otherwise the payload of a packet lies in two pages. */
	if (!b->pd || posix_memalign(&memory, (size_t)sysconf(_SC_PAGESIZE), b->opt.max_size))
		die("no memory for %u bytes", b->opt.max_size);
	b->memory = memory;
	b->mr = ibv_reg_mr(b->pd, b->memory, b->opt.max_size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!b->mr)
		die("ibv_reg_mr: %s", strerror(errno));
	b->ctx = mrc_create_context(b->device, &version);
	if (!b->ctx)
		die("mrc_create_context: %s", strerror(errno));
	if (b->opt.events && mrc_create_comp_channel(b->ctx, &b->channel))
		die("mrc_create_comp_channel");
	b->cq = mrc_create_cq(b->ctx, BW_WINDOW + RECEIVES, NULL, b->channel, 0);
	if (!b->cq)
		die("mrc_create_cq: %s", strerror(errno));
	init.send_cq = init.recv_cq = b->cq;
	init.pd = b->pd;
	b->qp = mrc_create_qp(b->ctx, &init);
	if (!b->qp)
		die("mrc_create_qp: %s", strerror(errno));
}

static void close_all(struct bw *b)
{
	if (mrc_destroy_qp(b->qp) || mrc_destroy_cq(b->cq) ||
	    (b->channel && mrc_destroy_comp_channel(b->channel)) || mrc_destroy_context(b->ctx))
		die("something is left: %s", strerror(errno));
	ibv_dereg_mr(b->mr);
	ibv_dealloc_pd(b->pd);
	ibv_close_device(b->device);
	free(b->memory);
	close(b->tcp);
}

/* ---- the connection ---- */

static uint64_t profile_from(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

static void step(struct bw *b, enum ibv_qp_state to, int vmask, int mask)
{
	struct ibv_qp_attr v = {
		.qp_state = to,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.port_num = 1,
		.path_mtu = b->opt.mtu,
		.dest_qp_num = b->peer.qpn,
		.rq_psn = b->peer.psn,
		.sq_psn = b->own.psn,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = (uint8_t)b->opt.gid_index, .hop_limit = 64 },
		},
	};
	struct mrc_qp_attr a = {
		.mpr = { b->opt.mpr, b->opt.mpr },
		.wimm = { 128, 128 },
		.timeout = b->opt.timeout,
		.profile = { profile_from("MRC_QP_EV_PROFILE_ID"),
			     profile_from("MRC_QP_CC_PROFILE_ID") },
		.retry = { 7, 25 },
	};
	int err;

	memcpy(v.ah_attr.grh.dgid.raw, b->peer.gid, sizeof(b->peer.gid));
	err = mrc_modify_qp(b->qp, &v, vmask | IBV_QP_STATE, &a, mask);
	if (err)
		die("mrc_modify_qp to state %d: %s (MRC_DEBUG=1 says more)", to, strerror(err));
}

static void post_receive(struct bw *b)
{
	struct ibv_recv_wr *bad, wr = {};

	if (mrc_post_recv(b->qp, &wr, &bad))
		die("mrc_post_recv");
}

static void connect_all(struct bw *b)
{
	union ibv_gid gid;
	int i;

	if (mrc_get_qpn(b->qp, &b->own.qpn) || ibv_query_gid(b->device, 1, b->opt.gid_index, &gid))
		die("no GID %d: %s", b->opt.gid_index, strerror(errno));
	b->own.psn = (uint32_t)getpid() & 0xffffff;
	b->own.rkey = b->mr->rkey;
	b->own.address = (uintptr_t)b->memory;
	b->own.max_size = b->opt.max_size;
	memcpy(b->own.gid, gid.raw, sizeof(b->own.gid));
	b->tcp = bw_meet(&b->opt);
	bw_swap(b->tcp, &b->own, &b->peer);
	if (b->peer.max_size != b->own.max_size)
		die("the ends have different sizes: %u and %u", b->own.max_size, b->peer.max_size);
	step(b, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	     MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID);
	for (i = 0; i < RECEIVES; i++)
		post_receive(b);
	step(b, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	     MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP);
	step(b, IBV_QPS_RTS, IBV_QP_SQ_PSN,
	     MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT);
	bw_together(b->tcp);
}

/* ---- data ---- */

/* Sleeps until a completion event. */
static void wait_event(struct bw *b)
{
	struct mrc_cq *cq;
	void *context;

	if (mrc_get_cq_event(b->channel, &cq, &context))
		die("mrc_get_cq_event: %s", strerror(errno));
	mrc_ack_cq_events(cq, 1);
}

static struct ibv_wc next_completion(struct bw *b)
{
	struct ibv_wc wc;
	int n;

	n = mrc_poll_cq(b->cq, 1, &wc);
	while (!n && b->channel) {
		if (mrc_req_notify_cq(b->cq, 0))
			die("mrc_req_notify_cq");
		n = mrc_poll_cq(b->cq, 1, &wc);		/* it may have arrived before the queue
							 * was armed */
		if (!n)
			wait_event(b);
	}
	while (!n)
		n = mrc_poll_cq(b->cq, 1, &wc);
	if (n < 0)
		die("the completion queue has overrun");
	if (wc.status != IBV_WC_SUCCESS)
		die("a message failed: %s", ibv_wc_status_str(wc.status));
	return wc;
}

/* @number: from 1. */
static bool completes(const struct bw *b, unsigned int number)
{
	return number == b->opt.count || number % b->opt.moderation == 0;
}

static void post_write(struct bw *b, uint32_t size, unsigned int number)
{
	bool last = number == b->opt.count;
	struct ibv_sge sge = { (uintptr_t)b->memory, size, b->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = last ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = completes(b, number) ? IBV_SEND_SIGNALED : 0,
		.wr_id = number,
		.imm_data = htonl(size),
		.wr.rdma = { b->peer.address, b->peer.rkey },
	};
	int err = mrc_post_send(b->qp, &wr, &bad);

	if (err)
		die("mrc_post_send: %s", strerror(err));
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void write_all(struct bw *b, uint32_t size)
{
	unsigned int posted = 0, done = 0;
	double start;
	uint32_t i;

	for (i = 0; i < size; i++)
		b->memory[i] = pattern(size, i);
	start = seconds();
	while (done < b->opt.count) {
		if (posted < b->opt.count && posted - done < BW_WINDOW) {
			post_write(b, size, ++posted);
			continue;
		}
		done = (unsigned int)next_completion(b).wr_id;
	}
	start = seconds() - start;
	printf("%10u %8u %12.2f\n", size, b->opt.count,
	       (double)size * b->opt.count / start / 1e6);
	fflush(stdout);
}

static void receive_all(struct bw *b, uint32_t size)
{
	struct ibv_wc wc = next_completion(b);
	uint32_t i;

	if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || ntohl(wc.imm_data) != size)
		die("expected the end of messages of %u bytes, got %u", size, ntohl(wc.imm_data));
	for (i = 0; i < size; i++)
		if (b->memory[i] != pattern(size, i))
			die("%u bytes: byte %u is 0x%02x, not 0x%02x", size, i, b->memory[i],
			    pattern(size, i));
	post_receive(b);
}

int main(int argc, char **argv)
{
	struct bw b = {};
	uint32_t size;

	bw_options(&b.opt, argc, argv);
	open_all(&b);
	connect_all(&b);
	if (b.opt.server)
		printf("%10s %8s %12s\n", "bytes", "writes", "MB/s");
	for (size = b.opt.min_size; size && size <= b.opt.max_size; size *= 2) {
		if (b.opt.server)
			write_all(&b, size);
		else
			receive_all(&b, size);
		bw_together(b.tcp);	/* the receiver has checked the data */
	}
	if (!b.opt.server)
		puts("every byte is right");
	close_all(&b);
	return 0;
}
