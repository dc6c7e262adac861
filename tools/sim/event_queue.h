// SPDX-License-Identifier: GPL-2.0
// event_queue.h - pending events: a 4-ary heap ordered by (time, seq).
//
// seq is the order of insertion and breaks ties, so the order of events never depends on the
// container.
#pragma once

#include "engine.h"

#include <vector>

namespace sim {

enum class event_kind : u32 {
    inject,      // target: host it comes from, arg: packet in the pool; into the fabric
    hop,         // target: host it goes to, arg: packet in the pool
    arrive,      // likewise, at the host
    host_run,    // target: host; softirq: all packets received so far
    qp_timer,    // target: qp, arg: generation
    qp_run,      // target: qp; scheduled again (after a failed send)
    port_timer,  // target: host, arg: peer << 32 | generation
    damp_timer,  // target: host
    app_post,    // target: qp; more work requests
    recv_post,   // target: qp; arg: number of receives
    fault_begin, // target: index of the fault
    fault_end,
    carrier,     // target: host, arg: plane << 1 | up
    kill,        // target: qp; the application gives up
    tcp,         // target: flow, arg: generation; a rival looks what it may send
    verdict,     // what faults have left must have healed
};

struct event {
    u64 t_ps;
    u64 seq;
    event_kind kind;
    u32 target;
    u64 arg;
};

class event_queue {
public:
    bool empty() const { return heap_.empty(); }
    u64 next_ps() const { return heap_.front().t_ps; }
    u64 ties() const { return ties_; }

    void push(u64 t_ps, event_kind kind, u32 target, u64 arg = 0)
    {
        heap_.push_back({t_ps, seq_++, kind, target, arg});
        up(heap_.size() - 1);
    }

    event pop()
    {
        event e = heap_.front();

        heap_.front() = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) {
            down(0);
            ties_ += heap_.front().t_ps == e.t_ps;
        }
        return e;
    }

private:
    static bool before(const event &a, const event &b)
    {
        return a.t_ps != b.t_ps ? a.t_ps < b.t_ps : a.seq < b.seq;
    }

    void up(size_t i)
    {
        while (i) {
            size_t parent = (i - 1) / 4;

            if (!before(heap_[i], heap_[parent]))
                return;
            std::swap(heap_[i], heap_[parent]);
            i = parent;
        }
    }

    void down(size_t i)
    {
        for (;;) {
            size_t best = i;

            for (size_t c = 4 * i + 1; c <= 4 * i + 4 && c < heap_.size(); c++)
                if (before(heap_[c], heap_[best]))
                    best = c;
            if (best == i)
                return;
            std::swap(heap_[i], heap_[best]);
            i = best;
        }
    }

    std::vector<event> heap_;
    u64 seq_ = 0;
    u64 ties_ = 0;
};

} // namespace sim
