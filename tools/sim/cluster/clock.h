// SPDX-License-Identifier: GPL-2.0
// clock.h - the clock of a host.
//
// World time is in picoseconds. A host's clock is in nanoseconds, with an offset and a drift. The
// engine sees the time of its host only.
#pragma once

#include "units.h"

namespace sim {

class host_clock {
public:
    host_clock() = default;
    host_clock(u64 offset_ns, s64 drift_ppm)
        : offset_ns_(offset_ns), drift_ppm_(drift_ppm), own_(offset_ns || drift_ppm)
    {
    }

    u64 ns(u64 t_ps) const
    {
        if (!own_)
            return engine_ns(t_ps);
        u64 t = t_ps / ps_per_ns;
        return epoch_ns + offset_ns_ + t + drifted(t);
    }

    // The first picosecond at which ns() reaches a deadline.
    u64 ps(u64 deadline_ns) const
    {
        if (!own_ || deadline_ns == MRC_TIME_NEVER)
            return from_engine_ns(deadline_ns);
        if (deadline_ns <= epoch_ns + offset_ns_)
            return 0;
        u64 gone = deadline_ns - epoch_ns - offset_ns_;
        u64 t = static_cast<u64>(static_cast<unsigned __int128>(gone) * 1000000 /
                                 static_cast<u64>(1000000 + drift_ppm_));

        while (t && t - 1 + drifted(t - 1) >= gone)
            t--;
        while (t + drifted(t) < gone)
            t++;
        return t * ps_per_ns;
    }

    u64 offset_ns() const { return offset_ns_; }
    s64 drift_ppm() const { return drift_ppm_; }

private:
    // What the drift adds (or, wrapping, takes) after t ns.
    u64 drifted(u64 t) const
    {
        return static_cast<u64>(static_cast<s64>(t) * drift_ppm_ / 1000000);
    }

    u64 offset_ns_ = 0;
    s64 drift_ppm_ = 0;
    bool own_ = false;
};

} // namespace sim
