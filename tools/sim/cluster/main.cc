// SPDX-License-Identifier: GPL-2.0
// main.cc - "mrcsim run": a cluster, from a scenario file. See scenario.h.
#include "capture.h"
#include "expect.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>

namespace {

struct choices {
    std::vector<std::string> files, sets;
    std::string all, pcap, probe_results;
    u32 threads = 1;
    u64 pcap_packets = 10'000;
    bool json = false, brief = false, hash = false, without = false;
};

// Of all threads, in seconds.
double cpu_time()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

sim::report simulate(const sim::scenario &s, u32 threads, sim::capture *cap = nullptr,
                     const std::string &probe_results = "")
{
    auto begin = std::chrono::steady_clock::now();
    double start = cpu_time();
    sim::world w(s, threads);
    w.cap = cap;
    sim::scheduler sch(w);

    sch.prepare();
    double ready = cpu_time();
    sch.run();
    double done = cpu_time();
    if (!probe_results.empty())
        w.probing.write(probe_results);
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    return make_report(w, sch, {ready - start, done - ready, wall.count()});
}

sim::scenario load(const std::string &path, const choices &c)
{
    sim::scenario s = sim::load_scenario(path);

    for (const std::string &set : c.sets)
        sim::set_option(s, set);
    sim::check_scenario(s);
    return s;
}

sim::report run_seed(const sim::scenario &s, const choices &c)
{
    if (c.threads > 1 && !s.run.probes.empty())
        throw std::runtime_error("run.probes wants one thread");
    sim::report r = simulate(s, c.threads, nullptr, c.probe_results);

    if (sim::wants_healthy(s))
        sim::compare_healthy(r, simulate(sim::healthy(s), c.threads));
    return r;
}

// Where a seed decides more than the engine does, the mean of several is what is expected.
sim::report run(sim::scenario s, const choices &c)
{
    sim::report r = run_seed(s, c);

    for (u64 more = 1; more < s.run.seeds; more++) {
        s.run.seed++;
        r.add_up(run_seed(s, c));
    }
    r.divide(static_cast<double>(s.run.seeds));
    return r;
}

// The first packets of a run, and nothing else of it.
void write_pcap(const sim::scenario &s, const choices &c)
{
    sim::capture cap(c.pcap_packets);

    simulate(s, 1, &cap);
    cap.write(c.pcap);
}

int run_one(const std::string &path, const choices &c)
{
    sim::scenario s = load(path, c);
    if (c.without)
        sim::strip_faults(s);
    if (!c.pcap.empty()) {
        write_pcap(s, c);
        return 0;
    }
    sim::report r = c.hash ? run_seed(s, c) : run(s, c);
    std::vector<std::string> bad = sim::unmet(r, s);

    if (c.hash)
        std::printf("%016llx\n", static_cast<unsigned long long>(r.hash));
    else if (c.json)
        print_json(r, s, bad, !c.brief);
    else
        print_text(r, s);
    for (const std::string &line : bad)
        std::fprintf(stderr, "not met: %s: %s\n", s.name.c_str(), line.c_str());
    return bad.empty() ? 0 : 1;
}

double value(const sim::report &r, const char *name)
{
    const double *v = r.find(name);

    return v ? *v : 0;
}

void print_row(const sim::scenario &s, const sim::report &r, const char *verdict,
               const std::vector<std::string> &lines)
{
    std::printf("%-26s %9.1f %9.1f %6.3f %7.0f %6.0f %6.1f %6.2f %7.2f  %s\n", s.name.c_str(),
                value(r, "ideal_us"), value(r, "makespan_us"), value(r, "max_over_ideal"),
                value(r, "rtx"), value(r, "lost_per_flow_max"), value(r, "t1_rtt_max"),
                value(r, "wall_s"), value(r, "hops_per_s") / 1e6, verdict);
    for (const std::string &line : lines)
        std::printf("    %s\n", line.c_str());
    std::fflush(stdout);
}

// A scenario whose file says "not met" may fail, within its bounds. Returns whether it is as
// it should be.
bool judge(const sim::scenario &s, const choices &c)
{
    sim::report r = run(s, c);
    std::vector<std::string> bad = sim::failures(r, s), lines = sim::unmet(r, s);
    const char *verdict = !bad.empty()    ? "NOT MET"
                          : s.known_red() ? "not met, as known"
                                          : "met";

    lines.insert(lines.end(), bad.begin(), s.known_red() ? bad.end() : bad.begin());
    print_row(s, r, verdict, lines);
    return bad.empty();
}

// Without what is wrong in it a scenario must fail: else its expectations ask for nothing.
bool judge_without(sim::scenario s, const choices &c)
{
    if (!sim::strip_faults(s))
        return true;
    sim::report r = run(s, c);
    std::vector<std::string> bad = sim::unmet(r, s);

    print_row(s, r, bad.empty() ? "MET WITHOUT ITS FAULT" : "fails, as it should", bad);
    return !bad.empty();
}

// A line per scenario.
int run_all(const choices &c)
{
    std::vector<std::string> files;
    int rc = 0;

    for (const auto &f : std::filesystem::directory_iterator(c.all))
        if (f.path().extension() == ".toml")
            files.push_back(f.path());
    std::sort(files.begin(), files.end());
    std::printf("%-26s %9s %9s %6s %7s %6s %6s %6s %7s  %s\n", "scenario", "ideal us", "max us",
                "ratio", "rtx", "lost/f", "t1 rtt", "wall s", "Mhop/s", "expectations");
    for (const std::string &f : files) {
        sim::scenario s = load(f, c);

        if (!(c.without ? judge_without(s, c) : judge(s, c)))
            rc = 1;
    }
    return rc;
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app{"mrcsim run: MRC's engine in a cluster of any size", "mrcsim run"};
    choices c;

    app.add_option("scenario", c.files, "scenario files (TOML)");
    app.add_option("--all", c.all, "run every scenario of this folder, print a table");
    app.add_option("--set", c.sets, "section.key=value, instead of the file's")
        ->allow_extra_args(false);
    app.add_option("--threads", c.threads, "the result does not depend on it")
        ->check(CLI::Range(1, 64));
    app.add_flag("--without-faults", c.without,
                 "leave out all that is wrong; with --all: every scenario must fail then");
    app.add_flag("--json", c.json, "everything, with the goodput series and all flows");
    app.add_flag("--brief", c.brief, "with --json: without the flows");
    app.add_flag("--hash", c.hash, "only the hash of all that happened");
    app.add_option("--pcap", c.pcap, "instead of a report: the first packets, as they leave their hosts (pcapng)");
    app.add_option("--pcap-packets", c.pcap_packets, "how many of them")->check(CLI::Range(1, 1'000'000));
    app.add_option("--probe-results", c.probe_results, "write here what became of run.probes (of the last seed)");
    CLI11_PARSE(app, argc, argv);

    try {
        int rc = 0;

        if (!c.all.empty())
            rc = run_all(c);
        else if (c.files.empty())
            throw std::runtime_error("a scenario file is wanted, see --help");
        if (!c.pcap.empty() && c.files.size() != 1)
            throw std::runtime_error("--pcap wants one scenario");
        for (const std::string &f : c.files)
            rc = std::max(rc, run_one(f, c));
        return rc;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "mrcsim: %s\n", e.what());
        return 2;
    }
}
