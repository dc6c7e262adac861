// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_talk.c - one RC queue pair that does as it is told, line by line.
 *
 *	mrc_talk -d DEVICE [-g GID_INDEX] [-n] [-u UID]
 *
 * With -n it opens the device, moves to a network namespace of its own, imports the device and makes the queue pair
 * there. With -u it becomes UID before it imports. So a device that one user opened is used by another.
 *
 * Prints "qpn N gid G", then answers each line of its input with one line:
 *
 *	rtr QPN RQ_PSN GID	"rtr ok", or "rtr ERROR"
 *	rts SQ_PSN		"rts ok", or "rts ERROR"
 *	send TEXT		"send success", or the status of its completion
 *	post TEXT		"post ok": as send, and its completion is not waited for
 *	wait			the completion of a post
 *	recv			"recv TEXT" of the next message; "recv nothing" if none comes for a second
 *	reset			"reset ok": back to INIT
 *	quit			it ends
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include "vcommon.h"

#define SLOTS	16
#define SLOT	256
#define LONG_MS	120000

static struct vc_dev dev;
static struct ibv_cq *scq, *rcq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char mem[2 * SLOTS][SLOT];	/* receives, sends */

static void say(const char *what, int err)
{
	printf("%s %s\n", what, err ? strerrorname_np(err) : "ok");
}

static void post_recv(uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)mem[slot], SLOT, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(mem[slot], 0, SLOT);
	if (ibv_post_recv(qp, &wr, &bad))
		vc_die("ibv_post_recv");
}

static bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	for (; ms > 0; ms -= 5) {
		if (ibv_poll_cq(cq, 1, wc) > 0)
			return true;
		usleep(5000);
	}
	return false;
}

static void to_init(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	uint64_t i;

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		vc_die("QP to INIT");
	for (i = 0; i < SLOTS; i++)
		post_recv(i);
}

static void rtr(const char *args)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = dev.mtu,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 64 } },
	};
	char gid[INET6_ADDRSTRLEN];

	attr.ah_attr.grh.sgid_index = (uint8_t)dev.gid_index;
	if (sscanf(args, "%u %u %45s", &attr.dest_qp_num, &attr.rq_psn, gid) != 3 ||
	    inet_pton(AF_INET6, gid, &attr.ah_attr.grh.dgid) != 1)
		vc_die("rtr QPN RQ_PSN GID");
	say("rtr", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

static void rts(const char *args)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = (uint32_t)strtoul(args, NULL, 0),
	};

	say("rts", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void post_send(const char *text)
{
	static uint64_t n;
	char *at = mem[SLOTS + n++ % SLOTS];
	struct ibv_sge sge = { (uintptr_t)at, (uint32_t)strlen(text) + 1, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	snprintf(at, SLOT, "%s", text);
	if (ibv_post_send(qp, &wr, &bad))
		vc_die("ibv_post_send");
}

static void done(const char *what)
{
	struct ibv_wc wc;

	if (!wait_wc(scq, &wc, LONG_MS))
		printf("%s nothing\n", what);
	else
		printf("%s %s\n", what, ibv_wc_status_str(wc.status));
}

static void recv_one(void)
{
	struct ibv_wc wc;

	if (!wait_wc(rcq, &wc, 1000)) {
		puts("recv nothing");
	} else if (wc.status) {
		printf("recv %s\n", ibv_wc_status_str(wc.status));
	} else {
		printf("recv %.*s\n", SLOT - 1, mem[wc.wr_id]);
		post_recv(wc.wr_id);
	}
}

static void obey(char *line)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	char *args = line + strcspn(line, " \n");

	line[strcspn(line, "\n")] = 0;
	if (*args)
		*args++ = 0;
	if (!strcmp(line, "rtr")) {
		rtr(args);
	} else if (!strcmp(line, "rts")) {
		rts(args);
	} else if (!strcmp(line, "send")) {
		post_send(args);
		done(line);
	} else if (!strcmp(line, "post")) {
		post_send(args);
		say(line, 0);
	} else if (!strcmp(line, "wait")) {
		done(line);
	} else if (!strcmp(line, "recv")) {
		recv_one();
	} else if (!strcmp(line, "reset")) {
		if (ibv_modify_qp(qp, &reset, IBV_QP_STATE))
			vc_die("QP to RESET");
		to_init();
		say(line, 0);
	} else {
		vc_die("unknown: %s", line);
	}
}

/* The descriptor of the device is all that the user @uid has, @apart: in a network namespace of its own. */
static void lend_to(uid_t uid, bool apart)
{
	struct ibv_context *ctx;

	if (apart && unshare(CLONE_NEWNET))
		vc_die("no network namespace");
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		vc_die("to be user %u", uid);
	ctx = ibv_import_device(dup(dev.ctx->cmd_fd));
	dev.pd = ctx ? ibv_import_pd(ctx, dev.pd->handle) : NULL;
	dev.ctx = ctx;
	if (!dev.pd)
		vc_die("no import");
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = SLOTS, .max_recv_wr = SLOTS, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct vc_opts o = { .gid_index = -1 };
	char line[SLOT], gid[INET6_ADDRSTRLEN];
	bool apart = false;
	uid_t uid = 0;
	int c;

	while ((c = getopt(argc, argv, "d:g:nu:")) != -1) {
		if (c == 'd')
			o.dev = optarg;
		else if (c == 'g')
			o.gid_index = atoi(optarg);
		else if (c == 'n')
			apart = true;
		else if (c == 'u')
			uid = (uid_t)atoi(optarg);
		else
			return VC_EXIT_USAGE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	vc_open(&dev, &o);
	if (uid || apart)
		lend_to(uid, apart);
	scq = init.send_cq = ibv_create_cq(dev.ctx, 2 * SLOTS, NULL, NULL, 0);
	rcq = init.recv_cq = ibv_create_cq(dev.ctx, 2 * SLOTS, NULL, NULL, 0);
	mr = ibv_reg_mr(dev.pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	qp = scq && rcq && mr ? ibv_create_qp(dev.pd, &init) : NULL;
	if (!qp)
		vc_die("no QP");
	to_init();
	printf("qpn %u gid %s\n", qp->qp_num, inet_ntop(AF_INET6, dev.gid.raw, gid, sizeof(gid)));
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n"))
		obey(line);
	return VC_EXIT_OK;
}
