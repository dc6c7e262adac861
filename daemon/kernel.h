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

    // Reads the part of the kernel's state that @want concerns. A missing module is no error.
    virtual mrcnl::error look(const Desired &want, Observed &have) = 0;
    // Executes @op. An error has the kernel's explanation, but not the operation, which the caller
    // knows.
    virtual mrcnl::error apply(const Op &op) = 0;
};

}   // namespace mrcd
