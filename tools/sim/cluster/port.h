// SPDX-License-Identifier: GPL-2.0
// port.h - an output port: two queues, each represented by a time.
//
// A queue is the time at which all of its packets will have left; the backlog is that time minus
// now. Control packets (and trimmed ones) precede data, after the data packet that is being sent.
// ECN marking and trimming are decided on arrival.
#pragma once

#include "packet.h"

namespace sim {

// What ports of one rate have in common. Limits are times, at the rate.
struct link_class {
    u64 ps_per_kib; // 100 Gb/s: 81,920
    u64 mtu_ps;     // a full packet
    u64 ecn_lo, ecn_hi; // marking ramp; equal: threshold
    u64 limit;      // of the data queue
    u64 ctl_limit;
    u64 delay_ps;   // until the last bit is at the next node
    u32 marks = 0;  // percent of data packets, whatever the queue
    bool trim;      // data packets that do not fit lose their payload, not more
    bool odd;       // not as the fabric's other links: counted

    u64 ser(u32 bytes) const { return bytes * ps_per_kib >> 10; }
};

struct port {
    u64 free_data = 0, free_ctl = 0;
    u32 data_pkts = 0;
    u16 cls = 0;
    u8 dead = 0; // what has failed on the way to the next node
    u8 gray = 0; // 1 and more: of [[fault]]s, whose link loses some packets

    u64 backlog(u64 t) const { return free_data > t ? free_data - t : 0; }
    u64 bytes(const link_class &k, u64 t) const { return (backlog(t) << 10) / k.ps_per_kib; }
    u64 ctl_backlog(u64 t) const { return free_ctl > t ? free_ctl - t : 0; }

    // Returns when the last bit has left.
    u64 send_data(const link_class &k, u64 t, u32 bytes)
    {
        u64 start = free_data > free_ctl ? free_data : free_ctl;

        free_data = (start > t ? start : t) + k.ser(bytes);
        data_pkts++;
        return free_data;
    }

    u64 send_ctl(const link_class &k, u64 t, u32 bytes)
    {
        u64 ser = k.ser(bytes), start = free_ctl > t ? free_ctl : t;

        if (free_data > start) { // the data packet on the wire goes on
            start += (free_data - start) % k.mtu_ps;
            free_data += ser;
        }
        free_ctl = start + ser;
        return free_ctl;
    }
};
static_assert(sizeof(port) == 24);

} // namespace sim
