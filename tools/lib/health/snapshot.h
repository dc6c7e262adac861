// SPDX-License-Identifier: GPL-2.0
//
// snapshot.h - the planes, peers and paths of all devices at one moment.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../nl/genl.h"

namespace health {

struct plane_now {
    unsigned number = 0;
    std::string port; // "": none has the number
    bool admin = true, carrier = false, up = false, held = false, small = false;
    uint32_t mtu = 0, speed_mbps = 0;
    uint64_t tx_bytes = 0, rx_bytes = 0;
};

struct device_now {
    std::string name;
    bool registered = true;
    uint64_t qps = 0;
    std::vector<plane_now> planes; // by number
};

struct peer_now {
    std::string dev, gid;
    std::array<uint8_t, 16> address = {}; // the GID
    uint64_t evs = 0, good = 0, skip = 0, assumed_bad = 0, denied = 0, qps = 0;
    std::vector<std::string> hints;
    std::map<unsigned, unsigned> bad_of; // plane: EVs assumed bad
};

struct snapshot {
    std::chrono::steady_clock::time_point at;
    std::vector<device_now> devices;
    std::vector<peer_now> peers;
};

// Of all devices, or of @dev.
mrcnl::error take_snapshot(mrcnl::genl_socket &nl, const std::optional<std::string> &dev, snapshot &out);

} // namespace health
