// SPDX-License-Identifier: GPL-2.0
// main.cc - mrcd(8).
#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

#include "daemon.h"
#include "notify.h"
#include "options.h"
#include "web/http.h"

namespace mrcd {

namespace {

using namespace std::chrono_literals;

// How long --once waits for the RDMA device, which the kernel creates in the background.
constexpr auto kOnceLimit = 10s;
constexpr auto kOncePause = 100ms;

int run_once(Reconciler &reconciler, const Options &o, const Log &log)
{
    const auto end = std::chrono::steady_clock::now() + kOnceLimit;

    while (reconciler.run() != Reconciler::Outcome::kComplete) {
        if (reconciler.held() || std::chrono::steady_clock::now() >= end) {
            log.error("not everything is in place after {} s", kOnceLimit.count());
            return kFailed;
        }
        std::this_thread::sleep_for(kOncePause);
    }
    if (!o.ready_file.empty() && !touch(o.ready_file)) {
        log.error("{}: {}", o.ready_file, std::generic_category().message(errno));
        return kFailed;
    }
    return kOk;
}

int run_check(Reconciler &reconciler, const Options &o)
{
    const auto found = reconciler.print_plan();

    if (found == Reconciler::Check::kFailed)
        return o.check ? int{kBad} : int{kFailed};
    return o.check && found == Reconciler::Check::kSomething ? kSomethingToDo : kNothingToDo;
}

// Answers --owns. Reads only the file, because udev calls it while interfaces appear.
int owns(const Options &o, const Log &log)
{
    try {
        const auto want = load_desired(o.config, o.name);
        const bool named = std::any_of(want.links.begin(), want.links.end(),
                                       [&](const WantedLink &l) { return l.name == o.owns; });
        return named ? int{kOwned} : int{kNotOurs};
    } catch (const std::exception &e) {
        log.error("{}", e.what());
        return kFailed;
    }
}

int run(const Options &o)
{
    const Log log(o.name, o.verbose ? Log::Level::kVerbose : Log::Level::kNormal);

    if (!o.owns.empty())
        return owns(o, log);
    try {
        if (!o.metrics.empty())
            (void)parse_endpoint(o.metrics);
        NetlinkKernel kernel;
        Reconciler reconciler(kernel, log);
        reconciler.want(load_desired(o.config, o.name));
        if (o.force)
            reconciler.confirm();
        if (o.dry_run || o.check)
            return run_check(reconciler, o);
        if (!o.ready_file.empty())
            untouch(o.ready_file);
        // The device is not moved: the administrator does that, by "rdma dev set ... netns".
        if (reconciler.device() && rdma_netns_exclusive())
            log.info("rdma netns mode is exclusive: the RDMA device stays in the namespace where it is made");
        return o.once ? run_once(reconciler, o, log) : run_daemon(reconciler, kernel, o, log);
    } catch (const std::exception &e) {
        log.error("{}", e.what());
        return kFailed;
    }
}

}   // namespace

}   // namespace mrcd

int main(int argc, char **argv)
{
    mrcd::Options options;
    int status = 0;

    std::signal(SIGPIPE, SIG_IGN);   // the reader of our log may exit
    if (mrcd::parse_options(argc, argv, options, status) == mrcd::Parsed::kExit)
        return status;
    return mrcd::run(options);
}
