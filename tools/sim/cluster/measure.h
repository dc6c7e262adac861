// SPDX-License-Identifier: GPL-2.0
// measure.h - parts of a report: effects of disturbances, failover, goodput over time.
#pragma once

#include "report.h"

#include <algorithm>

namespace sim {

inline double real(u64 n)
{
    return static_cast<double>(n);
}

inline double us(u64 ps)
{
    return real(ps) / real(ps_per_us);
}

inline double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

// Sorts v; q in percent.
inline double quantile(std::vector<double> &v, u32 q)
{
    if (v.empty())
        return 0;
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, v.size() * q / 100)];
}

inline double mean(const std::vector<double> &v)
{
    double sum = 0;

    for (double x : v)
        sum += x;
    return v.empty() ? 0 : sum / real(v.size());
}

// A metric that means "never".
inline constexpr double not_at_all = 1e9;

// measure.cc
void add_disturbed(report &r, const world &w, const counters &c, u64 end_ps);
void add_failover(report &r, const world &w, const counters &c);

// steps.cc
void add_steps(report &r, const world &w);

// windows.cc
void add_windows(report &r, const world &w, const fault_plan &faults,
                 const std::vector<sample> &series, u64 end_ps);

} // namespace sim
