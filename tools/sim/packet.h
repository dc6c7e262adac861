// SPDX-License-Identifier: GPL-2.0
// packet.h - packets on the wire, in a pool.
#pragma once

#include "topology.h"

#include <deque>
#include <vector>

namespace sim {

struct packet {
    u8 buf[MRC_HDR_MAX + 4096];  // BTH ... payload and padding, no ICRC
    u32 len;                     // of what is in buf; less when trimmed
    u32 ev;
    u16 ev_idx;                  // in the sender's evset
    u8 src, dst;                 // hosts
    u8 plane;
    u8 tclass;                   // enum mrc_tclass
    u8 trimmed;                  // 0 or MRC_NACK_TRIMMED*
    bool ecn;
    u16 udp_len;                 // as sent
    u8 hops, at;                 // ports on the way, and the next one
    u16 path[hops_max];
    u32 extra_ns;                // held back on the last hop
    u16 tcp;                     // 0: MRC's; else a rival's, its flow + 1
};

constexpr u32 wire_overhead = 14 + 40 + 8 + MRC_ICRC_LEN + 24;  // Ethernet, IPv6, UDP, gap

class packet_pool {
public:
    u32 get()
    {
        if (free_.empty()) {
            all_.emplace_back().tcp = 0;
            return static_cast<u32>(all_.size() - 1);
        }
        u32 i = free_.back();
        free_.pop_back();
        all_[i].tcp = 0;
        return i;
    }
    void put(u32 i) { free_.push_back(i); }
    packet &operator[](u32 i) { return all_[i]; }

private:
    std::deque<packet> all_;
    std::vector<u32> free_;
};

} // namespace sim
