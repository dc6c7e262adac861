// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_path.h - EVs and path sets in kernel messages.
#pragma once

#include <linux/mrc.h>

#include <cstring>
#include <string>
#include <utility>

#include "controller.h"

using ev_key = std::string; // value and port

inline ev_key key_of(const mrc_ctl_ev &ev)
{
    return ev_key(reinterpret_cast<const char *>(&ev), sizeof(ev));
}

inline mrc_ctl_ev ev_of(const mrcnl::table &t)
{
    auto value = t[MRC_A_EV_VALUE].bytes();
    mrc_ctl_ev ev = {};

    if (value.size() == sizeof(ev.val))
        std::memcpy(ev.val, value.data(), sizeof(ev.val));
    ev.port = static_cast<uint8_t>(t[MRC_A_EV_PORT].num());
    return ev;
}

// Is it a path set of profile @id for any destination? Profiles of the same id for single
// destinations or prefixes are others.
inline bool is_of(const mrcnl::table &peer, uint64_t id)
{
    return peer[MRC_A_PEER_PROFILE_ID].num() == id && !peer[MRC_A_PEER_PROFILE_DST_LEN].num();
}

// A path set: GID of the peer, and the profile that QPs name (0: the device's default).
using set_key = std::pair<std::string, uint64_t>;

inline set_key set_of(const mrcnl::table &peer)
{
    auto bytes = peer[MRC_A_PEER_GID].bytes();

    return {std::string(bytes.begin(), bytes.end()), peer[MRC_A_PEER_NAMED].num()};
}

// Calls f(EV, its attributes, its path set) for each path set of the profile. One dump, so that an
// EV and its profile are of the same moment.
template <class F> void each_path(mrc_ctl &c, uint64_t id, F &&f)
{
    c.dump(MRC_CMD_EV_GET, [&](const mrcnl::table &t, const mrcnl::attr_range &attrs) {
        mrcnl::table peer(t[MRC_A_PEER]);
        if (!is_of(peer, id))
            return;
        for (auto a : attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            mrcnl::table ev(a);
            f(ev_of(ev), ev, peer);
        }
    });
}
