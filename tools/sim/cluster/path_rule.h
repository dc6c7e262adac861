// SPDX-License-Identifier: GPL-2.0
// path_rule.h - paths with loss, delay or jitter: [[path]], and the corresponding keys of
// [[plane]].
//
// The outcome for a packet is decided when its host has sent it, by its path: plane, T1, direction.
// Random draws depend on the packet and the time only, so they do not depend on the order in which
// packets are processed.
#pragma once

#include "packet.h"
#include "scenario.h"

namespace sim {

class path_rules {
public:
    explicit path_rules(const scenario &s);

    bool empty() const { return rules_.empty(); }
    // Any rule that kills paths at all?
    bool kill() const { return kill_; }

    struct fate {
        bool hit = false, lost = false, dead = false;
        u64 delay_ps = 0;
    };
    // Of a packet sent at t; crosses: it goes by a T1.
    fate of(const packet &p, bool crosses, u64 t) const;
    bool dead(const packet &p, bool crosses, u64 t) const;

private:
    struct rule {
        u64 from, until; // ps
        u64 delay_ps, jitter_ps, loss_ppm;
        u32 plane, t1, count, payload;
        bool kills;
        u8 ways; // 1: down, 2: up
    };

    void add(const path_spec &x);
    static bool meets(const rule &r, const packet &p, bool crosses, u64 t);

    std::vector<rule> rules_;
    u64 seed_;
    bool kill_ = false;
};

} // namespace sim
