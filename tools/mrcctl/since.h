// SPDX-License-Identifier: GPL-2.0
//
// since.h - parses a point in time. Pure, except for the time zone.
#pragma once

#include <cstdint>
#include <string>

namespace mrcctl {

// Parses "10m" (ms, s, m, h, d: the time before @now_ns), "12:03", "12:03:11" (the latest past one,
// local time), "2026-11-29", "2026-11-29T12:03:11" (local time; with Z: UTC). Returns ns since
// 1970, as @now_ns is. Throws bad_value.
uint64_t parse_since(const std::string &word, uint64_t now_ns);

// Formats "2026-11-29T12:03:11.123456", as UTC with a Z behind it, or as local time with its
// offset.
std::string format_moment(uint64_t ns, bool local);

} // namespace mrcctl
