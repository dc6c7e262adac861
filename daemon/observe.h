// SPDX-License-Identifier: GPL-2.0
// observe.h - reads the observed state, which a plan compares with the desired state.
#pragma once

#include <optional>

#include "../tools/lib/nl/genl.h"
#include "state.h"

namespace mrcd {

struct Sockets {
    mrcnl::socket route, genl;
    std::optional<mrcnl::family> family;   // of the module, as the last look found it
};

// Only what @want is about. The module's absence is no error.
mrcnl::error observe(Sockets &sockets, const Desired &want, Observed &have);

// RDMA devices belong to one network namespace each ("rdma system").
bool rdma_netns_exclusive();

}   // namespace mrcd
