// SPDX-License-Identifier: GPL-2.0
//
// exposition.h - a measurement in Prometheus' text format. Pure.
//
// A host has at most series_max series: counters are summed over its devices, and there is no series per EV, peer
// or QP. Planes beyond planes_max are counted only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "measure.h"

namespace health {

inline constexpr size_t series_max = 300;
inline constexpr size_t planes_max = 32;

// Of mrcd, where mrcd reports.
struct daemon_state {
    bool ready = false;       // all of the fabric file is in place
    uint64_t open = 0;        // what is not
    uint32_t config_hash = 0; // equal on all hosts with the same file
    std::chrono::system_clock::time_point looked; // when it compared file and kernel last
    std::chrono::seconds looks_each{};            // and how often it does so at least
};

// Series in a page.
size_t series_in(std::string_view page);

// @tool: version of the calling program.
std::string exposition(const measurement &m, const std::string &tool, const std::optional<daemon_state> &daemon = {});

} // namespace health
