// SPDX-License-Identifier: GPL-2.0
// foreign.h - an end whose host runs another implementation of MRC (../foreign).
//
// It sends plain WRITEs, many at a time, and takes the engine's WRITEs with immediate.
#pragma once

#include "../foreign/receiver.h"
#include "../foreign/sender.h"
#include "end.h"

namespace sim {

struct foreign_end {
    foreign_sender tx;
    foreign_receiver rx;
    std::vector<foreign_path> paths;
    std::vector<u32> flows; // by number of the write
};

} // namespace sim
