// SPDX-License-Identifier: GPL-2.0
// counters.cc - see counters.h.
#include "counters.h"

namespace words {

namespace {

constexpr counter_meaning kCounters[] = {
#include "counters.inc"
};

} // namespace

std::span<const counter_meaning> counters()
{
    return kCounters;
}

} // namespace words
