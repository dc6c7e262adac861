// SPDX-License-Identifier: GPL-2.0
// rules.h - fabric files by rule, for tests.
#pragma once

#include <fmt/format.h>

#include <string>

#include "../../tools/lib/fabric/fabric.h"

namespace mrcd {

using namespace mrcfab;

struct RuleSize {
    unsigned planes = 2, t0s = 3, t1s = 2, hosts_per_t0 = 2, evs_per_plane = 4;
    unsigned block_len = 29, profile_id = 1;
    const char *ipv4 = "10.0.0.0/8";
    std::string more = "";   // exceptions
};

inline std::string rule_text(const RuleSize &z = {})
{
    return fmt::format("[fabric]\nblock = \"fcbb:bb00::/{}\"\nprefix = \"fd00:6d72:63::/64\"\n"
                       "[planes]\ncount = {}\n"
                       "[profile]\nid = {}\nevs_per_plane = {}\n"
                       "[topology]\nt0s = {}\nt1s = {}\nhosts_per_t0 = {}\nipv4 = \"{}\"\n{}",
                       z.block_len, z.planes, z.profile_id, z.evs_per_plane, z.t0s, z.t1s, z.hosts_per_t0, z.ipv4,
                       z.more);
}

inline Fabric make_rule(const RuleSize &z = {}) { return parse_fabric(rule_text(z), "rule.toml"); }

// The rule and further sections; and why it is refused, or "".
inline Fabric rule_with(const std::string &more) { return parse_fabric(rule_text() + more, "rule.toml"); }

inline std::string rule_refusal(const std::string &more)
{
    try {
        rule_with(more);
    } catch (const FabricError &e) {
        return e.what();
    }
    return "";
}

// 131,072 hosts, 8 planes, 2 choices of T1.
inline RuleSize whole_size(std::string more = "")
{
    return {.planes = 8, .t0s = 512, .t1s = 256, .hosts_per_t0 = 256, .evs_per_plane = 2,
            .more = std::move(more)};
}

}   // namespace mrcd
