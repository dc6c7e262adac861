// SPDX-License-Identifier: GPL-2.0
// swarm.cc - runs many seeds (swarm.h).
//
// Each worker takes every jobs-th seed. Each seed runs in a child process, so an assertion of the
// engine, a crash or an endless loop fails only that seed.
#include "swarm.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

namespace sim {

namespace {

// What a worker tells at its end; plain bytes through a pipe.
struct totals {
    u64 seeds = 0, failed = 0, slowest_seed = 0, slowest_ns = 0;
    bool bad_options = false;
    result sum;
};

void write_all(int fd, const void *p, size_t n)
{
    const char *c = static_cast<const char *>(p);

    for (ssize_t k; n && (k = write(fd, c, n)) > 0; c += k)
        n -= static_cast<size_t>(k);
}

bool read_all(int fd, void *p, size_t n)
{
    char *c = static_cast<char *>(p);

    for (ssize_t k; n && (k = read(fd, c, n)) > 0; c += k)
        n -= static_cast<size_t>(k);
    return !n;
}

// CPU time, so that a loaded machine fails nobody.
void bite_after(u64 seconds)
{
    itimerval t = {};

    t.it_value.tv_sec = static_cast<time_t>(seconds);
    setitimer(ITIMER_PROF, &t, nullptr);
}

// The watchdog's clock never reaches the simulation.
outcome in_child(const options &o, u64 seed)
{
    outcome out;
    int fd[2], status = 0;

    std::fflush(stdout);
    if (pipe(fd))
        throw std::runtime_error("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        bite_after(60);
        out = run_seed(o, seed, false);
        write_all(fd[1], &out, sizeof(out));
        _exit(0);
    }
    close(fd[1]);
    bool whole = read_all(fd[0], &out, sizeof(out));
    close(fd[0]);
    waitpid(pid, &status, 0);
    if (whole)
        return out;
    out = {};
    std::snprintf(out.why, sizeof(out.why),
                  WIFSIGNALED(status) ? "ended by signal %d%s" : "exit %d%s",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                  WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? " (did not end)" : "");
    return out;
}

void add(result &sum, const result &r)
{
    sum.events += r.events;
    sum.bytes += r.bytes;
    sum.failed_qps += r.failed_qps;
    sum.ties += r.ties;
    sum.end_ns += r.end_ns;
    sum.net.sent += r.net.sent;
    sum.net.delivered += r.net.delivered;
    sum.net.lost += r.net.lost;
    sum.net.overflowed += r.net.overflowed;
    sum.net.unreachable += r.net.unreachable;
    sum.net.corrupted += r.net.corrupted;
    sum.net.trimmed += r.net.trimmed;
    sum.net.marked += r.net.marked;
    sum.net.duplicated += r.net.duplicated;
#define X(name, help) sum.seen.name += r.seen.name;
    SIM_COUNTS(X)
#undef X
#define X(name, help) sum.stats.name += r.stats.name;
    MRC_STATS(X)
#undef X
}

void one_of_many(u64 seed, const swarm_range &range, const std::vector<std::string> &sets, totals &t)
{
    options o = options::draw(seed);

    if (!apply_sets(o, sets)) {
        t.bad_options = true;
        return;
    }
    outcome out = in_child(o, seed);
    t.seeds++;
    if (range.hashes)
        std::printf("%llu %016llx\n", (unsigned long long)seed, (unsigned long long)out.res.hash);
    if (!out.ok) {
        std::string extra;

        for (const std::string &s : sets)
            extra += " --set " + s;
        std::printf("FAIL mrcsim --seed %llu%s: %s\n", (unsigned long long)seed, extra.c_str(),
                    out.why);
        std::fflush(stdout);
        t.failed++;
        return;
    }
    add(t.sum, out.res);
    if (out.res.end_ns > t.slowest_ns) {
        t.slowest_ns = out.res.end_ns;
        t.slowest_seed = seed;
    }
}

totals work(u32 worker, const swarm_range &range, const std::vector<std::string> &sets)
{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(range.seconds);
    totals t;

    for (u64 seed = range.first + worker; !t.bad_options; seed += range.jobs) {
        if (seed > range.last && (!range.seconds || std::chrono::steady_clock::now() >= end))
            break;
        one_of_many(seed, range, sets, t);
    }
    return t;
}

} // namespace

outcome run_seed(const options &o, u64 seed, bool text)
{
    outcome out;

    try {
        world w(o, seed, text);
        out.res = w.run();
        out.ok = true;
    } catch (const failure &f) {
        std::snprintf(out.why, sizeof(out.why), "%s", f.what());
    }
    return out;
}

bool apply_sets(options &o, const std::vector<std::string> &sets)
{
    std::string bad;

    for (const std::string &s : sets)
        if (bad.empty())
            bad = o.set(s);
    if (bad.empty())
        bad = o.check();
    if (!bad.empty())
        std::fprintf(stderr, "mrcsim: %s\n", bad.c_str());
    return bad.empty();
}

void print_stats(const result &r)
{
    std::printf("events %llu, ties %llu, simulated %.3f ms, %llu bytes, failed QPs %u\n",
                (unsigned long long)r.events, (unsigned long long)r.ties,
                static_cast<double>(r.end_ns) / 1e6, (unsigned long long)r.bytes, r.failed_qps);
    std::printf("packets: sent %llu lost %llu overflowed %llu unreachable %llu corrupted %llu "
                "trimmed %llu marked %llu duplicated %llu\n",
                (unsigned long long)r.net.sent, (unsigned long long)r.net.lost,
                (unsigned long long)r.net.overflowed, (unsigned long long)r.net.unreachable,
                (unsigned long long)r.net.corrupted, (unsigned long long)r.net.trimmed,
                (unsigned long long)r.net.marked, (unsigned long long)r.net.duplicated);
    auto line = [](const char *name, u64 value) {
        if (value)
            std::printf("%-18s %12llu\n", name, (unsigned long long)value);
    };
#define X(name, help) line(#name, r.seen.name);
    SIM_COUNTS(X)
#undef X
#define X(name, help) line(#name, r.stats.name);
    MRC_STATS(X)
#undef X
}

int swarm(const swarm_range &range, const std::vector<std::string> &sets)
{
    std::vector<int> pipes;
    totals all;

    for (u32 w = 0; w < range.jobs; w++) {
        int fd[2];

        std::fflush(stdout);
        if (pipe(fd))
            throw std::runtime_error("pipe");
        if (fork() == 0) {
            totals t = work(w, range, sets);

            std::fflush(stdout);
            write_all(fd[1], &t, sizeof(t));
            _exit(0);
        }
        close(fd[1]);
        pipes.push_back(fd[0]);
    }
    for (int fd : pipes) {
        totals t;

        if (!read_all(fd, &t, sizeof(t)))
            t.failed = 1;
        close(fd);
        wait(nullptr);
        all.seeds += t.seeds;
        all.failed += t.failed;
        all.bad_options |= t.bad_options;
        add(all.sum, t.sum);
        if (t.slowest_ns > all.slowest_ns) {
            all.slowest_ns = t.slowest_ns;
            all.slowest_seed = t.slowest_seed;
        }
    }
    if (all.bad_options)
        return 2;
    if (!range.hashes) {
        std::printf("seeds %llu, failed %llu, slowest %llu (%.3f ms)\n",
                    (unsigned long long)all.seeds, (unsigned long long)all.failed,
                    (unsigned long long)all.slowest_seed,
                    static_cast<double>(all.slowest_ns) / 1e6);
        print_stats(all.sum);
    }
    return all.failed ? 1 : 0;
}

} // namespace sim
