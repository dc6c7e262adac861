// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// qos.h - [qos] of a fabric file: by which marks hosts and switches tell packets apart, when a
// switch marks congestion, and whether it trims.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mrcfab {

// Defaults are the module's (kernel/core/mrc_dev_attr.c).
struct Dscps {
    std::uint8_t data = 8;       // may be trimmed
    std::uint8_t rtx = 12;       // data sent again; may be trimmed
    std::uint8_t control = 46;   // neither trimmed nor dropped early
    std::uint8_t no_trim = 10;   // data and probes that must not be trimmed
    std::uint8_t trimmed = 16, trimmed_lasthop = 18;   // written by the switch that trims

    auto operator<=>(const Dscps &) const = default;
};

// Traffic classes of a switch, each with the queue of its number; trimmed packets share the
// queue of control packets.
struct Classes {
    std::uint8_t data = 1, no_trim = 2, trimmed = 5, control = 6;
};

// Bytes of a queue, and how many percent of the packets are marked at @max.
struct Ecn {
    std::uint32_t min = 150000, max = 1500000;
    std::uint8_t percent = 100;
};

struct Qos {
    Dscps dscp;
    Classes classes;
    Ecn ecn;
    unsigned trim_size = 0;   // bytes that are left of a packet; 0: switches do not trim
    bool trim_nack = true;    // hosts answer what was trimmed
};

// The host's half: settings of the MRC device.
struct DeviceQos {
    Dscps dscp;
    bool trim_nack = true;

    auto operator<=>(const DeviceQos &) const = default;
};

class Reader;
Qos read_qos(Reader &root);

// "cs1", "af11", "ef", ..., as RFCs and ip(8) name them.
std::optional<std::uint8_t> dscp_of(std::string_view name);

}   // namespace mrcfab
