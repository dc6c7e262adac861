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

// The input of the checks. In tests, root is a directory.
struct host {
    std::string root;    // "": the root of this host
    std::string release; // release of the kernel
    std::string version; // version of mrcctl
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

// Exit status 1 if a check finds something.
mrcnl::error doctor(context &ctx);

} // namespace mrcctl
