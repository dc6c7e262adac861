// SPDX-License-Identifier: GPL-2.0
// tcp_like.h - a bulk flow with TCP's congestion control: competing traffic on the same ports.
//
// Slow start, one more packet per round trip, half the window after a loss (RFC 5681). Each
// transmission has its own number and is acknowledged by it, as in QUIC (RFC 9002): a transmission
// is lost when one that left three later is acknowledged. ECN marks are ignored. Both simulators
// use this file.
#pragma once

#include "engine.h"

#include <algorithm>
#include <deque>
#include <set>

namespace sim {

struct tcp_segment {
    u32 number; // of the transmission
    u32 seq;    // of the packet's payload
};

class tcp_like {
public:
    // True: *s leaves now.
    bool next(u64 now_ns, tcp_segment *s)
    {
        if ((static_cast<u64>(out_) + 1) << unit > cwnd_)
            return false;
        if (lost_.empty()) {
            s->seq = seq_++;
        } else {
            s->seq = lost_.front();
            lost_.pop_front();
        }
        s->number = first_ + static_cast<u32>(sent_.size());
        sent_.push_back({now_ns, s->seq, true});
        out_++;
        if (out_ == 1)
            progress_ns_ = now_ns;
        return true;
    }

    void acked(u32 number, u64 now_ns)
    {
        u32 i = number - first_;

        if (i >= sent_.size() || !sent_[i].out)
            return;
        sent_[i].out = false;
        out_--;
        progress_ns_ = now_ns;
        backoff_ = 0;
        sample(now_ns - sent_[i].at);
        if (cwnd_ < threshold_)
            cwnd_ += 1u << unit;
        else
            cwnd_ += (1ull << 2 * unit) / cwnd_;
        cwnd_ = std::min<u64>(cwnd_, cwnd_most << unit);
        for (u32 k = 0; k + 3 <= i; k++)
            if (sent_[k].out)
                lose(k);
        forget();
    }

    // MRC_TIME_NEVER: nothing is waited for.
    u64 deadline_ns() const
    {
        u64 wait = srtt_ ? 2 * srtt_ + 4 * var_ : least_timeout_ns;

        return out_ ? progress_ns_ + (std::max(wait, least_timeout_ns) << backoff_)
                    : MRC_TIME_NEVER;
    }

    void timer(u64 now_ns)
    {
        if (now_ns < deadline_ns())
            return;
        for (u32 k = 0; k < sent_.size(); k++)
            if (sent_[k].out)
                lose(k);
        forget();
        cwnd_ = 1u << unit;
        progress_ns_ = now_ns;
        backoff_ = std::min(backoff_ + 1, 6u);
    }

    u64 losses() const { return losses_; }

private:
    struct transmission {
        u64 at;
        u32 seq;
        bool out;
    };

    static constexpr u32 unit = 10; // cwnd_ is in packets << unit
    static constexpr u64 cwnd_most = 4096;
    static constexpr u64 least_timeout_ns = 1000000;

    void lose(u32 i)
    {
        u32 number = first_ + i;

        sent_[i].out = false;
        out_--;
        losses_++;
        lost_.push_back(sent_[i].seq);
        // Once for all that was out when the first of them was lost.
        if (static_cast<s32>(number - recover_) < 0)
            return;
        recover_ = first_ + static_cast<u32>(sent_.size());
        threshold_ = std::max<u64>(cwnd_ / 2, 2u << unit);
        cwnd_ = threshold_;
    }

    void forget()
    {
        while (!sent_.empty() && !sent_.front().out) {
            sent_.pop_front();
            first_++;
        }
    }

    void sample(u64 ns)
    {
        u64 off = srtt_ > ns ? srtt_ - ns : ns - srtt_;

        var_ = srtt_ ? (3 * var_ + off) / 4 : ns / 2;
        srtt_ = srtt_ ? (7 * srtt_ + ns) / 8 : ns;
    }

    std::deque<transmission> sent_; // numbers first_, first_ + 1, ...
    std::deque<u32> lost_;
    u32 first_ = 0, seq_ = 0, out_ = 0, recover_ = 0, backoff_ = 0;
    u64 cwnd_ = 10u << unit, threshold_ = cwnd_most << unit;
    u64 srtt_ = 0, var_ = 0, progress_ns_ = 0, losses_ = 0;
};

// The other end: what came for the first time counts.
class tcp_sink {
public:
    bool take(u32 seq)
    {
        if (seq < next_ || !ahead_.insert(seq).second)
            return false;
        while (ahead_.erase(next_))
            next_++;
        return true;
    }

private:
    u32 next_ = 0;
    std::set<u32> ahead_;
};

} // namespace sim
