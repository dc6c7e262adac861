// SPDX-License-Identifier: GPL-2.0
// receiver.h - a responder of MRC 1.0 that shares no code with the engine.
//
// Sections 2.2, 2.3, 4 (7.5). It places packets on arrival, records them in a bitmap, and answers
// according to its habits.
#pragma once

#include "habits.h"
#include "packet.h"

#include <deque>
#include <map>

namespace sim {

class foreign_receiver {
public:
    // @window: PSNs that it takes in; @messages: writes with immediate that may wait.
    foreign_receiver(const foreign_habits &h, u64 seed, u32 psn, u32 window, u32 messages);

    // True: the payload is new, place it.
    bool take(const foreign_packet &p, u64 now_ns);
    // The next write with immediate that is complete: in order, all before it has come.
    bool complete(u32 *imm, u32 *len);
    // What it has to say. @paths: one is drawn.
    bool next(foreign_packet *p, const std::vector<foreign_path> &paths, u64 now_ns);
    u64 deadline_ns() const { return ack_at_ns_; }
    void timer(u64 now_ns);

    // No more lies from here on; and probes are answered, as MRC 1.0 demands: without that no EV
    // that was demoted comes back.
    void tell_truth()
    {
        h_.lies = h_.refuse_ppm = 0;
    }

private:
    struct owed {
        u8 opcode, reason, mark;
        bool answer;
        u32 psn, ev;
        u16 stamp, probe_id;
    };

    bool has(u32 psn) const { return got_[psn % got_.size()]; }
    void owe(const foreign_packet &p, u8 opcode, u8 reason);
    void advance(u64 now_ns);
    void sack(const owed &o, foreign_packet *p);
    u64 bits(u32 base) const;
    u64 random(u64 n);
    void lie(foreign_packet *p);
    void lie_nack(foreign_packet *p);

    foreign_habits h_;
    u64 rand_;
    u32 cack_, max_, window_, limit_;
    std::vector<bool> got_, last_;
    struct immediate {
        u32 psn, imm, len;
    };
    std::map<u32, immediate> waits_; // by number of the receive
    u32 next_rq_ = 0, done_ = 0, acked_ = 0;
    u64 bytes_ = 0;
    u32 ooo_ = 0, since_sack_ = 0;
    bool asked_ = false, ack_ = false;
    u64 ack_at_ns_ = ~0ull;
    std::deque<owed> owed_;
    u32 turn_ = 0;
};

} // namespace sim
