// SPDX-License-Identifier: GPL-2.0
// pause.h - times at which a host does nothing: [[pause]].
#pragma once

#include "scenario.h"

#include <algorithm>

namespace sim {

// One host's pauses: in order, apart from each other.
class pauses {
public:
    pauses(const scenario &s, u32 host);

    bool empty() const { return list_.empty(); }

    // t, or the end of the pause it is in.
    u64 after(u64 t) const
    {
        auto next = std::upper_bound(list_.begin(), list_.end(), t,
                                     [](u64 x, const span &s) { return x < s.from; });

        return next != list_.begin() && next[-1].until > t ? next[-1].until : t;
    }

    u64 total_ps(u64 end) const;
    u64 started(u64 end) const;

private:
    struct span {
        u64 from, until;
    };

    void draw(const pause_spec &x, u64 key, u64 limit);
    void merge();

    std::vector<span> list_;
};

} // namespace sim
