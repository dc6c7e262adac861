// SPDX-License-Identifier: GPL-2.0
// main.cc - mrcsim: the engine in a deterministic simulation of two hosts.
//
// Every seed of a swarm runs in a child process, so that an assertion of the
// engine, a crash or an endless loop is one failing seed and not the end.
#include "world.h"

#include <CLI/CLI.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

struct outcome {
    bool ok = false;
    sim::result res;
    char why[1024] = "";
};

outcome run_seed(const sim::options &o, u64 seed, bool text)
{
    outcome out;

    try {
        sim::world w(o, seed, text);
        out.res = w.run();
        out.ok = true;
    } catch (const sim::failure &f) {
        std::snprintf(out.why, sizeof(out.why), "%s", f.what());
    }
    return out;
}

bool apply(sim::options &o, const std::vector<std::string> &sets)
{
    for (const std::string &s : sets)
        if (!o.set(s)) {
            std::fprintf(stderr, "mrcsim: no such option: %s (see --list-options)\n", s.c_str());
            return false;
        }
    std::string bad = o.check();
    if (!bad.empty())
        std::fprintf(stderr, "mrcsim: %s\n", bad.c_str());
    return bad.empty();
}

void print_stats(const sim::result &r)
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
#define X(name, help)                                                                   \
    if (r.stats.name)                                                                   \
        std::printf("%-18s %12llu\n", #name, (unsigned long long)r.stats.name);
    MRC_STATS(X)
#undef X
}

int one(u64 seed, bool text, const std::vector<std::string> &sets)
{
    sim::options o = sim::options::draw(seed);

    if (!apply(o, sets))
        return 2;
    std::printf("seed %llu\n", (unsigned long long)seed);
    o.print();
    std::fflush(stdout);
    outcome out = run_seed(o, seed, text);
    if (!out.ok) {
        std::printf("FAIL seed %llu: %s\n", (unsigned long long)seed, out.why);
        return 1;
    }
    print_stats(out.res);
    std::printf("hash %016llx\n", (unsigned long long)out.res.hash);
    return 0;
}

// The seed in a child; the watchdog's wall clock never reaches the simulation.
outcome in_child(const sim::options &o, u64 seed)
{
    outcome out;
    int fd[2];

    std::fflush(stdout);
    if (pipe(fd))
        throw std::runtime_error("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        alarm(20);
        out = run_seed(o, seed, false);
        ssize_t n = write(fd[1], &out, sizeof(out));
        _exit(n == sizeof(out) ? 0 : 3);
    }
    close(fd[1]);
    size_t got = 0;
    char *p = reinterpret_cast<char *>(&out);
    for (ssize_t n; got < sizeof(out) && (n = read(fd[0], p + got, sizeof(out) - got)) > 0;)
        got += static_cast<size_t>(n);
    close(fd[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    if (got != sizeof(out)) {
        out = {};
        std::snprintf(out.why, sizeof(out.why), WIFSIGNALED(status) ? "ended by signal %d%s" : "exit %d%s",
                      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                      WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? " (did not end)" : "");
    }
    return out;
}

int swarm(const std::string &range, bool hashes, const std::vector<std::string> &sets)
{
    size_t dots = range.find("..");
    u64 first = std::strtoull(range.c_str(), nullptr, 0);
    u64 last = dots == std::string::npos ? first
                                         : std::strtoull(range.c_str() + dots + 2, nullptr, 0);
    u64 failed = 0, slowest = 0, slowest_seed = 0;
    sim::result sum;

    for (u64 seed = first; seed <= last; seed++) {
        sim::options o = sim::options::draw(seed);

        if (!apply(o, sets))
            return 2;
        outcome out = in_child(o, seed);
        if (hashes)
            std::printf("%llu %016llx\n", (unsigned long long)seed,
                        (unsigned long long)out.res.hash);
        if (!out.ok) {
            std::string extra;

            for (const std::string &s : sets)
                extra += " --set " + s;
            std::printf("FAIL mrcsim --seed %llu%s: %s\n", (unsigned long long)seed, extra.c_str(),
                        out.why);
            failed++;
            continue;
        }
        sum.events += out.res.events;
        sum.bytes += out.res.bytes;
        sum.failed_qps += out.res.failed_qps;
        sum.ties += out.res.ties;
        sum.end_ns += out.res.end_ns;
        sum.net.sent += out.res.net.sent;
        sum.net.lost += out.res.net.lost;
        sum.net.overflowed += out.res.net.overflowed;
        sum.net.unreachable += out.res.net.unreachable;
        sum.net.corrupted += out.res.net.corrupted;
        sum.net.trimmed += out.res.net.trimmed;
        sum.net.marked += out.res.net.marked;
        sum.net.duplicated += out.res.net.duplicated;
#define X(name, help) sum.stats.name += out.res.stats.name;
        MRC_STATS(X)
#undef X
        if (out.res.end_ns > slowest) {
            slowest = out.res.end_ns;
            slowest_seed = seed;
        }
    }
    if (!hashes) {
        std::printf("seeds %llu, failed %llu, slowest %llu (%.3f ms)\n",
                    (unsigned long long)(last - first + 1), (unsigned long long)failed,
                    (unsigned long long)slowest_seed, static_cast<double>(slowest) / 1e6);
        print_stats(sum);
    }
    return failed ? 1 : 0;
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app{"mrcsim: MRC's engine in a deterministic simulation"};
    u64 seed = 0;
    std::string seeds;
    bool text = false, hashes = false, list = false;
    std::vector<std::string> sets;

    auto *one_opt = app.add_option("--seed", seed, "run one seed and say what it did");
    app.add_option("--seeds", seeds, "A..B: run many, print those that fail and a summary")
        ->excludes(one_opt);
    app.add_flag("--trace", text, "with --seed: every packet and completion");
    app.add_flag("--hashes", hashes, "with --seeds: only \"seed hash\" lines");
    app.add_flag("--list-options", list, "what a seed draws and --set may change");
    app.add_option("--set", sets, "NAME=VALUE: instead of what the seed draws");
    CLI11_PARSE(app, argc, argv);

    if (list) {
        sim::options::list();
        return 0;
    }
    if (!seeds.empty())
        return swarm(seeds, hashes, sets);
    return one(seed, text, sets);
}
