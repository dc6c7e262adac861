// SPDX-License-Identifier: GPL-2.0
// expect.h - compares a report with the scenario's expectations.
#pragma once

#include "report.h"

namespace sim {

// "<metric> = v": at most v; "<metric>_min = v": at least. One line per value not met,
// with what was expected and what was seen.
std::vector<std::string> unmet(const report &r, const scenario &s);

// Why a run counts as failed: expectations that are not met. Where status is "not met": that
// all of them are, that one has no bound of its own, or that a bound is exceeded.
std::vector<std::string> failures(const report &r, const scenario &s);

// Some expectations compare with the same run without faults and slow links.
bool wants_healthy(const scenario &s);
scenario healthy(const scenario &s);
void compare_healthy(report &r, const report &healthy);

} // namespace sim
