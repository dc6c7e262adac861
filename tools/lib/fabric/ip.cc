// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ip.cc - see ip.h.
#include "ip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace mrcfab {

namespace {

constexpr Prefix6 kMapped{{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}}, 96};

std::optional<IpAddr> parse_ip(std::string_view text)
{
    const std::string s(text);
    IpAddr a;

    if (inet_pton(AF_INET6, s.c_str(), a.bytes.data()) == 1)
        return a;
    a.v4 = true;
    a.bytes = {};
    if (inet_pton(AF_INET, s.c_str(), a.bytes.data()) == 1)
        return a;
    return std::nullopt;
}

}   // namespace

Ip6 IpAddr::gid() const
{
    Ip6 gid;

    if (!v4) {
        gid.bytes = bytes;
        return gid;
    }
    gid.bytes[10] = gid.bytes[11] = 0xff;
    std::copy_n(bytes.begin(), 4, gid.bytes.begin() + 12);
    return gid;
}

bool Prefix6::contains(const Ip6 &a) const
{
    for (unsigned bit = 0; bit < len; bit++) {
        const unsigned mask = 0x80u >> (bit % 8);
        if ((addr.bytes[bit / 8] ^ a.bytes[bit / 8]) & mask)
            return false;
    }
    return true;
}

bool Prefix6::overlaps(const Prefix6 &other) const
{
    return contains(other.addr) || other.contains(addr);
}

bool Prefix6::host_bits_zero() const
{
    for (unsigned bit = len; bit < 128; bit++)
        if (addr.bytes[bit / 8] & (0x80u >> (bit % 8)))
            return false;
    return true;
}

std::string not_for_hosts(const IpAddr &a)
{
    const auto &b = a.bytes;
    const auto gid = a.gid().bytes;

    if (!a.v4 && std::equal(gid.begin(), gid.begin() + 12, IpAddr{true, {}}.gid().bytes.begin()))
        return "an IPv4 address written as IPv6";
    if (std::all_of(b.begin(), b.end(), [](auto byte) { return byte == 0; }) ||
        (a.v4 && b[0] == 0))
        return "the unspecified address";
    if (a.v4 ? b[0] == 127 : a == IpAddr{false, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}})
        return "a loopback address";
    if (a.v4 ? (b[0] & 0xf0) == 0xe0 : b[0] == 0xff)
        return "a multicast address";
    if (a.v4 && b[0] >= 0xf0)
        return "a reserved address";
    if (a.v4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
        return "a link-local address";
    return "";
}

std::string not_for_hosts(const IfAddr &a)
{
    const auto what = not_for_hosts(a.addr);
    const unsigned bits = a.addr.v4 && a.len < 31 ? 32u - a.len : 0;
    const auto host = bits ? get_bits(a.addr.gid(), 128 - bits, bits) : 1;

    if (!what.empty() || bits == 0)
        return what;
    if (host == 0)
        return "the address of the network itself";
    return host == (1ull << bits) - 1 ? "the network's broadcast address" : "";
}

std::uint32_t get_bits(const Ip6 &a, unsigned at, unsigned width)
{
    std::uint32_t value = 0;

    for (unsigned bit = at; bit < at + width; bit++)
        value = value << 1 | (a.bytes[bit / 8] >> (7 - bit % 8) & 1u);
    return value;
}

void put_bits(Ip6 &a, unsigned at, unsigned width, std::uint32_t value)
{
    for (unsigned bit = at + width; bit-- > at; value >>= 1) {
        const auto mask = static_cast<std::uint8_t>(0x80u >> bit % 8);
        a.bytes[bit / 8] = static_cast<std::uint8_t>(value & 1 ? a.bytes[bit / 8] | mask
                                                               : a.bytes[bit / 8] & ~mask);
    }
}

Ip6 first_bits(Ip6 a, unsigned len)
{
    for (unsigned i = (len + 7) / 8; i < a.bytes.size(); i++)
        a.bytes[i] = 0;
    if (len % 8)
        a.bytes[len / 8] &= static_cast<std::uint8_t>(0xff00u >> len % 8);
    return a;
}

std::optional<Ip6> parse_ip6(std::string_view text)
{
    const auto a = parse_ip(text);

    if (!a || a->v4)
        return std::nullopt;
    return Ip6{a->bytes};
}

std::optional<IfAddr> parse_ifaddr(std::string_view text)
{
    const auto slash = text.find('/');
    if (slash == text.npos)
        return std::nullopt;
    const auto addr = parse_ip(text.substr(0, slash));
    const auto digits = text.substr(slash + 1);
    unsigned len = 0;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), len);

    if (!addr || ec != std::errc() || end != digits.data() + digits.size() ||
        len > addr->size() * 8)
        return std::nullopt;
    return IfAddr{*addr, static_cast<std::uint8_t>(len)};
}

std::optional<Prefix6> parse_prefix6(std::string_view text)
{
    const auto a = parse_ifaddr(text);

    if (!a || a->addr.v4)
        return std::nullopt;
    return Prefix6{Ip6{a->addr.bytes}, a->len};
}

std::string to_string(const Ip6 &a)
{
    char buf[INET6_ADDRSTRLEN];

    return inet_ntop(AF_INET6, a.bytes.data(), buf, sizeof(buf));
}

std::string to_string(const IpAddr &a)
{
    char buf[INET6_ADDRSTRLEN];

    return inet_ntop(a.v4 ? AF_INET : AF_INET6, a.bytes.data(), buf, sizeof(buf));
}

std::string to_string(const IfAddr &a) { return to_string(a.addr) + "/" + std::to_string(a.len); }
std::string to_string(const Prefix6 &p) { return to_string(p.addr) + "/" + std::to_string(p.len); }

Prefix6 mapped(const IfAddr &net)
{
    return {net.addr.gid(), static_cast<std::uint8_t>(net.addr.v4 ? kMapped.len + net.len : net.len)};
}

bool is_mapped(const Prefix6 &p) { return p.len >= kMapped.len && kMapped.contains(p.addr); }

std::string net_text(const Prefix6 &p)
{
    IpAddr v4{true, {}};

    if (!is_mapped(p))
        return to_string(p);
    std::copy_n(p.addr.bytes.begin() + 12, 4, v4.bytes.begin());
    return to_string(v4) + "/" + std::to_string(p.len - kMapped.len);
}

}   // namespace mrcfab
