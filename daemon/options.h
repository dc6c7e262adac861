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
    std::string metrics;  // ADDRESS:PORT to listen at; "": nowhere
    std::string event_file;   // records of the module's log, as JSON lines
    mrcfab::Probing probing;   // these go before [probe] of the file
    std::string probe_file;   // what probes found, as JSON lines
    std::string owns;     // is this interface the file's?
    bool dry_run = false;
    bool check = false;   // a dry run whose exit status says what was found
    bool force = false;   // even a file that removes most of what is there
    bool once = false;
    bool verbose = false;
};

// As mrcctl's.
enum Exit { kOk = 0, kUsage = 1, kFailed = 2 };
// Of --check.
enum CheckExit { kNothingToDo = 0, kSomethingToDo = 1, kBad = 2 };

// Of --owns; without a file or a name in it kFailed, which is no yes either.
enum OwnsExit { kOwned = 0, kNotOurs = 1 };

enum class Parsed { kRun, kExit };

// kExit: @status is how, after --help or an error that has been printed.
Parsed parse_options(int argc, char **argv, Options &options, int &status);

}   // namespace mrcd
