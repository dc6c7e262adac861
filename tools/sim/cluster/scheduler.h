// SPDX-License-Identifier: GPL-2.0
// scheduler.h - runs the simulation window by window, on one or several threads.
#pragma once

#include "fault.h"
#include "worker.h"

#include <functional>
#include <memory>

namespace sim {

class scheduler {
public:
    explicit scheduler(world &w);

    void prepare();
    // Until every flow is done or run.limit_us has passed.
    void run();

    // Instead of run(), on one thread: the next window in which anything happens, that window, and
    // what completed in it, in order of time.
    u64 next() const { return next_window(); }
    void step(u64 window);
    std::vector<completion> take_completions();

    counters total() const;
    std::vector<sample> series() const;
    u64 hash() const;
    u64 end_memory() const;
    const fault_plan &faults() const { return faults_; }
    bool all_done() const { return done_; }
    // When all was done, or the limit was reached: the beginning of the first window not run.
    u64 end_ps() const { return end_ps_; }

private:
    void on_threads(const std::function<void(u32)> &part);
    void between_windows() noexcept;
    u64 next_window() const;

    world &w_;
    fault_plan faults_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::string> errors_; // by thread
    bool done_ = false, stop_ = false;
    u64 end_ps_ = 0;
};

} // namespace sim
