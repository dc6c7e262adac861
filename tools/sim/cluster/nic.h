// SPDX-License-Identifier: GPL-2.0
// nic.h - packets that wait for a host's CPU, in one ring per plane.
//
// A host that needs no time and never pauses has no nic. The CPU takes up to a batch from one ring,
// packet by packet, then from the next non-empty ring. The packets that result are sent after the
// batch, as in a softirq. An idle CPU learns of the first packet by an interrupt, which may be
// delayed (coalescing). A pause delays everything that is due.
#pragma once

#include "packet.h"
#include "pause.h"

#include <deque>

namespace sim {

class nic {
public:
    nic(const scenario &s, u32 host);

    pauses pause;

    // False: the ring is full and the packet lost.
    bool put(const packet &p);
    // When the CPU is through with the packet it is at; never: with none.
    u64 due() const { return due_; }
    packet take(u64 t);
    // In the middle of a batch: nothing is sent.
    bool in_batch() const { return in_batch_; }

private:
    void begin();

    std::vector<std::deque<packet>> ring_; // by plane
    u64 data_ps_, ctl_ps_, limit_;
    u32 batch_, left_ = 0, at_ = 0;
    u64 coalesce_ps_;    // an interrupt is so long after the first packet that finds the CPU idle
    bool polls_ = false; // more waited when the latest packet was taken
    u64 waiting_ = 0;
    u64 free_ = 0; // since when the CPU has nothing to do
    u64 due_ = never;
    bool in_batch_ = false;
};

} // namespace sim
