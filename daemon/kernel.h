// SPDX-License-Identifier: GPL-2.0
// kernel.h - the interface between the reconciler and a kernel.
//
// netlink_kernel.h implements it for the running kernel. Tests implement it as a struct with the
// same rules.
#pragma once

#include "../tools/lib/nl/error.h"
#include "plan.h"

namespace mrcd {

class Kernel {
public:
    virtual ~Kernel() = default;

    // Only what @want is about. The module's absence is no error.
    virtual mrcnl::error look(const Desired &want, Observed &have) = 0;
    // An error carries the kernel's explanation, not the operation: callers know it.
    virtual mrcnl::error apply(const Op &op) = 0;
};

}   // namespace mrcd
