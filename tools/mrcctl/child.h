// SPDX-License-Identifier: GPL-2.0
//
// child.h - what another program prints, with limits on its time and its output.
#pragma once

#include <string>
#include <vector>

namespace mrcctl {

struct child_result {
    std::string out;   // of both streams, in order
    int status = -1;   // exit status; -1: it could not be run, was killed, or took too long
    std::string why;   // of -1
    bool cut = false;  // it had more to say
};

child_result run_child(const std::vector<std::string> &argv, size_t bytes, unsigned seconds);

} // namespace mrcctl
