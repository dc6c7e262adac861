// SPDX-License-Identifier: GPL-2.0
//
// words.h - all counters, hints, states and events by name: meaning, reason, remedy.
//
// One table: `mrcctl explain` prints it, and Documentation/reference/counters.md is generated from
// it.
#pragma once

#include <string_view>
#include <vector>

namespace mrcctl {

struct word {
    std::string_view kind, name, meaning;
    std::string_view why;    // "": no reason is given
    std::string_view action; // "": no action is needed
};

// In order of kinds; counters as the module lists them.
std::vector<word> all_words();
// Names with advice that the module does not have as counters: for tests.
std::vector<std::string_view> stray_advice();

} // namespace mrcctl
