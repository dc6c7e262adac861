// SPDX-License-Identifier: GPL-2.0
// reconcile.h - the reconciliation loop: observe, plan, apply, until the plan is empty. Also the
// state that lasts from one run to the next.
//
// That state is an optimisation: a new process starts from the file and the kernel alone, and has
// nothing to do if nothing changed. One part is restored at exit: settings of other interfaces.
// Only a killed process leaves them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "kernel.h"
#include "log.h"

namespace mrcd {

class Reconciler {
public:
    enum class Outcome { kComplete, kWaiting, kFailed, kInterrupted };
    // Called between operations that may be separated. True: run() returns at once.
    using Interrupted = std::function<bool()>;

    Reconciler(Kernel &kernel, const Log &log) : log_(log), kernel_(kernel) {}

    // Sets the desired state. If it would remove most of the present state, the next run() only
    // reports that, and the previous desired state remains in force until confirm().
    void want(Desired desired);
    // The file that is held back, or the next one, may remove anything.
    void confirm();
    bool held() const { return held_.has_value(); }

    Outcome run(const Interrupted &interrupted = [] { return false; });

    enum class Check { kNothing, kSomething, kFailed };
    // Prints the operations that run() would start with.
    Check print_plan();

    // Open items of the last run, a line each: who has to act, or the kernel's error.
    const std::vector<std::string> &open_items() const { return open_; }
    // Does an event about @link need a reconciliation?
    bool concerns(const Link &link) const;
    bool concerns(int ifindex) const;
    // On a host: the desired device.
    const std::optional<WantedDevice> &device() const { return want_.device; }

private:
    using Failures = std::map<std::string, std::string>;   // operation and error

    std::optional<Plan> next_plan(Failures &failures);
    bool hold_back(const Plan &p);
    void remember();
    void forget_retired();
    void set_want(Desired desired);
    bool ours(const Link &link, const Link *device) const;
    bool spoilt(const Op &op) const;
    bool carry_out(const Plan &p, bool begun, Failures &failures, const Interrupted &interrupted);
    bool carry_out(const Op &op, Failures &failures);
    bool make_do(const Op &op, const mrcnl::error &e);
    void tell_done(const Op &op);
    Outcome settle(const Plan &p, const Failures &failures);
    bool optional(const std::string &link) const;

    const Log &log_;
    Kernel &kernel_;
    Desired want_;
    std::set<std::string> link_names_;   // in want_
    Desired before_;                   // in force while want_ is not confirmed
    std::optional<Desired> held_;
    bool confirmed_ = true;
    bool fresh_ = false;               // no plan was made for want_ yet
    Observed have_;
    Policy policy_;
    std::set<std::string> unsupported_;   // kinds of interfaces that the kernel does not support
    Failures lasting_;                    // interfaces that could not be created in this run
    std::set<std::string> not_raised_;    // in this pass
    bool settled_ = false;                // the desired state was reached before
    unsigned put_right_ = 0;              // settings restored in this run, since then
    std::map<std::string, std::chrono::steady_clock::time_point> put_right_at_;   // when each was last reported
    std::set<std::string> told_;
    std::vector<std::string> open_;
};

}   // namespace mrcd
