// SPDX-License-Identifier: GPL-2.0
// qp_foreign.h - the end of a queue pair whose host runs another implementation (foreign/).
#pragma once

#include "foreign/receiver.h"
#include "foreign/sender.h"

namespace sim {

struct foreign_end {
    foreign_sender tx;
    foreign_receiver rx;
    std::vector<foreign_path> paths;
};

} // namespace sim
