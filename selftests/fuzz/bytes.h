// SPDX-License-Identifier: GPL-2.0
// bytes.h - the fuzzer's bytes as decisions: small numbers mostly, and the edges
// of every type often enough. Also the one way a target reports a finding.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

extern "C" {
#include "base/mrc_env.h"
#include "base/mrc_psn.h"
}

// What is printed last is what failed; libFuzzer keeps the input.
#define DIE(...)                                                                                   \
    do {                                                                                           \
        std::fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                       \
        std::fprintf(stderr, __VA_ARGS__);                                                         \
        std::fputc('\n', stderr);                                                                  \
        std::abort();                                                                              \
    } while (0)

#define REQUIRE(cond)                                                                              \
    do {                                                                                           \
        if (!(cond))                                                                               \
            DIE("does not hold: %s", #cond);                                                       \
    } while (0)

class bytes {
public:
    bytes(const u8 *data, size_t size) : in_(data, size) {}

    bool more() { return in_.remaining_bytes() != 0; }
    u32 below(u32 n) { return in_.ConsumeIntegralInRange<u32>(0, n - 1); }
    u32 between(u32 lo, u32 hi) { return in_.ConsumeIntegralInRange<u32>(lo, hi); }
    // True once in n; false when the bytes are used up.
    bool one_in(u32 n) { return below(n) == n - 1; }
    std::vector<u8> raw(size_t max)
    {
        return in_.ConsumeBytes<u8>(below(static_cast<u32>(max) + 1));
    }

    template <class T> T any() { return in_.ConsumeIntegral<T>(); }
    template <class T, size_t N> T pick(const T (&from)[N]) { return from[below(N)]; }

    // Any value of T; its edges, and those of its signed twin, half of the time.
    template <class T> T extreme()
    {
        constexpr T top = std::numeric_limits<T>::max();
        const T edges[] = {0, 1, 2, 7, top, top - 1, top / 2, top / 2 + 1};

        return below(2) ? pick(edges) : any<T>();
    }
    // Near `base`, at a distance that some rule cares about, or anywhere.
    u32 psn(u32 base, s32 window)
    {
        switch (below(8)) {
        case 0:
            return mrc_psn_add(base, window + static_cast<s32>(below(5)) - 2);
        case 1:
            return mrc_psn_add(base, static_cast<s32>(between(0x7ffffe, 0x800002)));
        case 2:
            return any<u32>() & MRC_PSN_MASK;
        case 3:
            return mrc_psn_add(base, -static_cast<s32>(below(80)));
        default:
            return mrc_psn_add(base, static_cast<s32>(below(80)));
        }
    }

private:
    FuzzedDataProvider in_;
};

// PSNs without wrap: a 64-bit count whose low 24 bits are the PSN.
class psn_count {
public:
    explicit psn_count(u32 psn = 0) : at_((1ull << 32) | psn) {}

    u64 at() const { return at_; }
    u32 psn() const { return static_cast<u32>(at_) & MRC_PSN_MASK; }
    void set(u64 at) { at_ = at; }
    u64 near(u32 psn) const
    {
        return at_ + static_cast<u64>(static_cast<s64>(mrc_psn_diff(psn, this->psn())));
    }

private:
    u64 at_;
};
