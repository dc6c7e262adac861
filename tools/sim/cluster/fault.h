// SPDX-License-Identifier: GPL-2.0
// fault.h - failures and repairs, and their times.
//
// A failed element loses every packet that would enter its links; packets on the wire arrive.
// Changes take effect at the beginning of the first window that starts at or after their time. With
// notify, hosts see their ports go down and up, notify_ns later; without it, they get no notice.
// Rules that kill paths are faults too: path_rule.h applies them, and this file keeps their times.
#pragma once

#include "world.h"

namespace sim {

class fault_plan {
public:
    explicit fault_plan(world &w);

    u64 next_ps() const { return next_ < changes_.size() ? changes_[next_].at : never; }
    // All changes that are due at the beginning of the world's window.
    void apply_due();
    // Share of the hosts' capacity that is left while the faults last; for reports.
    double residual() const;
    u64 first_ps() const { return changes_.empty() ? never : changes_.front().at; }
    // When the first of them is repaired; never: none is.
    u64 repair_ps() const;

private:
    struct change {
        u64 at;
        const fault_spec *fault;
        const path_spec *rule;
        bool up, notice;  // notice: to hosts; not the failure itself
    };

    struct losses {
        u64 inner = 0, edge = 0;
    };

    losses lost_on(u32 plane) const;
    void apply(const change &c);
    void link(port &p, bool up);
    void one_way(const fault_spec &f, bool up);
    void cable(u32 plane, u32 t0, u32 t1, bool up);
    void host_port(u32 plane, u32 host, bool up);
    void notice(u32 plane, u32 host, bool up);
    void forge(const fault_spec &f);
    void count(bool up, u64 plane);

    world &w_;
    std::vector<change> changes_;
    size_t next_ = 0;
};

} // namespace sim
