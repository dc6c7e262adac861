// SPDX-License-Identifier: GPL-2.0
// mrc_genl.h - messages of the module's generic-netlink family "mrc" (uapi/linux/mrc.h).
#pragma once

#include <linux/mrc.h>

#include <optional>

#include "../tools/lib/nl/request.h"
#include "plan.h"

namespace mrcd::nl {

using Bytes = mrcnl::bytes;
using Message = mrcnl::request;

Message mrc_dump(std::uint16_t family, std::uint8_t command);
Message sid_set(std::uint16_t family, int ifindex, const SidSet &op);
Message plane_keep(std::uint16_t family, int ifindex, const PlaneAdd &op);
Message qos_set(std::uint16_t family, int ifindex, const DeviceQos &qos);
Message default_profile_set(std::uint16_t family, int ifindex, std::uint64_t id);
Message profile_set(std::uint16_t family, int ifindex, const Profile &profile);
Message profile_del(std::uint16_t family, int ifindex, const ProfileKey &key);

// The ifindex in a reply: that of its device.
std::uint32_t reply_ifindex(Bytes payload);
void parse_device(Bytes payload, MrcDevice &device);
std::optional<Plane> parse_plane(Bytes payload);
std::optional<ObservedProfile> parse_profile(Bytes payload);

}   // namespace mrcd::nl
