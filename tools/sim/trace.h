// SPDX-License-Identifier: GPL-2.0
// trace.h - the trace: a hash over all events, and optional text. Also the function by which a
// check fails.
#pragma once

#include "prng.h"

#include <cstdarg>
#include <stdexcept>
#include <string>

namespace sim {

// A broken invariant. what() is one line.
struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::string vformat(const char *fmt, va_list ap)
{
    char buf[512];

    vsnprintf(buf, sizeof(buf), fmt, ap);
    return buf;
}

[[noreturn]] [[gnu::format(printf, 1, 2)]] inline void fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    std::string s = vformat(fmt, ap);
    va_end(ap);
    throw failure(s);
}

class trace {
public:
    explicit trace(bool text) : text_(text) {}

    u64 hash() const { return hash_; }
    bool text() const { return text_; }

    void add(u64 v)
    {
        for (int i = 0; i < 64; i += 8)
            hash_ = (hash_ ^ ((v >> i) & 0xff)) * fnv_prime;
    }

    void add(const u8 *p, size_t n)
    {
        for (size_t i = 0; i < n; i++)
            hash_ = (hash_ ^ p[i]) * fnv_prime;
    }

    // Text only; what matters must go through add() too.
    [[gnu::format(printf, 3, 4)]] void say(u64 t_ps, const char *fmt, ...)
    {
        va_list ap;

        if (!text_)
            return;
        va_start(ap, fmt);
        std::printf("%12.3f us  %s\n", static_cast<double>(t_ps) / 1e6, vformat(fmt, ap).c_str());
        va_end(ap);
    }

private:
    u64 hash_ = fnv_basis;
    bool text_;
};

} // namespace sim
