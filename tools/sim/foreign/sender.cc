// SPDX-License-Identifier: GPL-2.0
// sender.cc - see sender.h.
#include "sender.h"

#include <algorithm>
#include <bit>

namespace sim {

using namespace foreign;

foreign_sender::foreign_sender(const foreign_habits &h, u64 seed, u32 psn, u32 mtu, u32 window,
                               u32 wimm)
    : h_(h), rand_(seed), mtu_(mtu), window_(window), wimm_(wimm), una_(psn), next_(psn),
      ring_(std::bit_ceil(window)), lanes_(32), cwnd_(h.window), halved_at_(psn)
{
}

u64 foreign_sender::random(u64 n)
{
    rand_ = rand_ * 6364136223846793005ull + 1442695040888963407ull;
    return (rand_ ^ rand_ >> 29) % n;
}

constexpr size_t bad_most = 64;

// Any, but those that the peer called bad; it asks for no news of them.
const foreign_path &foreign_sender::way(const std::vector<foreign_path> &paths)
{
    for (size_t tries = 0; tries < 8 * paths.size(); tries++) {
        const foreign_path &p = paths[random(paths.size())];

        if (std::find(bad_.begin(), bad_.end(), p.ev) == bad_.end())
            return p;
    }
    return paths[random(paths.size())];
}

// The next packet of a write gets its PSN.
bool foreign_sender::cut()
{
    u32 i = cut_ - first_;

    if (i >= writes_.size() || cut_ - first_ >= h_.messages)
        return false;
    if (psn_off(next_, una_) >= static_cast<s32>(window_))
        return false;
    order &o = writes_[i];
    if (!o.begun) {
        if (o.w.with_imm && imm_out_ >= wimm_)
            return false;
        o.begun = true;
        o.psn = next_;
        o.pkts = std::max((o.w.len + mtu_ - 1) / mtu_, 1u);
        begun_++;
        imm_out_ += o.w.with_imm;
        o.rqmsn = o.w.with_imm ? rqmsn_++ : 0;
    }
    record &r = of(next_);
    r = {};
    r.st = LOST;
    r.number = cut_;
    r.piece = piece_++;
    lost_.push_back(next_);
    next_ = psn_add(next_, 1);
    if (piece_ == o.pkts) {
        piece_ = 0;
        cut_++;
    }
    return true;
}

bool foreign_sender::pick(u32 *psn)
{
    while (!lost_.empty() && !(psn_in(lost_.front()) && of(lost_.front()).st == LOST))
        lost_.pop_front();
    if (out_ >= std::min(cwnd_, h_.window))
        return false;
    if (lost_.empty() && !cut())
        return false;
    *psn = lost_.front();
    lost_.pop_front();
    return true;
}

// Piece @piece of a write as a packet.
void foreign_sender::fill(const order &o, u32 number, u32 piece, const foreign_path &way,
                          foreign_packet *p)
{
    bool first = !piece, last = piece + 1 == o.pkts;

    p->opcode = first && last ? (o.w.with_imm ? ONLY_IMM : ONLY)
                : last        ? (o.w.with_imm ? LAST_IMM : LAST)
                              : (first ? FIRST : MIDDLE);
    p->psn = psn_add(o.psn, piece);
    p->stamped = h_.stamps;
    p->rqmsn = static_cast<u16>(o.rqmsn);
    p->msn = static_cast<u16>(number);
    p->va = o.w.va + static_cast<u64>(piece) * mtu_;
    p->rkey = o.w.rkey;
    p->dmalen = o.w.len;
    p->imm = o.w.imm;
    p->len = std::min(mtu_, o.w.len - piece * mtu_);
    p->ev = way.ev;
    p->plane = way.plane;
}

// After a silence: a probe, or the last packet of the oldest write that is not acknowledged.
bool foreign_sender::ask(foreign_packet *p, const foreign_path &way, u32 *number, u32 *off)
{
    ask_again_ = false;
    if (h_.probes && probe_id_ % 2 == 0) {
        p->opcode = PROBE;
        p->probe_id = probe_id_++;
        p->ev = way.ev;
        p->plane = way.plane;
        return true;
    }
    probe_id_++;
    if (una_ != next_ || done_ == begun_)
        return false;
    const order &o = writes_[done_ - first_];
    fill(o, done_, o.pkts - 1, way, p);
    p->rtx = p->ask = true;
    *number = done_;
    *off = (o.pkts - 1) * mtu_;
    return true;
}

bool foreign_sender::next(foreign_packet *p, const std::vector<foreign_path> &paths, u64 now_ns,
                          u32 *number, u32 *off)
{
    const foreign_path *by = &way(paths);
    u32 psn;

    *p = {};
    p->stamp = static_cast<u16>(now_ns >> 7);
    if (refused_)
        return false;
    if (ask_again_ && ask(p, *by, number, off))
        return true;
    if (say_again_) {
        say_again_ = false;
        *p = said_;
        *number = said_number_;
        *off = said_off_;
        if (random(2)) // where nothing may be yet
            p->psn = psn_add(next_, window_ + static_cast<s64>(random(1 << 22)));
        return true;
    }
    if (!pick(&psn))
        return false;
    record &r = of(psn);
    if (r.again && by->ev == r.ev) // the path that lost it is not taken again
        by = &way(paths);
    *number = r.number;
    *off = r.piece * mtu_;
    fill(writes_[r.number - first_], r.number, r.piece, *by, p);
    p->rtx = r.again;
    since_ask_++;
    // Nothing more leaves until something comes.
    bool closes = out_ + 1 >= std::min(cwnd_, h_.window);
    p->ask = r.again || closes || (h_.ask_every ? since_ask_ >= h_.ask_every : foreign::is_last(p->opcode));
    if (p->ask)
        since_ask_ = 0;
    lane &l = lanes_[by->plane];
    r.st = OUT;
    r.sent = ++sends_;
    r.plane = by->plane;
    r.ev = by->ev;
    r.turn = l.first + static_cast<u32>(l.sent.size());
    l.sent.push_back(psn);
    again_ += r.again;
    r.twice = r.again;
    r.again = true;
    if (!out_++)
        heard_ns_ = now_ns;
    if (h_.lies & LIE_PSN && random(8) == 0) {
        said_ = *p;
        said_number_ = *number;
        said_off_ = *off;
        say_again_ = true;
    }
    return true;
}

void foreign_sender::lose(u32 psn)
{
    record &r = of(psn);

    r.st = LOST;
    out_--;
    lost_.push_back(psn);
    halve(static_cast<s32>(r.sent - halved_sent_) > 0);
}

// Once a window. @later: for a packet that left since it last did, which may be lost again and again.
void foreign_sender::halve(bool later)
{
    if (!h_.halves || (!later && psn_off(una_, halved_at_) < 0))
        return;
    halved_at_ = next_;
    halved_sent_ = sends_;
    cwnd_ = std::max(std::min(cwnd_, h_.window) / 2, 2u);
}

void foreign_sender::arrived(u32 psn)
{
    record &r = of(psn);

    if (r.st == GONE)
        return;
    if (r.st == OUT) {
        lane &l = lanes_[r.plane];

        out_--;
        first_copy_ = first_copy_ || !r.twice;
        // An answer to a packet that was sent twice may be to its first copy (RFC 8985, 6.2).
        if (!r.twice && static_cast<s32>(r.turn + 1 - l.arrived) > 0)
            l.arrived = r.turn + 1;
        if (++grow_ >= cwnd_) {
            grow_ = 0;
            cwnd_ = std::min(cwnd_ + 1, h_.window);
        }
    }
    r.st = GONE;
}

// What left by a plane comes in its order, or is lost.
void foreign_sender::look(lane &l)
{
    while (!l.sent.empty()) {
        u32 psn = l.sent.front();
        record &r = of(psn);

        if (psn_in(psn) && r.st == OUT && r.turn == l.first) {
            if (static_cast<s32>(l.arrived - l.first) <= static_cast<s32>(h_.late_pkts))
                return;
            lose(psn);
        }
        l.sent.pop_front();
        l.first++;
    }
}

void foreign_sender::take(const foreign_packet &p, u64 now_ns)
{
    if (p.opcode == NACK) {
        if (p.reason == UNEXP_EVENT)
            refused_ = true;
        if (psn_in(p.psn) && of(p.psn).st == OUT && of(p.psn).ev == p.echo_ev)
            lose(p.psn);
        return;
    }
    if (p.opcode == ACK && p.syndrome >> 5 == 3)
        refused_ = true;
    if ((p.opcode != ACK && p.opcode != SACK) || psn_off(p.psn, next_) >= 0)
        return;
    heard_ns_ = now_ns;
    ask_again_ = false;
    first_copy_ = false;
    if (p.mark == 1)
        halve(false);
    if (p.mark == 2 && std::find(bad_.begin(), bad_.end(), p.echo_ev) == bad_.end() && bad_.size() < bad_most)
        bad_.push_back(p.echo_ev);
    for (u32 psn = una_; psn_off(psn, p.psn) <= 0; psn = psn_add(psn, 1))
        arrived(psn);
    for (u64 bits = p.bitmap; p.opcode == SACK && bits; bits &= bits - 1) {
        u32 psn = psn_add(p.psn, p.base + std::countr_zero(bits));

        if (psn_in(psn))
            arrived(psn);
    }
    if (p.opcode == SACK && !p.answer && psn_in(psn_add(p.psn, p.trigger)))
        arrived(psn_add(p.psn, p.trigger));
    while (una_ != next_ && of(una_).st == GONE)
        una_ = psn_add(una_, 1);
    // RFC 6298 (5.7): the timeout stays long until an answer is to a packet that was sent once.
    if (first_copy_ || una_ == next_)
        backoff_ = 0;
    for (lane &l : lanes_)
        look(l);
    if (p.opcode != ACK)
        return;
    while (done_ != begun_ && done_ - first_ < writes_.size()) {
        const order &o = writes_[done_ - first_];

        if (done_ >= cut_ || psn_off(psn_add(o.psn, o.pkts - 1), p.psn) > 0)
            break;
        imm_out_ -= o.w.with_imm;
        done_++;
    }
}

bool foreign_sender::complete(u32 *number)
{
    if (first_ == done_)
        return false;
    *number = first_++;
    writes_.pop_front();
    return true;
}

u64 foreign_sender::deadline_ns() const
{
    return writes_.empty() || !begun_ || refused_ ? ~0ull
                                                  : heard_ns_ + (h_.timeout_ns << backoff_);
}

// Silence: all that is out goes again, slowly. Where all has arrived and no ACK says so, the
// last packet of the oldest write asks for it.
void foreign_sender::timer(u64 now_ns)
{
    if (now_ns < deadline_ns())
        return;
    heard_ns_ = now_ns;
    backoff_ = std::min(backoff_ + 1, 6u);
    ask_again_ = true;
    for (lane &l : lanes_) {
        for (u32 psn : l.sent)
            if (psn_in(psn) && of(psn).st == OUT)
                lose(psn);
        l.first += static_cast<u32>(l.sent.size());
        l.arrived = l.first;
        l.sent.clear();
    }
}

} // namespace sim
