// SPDX-License-Identifier: GPL-2.0
//
// values.h - words of the command line into values of the kernel, and back.
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
using ev_value = std::array<uint8_t, 32>;

// Decimal or 0x; the whole word. @what names it in the error.
uint64_t parse_number(const std::string &word, uint64_t min, uint64_t max, std::string_view what);
// As parse_number, with k, m or g (1024).
uint64_t parse_size(const std::string &word, uint64_t min, uint64_t max, std::string_view what);
// A decimal fraction as fixed point with @bits bits behind the point, at most @max of these.
uint32_t parse_fixed(const std::string &word, unsigned bits, uint64_t max, std::string_view what);
// Numbers with commas between; @max_n of them at most.
std::vector<uint64_t> parse_list(const std::string &word, size_t max_n, std::string_view what);
bool parse_on_off(const std::string &word, std::string_view what);
// IPv6, or IPv4 as ::ffff:a.b.c.d.
gid parse_address(const std::string &word, std::string_view what);
// ADDR or ADDR/LEN; an IPv4 prefix becomes one of mapped addresses. Bits beyond it are refused.
struct gid_prefix {
    gid addr{};
    uint8_t len = 128;
};
gid_prefix parse_gid_prefix(const std::string &word, std::string_view what);
// FROM:BIT:WIDTH:AT, numbers as struct of MRC_A_COPY_*
struct bit_copy {
    uint32_t from = 0, bit = 0, width = 0, at = 0;
};
bit_copy parse_copy(const std::string &word);
gid parse_sid(const std::string &word);     // IPv6 only
uint32_t parse_fmt(const std::string &word); // MRC_FMT_*
uint32_t parse_mode(const std::string &word); // MRC_MODE_*
uint32_t parse_ev_state(const std::string &word); // enum mrc_nl_ev_state
ev_value parse_ev(uint32_t fmt, const std::string &word);

std::string format_address(std::span<const uint8_t> bytes);
std::string copy_from_name(uint32_t from);
// @fmt 0: not known, guessed from the bytes in use.
std::string format_ev(uint32_t fmt, std::span<const uint8_t> bytes);
// As parse_fixed takes it, without superfluous zeros.
std::string format_fixed(uint32_t v, unsigned bits);
std::string fmt_name(uint32_t fmt);
std::string mode_name(uint32_t mode);
std::string ev_state_name(uint32_t state);
std::string qp_state_name(uint32_t state);

} // namespace mrcctl
