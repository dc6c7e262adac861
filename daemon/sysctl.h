// SPDX-License-Identifier: GPL-2.0
// sysctl.h - where a key such as "all/forwarding" lives. /proc/sys shows the
// network namespace of the process that looks.
#pragma once

#include <string>

namespace mrcd {

inline std::string sysctl_path(const std::string &key)
{
    return "/proc/sys/net/ipv6/conf/" + key;
}

}   // namespace mrcd
