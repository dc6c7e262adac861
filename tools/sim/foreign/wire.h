// SPDX-License-Identifier: GPL-2.0
// wire.h - encodes and decodes packets of a foreign peer, from MRC 1.0 section 1 and not from the
// engine's encoder: each checks the other.
#pragma once

#include "packet.h"

namespace sim::foreign {

// Headers without payload. Returns their length.
u32 encode(const foreign_packet &p, u8 *b);
// False: not a packet that a peer of MRC 1.0 understands. *at: where the payload begins.
bool decode(const u8 *b, u32 len, foreign_packet *p, u32 *at);

} // namespace sim::foreign
