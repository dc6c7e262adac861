// SPDX-License-Identifier: GPL-2.0
// child.h - runs another program and keeps its output, with limits on its time and its output.
#pragma once

#include <string>
#include <vector>

namespace mrcctl {

struct child_result {
    std::string out;   // stdout and stderr, in their order
    int status = -1;   // exit status; -1: it could not be run, was killed, or took too long
    std::string why;   // the reason of -1
    bool cut = false;  // the output exceeded the limit
};

child_result run_child(const std::vector<std::string> &argv, size_t bytes, unsigned seconds);

} // namespace mrcctl
