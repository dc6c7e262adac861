// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ip.h - IPv4 and IPv6 addresses and prefixes as values: parse, print, compare.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mrcfab {

struct Ip6 {
    std::array<std::uint8_t, 16> bytes{};

    auto operator<=>(const Ip6 &) const = default;
};

// An address of either family. IPv4 is kept as its four bytes.
struct IpAddr {
    bool v4 = false;
    std::array<std::uint8_t, 16> bytes{};   // IPv4: the first four

    auto operator<=>(const IpAddr &) const = default;

    std::size_t size() const { return v4 ? 4 : 16; }
    // As a GID: IPv4 as ::ffff:a.b.c.d.
    Ip6 gid() const;
};

// "address/length": an interface's address, host bits and all.
struct IfAddr {
    IpAddr addr;
    std::uint8_t len = 0;

    auto operator<=>(const IfAddr &) const = default;
};

struct Prefix6 {
    Ip6 addr;
    std::uint8_t len = 0;

    auto operator<=>(const Prefix6 &) const = default;

    bool contains(const Ip6 &a) const;
    bool overlaps(const Prefix6 &other) const;
    bool host_bits_zero() const;
};

// Why an interface of a host cannot have it: "a multicast address"; empty if it can.
std::string not_for_hosts(const IpAddr &a);
// Likewise as the address of a network of that length: its first and last IPv4 address are nobody's.
std::string not_for_hosts(const IfAddr &a);

// @width (1 to 32) bits of @a from bit @at on; bit 0 is the most significant.
std::uint32_t get_bits(const Ip6 &a, unsigned at, unsigned width);
Ip6 first_bits(Ip6 a, unsigned len);   // the others are zero then
void put_bits(Ip6 &a, unsigned at, unsigned width, std::uint32_t value);

std::optional<Ip6> parse_ip6(std::string_view text);
std::optional<Prefix6> parse_prefix6(std::string_view text);
std::optional<IfAddr> parse_ifaddr(std::string_view text);

std::string to_string(const Ip6 &a);
std::string to_string(const IpAddr &a);
std::string to_string(const IfAddr &a);
std::string to_string(const Prefix6 &p);

// IPv4 networks as GIDs: ::ffff:a.b.c.d, of length 96 and more.
Prefix6 mapped(const IfAddr &net);
bool is_mapped(const Prefix6 &p);
std::string net_text(const Prefix6 &p);   // such a one as IPv4

}   // namespace mrcfab
