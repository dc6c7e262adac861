// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qps.c - many RC queue pairs: made, connected, written through, destroyed.
 *
 *	mrc_qps -d DEV [-D DEV2] [-n QPS] [-b BATCH] [-w]
 *
 * Half of them are DEV's, half DEV2's (the same device by default), in pairs. By each pair 64 bytes go, that no other
 * pair has, and all of them are looked at. Batch after batch, until so many were made. Prints what each step
 * took, and what of MemAvailable a queue pair takes, connected, and when it has written. -w: with the first batch connected, waits for a line of input.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>
#include "vcommon.h"

#define LEN		64
#define STALL_S		120

struct end {
	struct vc_dev dev;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp **qp;
	uint8_t *area;
};

static struct end end[2];
static unsigned int batch = 1000, total = 10000;
static uint64_t made_ns, connected_ns, written_ns, destroyed_ns;
static int64_t kib_for_batch, kib_written;

static int64_t available_kib(void)
{
	long long kib = -1;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lld", &kib) != 1)
			kib = -1;
	if (f)
		fclose(f);
	return kib;
}

static void open_end(struct end *e, const char *name)
{
	const struct vc_opts opts = { .dev = name, .gid_index = -1 };
	const size_t len = (size_t)batch / 2 * LEN;

	vc_open(&e->dev, &opts);
	e->qp = calloc(batch / 2, sizeof(*e->qp));
	e->area = aligned_alloc(4096, (len + 4095) / 4096 * 4096);
	if (!e->qp || !e->area)
		vc_die("no memory");
	e->cq = ibv_create_cq(e->dev.ctx, (int)batch, NULL, NULL, 0);
	e->mr = ibv_reg_mr(e->dev.pd, e->area, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!e->cq || !e->mr)
		vc_die("ibv_create_cq or ibv_reg_mr: %s", strerror(errno));
}

static void close_end(struct end *e)
{
	if (ibv_dereg_mr(e->mr) || ibv_destroy_cq(e->cq))
		vc_die("cleaning up: %s", strerror(errno));
	vc_close(&e->dev);
	free(e->qp);
	free(e->area);
}

static void connect_qp(struct end *e, struct ibv_qp *qp, const struct end *peer, uint32_t qpn)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn,
		.min_rnr_timer = 12, .ah_attr = {
			.is_global = 1, .port_num = 1, .grh = {
				.dgid = peer->dev.gid, .hop_limit = 64,
				.sgid_index = (uint8_t)e->dev.gid_index,
			},
		},
	};
	int err = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);

	if (err)
		vc_die("QP to RTR: %s", strerror(err));
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7 };
	err = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (err)
		vc_die("QP to RTS: %s", strerror(err));
}

static void make(unsigned int pairs)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1,
	};
	unsigned int i, j;

	for (i = 0; i < pairs; i++)
		for (j = 0; j < 2; j++)
			end[j].qp[i] = vc_qp(&end[j].dev, end[j].cq, &cap, IBV_ACCESS_REMOTE_WRITE);
}

static void connect_all(unsigned int pairs)
{
	unsigned int i, j;

	for (i = 0; i < pairs; i++)
		for (j = 0; j < 2; j++)
			connect_qp(&end[j], end[j].qp[i], &end[!j], end[!j].qp[i]->qp_num);
}

static void post_write(unsigned int i)
{
	struct ibv_sge sge = { (uintptr_t)end[0].area + i * LEN, LEN, end[0].mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)end[1].area + i * LEN, end[1].mr->rkey },
	};
	int err = ibv_post_send(end[0].qp[i], &wr, &bad);

	if (err)
		vc_die("ibv_post_send: %s", strerror(err));
}

static void await(unsigned int n)
{
	uint64_t last = vc_now_ns();
	struct ibv_wc wc;

	while (n) {
		int got = ibv_poll_cq(end[0].cq, 1, &wc);

		if (got < 0 || (got && wc.status))
			vc_die("QP %llu: %s", (unsigned long long)wc.wr_id,
			       got < 0 ? "ibv_poll_cq" : ibv_wc_status_str(wc.status));
		if (!got && vc_now_ns() - last > STALL_S * 1000000000ull)
			vc_die("%u WRITEs never completed", n);
		if (!got)
			usleep(200);
		else
			last = vc_now_ns();
		n -= (unsigned int)got;
	}
}

/* By each pair its own bytes; 64 at a time are under way. */
static void write_all(unsigned int pairs, uint64_t seed)
{
	const size_t len = (size_t)pairs * LEN;
	unsigned int i;
	size_t j;

	for (j = 0; j < len; j++)
		end[0].area[j] = (uint8_t)vc_mix(seed << 32 ^ j);
	memset(end[1].area, 0, len);
	for (i = 0; i < pairs; i++) {
		post_write(i);
		if (i % 64 == 63)
			await(64);
	}
	await(pairs % 64);
	for (j = 0; j < len; j++)
		if (end[1].area[j] != (uint8_t)vc_mix(seed << 32 ^ j)) {
			printf("FAIL: byte %zu of pair %zu is wrong\n", j % LEN, j / LEN);
			exit(VC_EXIT_BAD);
		}
}

static void destroy(unsigned int pairs)
{
	unsigned int i, j;

	for (i = 0; i < pairs; i++)
		for (j = 0; j < 2; j++)
			if (ibv_destroy_qp(end[j].qp[i]))
				vc_die("ibv_destroy_qp: %s", strerror(errno));
}

static void one_batch(unsigned int qps, uint64_t number, bool wait)
{
	const int64_t before = available_kib();
	const uint64_t t0 = vc_now_ns();
	uint64_t t1, t2, t3;
	char line[16];

	make(qps / 2);
	t1 = vc_now_ns();
	connect_all(qps / 2);
	t2 = vc_now_ns();
	if (!number)
		kib_for_batch = before - available_kib();
	write_all(qps / 2, number);
	t3 = vc_now_ns();
	if (!number)
		kib_written = before - available_kib();
	if (wait) {
		puts("waiting");
		if (!fgets(line, sizeof(line), stdin))
			vc_die("no input");
	}
	made_ns += t1 - t0;
	connected_ns += t2 - t1;
	written_ns += t3 - t2;
	t3 = vc_now_ns();
	destroy(qps / 2);
	destroyed_ns += vc_now_ns() - t3;
}

static double rate(uint64_t ns)
{
	return total * 1e9 / (double)ns;
}

int main(int argc, char **argv)
{
	const char *dev = NULL, *dev2 = NULL;
	uint64_t number = 0;
	unsigned int left;
	bool wait = false;
	int o;

	while ((o = getopt(argc, argv, "d:D:n:b:w")) != -1) {
		switch (o) {
		case 'd': dev = optarg; break;
		case 'D': dev2 = optarg; break;
		case 'n': total = (unsigned int)strtoul(optarg, NULL, 0); break;
		case 'b': batch = (unsigned int)strtoul(optarg, NULL, 0); break;
		case 'w': wait = true; break;
		default:
			fputs("usage: mrc_qps -d DEV [-D DEV2] [-n QPS] [-b BATCH] [-w]\n", stderr);
			return VC_EXIT_USAGE;
		}
	}
	if (!dev || batch < 2 || batch % 2 || total < batch || total % 2)
		vc_die("-d is missing, or -n and -b are not even");
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_end(&end[0], dev);
	open_end(&end[1], dev2 ? dev2 : dev);
	for (left = total; left; number++) {
		const unsigned int n = left < batch ? left : batch;

		one_batch(n, number, wait && !number);
		left -= n;
	}
	close_end(&end[0]);
	close_end(&end[1]);
	printf("ok qps=%u made_per_s=%.0f connected_per_s=%.0f written_per_s=%.0f destroyed_per_s=%.0f "
	       "kib_per_qp=%.1f kib_written=%.1f\n", total, rate(made_ns), rate(connected_ns), rate(written_ns) / 2,
	       rate(destroyed_ns), (double)kib_for_batch / batch, (double)kib_written / batch);
	return VC_EXIT_OK;
}
