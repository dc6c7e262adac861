// SPDX-License-Identifier: GPL-2.0
//
// counters.h - the meaning of each counter of the module. Generated from the module's lists at
// build time (counters.mk).
#pragma once

#include <span>

namespace words {

struct counter_meaning {
    const char *name, *meaning;
    bool of_qp;
};

// In the module's order: those of QPs, then those of devices.
std::span<const counter_meaning> counters();

} // namespace words
