// SPDX-License-Identifier: GPL-2.0
// options.h - the keys of a scenario file: the variable of each, and its limits.
#pragma once

#include "scenario.h"

#include <variant>

namespace sim {

using target = std::variant<u64 *, s64 *, bool *, std::string *>;

// Numbers are refused outside [lo, hi]: what is absurd as a number, whatever else is said.
struct option {
    std::string key;
    target to;
    s64 lo = 0, hi = 1'000'000'000'000;
};

std::vector<option> options_of(scenario &s);
std::vector<option> options_of(slow_spec &x);
std::vector<option> options_of(plane_spec &x);
std::vector<option> options_of(path_spec &x);
std::vector<option> options_of(pause_spec &x);
std::vector<option> options_of(clock_spec &x);
std::vector<option> options_of(fault_spec &x);
std::vector<option> options_of(flow_spec &x);
std::vector<option> options_of(tcp_spec &x);

} // namespace sim
