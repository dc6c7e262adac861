// SPDX-License-Identifier: GPL-2.0
//
// doctor.h - checks of this host: one table, each with the cause that it finds and a command that
// repairs it.
//
// A new check is one function and one row in doctor.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "commands.h"

namespace mrcctl {

// What the checks look at; in tests the root is a folder.
struct host {
    std::string root;    // "": this host's
    std::string release; // of the kernel
    std::string version; // of mrcctl
    bool privileged;     // may pin memory without limit
    uint64_t memlock;    // bytes that a program of this user may pin
};

struct finding {
    std::string cause;
    std::string paste; // a command for root
};

struct check {
    const char *name;
    const char *help;
    std::optional<finding> (*look)(const host &h);
};

std::span<const check> checks();
host this_host();

// Exit status 1 when a check finds something.
mrcnl::error doctor(context &ctx);

} // namespace mrcctl
