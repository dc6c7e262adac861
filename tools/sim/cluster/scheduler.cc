// SPDX-License-Identifier: GPL-2.0
// scheduler.cc - windows, threads, and the barrier between them (scheduler.h).
#include "scheduler.h"

#include <algorithm>
#include <barrier>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace sim {

scheduler::scheduler(world &w) : w_(w), faults_(w), errors_(w.threads)
{
    for (u32 i = 0; i < w.threads; i++)
        workers_.push_back(std::make_unique<worker>(w, i));
}

// The next window in which anything happens.
u64 scheduler::next_window() const
{
    u64 wake = faults_.next_ps() == never ? never : faults_.next_ps() + w_.window_ps - 1;
    u64 next;

    for (u64 at : w_.rack_wake)
        wake = std::min(wake, at);
    next = wake == never ? never : wake / w_.window_ps;
    for (u64 i = 1; i < w_.slots && w_.window + i < next; i++)
        for (const auto &wk : workers_)
            if (wk->pending[(w_.window + i) & (w_.slots - 1)])
                next = std::min(next, w_.window + i);
    for (const auto &wk : workers_)
        next = std::min(next, wk->held_window());
    return std::max(next, w_.window + 1);
}

void scheduler::between_windows() noexcept
{
    u64 sent = 0, received = 0;

    for (const auto &wk : workers_) {
        wk->pending[w_.window & (w_.slots - 1)] = 0;
        sent += wk->count.flows_sent;
        received += wk->count.flows_received;
    }
    done_ = sent == w_.work.flows.size() && received == w_.work.flows.size() && w_.probing.all.empty();
    end_ps_ = w_.window_end();
    w_.window = next_window();
    if (w_.window != never)
        for (const auto &wk : workers_)
            wk->take_held();
    stop_ = done_ || w_.window == never || w_.window_start() >= w_.s.run.limit_us * ps_per_us ||
            std::any_of(errors_.begin(), errors_.end(), [](auto &e) { return !e.empty(); });
    if (!stop_)
        faults_.apply_due();
}

void scheduler::step(u64 window)
{
    worker &wk = *workers_.front();

    w_.window = window;
    wk.take_held();
    faults_.apply_due();
    wk.run_window();
    wk.pending[w_.window & (w_.slots - 1)] = 0;
    end_ps_ = w_.window_end();
}

std::vector<completion> scheduler::take_completions()
{
    std::vector<completion> out;

    out.swap(workers_.front()->completions);
    std::stable_sort(out.begin(), out.end(), [](const completion &a, const completion &b) {
        return std::tie(a.t, a.flow, a.when) < std::tie(b.t, b.flow, b.when);
    });
    return out;
}

void scheduler::on_threads(const std::function<void(u32)> &part)
{
    std::vector<std::thread> others;
    auto guarded = [&](u32 i) {
        try {
            part(i);
        } catch (const std::exception &e) {
            errors_[i] = e.what();
        }
    };

    for (u32 i = 1; i < w_.threads; i++)
        others.emplace_back(guarded, i);
    guarded(0);
    for (std::thread &t : others)
        t.join();
    for (const std::string &e : errors_)
        if (!e.empty())
            throw std::runtime_error(e);
}

void scheduler::prepare()
{
    on_threads([this](u32 i) { workers_[i]->make_ends(); });
}

void scheduler::run()
{
    std::barrier meet(static_cast<std::ptrdiff_t>(w_.threads), [this]() noexcept {
        between_windows();
    });

    faults_.apply_due();
    on_threads([&](u32 i) {
        while (!stop_) {
            try {
                workers_[i]->run_window();
            } catch (const std::exception &e) {
                errors_[i] = e.what(); // the others have to be met all the same
            }
            meet.arrive_and_wait();
        }
    });
}

counters scheduler::total() const
{
    counters sum;

    for (const auto &wk : workers_) {
#define X(name, help) sum.name += wk->count.name;
        SIM_COUNTERS(X)
#undef X
        for (u32 p = 0; p < MRC_PLANES_MAX; p++) {
            sum.plane_pkts[p] += wk->count.plane_pkts[p];
            sum.late_plane_pkts[p] += wk->count.late_plane_pkts[p];
            sum.sack_plane[p] += wk->count.sack_plane[p];
        }
    }
    return sum;
}

std::vector<sample> scheduler::series() const
{
    std::vector<sample> sum;

    for (const auto &wk : workers_) {
        sum.resize(std::max(sum.size(), wk->series.size()));
        for (size_t i = 0; i < wk->series.size(); i++)
            sum[i] += wk->series[i];
    }
    return sum;
}

// Every packet at every node, and when each flow was done.
u64 scheduler::hash() const
{
    u64 h = fold_start;

    for (u64 node : w_.node_hash)
        fold(h, node);
    for (const flow &f : w_.work.flows) {
        fold(h, f.rx_done);
        fold(h, f.tx_done);
    }
    return h;
}

u64 scheduler::end_memory() const
{
    u64 sum = 0;

    for (const auto &wk : workers_)
        sum += wk->memory();
    return sum;
}

} // namespace sim
