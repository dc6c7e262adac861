// SPDX-License-Identifier: GPL-2.0
// faults.h - the faults of a run, and their current state.
//
// Faults with a beginning and an end (a dead cable, a rebooting switch, a black-holed EV, a stalled
// receiver, a pausing host) are drawn in advance. Faults of single packets are drawn when they
// occur. All end at option fault_ns, except pauses, which may be longer.
#pragma once

#include "options.h"
#include "prng.h"
#include "topology.h"

#include <string>
#include <vector>

namespace sim {

struct fault {
    enum kind_t {
        link,    // host to T0, one way or both
        cable,   // T0 to T1, one way or both
        t0, t1,  // a switch of one plane
        slow,    // one port at pct of its rate
        hole,    // one EV of one host
        stall,   // a host posts no receives
        clog,    // a host's control packets are late
        pause,   // a host does nothing at all
    } kind;
    u64 begin_ns, end_ns;
    u32 host;                // link, hole, stall, clog, pause
    u8 plane;
    u16 ev;                  // hole
    u32 amount;              // slow: per cent; clog: ns
    std::vector<u16> ports;  // dead or slow ones
    // Hosts that see their port of this plane go down, and after how long.
    std::vector<u32> seen_by;
    u64 down_delay_ns, up_delay_ns;
};

class faults {
public:
    faults(const options &o, u64 seed);

    const std::vector<fault> &list() const { return list_; }
    void apply(u32 index, bool begin);

    bool dead(u16 port) const { return dead_[port]; }
    u64 slow_pct(u16 port) const { return slow_[port]; }
    bool hole(u32 host, u16 ev) const { return hole_[host * n_evs_ + ev % n_evs_]; }
    bool stalled(u32 host) const { return stalled_[host]; }
    u32 clog_ns(u32 host) const { return clog_[host]; }
    // When the last of them is over and seen to be over.
    u64 end_ns() const;
    static std::string describe(const fault &f);

private:
    void window(fault &f, u64 longest);
    void seen(fault &f);
    void draw_planes(u8 spare);
    void draw_one(fault::kind_t kind, u8 spare);
    void draw_flaps(u8 spare);
    void draw_hosts();
    void draw_pauses(u64 seed);

    const options &o_;
    topology topo_;
    prng r_, notices_;
    u32 n_evs_;
    std::vector<fault> list_;
    std::vector<u32> dead_, slow_, hole_, stalled_, clog_;
};

} // namespace sim
