// SPDX-License-Identifier: GPL-2.0
//
// hints.h - MRC_HINT_*: what keeps a peer from talking to us, by the names of `mrcctl explain`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace health {

std::vector<std::string> hint_names(uint64_t mask);

} // namespace health
