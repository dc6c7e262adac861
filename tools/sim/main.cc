// SPDX-License-Identifier: GPL-2.0
// main.cc - mrcsim: the engine in a deterministic simulation of a small cluster.
#include "economy.h"
#include "swarm.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <string>
#include <vector>

namespace {

int one(u64 seed, bool text, const std::vector<std::string> &sets)
{
    sim::options o = sim::options::draw(seed);

    if (!sim::apply_sets(o, sets))
        return 2;
    std::printf("seed %llu\n", (unsigned long long)seed);
    o.print();
    std::fflush(stdout);
    sim::outcome out = sim::run_seed(o, seed, text);
    if (!out.ok) {
        std::printf("FAIL seed %llu: %s\n", (unsigned long long)seed, out.why);
        return 1;
    }
    sim::print_stats(out.res);
    std::printf("hash %016llx\n", (unsigned long long)out.res.hash);
    return 0;
}

// "--economy" and "--economy probes,heal" are --set economy=MASK. False: not one of them.
bool economy_set(const std::vector<std::string> &names, std::vector<std::string> &sets)
{
    u64 mask = 0;

    for (const std::string &n : names)
        if (n == "all")
            mask |= sim::ECONOMY_ALL;
        else if (n == "probes")
            mask |= sim::ECONOMY_PROBES;
        else if (n == "heal")
            mask |= sim::ECONOMY_HEAL;
        else if (n == "resends")
            mask |= sim::ECONOMY_RESENDS;
        else if (n == "trips")
            mask |= sim::ECONOMY_TRIPS;
        else if (n == "tails")
            mask |= sim::ECONOMY_TAILS;
        else if (n != "none")
            return false;
    if (!names.empty())
        sets.push_back("economy=" + std::to_string(mask));
    return true;
}

// "A..B" or "A".
bool parse_range(const std::string &text, sim::swarm_range &r)
{
    size_t dots = text.find("..");
    char *end = nullptr;

    r.first = std::strtoull(text.c_str(), &end, 0);
    r.last = r.first;
    if (dots != std::string::npos && end == text.c_str() + dots)
        r.last = std::strtoull(text.c_str() + dots + 2, &end, 0);
    return *end == 0 && r.last >= r.first;
}

// Clusters are simulated by a program of their own beside this one, with the engine built for
// speed (cluster/).
std::string cluster_program()
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    return std::string(self, n > 0 ? static_cast<size_t>(n) : 0) + "-cluster";
}

int run_cluster(char **argv)
{
    std::string path = cluster_program();

    execv(path.c_str(), argv + 1);
    std::perror(path.c_str());
    return 2;
}

// "mrcsim reproduce" and "mrcsim sweep" run many clusters, "mrcsim workload" writes flow lists, "mrcsim timeline" traces: scripts of
// the source tree do that (reproduce/), and this is build/sim/gcc/mrcsim or the like in it.
int run_script(char **argv)
{
    std::string cluster = cluster_program();
    std::string script = cluster.substr(0, cluster.rfind('/')) + "/../../../tools/sim/reproduce/" +
                         argv[1] + ".py";
    std::vector<char *> args = {const_cast<char *>("python3"), script.data()};

    for (char **a = argv + 2; *a; a++)
        args.push_back(*a);
    args.push_back(nullptr);
    setenv("MRCSIM_CLUSTER", cluster.c_str(), 1);
    execvp(args[0], args.data());
    std::perror("python3");
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string verb = argc > 1 ? argv[1] : "";

    if (verb == "run")
        return run_cluster(argv);
    if (verb == "reproduce" || verb == "sweep" || verb == "workload" || verb == "timeline")
        return run_script(argv);
    if (verb == "help")
        argv[1] = const_cast<char *>("--help");

    CLI::App app{"mrcsim: MRC's engine in a deterministic simulation"};
    u64 seed = 0;
    std::string seeds;
    sim::swarm_range range;
    bool text = false, list = false;
    std::vector<std::string> sets, promises;

    auto *one_opt = app.add_option("--seed", seed, "run one seed and say what it did");
    auto *many = app.add_option("--seeds", seeds,
                                "A..B: run many, print those that fail and a summary")
                     ->excludes(one_opt);
    app.add_option("--jobs", range.jobs, "with --seeds: so many at once")
        ->needs(many)->check(CLI::Range(1, 1024));
    app.add_option("--for", range.seconds, "with --seeds: go on after B, for so many seconds")
        ->needs(many);
    app.add_flag("--trace", text, "with --seed: every packet and completion");
    app.add_flag("--hashes", range.hashes, "with --seeds: only \"seed hash\" lines")->needs(many);
    app.add_flag("--list-options", list, "what a seed draws and --set may change");
    app.add_option("--set", sets, "NAME=VALUE: instead of what the seed draws");
    app.add_option("--economy", promises,
                   "what paths may cost, all but resends unless given: probes, tails, heal, resends, trips, "
                   "all or none")
        ->expected(0, 1)->delimiter(',')->default_str("all");
    app.footer("Other verbs, each with a --help of its own:\n"
               "  mrcsim run FILE         a cluster of any size, from a scenario file\n"
               "  mrcsim reproduce NAME   a published figure: table, CSV and SVG beside what is published\n"
               "  mrcsim sweep FILE       many scenarios as jobs for xargs, GNU parallel or Slurm\n"
               "  mrcsim workload NAME    a collective as a flow list, for workload.kind = trace\n"
               "  mrcsim timeline REPORT  a run as a trace for ui.perfetto.dev");
    CLI11_PARSE(app, argc, argv);

    if (list) {
        sim::options::list();
        return 0;
    }
    if (app.count("--economy") && promises.empty())
        promises.push_back("all");
    if (!economy_set(promises, sets)) {
        std::fprintf(stderr, "mrcsim: --economy wants probes, tails, heal, resends, trips, all or none\n");
        return 2;
    }
    if (seeds.empty())
        return one(seed, text, sets);
    if (!parse_range(seeds, range)) {
        std::fprintf(stderr, "mrcsim: --seeds wants A..B, not \"%s\"\n", seeds.c_str());
        return 2;
    }
    return sim::swarm(range, sets);
}
