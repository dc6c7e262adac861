// SPDX-License-Identifier: GPL-2.0
// prng.h - the simulator's random numbers: one stream per purpose.
//
// A stream is derived from the master seed and a name, so an additional draw in one place does not
// change the others. No std:: distributions: their output differs between libraries. Never draw
// twice in one argument list: the order of evaluation differs between compilers.
#pragma once

#include "engine.h"

#include <string_view>

namespace sim {

constexpr u64 fnv_basis = 0xcbf29ce484222325ull;
constexpr u64 fnv_prime = 0x100000001b3ull;

constexpr u64 fnv1a(u64 h, std::string_view s)
{
    for (char c : s)
        h = (h ^ static_cast<u8>(c)) * fnv_prime;
    return h;
}

constexpr u64 mix64(u64 z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

class prng {
public:
    prng(u64 seed, std::string_view name, u64 index = 0)
        : state_(mix64(seed ^ fnv1a(fnv_basis, name)) + index * 0xd1342543de82ef95ull)
    {
    }

    u64 next() { return mix64(state_++); }

    // Uniform in [0, n), n > 0.
    u64 below(u64 n)
    {
        return static_cast<u64>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }

    // Uniform in [lo, hi].
    u64 range(u64 lo, u64 hi) { return lo + below(hi - lo + 1); }

    bool chance(u64 ppm) { return ppm && below(1000000) < ppm; }

    // lo ... hi, each power of two equally likely: for sizes and times.
    u64 log_range(u64 lo, u64 hi)
    {
        u64 top = lo;
        u64 steps = 0;

        while (top < hi) {
            top = top ? top * 2 : 1;
            steps++;
        }
        u64 base = lo;
        for (u64 k = below(steps + 1); k; k--)
            base = base ? base * 2 : 1;
        u64 v = range(base, base * 2);
        return v > hi ? hi : v;
    }

    template <typename T, size_t N> T pick(const T (&v)[N]) { return v[below(N)]; }

private:
    u64 state_;
};

} // namespace sim
