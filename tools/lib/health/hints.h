// SPDX-License-Identifier: GPL-2.0
//
// hints.h - MRC_HINT_*: reasons why a peer cannot communicate with this host, by their names in
// `mrcctl explain`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace health {

std::vector<std::string> hint_names(uint64_t mask);

} // namespace health
