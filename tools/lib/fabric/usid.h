// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// usid.h - compressed SIDs (F3216): a block of 32 bits, then uSIDs of 16 bits each.
//
// A switch whose uSID is first removes it and looks up the route to the next one.
#pragma once

#include <vector>

#include "ip.h"

namespace mrcfab {

inline constexpr unsigned kUsidBlockLen = 32;
inline constexpr unsigned kUsidLen = 16;
inline constexpr unsigned kUsidMax = 0xffff;
inline constexpr unsigned kLocatorLen = kUsidBlockLen + kUsidLen;
inline constexpr unsigned kUsidsOfAddress = (128 - kUsidBlockLen) / kUsidLen;

// The block of one plane, numbered from 1: all of them share @blocks of length 32; of a shorter
// prefix each plane has its own 32 bits, in order.
Prefix6 plane_block(const Prefix6 &blocks, unsigned plane);
// Of a prefix of that length each of so many planes has its own block.
constexpr bool block_per_plane(unsigned len) { return len < kUsidBlockLen; }
constexpr unsigned blocks_of(unsigned len) { return 1u << (kUsidBlockLen - len); }

// block:<usid>:<usid>...::
Ip6 usid_address(const Prefix6 &block, const std::vector<unsigned> &usids);
Prefix6 usid_locator(const Prefix6 &block, unsigned usid);
// What "End next-csid" does: the first uSID goes, the others move up.
Ip6 usid_shift(const Ip6 &a);

}   // namespace mrcfab
