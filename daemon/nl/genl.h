// SPDX-License-Identifier: GPL-2.0
// genl.h - the module's generic-netlink family "mrc" (uapi/linux/mrc.h).
#pragma once

#include <linux/mrc.h>

#include <optional>

#include "../plan.h"
#include "message.h"
#include "socket.h"

namespace mrcd::nl {

struct GenlFamily {
    std::uint16_t id = 0;
    std::uint32_t events_group = 0;
};

// Nothing: the module is not loaded.
std::optional<GenlFamily> find_family(Socket &socket, const char *name, const char *group);

Message mrc_dump(std::uint16_t family, std::uint8_t command);
Message plane_set(std::uint16_t family, int ifindex, const PlaneSet &op);
Message plane_keep(std::uint16_t family, int ifindex, const PlaneKeep &op);
Message default_profile_set(std::uint16_t family, int ifindex, std::uint64_t id);
Message profile_set(std::uint16_t family, int ifindex, const Profile &profile);
Message profile_del(std::uint16_t family, int ifindex, const ProfileKey &key);

// Of a reply; the device it is about first.
std::uint32_t reply_ifindex(Bytes payload);
void parse_device(Bytes payload, MrcDevice &device);
std::optional<Plane> parse_plane(Bytes payload);
std::optional<ObservedProfile> parse_profile(Bytes payload);

}   // namespace mrcd::nl
