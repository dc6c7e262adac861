// SPDX-License-Identifier: GPL-2.0
// hints.cc - see hints.h.
#include "hints.h"

#include <utility>

#include <linux/mrc.h>

namespace health {

std::vector<std::string> hint_names(uint64_t mask)
{
    static const std::pair<int, const char *> kNames[] = {
        {MRC_HINT_ICRC, "icrc"},
        {MRC_HINT_UDP_PORT, "udp-port"},
        {MRC_HINT_HOP_LIMIT, "hop-limit"},
        {MRC_HINT_NO_ANSWER, "no-answer"},
        {MRC_HINT_PLAIN, "plain"},
        {MRC_HINT_NOBODY, "nobody"},
        {MRC_HINT_POLICY, "policy"},
    };
    std::vector<std::string> list;
    for (auto [hint, name] : kNames)
        if (mask & static_cast<unsigned>(hint))
            list.emplace_back(name);
    return list;
}

} // namespace health
