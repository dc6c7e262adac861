// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// packed.h - results of probes as bytes: some 30 instead of 136. Most of their numbers are small, or 0.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "evidence.h"

namespace mrcver {

// Appends to @bytes.
void pack(std::string &bytes, const Probe &probe, const Result &result);
// Takes the first one of what pack() made.
std::pair<Probe, Result> unpack(std::string_view &bytes);

}   // namespace mrcver
