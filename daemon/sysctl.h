// SPDX-License-Identifier: GPL-2.0
// sysctl.h - the path of a key such as "all/forwarding". /proc/sys shows the network namespace of
// the reading process.
#pragma once

#include <string>

namespace mrcd {

inline std::string sysctl_path(const std::string &key)
{
    return "/proc/sys/net/ipv6/conf/" + key;
}

}   // namespace mrcd
