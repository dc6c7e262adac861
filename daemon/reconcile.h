// SPDX-License-Identifier: GPL-2.0
// reconcile.h - observe, plan, apply, until there is nothing left to do; and what
// has to be remembered from one time to the next.
//
// Nothing of that is needed to be right: a new process starts from the file and
// the kernel alone, and finds nothing to do if nothing changed.
#pragma once

#include <map>
#include <set>
#include <string>

#include "flap.h"
#include "kernel.h"
#include "log.h"

namespace mrcd {

class Reconciler {
public:
    enum class Outcome { kComplete, kWaiting, kFailed };

    Reconciler(std::string config, std::string name, Kernel &kernel, const Log &log);

    void load();     // throws FabricError
    bool reload();   // on an error that is logged, all stays as it was

    Outcome run();
    // What run() would do first, on stdout; false if the kernel cannot be read.
    bool print_plan();

    // An event showed this link; damping may begin, to be carried out by run().
    void link_seen(const Link &link, FlapDamper::Time now);
    // Planes whose damping has ended by now are to be used again.
    void release(FlapDamper::Time now);
    std::optional<FlapDamper::Time> deadline() const { return damper_.deadline(); }

    bool is_host() const { return want_.device.has_value(); }

private:
    enum class Carried { kAll, kFailed, kReplan };

    bool look(std::set<std::string> &failures);
    void remember();
    Carried carry_out(const std::vector<Op> &ops, std::set<std::string> &failures);
    void fail(const std::string &line, std::set<std::string> &failures);
    bool is_optional(const std::string &link) const;
    void report_waiting(const std::vector<std::string> &waiting);

    std::string config_;
    std::string name_;
    const Log &log_;
    Kernel &kernel_;
    Desired want_;
    Observed have_;
    Policy policy_;
    FlapDamper damper_;
    std::map<std::string, int> seen_up_;    // ports, with the index they had
    std::set<std::string> unsupported_;     // kinds of interfaces we can do without
    std::set<std::string> failures_;        // of the last run
    std::vector<std::string> waiting_;
};

}   // namespace mrcd
