// SPDX-License-Identifier: GPL-2.0
// options.h - the command line of mrcd.
#pragma once

#include <string>

#include "../tools/lib/fabric/probing.h"

namespace mrcd {

struct Options {
    std::string config;
    std::string name;
    std::string ready_file;
    std::string metrics;  // ADDRESS:PORT to listen at; "": no web server
    std::string event_file;   // records of the module's log, as JSON lines
    mrcfab::Probing probing;   // override [probe] of the file
    std::string probe_file;   // findings of probes, as JSON lines
    std::string owns;     // does the file name this interface?
    bool dry_run = false;
    bool check = false;   // a dry run whose exit status tells the result
    bool force = false;   // apply even a file that removes most of the present state
    bool once = false;
    bool verbose = false;
};

// Exit status, as of mrcctl.
enum Exit { kOk = 0, kUsage = 1, kFailed = 2 };
// Exit status of --check.
enum CheckExit { kNothingToDo = 0, kSomethingToDo = 1, kBad = 2 };

// Exit status of --owns. Without a file, or a name in it: kFailed, which does not mean yes, either.
enum OwnsExit { kOwned = 0, kNotOurs = 1 };

enum class Parsed { kRun, kExit };

// kExit: exit with @status, after --help or a printed error.
Parsed parse_options(int argc, char **argv, Options &options, int &status);

}   // namespace mrcd
