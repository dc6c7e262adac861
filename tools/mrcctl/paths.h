// SPDX-License-Identifier: GPL-2.0
// paths.h - probes the paths to peers, and collects which ones answered.
//
// A probe by an SRv6 EV names the switch in the middle of its path for the answer, too: so a missing answer blames that path,
// in either direction. A peer of another implementation does not know that and chooses the path of its answer, which may be
// dead. So an unanswered probe is repeated.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "../lib/nl/ask.h"
#include "commands.h"
#include "values.h"

namespace mrcctl {

struct path {
    mrcnl::question q;
    bool answered = false;
    uint64_t rtt_ns = 0, tries = 0;
    uint8_t came_by = 0;
    bool both_ways = false; // the answer returned over the switch of the probe
    int err = 0; // error of the last try
};

struct device {
    std::string name;
    uint32_t ifindex = 0;
};

inline constexpr const char *no_device = "there is no MRC device here: rdma link add NAME type mrc netdev PORT";

// Finds the named device, or all devices.
mrcnl::error devices_of(context &ctx, const std::optional<std::string> &name, std::vector<device> &devs);
// Finds the named device, or the only one.
mrcnl::error one_device(context &ctx, const std::optional<std::string> &name, device &dev);
// Is it an address of this host?
bool is_ours(const gid &to);

path path_of(const gid &to, std::optional<uint8_t> tc, uint32_t fmt, const ev_value &value, uint8_t port);
// Adds the paths of the peer's path set, each once.
mrcnl::error paths_of_peer(context &ctx, const std::string &dev, const gid &to, std::optional<uint8_t> tc,
                           std::vector<path> &all);
// Probes all unanswered paths again.
mrcnl::error ask_once(context &ctx, uint32_t ifindex, uint16_t &next, std::vector<path> &all,
                      std::chrono::nanoseconds limit);
// The answers return by any path that the peer chooses.
void return_by_any(std::vector<path> &all);
// Why @p did not answer. @sure: other answers of this peer returned over the switches of their probes.
std::string why_of(const path &p, bool sure);
// Did an answer of these return over the switch of its probe? Then the peer knows how.
template <typename Paths> bool both_ways(const Paths &all)
{
    return std::any_of(all.begin(), all.end(), [](const path *p) { return p->both_ways; });
}

} // namespace mrcctl
