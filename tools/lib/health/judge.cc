// SPDX-License-Identifier: GPL-2.0
// judge.cc - see judge.h.
#include "judge.h"

#include <fmt/format.h>

namespace health {

namespace {

void judge_plane(const device_now &dev, const plane_now &p, std::vector<problem> &out)
{
    auto add = [&](std::string text, std::string action) {
        out.push_back({dev.name, p.number, "", std::move(text), std::move(action)});
    };
    std::string what = fmt::format("plane {} ({})", p.number, p.port);
    if (p.up || !p.admin)
        return;
    if (p.port.empty())
        add(fmt::format("plane {} has no port", p.number), "plug the NIC in, or load its driver");
    else if (!p.carrier)
        add(what + " has no carrier", fmt::format("ip link show {}; then cable, optic and switch port", p.port));
    else if (p.held)
        add(what + " is held: its link came and went too often", "look for a bad cable or optic; it is used again by itself");
    else if (p.small)
        add(fmt::format("{} is kept out: its MTU of {} is too small for packets of QPs", what, p.mtu),
            fmt::format("ip link set {} mtu N, with N as on the other planes", p.port));
    else
        add(what + " is not used", fmt::format("ip link set {} up", dev.name));
}

void judge_peer(const peer_now &p, std::vector<problem> &out)
{
    for (auto &hint : p.hints)
        out.push_back({p.dev, 0, p.gid, fmt::format("peer {}: hint {}", p.gid, hint), fmt::format("mrcctl explain {}", hint)});
    for (auto &[plane, n] : p.bad_of)
        out.push_back({p.dev, plane, p.gid, fmt::format("peer {}: {} {} on plane {} lost packets and {} silent", p.gid, n,
                                                        n == 1 ? "path" : "paths", plane, n == 1 ? "is" : "are"),
                       fmt::format("mrcctl probe {}", p.gid)});
}

} // namespace

std::string plane_state(const plane_now &p)
{
    return p.up ? "up" : !p.admin ? "off" : p.port.empty() ? "no port" : !p.carrier ? "no carrier" : p.held ? "held" :
           p.small ? "small MTU" : "down";
}

std::vector<problem> problems_of(const snapshot &s)
{
    std::vector<problem> out;
    for (auto &dev : s.devices) {
        if (!dev.registered)
            out.push_back({dev.name, 0, "", "the device is not registered: programs do not see it",
                           fmt::format("rdma link show; rdma link delete and add {}", dev.name)});
        if (dev.planes.empty())
            out.push_back({dev.name, 0, "", "the device has no plane", fmt::format("ip link set PORT master {}", dev.name)});
        for (auto &p : dev.planes)
            judge_plane(dev, p, out);
    }
    for (auto &p : s.peers)
        judge_peer(p, out);
    return out;
}

std::string verdict_of(const snapshot &s, const std::vector<problem> &problems)
{
    uint64_t planes = 0, up = 0, evs = 0, good = 0;
    for (auto &dev : s.devices)
        for (auto &p : dev.planes) {
            planes++;
            up += p.up;
        }
    for (auto &p : s.peers) {
        evs += p.evs;
        good += p.good;
    }
    auto counts = fmt::format("{} of {} planes up, {} {}, {} of {} paths good", up, planes, s.peers.size(),
                              s.peers.size() == 1 ? "peer" : "peers", good, evs);
    if (problems.empty())
        return "well: " + counts;
    return fmt::format("{}: {}", problems.size() == 1 ? "1 problem" : fmt::format("{} problems", problems.size()), counts);
}

} // namespace health
