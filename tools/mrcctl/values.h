// SPDX-License-Identifier: GPL-2.0
//
// values.h - converts command-line words to kernel values, and back.
//
// Parsers throw bad_value with a text that names the word.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mrcctl {

struct bad_value : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using gid = std::array<uint8_t, 16>;
struct prefix {
    gid address;
    uint8_t length; // 1 ... 128
};

// Bits of an address that a template puts into its EVs.
struct copy_rule {
    uint32_t from, bit, width, at; // enum mrc_copy_from
};

using ev_value = std::array<uint8_t, 32>;

// Parses a decimal or 0x number; all of the word. @what names it in the error.
uint64_t parse_number(const std::string &word, uint64_t min, uint64_t max, std::string_view what);
// As parse_number, with k, m or g (1024).
uint64_t parse_size(const std::string &word, uint64_t min, uint64_t max, std::string_view what);
// Returns the time in @unit ("ns", "us", "ms" or "s"). A number without a unit is in @bare, or else
// in @unit.
uint64_t parse_time(const std::string &word, std::string_view unit, uint64_t min, uint64_t max, std::string_view what,
                    std::string_view bare = {});
// A number, or one of the names that ip and tc accept.
uint8_t parse_dscp(const std::string &word, std::string_view what);
// A decimal fraction as fixed point with @bits bits behind the point, at most @max of these.
uint32_t parse_fixed(const std::string &word, unsigned bits, uint64_t max, std::string_view what);
// Numbers separated by commas, at most @max_n.
std::vector<uint64_t> parse_list(const std::string &word, size_t max_n, std::string_view what);
bool parse_on_off(const std::string &word, std::string_view what);
// IPv6, or IPv4 as ::ffff:a.b.c.d.
gid parse_address(const std::string &word, std::string_view what);
// ADDR[/LEN], with LEN up to 32 for IPv4. The bits behind LEN must be 0.
prefix parse_prefix(const std::string &word, std::string_view what);
copy_rule parse_copy(const std::string &word); // dst|src:BIT:WIDTH:AT
gid parse_sid(const std::string &word);     // IPv6 only
uint32_t parse_fmt(const std::string &word); // MRC_FMT_*
uint32_t parse_mode(const std::string &word); // MRC_MODE_*
uint32_t parse_ev_state(const std::string &word); // enum mrc_nl_ev_state
uint32_t parse_ev_order(const std::string &word); // states that mrcctl may set
ev_value parse_ev(uint32_t fmt, const std::string &word);

std::string format_address(std::span<const uint8_t> bytes);
// In the form of parse_prefix; without the length if it is 128.
std::string format_prefix(std::span<const uint8_t> bytes, uint64_t length);
std::string copy_from_name(uint64_t from);
// @fmt 0: unknown; guessed from the bytes in use.
std::string format_ev(uint32_t fmt, std::span<const uint8_t> bytes);
// In the form of parse_fixed, without superfluous zeros.
std::string format_fixed(uint32_t v, unsigned bits);
std::string fmt_name(uint32_t fmt);
std::string mode_name(uint32_t mode);
std::string ev_state_name(uint32_t state);
std::string qp_state_name(uint32_t state);

} // namespace mrcctl
