// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - mrc_failover (failover.h).
 *
 *	mrc_failover -a DEV -b DEV -p PLANES -o PREFIX [-s BYTES] [-d DEPTH] [-i US]
 *		     [-w US] [-e US] [-c US:TOOL:NETNS:LINES]...
 *
 *   -a, -b  RDMA devices of the sender and the receiver
 *   -p      that many planes: namespaces p1, p2, ... with netdevs h1 and h2
 *   -o      PREFIX.trace: the packets, PREFIX.log: messages and commands
 *   -s, -d  bytes of a WRITE, WRITEs posted at a time
 *   -i      one each US microseconds, instead of one after the other
 *   -w, -e  traffic begins so long before time 0, and ends so long after it
 *   -c      at that time give these lines to ip or tc in a namespace; in order of time
 *
 * Begins at a whole second, so that what came before leaves no trace in the numbers.
 * Exit status: 0; 1: a message failed, 3: trouble.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "failover.h"
#include "vcommon.h"

#define COMMANDS_MAX	64
#define HELPERS_MAX	8
#define DRAIN_NS	1000000		/* a ring holds 65,536 packets: 50 ms of 10 Gb/s */
#define SECOND_NS	1000000000ull

struct helper {
	const char *tool, *netns;
	pid_t pid;
	int fd;
};

struct command {
	int64_t at_ns;
	struct helper *helper;
	const char *lines;
	uint64_t begun_ns;
};

enum source { SRC_TRAFFIC, SRC_DRAIN, SRC_DUE, SRC_COMMAND, SRC_END };

static struct command commands[COMMANDS_MAX];
static struct helper helpers[HELPERS_MAX];
static unsigned int n_commands, n_begun, n_helpers;
static uint64_t zero_ns;
static int poll_fd, command_fd;

uint64_t fo_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
}

/* ---- what the loop waits for ---- */

static void watch(int fd, enum source source)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = source };

	if (fd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e))
		vc_die("epoll: %s", strerror(errno));
}

static void set_timer(int fd, uint64_t at_ns, uint64_t interval_ns)
{
	const struct itimerspec when = {
		.it_value = as_timespec(at_ns), .it_interval = as_timespec(interval_ns),
	};

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL))
		vc_die("timerfd: %s", strerror(errno));
}

static int watch_timer(enum source source, uint64_t at_ns, uint64_t interval_ns)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	watch(fd, source);
	if (at_ns)
		set_timer(fd, at_ns, interval_ns);
	return fd;
}

/* ---- commands ---- */

/*
 * Starting a program takes some 10 us even in virtual time, as each look at the clock
 * does. So ip(8) and tc(8) are started before, and read what to do when it is time.
 */
static struct helper *find_helper(const char *tool, const char *netns)
{
	struct helper *h;

	for (h = helpers; h < helpers + n_helpers; h++)
		if (!strcmp(h->tool, tool) && !strcmp(h->netns, netns))
			return h;
	if (n_helpers == HELPERS_MAX)
		vc_die("too many helpers");
	n_helpers++;
	*h = (struct helper){ .tool = tool, .netns = netns };
	return h;
}

static void start_helper(struct helper *h)
{
	char netns[64];
	char *const argv[] = {
		"nsenter", netns, "--", (char *)h->tool, "-b", "-", NULL,
	};
	posix_spawn_file_actions_t actions;
	int fd[2];

	snprintf(netns, sizeof(netns), "--net=/run/netns/%s", h->netns);
	if (pipe2(fd, O_CLOEXEC))
		vc_die("pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[0], 0);
	errno = posix_spawnp(&h->pid, argv[0], &actions, NULL, argv, environ);
	if (errno)
		vc_die("%s: %s", h->tool, strerror(errno));
	posix_spawn_file_actions_destroy(&actions);
	close(fd[0]);
	h->fd = fd[1];
}

static void arm_command(void)
{
	if (n_begun < n_commands)
		set_timer(command_fd, zero_ns + (uint64_t)commands[n_begun].at_ns, 0);
}

static void begin_command(void)
{
	struct command *c = &commands[n_begun++];
	size_t len = strlen(c->lines);

	c->begun_ns = fo_now_ns();
	if (write(c->helper->fd, c->lines, len) != (ssize_t)len ||
	    write(c->helper->fd, "\n", 1) != 1)
		vc_die("%s: %s", c->lines, strerror(errno));
	arm_command();
}

/* They end with their input, or at a command that failed. */
static void end_helpers(void)
{
	unsigned int i;
	int status;

	for (i = 0; i < n_helpers; i++) {
		close(helpers[i].fd);
		if (waitpid(helpers[i].pid, &status, 0) < 0 || status)
			vc_die("%s in %s failed", helpers[i].tool, helpers[i].netns);
	}
}

static void write_log(const char *prefix)
{
	char path[256];
	unsigned int i;
	FILE *f;

	snprintf(path, sizeof(path), "%s.log", prefix);
	f = fopen(path, "w");
	if (!f)
		vc_die("%s: %s", path, strerror(errno));
	fprintf(f, "zero %llu\n", (unsigned long long)zero_ns);
	for (i = 0; i < n_begun; i++)
		fprintf(f, "command %llu\n", (unsigned long long)commands[i].begun_ns);
	fo_traffic_write(f);
	if (fclose(f))
		vc_die("%s: %s", path, strerror(errno));
}

/* ---- the loop ---- */

static void clear(int fd)
{
	uint64_t expirations;

	while (read(fd, &expirations, sizeof(expirations)) > 0)
		;
}

static bool run(int due_fd, int drain_fd)
{
	struct epoll_event e;

	for (;;) {
		if (epoll_wait(poll_fd, &e, 1, -1) != 1)
			continue;
		switch ((enum source)e.data.u32) {
		case SRC_TRAFFIC:
			if (!fo_traffic_completions())
				return false;
			break;
		case SRC_DUE:
			clear(due_fd);
			fo_traffic_due();
			break;
		case SRC_DRAIN:
			clear(drain_fd);
			fo_trace_drain();
			break;
		case SRC_COMMAND:
			clear(command_fd);
			begin_command();
			break;
		case SRC_END:
			return true;
		}
	}
}

/* US:TOOL:NETNS:LINES */
static void add_command(char *arg)
{
	const char *at = strsep(&arg, ":"), *tool = strsep(&arg, ":"), *netns = strsep(&arg, ":");

	if (!arg || n_commands == COMMANDS_MAX)
		vc_die("-c US:TOOL:NETNS:LINES, at most %d", COMMANDS_MAX);
	commands[n_commands++] = (struct command){
		.at_ns = (int64_t)(atof(at) * 1000), .helper = find_helper(tool, netns),
		.lines = arg,
	};
}

static void sleep_until(uint64_t ns)
{
	const struct timespec when = as_timespec(ns);

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &when, NULL))
		;
}

struct options {
	struct fo_traffic_opts traffic;
	uint64_t warm_ns, end_ns;
	unsigned int planes;
	const char *prefix;
};

static uint64_t as_ns(const char *us)
{
	return (uint64_t)(atof(us) * 1000);
}

static bool parse(int argc, char **argv, struct options *o)
{
	int opt;

	while ((opt = getopt(argc, argv, "a:b:p:o:s:d:i:w:e:c:")) > 0)
		switch (opt) {
		case 'a': o->traffic.from = optarg; break;
		case 'b': o->traffic.to = optarg; break;
		case 'p': o->planes = (unsigned int)atoi(optarg); break;
		case 'o': o->prefix = optarg; break;
		case 's': o->traffic.size = (uint32_t)atoi(optarg); break;
		case 'd': o->traffic.depth = (uint32_t)atoi(optarg); break;
		case 'i': o->traffic.interval_ns = as_ns(optarg); break;
		case 'w': o->warm_ns = as_ns(optarg); break;
		case 'e': o->end_ns = as_ns(optarg); break;
		case 'c': add_command(optarg); break;
		default: return false;
		}
	return o->prefix && o->traffic.from && o->traffic.to && optind == argc;
}

/* Everything is ready at a whole second, the next one is the beginning. */
static uint64_t prepare(const struct options *o)
{
	uint64_t at_ns = (fo_now_ns() / SECOND_NS + 2) * SECOND_NS;
	unsigned int i;

	sleep_until(at_ns);
	fo_trace_open(o->planes);
	fo_traffic_open(&o->traffic);
	for (i = 0; i < n_helpers; i++)
		start_helper(&helpers[i]);
	at_ns += SECOND_NS;
	sleep_until(at_ns);
	return at_ns;
}

static bool measure(const struct options *o, uint64_t begin_ns)
{
	const uint64_t each_ns = o->traffic.interval_ns;
	int due_fd, drain_fd;

	zero_ns = begin_ns + o->warm_ns;
	poll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch(fo_traffic_fd(), SRC_TRAFFIC);
	drain_fd = watch_timer(SRC_DRAIN, begin_ns + DRAIN_NS, DRAIN_NS);
	due_fd = watch_timer(SRC_DUE, each_ns ? begin_ns + each_ns : 0, each_ns);
	command_fd = watch_timer(SRC_COMMAND, 0, 0);
	arm_command();
	watch_timer(SRC_END, zero_ns + o->end_ns, 0);
	fo_traffic_start();
	return run(due_fd, drain_fd);
}

int main(int argc, char **argv)
{
	struct options o = { .traffic = { .size = 65536, .depth = 16 }, .planes = 4 };
	char path[256];
	bool good;

	if (!parse(argc, argv, &o)) {
		fprintf(stderr, "mrc_failover: see main.c\n");
		return VC_EXIT_USAGE;
	}
	good = measure(&o, prepare(&o));
	fo_trace_drain();
	end_helpers();
	snprintf(path, sizeof(path), "%s.trace", o.prefix);
	if (!fo_trace_write(path))
		vc_die("the trace has holes");
	write_log(o.prefix);
	fo_traffic_close();
	return good ? VC_EXIT_OK : VC_EXIT_BAD;
}
