// SPDX-License-Identifier: GPL-2.0
// snapshot.cc - see snapshot.h.
#include "snapshot.h"

#include <algorithm>
#include <set>

#include <arpa/inet.h>
#include <linux/mrc.h>

#include "hints.h"

namespace health {

namespace {

using mrcnl::error;
using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

std::string_view dev_name(const table &t)
{
    return t[MRC_A_DEV_NAME].str();
}

std::string format_address(mrcnl::bytes gid)
{
    char text[INET6_ADDRSTRLEN];
    return gid.size() == 16 && inet_ntop(AF_INET6, gid.data(), text, sizeof(text)) ? text : "?";
}

device_now *device_of(snapshot &s, const table &t)
{
    auto it = std::find_if(s.devices.begin(), s.devices.end(),
                           [&](const device_now &d) { return d.name == dev_name(t); });
    return it == s.devices.end() ? nullptr : &*it;
}

void add_device(snapshot &s, const table &t)
{
    table d(t[MRC_A_DEV]);
    s.devices.push_back({.name = std::string(dev_name(t)),
                         .registered = !d[MRC_A_DEV_STATE] || d[MRC_A_DEV_STATE].num() != 0,
                         .qps = d[MRC_A_DEV_QPS].num(),
                         .planes = {}});
}

void add_plane(snapshot &s, const table &t)
{
    table p(t[MRC_A_PLANE]);
    if (auto *dev = device_of(s, t))
        dev->planes.push_back({.number = static_cast<unsigned>(p[MRC_A_PLANE_NUMBER].num()),
                               .port = std::string(p[MRC_A_PLANE_IFNAME].str()),
                               .admin = p[MRC_A_PLANE_ADMIN].num() != 0,
                               .carrier = p[MRC_A_PLANE_CARRIER].num() != 0,
                               .up = p[MRC_A_PLANE_UP].num() != 0,
                               .held = p[MRC_A_PLANE_HELD].num() != 0,
                               .small = p[MRC_A_PLANE_SMALL].num() != 0,
                               .mtu = static_cast<uint32_t>(p[MRC_A_PLANE_MTU].num()),
                               .speed_mbps = static_cast<uint32_t>(p[MRC_A_PLANE_SPEED].num()),
                               .tx_bytes = p[MRC_A_PLANE_TX_BYTES].num(),
                               .rx_bytes = p[MRC_A_PLANE_RX_BYTES].num()});
}

// A peer may come in several parts, of equal heads: @seen knows those that came.
void add_peer(snapshot &s, const table &t, std::set<std::string> &seen)
{
    table p(t[MRC_A_PEER]);
    peer_now peer;
    mrcnl::bytes gid = p[MRC_A_PEER_GID].bytes();
    peer.dev = dev_name(t);
    peer.gid = format_address(gid);
    if (!seen.insert(peer.dev + " " + peer.gid).second)
        return;
    peer.evs = p[MRC_A_PEER_EVS].num();
    peer.good = p[MRC_A_PEER_EVS_GOOD].num();
    peer.skip = p[MRC_A_PEER_EVS_SKIP].num();
    peer.assumed_bad = p[MRC_A_PEER_EVS_BAD].num();
    peer.denied = p[MRC_A_PEER_EVS_DENIED].num();
    peer.qps = p[MRC_A_PEER_QPS].num();
    std::copy_n(gid.begin(), std::min(gid.size(), peer.address.size()), peer.address.begin());
    peer.hints = hint_names(p[MRC_A_PEER_HINTS].num());
    s.peers.push_back(std::move(peer));
}

// Which planes the EVs assumed bad are on: asked for where there are some.
error add_bad_evs(mrcnl::genl_socket &nl, peer_now &peer)
{
    request rq(MRC_CMD_EV_GET);
    rq.str(MRC_A_DEV_NAME, peer.dev);
    rq.nest(MRC_A_PEER, [&](request &n) { n.put(MRC_A_PEER_GID, peer.address); });
    return nl.dump(rq, [&](const message &m) {
        for (auto a : m.attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table ev(a);
            if (ev[MRC_A_EV_STATE].num() == MRC_NL_EV_ASSUMED_BAD)
                peer.bad_of[static_cast<unsigned>(ev[MRC_A_EV_PORT].num())]++;
        }
    });
}

} // namespace

error take_snapshot(mrcnl::genl_socket &nl, const std::optional<std::string> &dev, snapshot &out)
{
    out = {};
    out.at = std::chrono::steady_clock::now();
    std::set<std::string> seen;
    auto dump = [&](uint8_t cmd, const std::function<void(const table &)> &add) {
        request rq(cmd);
        if (dev)
            rq.str(MRC_A_DEV_NAME, *dev);
        return nl.dump(rq, [&](const message &m) { add(table(m.attrs)); });
    };
    if (auto e = dump(MRC_CMD_DEV_GET, [&](const table &t) { add_device(out, t); }))
        return e;
    if (auto e = dump(MRC_CMD_PLANE_GET, [&](const table &t) { add_plane(out, t); }))
        return e;
    if (auto e = dump(MRC_CMD_PEER_GET, [&](const table &t) { add_peer(out, t, seen); }))
        return e;
    for (auto &peer : out.peers)
        if (peer.assumed_bad)
            if (auto e = add_bad_evs(nl, peer))
                return e;
    return {};
}

} // namespace health
