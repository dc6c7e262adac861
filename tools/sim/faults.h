// SPDX-License-Identifier: GPL-2.0
// faults.h - what breaks when, and what is broken now.
//
// Faults with a beginning and an end (a dead plane, a black-holed EV, a stalled
// receiver) are drawn beforehand; faults per packet are drawn where they
// strike. All of them end at option fault_ns.
#pragma once

#include "options.h"
#include "prng.h"

#include <vector>

namespace sim {

struct fault {
    enum kind_t { plane_dead, hole, stall } kind;
    u64 begin_ns, end_ns;
    u8 dirs;                 // bit h: packets sent by host h; stall: host h
    u8 plane;                // plane_dead
    u16 ev;                  // hole: index in the evset
    u8 notify;               // plane_dead: bit h: host h sees its port go down
    u64 down_delay_ns[2], up_delay_ns[2];
};

class faults {
public:
    faults(const options &o, u64 seed);

    const std::vector<fault> &list() const { return list_; }
    void apply(u32 index, bool begin);

    bool plane_dead(u32 src, u8 plane) const { return dead_[src][plane]; }
    bool hole(u32 src, u16 ev) const { return hole_[src][ev]; }
    bool stalled(u32 host) const { return stalled_[host]; }
    // End of the last fault that a host's ports were told of.
    static std::string describe(const fault &f);

private:
    std::vector<fault> list_;
    u32 dead_[2][MRC_PLANES_MAX] = {};
    std::vector<u32> hole_[2];
    u32 stalled_[2] = {};
};

} // namespace sim
