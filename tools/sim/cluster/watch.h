// SPDX-License-Identifier: GPL-2.0
// watch.h - records which EVs each end holds for bad, and for how long.
//
// It only reads: the state of each EV, whenever the path set has counted a change. The thread of an
// end watches it.
#pragma once

#include "units.h"

#include <vector>

namespace sim {

class ev_watch {
public:
    // Too many ends are not watched.
    explicit ev_watch(size_t ends) : of_(ends <= 256 ? ends : 0) {}

    bool any() const { return !of_.empty(); }

    // After each call of the engine for this end.
    void look(u32 id, const mrc_evset &evs, u64 t)
    {
        u64 changes = evs.stats.demotions + evs.stats.readmissions + evs.stats.spurious;

        if (changes != of_[id].changes || evs.bad != of_[id].bad)
            scan(of_[id], evs, t, changes);
    }

    struct result {
        u32 most = 0, end = 0; // EVs that were bad at once, of one end; at the end
        u64 longest_ps = 0;    // one EV in one go
        u32 sets = 0;          // ends whose EVs were looked at
    };
    result sum(u64 end_ps) const;

private:
    struct one {
        u64 changes = 0;
        u32 bad = 0, most = 0;
        u64 longest = 0;
        std::vector<u64> since; // never: it is good
    };

    static void scan(one &o, const mrc_evset &evs, u64 t, u64 changes);

    std::vector<one> of_;
};

} // namespace sim
