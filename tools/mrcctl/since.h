// SPDX-License-Identifier: GPL-2.0
//
// since.h - parses a point in time. Pure, except for the time zone.
#pragma once

#include <cstdint>
#include <string>

namespace mrcctl {

// "10m" (ms, s, m, h, d: so long before @now_ns), "12:03", "12:03:11" (the latest one that is over, local time),
// "2026-11-29", "2026-11-29T12:03:11" (local time; with Z: UTC). In ns since 1970, as @now_ns is. Throws bad_value.
uint64_t parse_since(const std::string &word, uint64_t now_ns);

// "2026-11-29T12:03:11.123456", UTC with a Z behind it, or local time with the offset.
std::string format_moment(uint64_t ns, bool local);

} // namespace mrcctl
