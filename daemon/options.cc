// SPDX-License-Identifier: GPL-2.0
// options.cc - see options.h.
#include "options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace mrcd {

namespace {

constexpr const char *kDefaultConfig = "/etc/mrc/fabric.toml";

std::string host_name()
{
    char name[256] = "";

    (void)gethostname(name, sizeof(name) - 1);
    return name;
}

}   // namespace

Parsed parse_options(int argc, char **argv, Options &o, int &status)
{
    CLI::App app("mrcd - sets up routes, planes and EV profiles of an MRC fabric");

    std::string check;
    app.set_version_flag("-V,--version", "mrcd " MRC_VERSION);
    auto *config = app.add_option("-c,--config", o.config, fmt::format("fabric file, the same on every node (fabric.toml(5)); default: {}",
                                                                    kDefaultConfig))
        ->type_name("FILE");
    app.add_option("-n,--name", o.name, "this node's name in it (default: the host name)")
        ->type_name("NAME");
    auto *dry = app.add_flag("--dry-run", o.dry_run, "print pending operations, change nothing");
    auto *once = app.add_flag("--once", o.once, "make the changes and exit")->excludes(dry);
    app.add_option("--check", check, "print pending operations for this file, change nothing; exit "
                   "status 0: nothing is pending, 1: something is, 2: the file is wrong")
        ->type_name("FILE")->excludes(dry)->excludes(once)->excludes(config);
    auto *owns = app.add_option("--owns", o.owns, "exit status 0 if the file names this interface as one of this node's, "
                   "else 1; for udev")
        ->type_name("IFNAME")->excludes(dry)->excludes(once);
    app.add_flag("--force", o.force, "accept a file that removes most of what is here");
    app.add_option("--metrics", o.metrics, "serve /metrics for Prometheus and / for a browser at this address")
        ->type_name("ADDRESS:PORT")->excludes(dry)->excludes(once)->excludes(owns);
    app.add_option("--ready-file", o.ready_file, "file that is made when everything is in place")
        ->type_name("FILE");
    app.add_option("--event-file", o.event_file, "write records of planes, peers and EVs here, as JSON lines; "
                   "rotated at 16 MiB, four old ones are kept")
        ->type_name("FILE");
    app.add_option("--probe", o.probing.rate, "self-probes of this host: off (default), slow, normal, fast; goes before [probe] of the fabric file, as the next three do")
        ->type_name("RATE")->check(CLI::IsMember({"off", "slow", "normal", "fast"}));
    app.add_option("--probe-mode", o.probing.mode, "what follows from a verdict: observe (default); advise: name commands for the administrator; act: avoid the links")
        ->type_name("MODE")->check(CLI::IsMember({"observe", "advise", "act"}));
    app.add_option("--avoid-expiry", o.probing.avoid_expiry_s, "mode act: the module forgets the links this long after the last renewal (default 600)")
        ->type_name("SECONDS")->check(CLI::Range(1, 86400));
    app.add_option("--probe-timeout", o.probing.timeout_ms, "a probe that takes more milliseconds is lost; "
                   "a host that is late by half of that judges nothing (default 10)")
        ->type_name("MS")->check(CLI::Range(1, 10000));
    app.add_option("--probe-file", o.probe_file, "write results of self-probes here, as JSON lines for mrcctl fabric diagnose; "
                   "rotated as --event-file is")
        ->type_name("FILE");
    app.add_flag("-v,--verbose", o.verbose, "log every operation");
    try {
        app.parse(argc, argv);
        o.check = !check.empty();
        if (o.check)
            o.config = check;
        if (o.config.empty())
            o.config = kDefaultConfig;
    } catch (const CLI::ParseError &e) {
        status = app.exit(e) == 0 ? 0 : kUsage;
        return Parsed::kExit;
    }
    if (o.name.empty())
        o.name = host_name();
    return Parsed::kRun;
}

}   // namespace mrcd
