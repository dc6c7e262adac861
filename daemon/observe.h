// SPDX-License-Identifier: GPL-2.0
// observe.h - reads the observed state, which a plan compares with the desired state.
#pragma once

#include <optional>

#include "../tools/lib/nl/genl.h"
#include "state.h"

namespace mrcd {

struct Sockets {
    mrcnl::socket route, genl;
    std::optional<mrcnl::family> family;   // of the module, when the state was last read
};

// Reads the part of the state that @want concerns. A missing module is no error.
mrcnl::error observe(Sockets &sockets, const Desired &want, Observed &have);

// Does each RDMA device belong to one network namespace ("rdma system")?
bool rdma_netns_exclusive();

}   // namespace mrcd
