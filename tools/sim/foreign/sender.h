// SPDX-License-Identifier: GPL-2.0
// sender.h - a requestor of MRC 1.0 that shares no code with the engine.
//
// Sections 2.1, 3, 4 (7.4). It sprays over its paths at random. A packet is lost when several that
// left later by the same plane have arrived. It also retransmits after a timeout.
#pragma once

#include "habits.h"
#include "packet.h"

#include <deque>

namespace sim {

class foreign_sender {
public:
    struct write {
        u64 va;
        u32 rkey, len, imm;
        bool with_imm;
    };

    // @window: what the peer takes in; @wimm: writes with immediate that it lets wait.
    foreign_sender(const foreign_habits &h, u64 seed, u32 psn, u32 mtu, u32 window, u32 wimm);

    // Writes are numbered from 0 in the order of posting.
    void post(const write &w) { writes_.push_back({w, 0, 0, 0, false}); }
    // True: *p is to leave now, with payload [*off, *off + p->len) of write *number.
    bool next(foreign_packet *p, const std::vector<foreign_path> &paths, u64 now_ns, u32 *number,
              u32 *off);
    void take(const foreign_packet &p, u64 now_ns);
    // Another one is acknowledged.
    bool complete(u32 *number);
    u64 deadline_ns() const;
    void timer(u64 now_ns);
    bool idle() const { return writes_.empty(); }
    bool refused() const { return refused_; }
    void tell_truth() { h_.lies = 0; }
    u64 sent_again() const { return again_; }

private:
    struct order {
        write w;
        u32 psn, pkts, rqmsn;
        bool begun;
    };
    enum state : u8 { GONE, OUT, LOST };
    struct record {
        state st = GONE;
        bool again = false, twice = false; // sent, sent again
        u8 plane = 0;
        u32 turn = 0;  // of its plane
        u32 sent = 0;  // its number among all that left
        u32 ev = 0;
        u32 number = 0, piece = 0;
    };
    struct lane {
        std::deque<u32> sent; // PSNs, in order of turns from first on
        u32 first = 0, arrived = 0; // behind the latest turn that has arrived
    };

    u64 random(u64 n);
    const foreign_path &way(const std::vector<foreign_path> &paths);
    record &of(u32 psn) { return ring_[psn & (ring_.size() - 1)]; }
    bool psn_in(u32 psn) const
    {
        return foreign::psn_off(psn, una_) >= 0 && foreign::psn_off(psn, next_) < 0;
    }
    bool cut();
    bool pick(u32 *psn);
    void arrived(u32 psn);
    void lose(u32 psn);
    void look(lane &l);
    void halve(bool later);
    void fill(const order &o, u32 number, u32 piece, const foreign_path &way, foreign_packet *p);
    bool ask(foreign_packet *p, const foreign_path &way, u32 *number, u32 *off);

    foreign_habits h_;
    u64 rand_;
    u32 mtu_, window_, wimm_;
    u32 una_, next_;
    std::vector<record> ring_;
    std::vector<lane> lanes_;
    std::deque<u32> lost_;
    std::deque<order> writes_; // from the oldest that is not acknowledged on
    u32 first_ = 0, cut_ = 0, piece_ = 0, done_ = 0, begun_ = 0;
    u32 rqmsn_ = 0, imm_out_ = 0;
    u32 out_ = 0, since_ask_ = 0;
    u32 cwnd_, halved_at_, halved_sent_ = 0, sends_ = 0;
    u64 heard_ns_ = 0, grow_ = 0;
    u32 backoff_ = 0;
    bool ask_again_ = false, refused_ = false;
    bool first_copy_ = false; // of something arrived, in this answer
    u16 probe_id_ = 0;
    foreign_packet said_; // LIE_PSN
    u32 said_number_ = 0, said_off_ = 0;
    bool say_again_ = false;
    u64 again_ = 0;
    std::vector<u32> bad_; // EVs that an ALWAYS_SKIP named
};

} // namespace sim
