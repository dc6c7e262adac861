// SPDX-License-Identifier: GPL-2.0
// watch.cc - see watch.h.
#include "watch.h"

#include <algorithm>

namespace sim {

void ev_watch::scan(one &o, const mrc_evset &evs, u64 t, u64 changes)
{
    o.changes = changes;
    o.bad = evs.bad;
    o.most = std::max(o.most, o.bad);
    o.since.resize(evs.n, never);
    for (u32 i = 0; i < evs.n; i++) {
        bool bad = evs.ev[i].state == MRC_EV_ASSUMED_BAD;

        if (bad && o.since[i] == never) {
            o.since[i] = t;
        } else if (!bad && o.since[i] != never) {
            o.longest = std::max(o.longest, t - o.since[i]);
            o.since[i] = never;
        }
    }
}

ev_watch::result ev_watch::sum(u64 end_ps) const
{
    result r;

    for (const one &o : of_) {
        r.sets += !o.since.empty();
        r.most = std::max(r.most, o.most);
        r.end = std::max(r.end, o.bad);
        r.longest_ps = std::max(r.longest_ps, o.longest);
        for (u64 since : o.since)
            if (since != never && since < end_ps)
                r.longest_ps = std::max(r.longest_ps, end_ps - since);
    }
    return r;
}

} // namespace sim
