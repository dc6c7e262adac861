// SPDX-License-Identifier: GPL-2.0
// memory.h - data patterns, and a registered memory region as a byte array.
//
// A pattern is an endless byte sequence with a key, so contents can be checked without storing
// them.
#pragma once

#include "prng.h"

#include <vector>

namespace sim {

inline void pattern_fill(u8 *dst, u64 key, u64 off, size_t len)
{
    size_t i = 0;

    while (i < len) {
        u64 word = mix64(key + (off + i) / 8);
        size_t skip = (off + i) % 8;
        size_t n = std::min<size_t>(8 - skip, len - i);

        word >>= 8 * skip;
        for (size_t k = 0; k < n; k++, word >>= 8)
            dst[i + k] = static_cast<u8>(word);
        i += n;
    }
}

// Index of the first byte that differs, or len.
inline size_t pattern_compare(const u8 *p, u64 key, u64 off, size_t len)
{
    u8 want[256];

    for (size_t i = 0; i < len; i += sizeof(want)) {
        size_t n = std::min(sizeof(want), len - i);

        pattern_fill(want, key, off + i, n);
        if (std::memcmp(p + i, want, n))
            for (size_t k = 0; k < n; k++)
                if (p[i + k] != want[k])
                    return i + k;
    }
    return len;
}

constexpr u8 guard_byte = 0xa5;

struct region {
    u64 va = 0;
    u32 rkey = 0;
    std::vector<u8> bytes;

    bool covers(u64 addr, u64 len) const
    {
        return addr >= va && addr - va <= bytes.size() && len <= bytes.size() - (addr - va);
    }
    u8 *at(u64 addr) { return bytes.data() + (addr - va); }
    const u8 *at(u64 addr) const { return bytes.data() + (addr - va); }
};

} // namespace sim
