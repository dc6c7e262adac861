// SPDX-License-Identifier: GPL-2.0
// units.h - integer types and time of the cluster simulator.
//
// Time is picoseconds in u64 (64 bytes at 800 Gb/s take 640 ps). The engine sees
// nanoseconds, beginning at an epoch, because some of its fields mean "unset" by 0.
#pragma once

#include "../engine.h"

namespace sim {

inline constexpr u64 never = ~0ull;
inline constexpr u32 none32 = ~0u;
inline constexpr u64 ps_per_ns = 1000, ps_per_us = 1000000;
inline constexpr u64 epoch_ns = 1000000;

inline u64 engine_ns(u64 t_ps)
{
    return epoch_ns + t_ps / ps_per_ns;
}

// The first picosecond at which engine_ns() reaches ns.
inline u64 from_engine_ns(u64 ns)
{
    if (ns == MRC_TIME_NEVER)
        return never;
    return ns <= epoch_ns ? 0 : (ns - epoch_ns) * ps_per_ns;
}

// A number drawn from a key: the same for every thread and compiler.
inline u64 mix64(u64 z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// FNV-1a over words.
inline void fold(u64 &h, u64 v)
{
    h = (h ^ v) * 0x100000001b3ull;
}

inline constexpr u64 fold_start = 0xcbf29ce484222325ull;

} // namespace sim
