// SPDX-License-Identifier: GPL-2.0
//
// judge.h - derives problems from a snapshot: one sentence each, with the remedy. Pure.
#pragma once

#include <string>
#include <vector>

#include "snapshot.h"

namespace health {

struct problem {
    std::string dev;
    unsigned plane = 0; // 0: not of one
    std::string peer;   // "": of no peer
    std::string text, action;
};

// Gravest first. A plane that a person switched off, and an EV that one denied, are none.
std::vector<problem> problems_of(const snapshot &s);
// In words, of all of it: "well: 4 of 4 planes up, 2 peers, 16 of 16 paths good".
std::string verdict_of(const snapshot &s, const std::vector<problem> &problems);
// One word: why a plane is not used, or "up".
std::string plane_state(const plane_now &p);

} // namespace health
