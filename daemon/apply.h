// SPDX-License-Identifier: GPL-2.0
// apply.h - executes one operation of a plan on the kernel.
#pragma once

#include "observe.h"
#include "plan.h"

namespace mrcd {

// An error has the kernel's explanation, but not the operation, which the caller knows.
mrcnl::error apply(Sockets &sockets, const Op &op);

}   // namespace mrcd
