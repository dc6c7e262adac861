// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_eve.c - a user without privileges makes every call of a controller, again and again, each round with a device
 * opened anew that is closed in order or dropped.
 *
 *	mrc_eve -d mrc0 -g PEER [-t SECS] [-s SEED]
 *
 * libmrc asks for CAP_NET_ADMIN itself. Whoever is hostile has another library, so this program answers
 * that question in the kernel's place, and the kernel must refuse: what reaches it is EPERM. libmrc keeps profiles that are
 * OFFLINE to itself, and refuses some calls by rules of its own. Queries may succeed. PEER is the IPv6 address that
 * endpoint requests go to.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <mrc_ctl.h>
#include "example.h"

#define EVS	4

/* Shared with the children. */
static struct tally {
	unsigned long rounds, refused, endpoint, queries;
	char wrong[160];
} *tally;

static union ibv_gid own, peer;
static uint64_t state;

/* In the place of libc's: "may this process administer networks" is answered with yes. */
long syscall(long number, ...)
{
	long (*true_one)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_capget) {
		memset((void *)a[1], 0xff, 2 * sizeof(struct __user_cap_data_struct));
		return 0;
	}
	return true_one(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

static void wrong(const char *call, int ret)
{
	snprintf(tally->wrong, sizeof(tally->wrong), "%s: %s, expected EPERM", call, ret ? strerror(errno) : "success");
	_exit(1);
}

static void must_refuse(const char *call, int ret, unsigned long *count)
{
	if (ret != -1 || errno != EPERM)
		wrong(call, ret);
	++*count;
}

/* Of a profile: only ONLINE is the kernel's matter. */
static void may_keep(const char *call, int ret, enum mrc_ctl_profile_state to)
{
	const bool ruled_out = ret == -1 && (errno == EINVAL || errno == EBUSY || errno == ENOENT);

	if (ret == -1 && errno == EPERM)
		tally->refused++;
	else if (!ruled_out && (ret || to == MRC_CTL_PROFILE_ONLINE))
		wrong(call, ret);
}

static struct mrc_ctl_ev an_ev(void)
{
	struct mrc_ctl_ev ev = { .val = { (uint8_t)(192 + draw(64)), (uint8_t)draw(256) }, .port = 1 };

	return ev;
}

/* One step of a format's life. */
static void format(struct mrc_context *ctx, uint64_t id, enum mrc_ctl_profile_state to, bool make)
{
	struct mrc_ctl_ev_fmt_field field = { 16 };
	struct mrc_ctl_ev_fmt_profile_attr a = {
		.profile_state = to,
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
		.ev_fmt_op = { MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, &field, 1 },
	};
	const int more = make ? MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP : 0;

	may_keep("mrc_ctl_modify_ev_fmt_profile",
		 mrc_ctl_modify_ev_fmt_profile(ctx, id, &a, MRC_CTL_EV_FMT_PROFILE_STATE | more), MRC_CTL_PROFILE_OFFLINE);
}

static void evs(struct mrc_context *ctx, uint64_t id, enum mrc_ctl_profile_state to, bool make)
{
	struct mrc_ctl_ev_op_entry e[EVS] = {};
	struct mrc_ctl_ev_profile_attr a = {
		.profile_state = to,
		.ev_mode = MRC_CTL_EV_MODE_EXP,
		.ev_fmt_profile_id = id,
		.ev_count = EVS,
		.ev_min_active = 1,
		.ev_op = { MRC_CTL_EV_OP_REPLACE_EV, e, EVS },
	};
	const int more = make ? MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
				MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EV_OP : 0;
	int i;

	for (i = 0; i < EVS; i++) {
		e[i].ev = MRC_CTL_EV_UNPOPULATED;
		e[i].ev_new = an_ev();
		e[i].state = draw(2) ? MRC_CTL_EV_GOOD : MRC_CTL_EV_DENIED;
	}
	may_keep("mrc_ctl_modify_ev_profile",
		 mrc_ctl_modify_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_STATE | more), to);
}

static void profile(struct mrc_context *ctx)
{
	const uint64_t id = draw(60);

	format(ctx, id, MRC_CTL_PROFILE_OFFLINE, true);
	format(ctx, id, MRC_CTL_PROFILE_ONLINE, false);
	evs(ctx, id, MRC_CTL_PROFILE_OFFLINE, true);
	evs(ctx, id, MRC_CTL_PROFILE_ONLINE, false);
}

static void congestion(struct mrc_context *ctx)
{
	struct mrc_ctl_cc_nscc_cfg cfg = { .base_rtt = (uint32_t)(1 + draw(100000)) };
	struct mrc_ctl_cc_profile_attr a = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE, .algorithm = "uet-1.0-nscc", .cc_config = &cfg,
	};
	const uint64_t id = draw(60);

	may_keep("mrc_ctl_modify_cc_profile",
		 mrc_ctl_modify_cc_profile(ctx, id, &a, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM |
					   MRC_CTL_CC_PROFILE_CONFIG), a.profile_state);
	a.profile_state = MRC_CTL_PROFILE_ONLINE;
	may_keep("mrc_ctl_modify_cc_profile",
		 mrc_ctl_modify_cc_profile(ctx, id, &a, MRC_CTL_CC_PROFILE_STATE), a.profile_state);
}

static void plane(struct mrc_context *ctx)
{
	struct mrc_ctl_port_attr a = { .port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED };

	must_refuse("mrc_ctl_modify_port",
		    mrc_ctl_modify_port(ctx, 1, &a, MRC_CTL_PORT_ADMIN_STATE), &tally->refused);
}

static void endpoint(struct mrc_context *ctx)
{
	struct mrc_ctl_ep_req req = {
		.req_id = (uint16_t)draw(65536), .sgid = own, .dgid = peer,
		.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP, .req_ev = an_ev(),
	};
	struct mrc_ctl_ep_rsp rsp;
	const enum mrc_ctl_ep_op_type op = draw(2) ? MRC_CTL_EP_OP_EV_PROBE : MRC_CTL_EP_OP_PORT_STATUS_UPDATE;
	int n;

	/* A status of 0: all ports of this host are down. */
	must_refuse("mrc_ctl_ep_batch_send_wait",
		    mrc_ctl_ep_batch_send_wait(ctx, (uint8_t)draw(256), op, &req, 1, 1000000, &rsp, &n),
		    &tally->endpoint);
}

static void query(struct mrc_context *ctx)
{
	struct mrc_ctl_ev_op_entry e[EVS];
	struct mrc_ctl_ev_profile_attr a = { .ev_op = { MRC_CTL_EV_OP_QUERY_EV_ARRAY, e, EVS } };

	mrc_ctl_query_ev_profile(ctx, draw(60), &a, MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_EV_OP);
	tally->queries++;
}

static void one_round(const char *device)
{
	static void (*const calls[])(struct mrc_context *) = { profile, congestion, plane, endpoint, query };
	struct ibv_context *verbs = open_device(device);
	struct mrc_context *ctx;
	int i;

	if (ibv_query_gid(verbs, 1, 0, &own))
		exit(1);
	ctx = mrc_create_context(verbs, NULL);
	if (!ctx) {
		snprintf(tally->wrong, sizeof(tally->wrong), "mrc_create_context: %s", strerror(errno));
		_exit(1);
	}
	for (i = 0; i < 60; i++)
		calls[draw(sizeof(calls) / sizeof(calls[0]))](ctx);
	tally->rounds++;
	/* Or as a killed process leaves it. */
	if (draw(2) && (mrc_destroy_context(ctx) || ibv_close_device(verbs)))
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	uint32_t secs = 5;
	time_t end;
	int c, status;
	pid_t pid;

	state = (uint64_t)time(NULL);
	while ((c = getopt(argc, argv, "d:g:t:s:")) != -1) {
		switch (c) {
		case 'd': device = optarg; break;
		case 'g': inet_pton(AF_INET6, optarg, &peer); break;
		case 't': secs = number(optarg, 1, 86400); break;
		case 's': state = strtoull(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		return 1;
	end = time(NULL) + secs;
	do {
		draw(2);	/* another seed for each child */
		pid = fork();
		if (!pid)
			one_round(device);
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			return 1;
	} while (!status && time(NULL) < end);
	if (status) {
		printf("round %lu: %s\n", tally->rounds, *tally->wrong ? tally->wrong : "the process died");
		return 1;
	}
	printf("rounds=%lu refused=%lu endpoint=%lu queries=%lu\n", tally->rounds, tally->refused, tally->endpoint,
	       tally->queries);
	return 0;
}
