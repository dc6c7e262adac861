// SPDX-License-Identifier: GPL-2.0
// observe.h - reads from the kernel what a plan compares with.
#pragma once

#include <optional>

#include "nl/genl.h"
#include "nl/rtnl.h"
#include "nl/socket.h"
#include "state.h"

namespace mrcd {

struct Sockets {
    nl::Socket route{NETLINK_ROUTE, nl::Socket::Use::kRequests};
    nl::Socket genl{NETLINK_GENERIC, nl::Socket::Use::kRequests};
    std::optional<nl::GenlFamily> family;   // of the module, once found
};

// Only what @want is about. The module's absence is no error.
nl::Result observe(Sockets &sockets, const Desired &want, Observed &have);

// RDMA devices belong to one network namespace each ("rdma system").
bool rdma_netns_exclusive();

}   // namespace mrcd
