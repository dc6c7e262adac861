// SPDX-License-Identifier: GPL-2.0
// main.cc - mrcd(8).
#include <chrono>
#include <exception>
#include <thread>

#include "daemon.h"
#include "notify.h"
#include "options.h"

namespace mrcd {

namespace {

using namespace std::chrono_literals;

// How long --once waits for what is made in the background: the RDMA device.
constexpr auto kOnceLimit = 10s;
constexpr auto kOncePause = 100ms;

int run_once(Reconciler &reconciler, const Options &o, const Log &log)
{
    const auto end = std::chrono::steady_clock::now() + kOnceLimit;

    while (reconciler.run() != Reconciler::Outcome::kComplete) {
        if (std::chrono::steady_clock::now() >= end) {
            log.error("not everything could be put in place within {} s", kOnceLimit.count());
            return 1;
        }
        std::this_thread::sleep_for(kOncePause);
    }
    if (!o.ready_file.empty() && !touch(o.ready_file)) {
        log.error("{}: {}", o.ready_file, std::generic_category().message(errno));
        return 1;
    }
    return 0;
}

int run(const Options &o)
{
    const Log log(o.name, o.verbose);

    try {
        NetlinkKernel kernel;
        Reconciler reconciler(o.config, o.name, kernel, log);
        reconciler.load();
        if (o.dry_run)
            return reconciler.print_plan() ? 0 : 1;
        // Nothing is moved: "rdma dev set ... netns" is the administrator's.
        if (reconciler.is_host() && rdma_netns_exclusive())
            log.info("rdma netns mode is exclusive: the RDMA device stays where it is made");
        return o.once ? run_once(reconciler, o, log)
                      : run_daemon(reconciler, kernel, o.ready_file, log);
    } catch (const std::exception &e) {
        log.error("{}", e.what());
        return 1;
    }
}

}   // namespace

}   // namespace mrcd

int main(int argc, char **argv)
{
    mrcd::Options options;
    int status = 0;

    if (mrcd::parse_options(argc, argv, options, status) == mrcd::Parsed::kExit)
        return status;
    return mrcd::run(options);
}
