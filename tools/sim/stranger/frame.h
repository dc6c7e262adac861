// SPDX-License-Identifier: GPL-2.0
// frame.h - Ethernet to UDP and the ICRC around a foreign peer's packet, from the RFCs and IBTA A17.
#pragma once

#include "../foreign/packet.h"

#include <array>
#include <string>
#include <vector>

namespace sim::stranger {

using bytes = std::vector<u8>;
using address = std::array<u8, 16>; // IPv4 in the last four, the rest zero

struct host {
    address ip{};
    bool v6 = true;
};

// False: no address.
bool parse_host(const std::string &text, host *h);

// SRv6 around the packets of a host: its locator, and the way to its peer's.
struct tunnel {
    bool used = false, srh = false;
    address locator{}, destination{}, segment{};
};

// LOCATOR and DESTINATION[,SEGMENT], IPv6 addresses. False: they are not.
bool parse_tunnel(const std::string &locator, const std::string &way, tunnel *t);

// What surrounds a packet.
struct envelope {
    u32 ev = 0;
    u8 dscp = 0, ecn = 0;
    u16 port = 0;
    address src{};
    bool trimmed = false; // UDP tells more than there is
    u32 udp_len = 0;
};

bytes seal(const host &from, const host &to, const tunnel &t, const envelope &e, const bytes &body);
// The body from BTH to the ICRC. False: not UDP of this family, not for the locator, or the ICRC is wrong.
bool open(const bytes &frame, bool v6, const tunnel &t, envelope *e, bytes *body);

} // namespace sim::stranger
