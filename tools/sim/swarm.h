// SPDX-License-Identifier: GPL-2.0
// swarm.h - many seeds, each in a child process, several at once.
#pragma once

#include "world.h"

#include <string>
#include <vector>

namespace sim {

struct outcome {
    bool ok = false;
    result res;
    char why[1024] = "";
};

struct swarm_range {
    u64 first = 0, last = 0;
    u32 jobs = 1;
    u64 seconds = 0;         // go on beyond last for so long; 0: no
    bool hashes = false;     // print only "seed hash"
};

outcome run_seed(const options &o, u64 seed, bool text);

// NAME=VALUE each, over what the seed drew. False: said why on stderr.
bool apply_sets(options &o, const std::vector<std::string> &sets);

void print_stats(const result &r);

// Prints failing seeds as commands that repeat them, and a summary. Exit status.
int swarm(const swarm_range &range, const std::vector<std::string> &sets);

} // namespace sim
