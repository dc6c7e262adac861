// SPDX-License-Identifier: GPL-2.0
// netlink_kernel.cc - see netlink_kernel.h.
#include "netlink_kernel.h"

#include <stdexcept>

namespace mrcd {

NetlinkKernel::NetlinkKernel()
{
    for (auto [socket, protocol] : {std::pair{&sockets_.route, NETLINK_ROUTE},
                                    std::pair{&sockets_.genl, NETLINK_GENERIC}})
        if (const auto e = socket->open(protocol))
            throw std::runtime_error(e.text);
}

}   // namespace mrcd
