// SPDX-License-Identifier: GPL-2.0
// clock.h - the clock of a host: its offset and its drift.
//
// The engine of a host sees this clock only; the simulation has its own. So comparing a timestamp
// of one host with another's clock gives a wrong result, which tests detect.
#pragma once

#include "engine.h"

namespace sim {

class host_clock {
public:
    // @ppb: drift in parts per billion, above -10^9.
    host_clock(u64 base_ns, s64 ppb) : base_(base_ns), ppb_(ppb) {}

    // What it shows at @t_ns of the simulation. Never goes back.
    u64 at(u64 t_ns) const
    {
        __int128 off = static_cast<__int128>(t_ns) * ppb_ / 1000000000;

        return base_ + t_ns + static_cast<u64>(static_cast<s64>(off));
    }

    // When it shows @local_ns or more for the first time.
    u64 when(u64 local_ns) const
    {
        if (local_ns <= base_)
            return 0;
        u64 t = static_cast<u64>(static_cast<__int128>(local_ns - base_) * 1000000000 /
                                 (1000000000 + ppb_));

        while (at(t) < local_ns)
            t++;
        while (t && at(t - 1) >= local_ns)
            t--;
        return t;
    }

private:
    u64 base_;
    s64 ppb_;
};

} // namespace sim
