// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_agent.c - drives a device by commands of the conformance kit (tools/conform/mrc-conform-active).
 *
 *	mrc_agent [-d DEVICE] [-g GID_INDEX] [-p TCP_PORT]
 *
 * One client at a time connects by TCP and sends commands (tools/conform/README.md), one per line. The agent answers each
 * with a line, "ok ..." or "no ...". Anybody who reaches the port can drive the device: use a trusted network.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>
#include <mrc.h>
#include "example.h"

enum {
	REGION = 64 << 10,	/* memory that the peer writes to */
	SOURCE = 512 << 10,	/* memory that we write from */
	DEPTH = 128,
	IMMS = 64,		/* immediates that are remembered */
	WORD = 64,
	MTU = 1024,
};

enum {
	V_INIT = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	V_RTR = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	V_RTS = IBV_QP_STATE | IBV_QP_SQ_PSN,
	M_RTR = MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST,
	M_RTS = MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT,
};

struct agent {
	struct ibv_context *dev;
	struct ibv_pd *pd;
	struct mrc_context *ctx;
	struct mrc_cq *cq;
	struct mrc_qp *qp;
	struct mrc_qp_attr attr;
	bool trims;
	int gid_index;
	uint8_t region[REGION], source[SOURCE];
	struct ibv_mr *region_mr, *source_mr;
	unsigned int sent, received;
	uint32_t imm[IMMS];
	const char *failed;
};

/* The value of "name=" in @line as a number; @fallback: there is none. */
static uint64_t field(const char *line, const char *name, uint64_t fallback)
{
	char key[WORD];
	const char *at;

	snprintf(key, sizeof(key), " %s=", name);
	at = strstr(line, key);
	return at ? strtoull(at + strlen(key), NULL, 0) : fallback;
}

static bool address(const char *line, union ibv_gid *gid)
{
	const char *at = strstr(line, " addr=");
	char text[WORD] = "::ffff:";
	bool v6;

	if (!at)
		return false;
	at += strlen(" addr=");
	v6 = memchr(at, ':', strcspn(at, " \n"));
	snprintf(text + (v6 ? 0 : 7), sizeof(text) - 7, "%.*s", (int)strcspn(at, " \n"), at);
	return inet_pton(AF_INET6, text, gid) == 1;
}

static enum ibv_mtu mtu_of(uint64_t bytes)
{
	return bytes >= 4096 ? IBV_MTU_4096 : bytes >= 2048 ? IBV_MTU_2048 : bytes >= 1024 ? IBV_MTU_1024 :
	       bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

static void drop(struct agent *a)
{
	if (a->qp)
		mrc_destroy_qp(a->qp);
	if (a->cq)
		mrc_destroy_cq(a->cq);
	a->qp = NULL;
	a->cq = NULL;
}

static int to_rts(struct agent *a, const char *line, const union ibv_gid *peer)
{
	struct ibv_qp_attr v = {
		.qp_state = IBV_QPS_INIT,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.port_num = 1,
		.path_mtu = mtu_of(field(line, "mtu", MTU)),
		.dest_qp_num = (uint32_t)field(line, "qpn", 0),
		.rq_psn = (uint32_t)field(line, "rq_psn", 0),
		.sq_psn = (uint32_t)field(line, "sq_psn", 0),
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = *peer, .sgid_index = (uint8_t)a->gid_index, .hop_limit = 64 },
		},
	};
	int err = mrc_modify_qp(a->qp, &v, V_INIT, &a->attr, 0);

	v.qp_state = IBV_QPS_RTR;
	err = err ? err : mrc_modify_qp(a->qp, &v, V_RTR, &a->attr, M_RTR);
	v.qp_state = IBV_QPS_RTS;
	return err ? err : mrc_modify_qp(a->qp, &v, V_RTS, &a->attr, M_RTS);
}

static void say_open(struct agent *a, const char *line, FILE *out)
{
	struct mrc_qp_init_attr init = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
		.pd = a->pd,
		.protocol_version = MRC_PROTOCOL_VERSION_1,
	};
	union ibv_gid peer;
	uint32_t qpn;
	int err;

	drop(a);
	memset(a->region, 0xee, REGION);
	a->sent = a->received = 0;
	a->failed = "none";
	if (!address(line, &peer)) {
		fputs("no address\n", out);
		return;
	}
	a->cq = mrc_create_cq(a->ctx, 2 * DEPTH, NULL, NULL, 0);
	init.send_cq = init.recv_cq = a->cq;
	a->qp = a->cq ? mrc_create_qp(a->ctx, &init) : NULL;
	err = !a->qp || mrc_get_qpn(a->qp, &qpn) ? errno : to_rts(a, line, &peer);
	if (err)
		fprintf(out, "no connection: %s\n", strerror(err));
	else
		fprintf(out, "ok qpn=%u va=%llu rkey=%u size=%u mpr=%u wimm=%u\n", qpn, (unsigned long long)(uintptr_t)a->region,
			a->region_mr->rkey, REGION, a->attr.mpr.mpr, a->attr.wimm.max_wimm);
}

static void say_write(struct agent *a, const char *line, FILE *out)
{
	uint64_t at = field(line, "at", 0), size = field(line, "size", 0), n = field(line, "count", 1);
	const uint64_t none = ~0ull, imm = field(line, "imm", none);
	struct ibv_send_wr *bad, wr = {
		.opcode = imm == none ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl((uint32_t)imm),
		.wr.rdma = { field(line, "va", 0), (uint32_t)field(line, "rkey", 0) },
	};
	struct ibv_sge sge = { (uintptr_t)a->source + at, (uint32_t)size, a->source_mr->lkey };

	wr.sg_list = &sge;
	wr.num_sge = 1;
	if (!a->qp || size > SOURCE || at > SOURCE - size || n > DEPTH) {
		fputs("no such WRITE\n", out);
		return;
	}
	while (n--) {
		int err = mrc_post_send(a->qp, &wr, &bad);

		if (err) {
			fprintf(out, "no WRITE: %s\n", strerror(err));
			return;
		}
	}
	fputs("ok\n", out);
}

static void say_receive(struct agent *a, const char *line, FILE *out)
{
	uint64_t n = field(line, "count", 1);
	struct ibv_recv_wr *bad, wr = {};

	while (n--)
		if (!a->qp || mrc_post_recv(a->qp, &wr, &bad)) {
			fputs("no receive\n", out);
			return;
		}
	fputs("ok\n", out);
}

static void say_read(struct agent *a, const char *line, FILE *out)
{
	uint64_t at = field(line, "at", 0), size = field(line, "size", 0);

	if (size > REGION || at > REGION - size) {
		fputs("no such bytes\n", out);
		return;
	}
	fputs("ok hex=", out);
	while (size--)
		fprintf(out, "%02x", a->region[at++]);
	fputc('\n', out);
}

static void complete(struct agent *a, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (wc->status != IBV_WC_SUCCESS)
		a->failed = wc->status == IBV_WC_REM_ACCESS_ERR ? "access" : wc->status == IBV_WC_REM_OP_ERR ? "operation" : "other";
	else if (wc->opcode & IBV_WC_RECV)
		a->imm[a->received++ % IMMS] = ntohl(wc->imm_data);
	else
		a->sent++;
}

static void say_state(struct agent *a, FILE *out)
{
	struct ibv_qp_attr v = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	unsigned int i;

	while (a->cq && mrc_poll_cq(a->cq, 1, &wc) == 1)
		complete(a, &wc);
	if (a->qp)
		mrc_query_qp(a->qp, &v, IBV_QP_STATE, NULL, 0, NULL);
	fprintf(out, "ok state=%s sent=%u failed=%s received=%s", v.qp_state == IBV_QPS_RTS ? "rts" : "error", a->sent, a->failed,
		a->received ? "" : "none");
	for (i = 0; i < a->received && i < IMMS; i++)
		fprintf(out, i ? ",%u" : "%u", a->imm[i]);
	fputc('\n', out);
}

static void answer(struct agent *a, const char *line, FILE *out)
{
	if (!strncmp(line, "hello", 5))
		fprintf(out, "ok trim=%d\n", a->trims);
	else if (!strncmp(line, "open ", 5))
		say_open(a, line, out);
	else if (!strncmp(line, "write ", 6))
		say_write(a, line, out);
	else if (!strncmp(line, "receive ", 8))
		say_receive(a, line, out);
	else if (!strncmp(line, "read ", 5))
		say_read(a, line, out);
	else if (!strncmp(line, "state", 5))
		say_state(a, out);
	else
		fputs("no such word\n", out);
	fflush(out);
}

static void die(const char *what)
{
	fprintf(stderr, "mrc_agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void prepare(struct agent *a, const char *name)
{
	struct mrc_device_attr attr;
	unsigned int i;
	int supported;

	a->dev = open_device(name);
	if (mrc_query_device(a->dev, &attr, &supported) || !supported)
		die("not a device of MRC");
	a->trims = attr.cap & MRC_DEVICE_CAP_TRIM_NACK;
	a->ctx = mrc_create_context(a->dev, NULL);
	a->pd = ibv_alloc_pd(a->dev);
	if (!a->ctx || !a->pd)
		die("no context");
	a->region_mr = ibv_reg_mr(a->pd, a->region, REGION, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	a->source_mr = ibv_reg_mr(a->pd, a->source, SOURCE, IBV_ACCESS_LOCAL_WRITE);
	if (!a->region_mr || !a->source_mr)
		die("no memory region");
	for (i = 0; i < SOURCE; i++)
		a->source[i] = (uint8_t)(i * 31 + 7 + (i >> 8));
	/* A peer that checks each packet may be slow: retry without limit. */
	a->attr = (struct mrc_qp_attr) {
		.mpr = { 8, 8 }, .wimm = { 32, 32 }, .timeout = 18, .retry = { 7, 25 },
	};
}

static int listen_at(const char *port)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_family = AF_INET6, .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	const int one = 1;
	int s;

	if (getaddrinfo(NULL, port, &hints, &ai))
		die("no such port");
	s = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s < 0 || bind(s, ai->ai_addr, ai->ai_addrlen) || listen(s, 1))
		die("cannot listen");
	freeaddrinfo(ai);
	return s;
}

int main(int argc, char **argv)
{
	const char *device = NULL, *port = "18517";
	static struct agent a;
	char line[256];
	FILE *in, *out;
	int c, s, fd;

	while ((c = getopt(argc, argv, "d:g:p:")) != -1) {
		switch (c) {
		case 'd': device = optarg; break;
		case 'g': a.gid_index = (int)number(optarg, 0, 255); break;
		case 'p': port = optarg; break;
		default:
			fputs("mrc_agent [-d DEVICE] [-g GID_INDEX] [-p TCP_PORT]\n", stderr);
			return 2;
		}
	}
	prepare(&a, device);
	for (s = listen_at(port); (fd = accept(s, NULL, NULL)) >= 0; ) {
		in = fdopen(fd, "r");
		out = fdopen(dup(fd), "w");
		while (in && out && fgets(line, sizeof(line), in))
			answer(&a, line, out);
		fclose(in);
		fclose(out);
		drop(&a);
	}
	return 1;
}
