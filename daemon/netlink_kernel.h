// SPDX-License-Identifier: GPL-2.0
// netlink_kernel.h - the kernel of the current network namespace (kernel.h), by netlink.
#pragma once

#include "apply.h"
#include "kernel.h"
#include "observe.h"

namespace mrcd {

class NetlinkKernel : public Kernel {
public:
    NetlinkKernel();   // throws std::runtime_error if there is no netlink

    mrcnl::error look(const Desired &want, Observed &have) override
    {
        return observe(sockets_, want, have);
    }
    mrcnl::error apply(const Op &op) override { return mrcd::apply(sockets_, op); }

    // The module's family when the state was last read.
    const std::optional<mrcnl::family> &family() const { return sockets_.family; }

private:
    Sockets sockets_;
};

}   // namespace mrcd
