// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// packed.cc - see packed.h.
//
// Seven bits a byte, the low ones first; the highest bit says that more follow (as in LEB128). Of the counts a mask
// comes first, of those that are not 0. Times are microseconds.
#include "packed.h"

#include <algorithm>
#include <array>

namespace mrcver {

namespace {

constexpr double kMicro = 1e6;

void put(std::string &bytes, std::uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        bytes.push_back(static_cast<char>(n | 0x80));
    bytes.push_back(static_cast<char>(n));
}

std::uint64_t get(std::string_view &bytes)
{
    std::uint64_t n = 0, byte = 0x80;

    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        n |= (byte & 0x7f) << shift;
    }
    return n;
}

// In the order of the bytes.
template <typename P, typename F> void each_number(P &probe, F f)
{
    for (auto *n : {&probe.plane, &probe.host, &probe.t0, &probe.up, &probe.via, &probe.down})
        f(*n);
}

constexpr std::array kCounts{&Counts::sent, &Counts::lost, &Counts::corrupt, &Counts::other_plane,
                             &Counts::full_sent, &Counts::full_lost, &Counts::control_sent, &Counts::control_lost,
                             &Counts::late, &Counts::queued, &Counts::rtt_sum, &Counts::rtt_low};

std::uint64_t micros(double seconds) { return static_cast<std::uint64_t>(seconds * kMicro); }

}   // namespace

void pack(std::string &bytes, const Probe &probe, const Result &result)
{
    const std::uint64_t first = micros(result.first), last = std::max(first, micros(result.last));
    std::uint64_t mask = 0;

    put(bytes, static_cast<std::uint64_t>(probe.kind));
    each_number(probe, [&](unsigned n) { put(bytes, n); });
    for (std::size_t i = 0; i < kCounts.size(); i++)
        mask |= std::uint64_t{result.n.*kCounts[i] != 0} << i;
    put(bytes, mask);
    for (const auto count : kCounts)
        if (result.n.*count)
            put(bytes, result.n.*count);
    put(bytes, first);
    put(bytes, last - first);
}

std::pair<Probe, Result> unpack(std::string_view &bytes)
{
    Probe probe;
    Result result;

    probe.kind = static_cast<ProbeKind>(get(bytes));
    each_number(probe, [&](unsigned &n) { n = static_cast<unsigned>(get(bytes)); });
    const std::uint64_t mask = get(bytes);
    for (std::size_t i = 0; i < kCounts.size(); i++)
        if (mask >> i & 1)
            result.n.*kCounts[i] = get(bytes);
    const std::uint64_t first = get(bytes);
    result.first = static_cast<double>(first) / kMicro;
    result.last = static_cast<double>(first + get(bytes)) / kMicro;
    return {probe, result};
}

}   // namespace mrcver
