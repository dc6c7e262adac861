// SPDX-License-Identifier: GPL-2.0
// report.h - the results of a run: named numbers, a time series, the flows.
//
// Expectations name metrics of this report. Floating point is used only here: no simulated event
// depends on it.
#pragma once

#include "scheduler.h"

#include <string>
#include <utility>
#include <vector>

namespace sim {

struct flow_result {
    u32 src, dst, bytes;
    double start_us, rx_us, tx_us, ideal_us; // rx, tx: since the start; negative: not done
    u32 lost;
};

// Of a trace: messages that are as deep in the graph, or that the file gives one number.
struct step_result {
    u32 step;
    u64 flows;
    double begin_us, end_us;     // first start, last byte received
    double slowest_us, alone_us; // of the message that lost most, and what it takes alone
};

struct report {
    std::vector<std::pair<std::string, double>> metrics;
    std::vector<double> goodput_gbps; // by bucket
    double bucket_us = 0;
    std::vector<flow_result> flows;
    std::vector<step_result> steps;
    u64 hash = 0;

    void add(const std::string &name, double value) { metrics.emplace_back(name, value); }
    const double *find(const std::string &name) const;
    // Metrics of another run of the same scenario are added; the rest stays the first run's.
    void add_up(const report &other);
    void divide(double runs);
};

// CPU seconds of all threads; wall-clock seconds.
struct run_times {
    double setup_cpu_s, run_cpu_s, wall_s;
};

report make_report(const world &w, const scheduler &sch, const run_times &t);

void print_text(const report &r, const scenario &s);
void print_json(const report &r, const scenario &s, const std::vector<std::string> &unmet,
                bool flows);

} // namespace sim
