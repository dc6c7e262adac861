// SPDX-License-Identifier: GPL-2.0
// faults.cc - drawing the faults that last.
#include "faults.h"

#include "trace.h"

namespace sim {

faults::faults(const options &o, u64 seed)
{
    prng r(seed, "faults");
    u8 spare = static_cast<u8>(r.below(o.planes));

    auto window = [&](fault &f, u64 longest) {
        f.begin_ns = r.below(o.fault_ns);
        u64 len = r.log_range(1000, longest > 1000 ? longest : 1000);
        f.end_ns = std::min(o.fault_ns, f.begin_ns + len);
    };

    for (u64 i = 0; i < o.dead_planes; i++) {
        fault f = {};

        f.kind = fault::plane_dead;
        window(f, o.dead_ns);
        f.plane = static_cast<u8>(r.below(o.planes));
        f.dirs = static_cast<u8>(r.chance(600000) ? 3 : r.range(1, 2));
        f.notify = static_cast<u8>(o.dead_notify == 4 ? r.below(4) : o.dead_notify);
        for (int h = 0; h < 2; h++) {
            f.down_delay_ns[h] = r.below(o.notify_ns + 1);
            f.up_delay_ns[h] = r.below(o.notify_ns + 1);
        }
        if (o.dead_all || f.plane != spare)
            list_.push_back(f);
    }
    u16 spare_ev = static_cast<u16>(r.below(o.planes * o.evs));
    for (u64 i = 0; i < o.holes; i++) {
        fault f = {};

        f.kind = fault::hole;
        window(f, o.fault_ns);
        f.ev = static_cast<u16>(r.below(o.planes * o.evs));
        f.dirs = static_cast<u8>(r.range(1, 3));
        if (f.ev != spare_ev)
            list_.push_back(f);
    }
    for (u64 i = 0; i < o.stalls; i++) {
        fault f = {};

        f.kind = fault::stall;
        window(f, o.stall_ns);
        f.dirs = static_cast<u8>(r.range(1, 3));
        list_.push_back(f);
    }
    for (auto &h : hole_)
        h.resize(o.planes * o.evs);
}

void faults::apply(u32 index, bool begin)
{
    const fault &f = list_[index];
    u32 d = begin ? 1u : ~0u;

    for (u32 h = 0; h < 2; h++) {
        if (!(f.dirs >> h & 1))
            continue;
        switch (f.kind) {
        case fault::plane_dead: dead_[h][f.plane] += d; break;
        case fault::hole: hole_[h][f.ev] += d; break;
        case fault::stall: stalled_[h] += d; break;
        }
    }
}

std::string faults::describe(const fault &f)
{
    static const char *const names[] = {"plane dead", "black-holed EV", "receiver stall"};
    static const char *const dirs[] = {"-", "A", "B", "A and B"};
    char buf[160];

    std::snprintf(buf, sizeof(buf), "%s %u, from %s, seen by %s, %llu ... %llu ns", names[f.kind],
                  f.kind == fault::plane_dead ? f.plane : f.ev, dirs[f.dirs], dirs[f.notify],
                  (unsigned long long)f.begin_ns, (unsigned long long)f.end_ns);
    return buf;
}

} // namespace sim
