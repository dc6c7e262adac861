// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_fuzz.c - commands on all objects of verbs, in any order, right and wrong, through both interfaces of
 * uverbs, some damaged on their way, some while a thread scribbles over the rings.
 *
 *	mrc_fuzz -d DEV [-t SECS] [-s SEED] [-r ROUND] [-a FILE]
 *
 * Each round is a process with a seed of its own and one of six ways. It ends by itself, with everything destroyed
 * or everything open. A round in which nothing is damaged must find what fuzz_objects.c, fuzz_use.c and fuzz_qp.c say; the
 * others may die or wait of themselves, and are killed then. None may hang in the kernel. What was found is told with
 * the -s and -r that repeat it. Whether the kernel complained or kept something, others look.
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "fuzz.h"
#include "scribbler.h"

#define STEPS		600
#define HANG_S		300
#define DAMAGED_S	20	/* libibverbs, told nonsense, may wait for itself */

struct fuzz fuzz;

/* By round % 6. */
static const struct way {
	const char *name;
	enum damage_way by;
	bool damage, scribble;
} ways[] = {
	{ "ioctl", WAY_IOCTL, false, false },
	{ "write", WAY_WRITE, false, false },
	{ "damaged ioctl", WAY_IOCTL, true, false },
	{ "damaged write", WAY_WRITE, true, false },
	{ "ioctl, scribbled rings", WAY_IOCTL, false, true },
	{ "damaged write, scribbled rings", WAY_WRITE, true, true },
};

#define N_WAYS	(sizeof(ways) / sizeof(ways[0]))

static struct {
	uint64_t rounds, killed, made, destroyed, refused, busy, posted, completed, damaged, taken, hunts, reopened,
		imported;
} *sum;

static struct vc_opts opts = { .gid_index = -1 };
static uint64_t base_seed, round_number;
static const char *prey;	/* a file of another user's numbers, or NULL */

uint64_t fuzz_draw(uint64_t below)
{
	return below ? vc_mix(++fuzz.state) % below : 0;
}

bool fuzz_known_errno(int err)
{
	static const int known[] = {
		EINVAL, EOPNOTSUPP, ENOMEM, EFAULT, ENOSPC, EBUSY, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT,
		EADDRNOTAVAIL, ENODATA, ENODEV, ENOENT, EPERM, EACCES, ENOSYS, EPROTONOSUPPORT,
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (err == known[i])
			return true;
	return false;
}

void fuzz_find(const char *cond, const char *fmt, ...)
{
	va_list args;

	printf("FOUND in step %llu, \"%s\" does not hold: ", (unsigned long long)fuzz.step, cond);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	_exit(VC_EXIT_BAD);
}

static void account(void)
{
	sum->made += fuzz.made;
	sum->destroyed += fuzz.destroyed;
	sum->refused += fuzz.refused;
	sum->busy += fuzz.busy;
	sum->posted += fuzz.posted;
	sum->completed += fuzz.completed;
	sum->hunts += fuzz.hunts;
	sum->reopened += fuzz.reopened;
	sum->imported += fuzz.imported;
	sum->damaged += fuzz_damaged;
	sum->taken += fuzz_damaged_taken;
	fuzz.made = fuzz.destroyed = fuzz.refused = fuzz.busy = fuzz.posted = fuzz.completed = fuzz.hunts = fuzz.reopened = 0;
	fuzz.imported = 0;
	fuzz_damaged = fuzz_damaged_taken = 0;
}

/* Memory of ours, and behind it some that nobody may touch; what is unmapped would be used for rings. */
static void make_area(void)
{
	fuzz.area = mmap(NULL, FUZZ_AREA + (1 << 20), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fuzz.area == MAP_FAILED || mprotect(fuzz.area + FUZZ_AREA, 1 << 20, PROT_NONE))
		vc_die("no memory");
}

static void fuzz_child(const struct way *way)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuzz.seed = fuzz.state = vc_mix(base_seed ^ vc_mix(round_number));
	fuzz.strict = !way->damage && !way->scribble;
	make_area();
	fuzz_damage(way->by, 0);
	if (prey)
		fuzz_prey_load(prey);
	vc_open(&fuzz.dev, &opts);
	if (way->damage)
		fuzz_damage(way->by, 2 + (unsigned int)fuzz_draw(12));
	if (way->scribble)
		scribbler_begin(fuzz.seed);
	for (fuzz.step = 0; fuzz.step < STEPS; fuzz.step++) {
		if (fuzz_once_in(3))
			fuzz_create();
		else if (fuzz_once_in(6))
			fuzz_destroy_any();
		else
			fuzz_use();
		if (fuzz_preys(40))
			fuzz_prey_reopen();
		if (fuzz_preys(40))
			fuzz_prey_import();
		if (!(fuzz.step % 16))
			account();
	}
	if (fuzz_once_in(2)) {
		fuzz_destroy_all();
		fuzz_damage(way->by, 0);
		if (fuzz.strict)
			vc_close(&fuzz.dev);
	}
	account();
	_exit(0);
}

/* ---- the parent */

static bool found(const struct way *way, const char *what)
{
	printf("FOUND: %s, in round %llu (%s); repeat: mrc_fuzz -s %llu -r %llu\n", what,
	       (unsigned long long)round_number, way->name, (unsigned long long)base_seed,
	       (unsigned long long)round_number);
	return false;
}

/* Where it hangs, as the kernel knows it. */
static void show_stack(pid_t pid)
{
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/stack", pid);
	f = fopen(line, "r");
	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
	if (f)
		fclose(f);
}

static bool judge(const struct way *way, int status)
{
	char text[64];

	if (WIFSIGNALED(status) && (way->damage || way->scribble)) {
		sum->killed++;
		return true;
	}
	if (WIFEXITED(status) && (!WEXITSTATUS(status) || way->damage || way->scribble))
		return true;
	snprintf(text, sizeof(text), "it ended by %s %d", WIFSIGNALED(status) ? "signal" : "status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return found(way, text);
}

static bool one_round(void)
{
	const struct way *way = &ways[round_number % N_WAYS];
	const bool own_fault = way->damage || way->scribble;
	uint64_t end = vc_now_ns() + (own_fault ? DAMAGED_S : HANG_S) * 1000000000ull;
	bool killed = false;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		vc_die("fork: %s", strerror(errno));
	if (!pid)
		fuzz_child(way);
	while (!waitpid(pid, &status, WNOHANG)) {
		usleep(2000);
		if (vc_now_ns() < end)
			continue;
		if (killed || !own_fault) {
			show_stack(pid);
			kill(pid, SIGKILL);
			return found(way, "it hangs");
		}
		kill(pid, SIGKILL);
		killed = true;
		end = vc_now_ns() + HANG_S * 1000000000ull;
	}
	sum->rounds++;
	return judge(way, status);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: mrc_fuzz -d DEV [-t SECS] [-s SEED] [-r ROUND] [-a FILE]\n"
	      "  -t SECS   rounds, until so long has passed (10)\n"
	      "  -s SEED   all follows from it (the clock)\n"
	      "  -r ROUND  this one only\n"
	      "  -a FILE   to disturb another user, whose numbers are there (fuzz_prey.c)\n", stderr);
	exit(VC_EXIT_USAGE);
}

int main(int argc, char **argv)
{
	uint64_t seconds = 10, end;
	bool ok = true, only = false;
	int o;

	base_seed = (uint64_t)time(NULL);
	while ((o = getopt(argc, argv, "d:t:s:r:a:")) != -1) {
		switch (o) {
		case 'd': opts.dev = optarg; break;
		case 't': seconds = strtoull(optarg, NULL, 0); break;
		case 's': base_seed = strtoull(optarg, NULL, 0); break;
		case 'a': prey = optarg; break;
		case 'r': round_number = strtoull(optarg, NULL, 0); only = true; break;
		default: usage();
		}
	}
	if (optind < argc)
		usage();
	sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sum == MAP_FAILED)
		vc_die("no memory");
	printf("seed %llu\n", (unsigned long long)base_seed);
	end = vc_now_ns() + seconds * 1000000000ull;
	do {
		ok = one_round();
		round_number++;
	} while (ok && !only && (vc_now_ns() < end || round_number < N_WAYS));
	printf("rounds=%llu killed=%llu made=%llu destroyed=%llu refused=%llu busy=%llu posted=%llu "
	       "completed=%llu damaged=%llu taken=%llu hunts=%llu reopened=%llu imported=%llu\n", (unsigned long long)sum->rounds,
	       (unsigned long long)sum->killed, (unsigned long long)sum->made,
	       (unsigned long long)sum->destroyed, (unsigned long long)sum->refused,
	       (unsigned long long)sum->busy, (unsigned long long)sum->posted,
	       (unsigned long long)sum->completed, (unsigned long long)sum->damaged,
	       (unsigned long long)sum->taken, (unsigned long long)sum->hunts,
	       (unsigned long long)sum->reopened, (unsigned long long)sum->imported);
	return ok ? VC_EXIT_OK : VC_EXIT_BAD;
}
