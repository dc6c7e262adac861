// SPDX-License-Identifier: GPL-2.0
// options.h - the command line.
#pragma once

#include <string>

namespace mrcd {

struct Options {
    std::string config;
    std::string name;
    std::string ready_file;
    bool dry_run = false;
    bool once = false;
    bool verbose = false;
};

enum class Parsed { kRun, kExit };

// kExit: @status is how, after --help or an error that has been printed.
Parsed parse_options(int argc, char **argv, Options &options, int &status);

}   // namespace mrcd
