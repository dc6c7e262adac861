// SPDX-License-Identifier: GPL-2.0
// receiver.cc - see receiver.h.
#include "receiver.h"

#include <algorithm>

namespace sim {

using namespace foreign;

namespace {

constexpr size_t owed_most = 64;

u64 stir(u64 z)
{
    z ^= z >> 33;
    z *= 0xff51afd7ed558ccdull;
    z ^= z >> 33;
    z *= 0xc4ceb9fe1a85ec53ull;
    return z ^ z >> 33;
}

} // namespace

foreign_receiver::foreign_receiver(const foreign_habits &h, u64 seed, u32 psn, u32 window,
                                   u32 messages)
    : h_(h), rand_(seed), cack_(psn_add(psn, -1)), max_(cack_), window_(window), limit_(messages),
      got_(window), last_(window)
{
}

u64 foreign_receiver::random(u64 n)
{
    rand_ += 0x9e3779b97f4a7c15ull;
    return stir(rand_) % n;
}

void foreign_receiver::owe(const foreign_packet &p, u8 opcode, u8 reason)
{
    // Who is asked more often than it can answer answers the latest.
    if (owed_.size() >= owed_most)
        owed_.pop_front();
    owed_.push_back({opcode, reason, static_cast<u8>(p.ce ? 1 : 0), p.opcode == PROBE, p.psn, p.ev,
                     p.stamped || p.opcode == PROBE ? p.stamp : static_cast<u16>(0), p.probe_id});
    if (opcode == SACK)
        since_sack_ = 0;
}

// The left edge moves over all that has come.
void foreign_receiver::advance(u64 now_ns)
{
    for (u32 psn = psn_add(cack_, 1); has(psn); psn = psn_add(psn, 1)) {
        size_t i = psn % got_.size();

        got_[i] = false;
        cack_ = psn;
        ooo_--;
        done_ += last_[i];
        last_[i] = false;
    }
    if (done_ == acked_)
        return;
    if (done_ - acked_ >= h_.ack_every)
        ack_ = true;
    else
        ack_at_ns_ = std::min(ack_at_ns_, now_ns + h_.ack_ns);
}

bool foreign_receiver::take(const foreign_packet &p, u64 now_ns)
{
    s32 ahead = psn_off(p.psn, psn_add(cack_, 1));

    if (p.opcode == PROBE) {
        if (h_.answers)
            owe(p, SACK, 0);
        return false;
    }
    if (!is_data(p.opcode))
        return false;
    if (ahead >= static_cast<s32>(window_)) {
        owe(p, NACK, PSN_OOR_WINDOW);
        return false;
    }
    if (ahead < 0 || has(p.psn)) { // a duplicate: both layers say again what they know
        ack_ |= ahead < 0;
        owe(p, SACK, 0);
        return false;
    }
    if (p.trimmed) {
        if (h_.trim_nacks)
            owe(p, NACK, p.trimmed);
        return false;
    }
    if ((h_.refuse_ppm && random(1000000) < h_.refuse_ppm) ||
        (h_.lies & LIE_NO_BUFFER && random(10))) {
        owe(p, NACK, NO_PKT_BUFFER);
        return false;
    }
    if (has_imm(p.opcode)) {
        u32 index = next_rq_ + static_cast<u16>(p.rqmsn - static_cast<u16>(next_rq_));

        if (index - next_rq_ >= limit_)
            return false;
        waits_[index] = {p.psn, p.imm, p.dmalen};
    }
    got_[p.psn % got_.size()] = true;
    last_[p.psn % got_.size()] = is_last(p.opcode);
    if (psn_off(p.psn, max_) > 0)
        max_ = p.psn;
    bytes_ += p.udp_len + 40;
    ooo_++;
    advance(now_ns);
    since_sack_++;
    bool filled = asked_ && psn_off(max_, cack_) == static_cast<s32>(ooo_);
    asked_ = psn_off(max_, cack_) != static_cast<s32>(ooo_) && (asked_ || p.ask);
    if (p.ask || p.rtx || p.ce || filled || (h_.sack_pkts && since_sack_ >= h_.sack_pkts))
        owe(p, SACK, 0);
    return true;
}

bool foreign_receiver::complete(u32 *imm, u32 *len)
{
    auto it = waits_.find(next_rq_);

    if (it == waits_.end() || psn_off(it->second.psn, cack_) > 0)
        return false;
    *imm = it->second.imm;
    *len = it->second.len;
    waits_.erase(it);
    next_rq_++;
    return true;
}

u64 foreign_receiver::bits(u32 base) const
{
    u64 v = 0;

    for (u32 i = 0; i < 64; i++) {
        u32 psn = psn_add(base, i);
        s32 ahead = psn_off(psn, cack_);

        if (ahead > 0 && ahead <= static_cast<s32>(window_) && has(psn))
            v |= 1ull << i;
    }
    return v;
}

void foreign_receiver::sack(const owed &o, foreign_packet *p)
{
    u32 behind = psn_add(cack_, 1), base = behind;

    if (h_.bitmap == BITMAP_NEAR && psn_off(psn_add(o.psn, -63), base) > 0 && !o.answer)
        base = psn_add(o.psn, -63);
    p->psn = cack_;
    p->mark = o.mark;
    p->answer = o.answer;
    p->probe_id = o.probe_id;
    p->trigger = o.answer ? static_cast<s16>(0)
                          : static_cast<s16>(std::clamp(psn_off(o.psn, cack_), -32768, 32767));
    p->base = static_cast<s16>(psn_off(base, cack_));
    p->bitmap = h_.bitmap == BITMAP_NONE ? 0 : bits(base);
    p->ooo = static_cast<u16>(std::min(ooo_, 0x7fffu));
    p->bytes = h_.counts ? static_cast<u32>((bytes_ + 255) >> 8) & 0xffffff : 0;
    p->stamp = h_.echo ? o.stamp : static_cast<u16>(0);
}

// What no honest peer says. Nothing that has not come is ever called received: that would be
// a lie about the data, which no sender can see through.
void foreign_receiver::lie(foreign_packet *p)
{
    if (h_.lies & LIE_STAMPS && random(2))
        p->stamp = static_cast<u16>(random(65536));
    if (p->opcode != SACK)
        return;
    if (h_.lies & LIE_SHRINK && random(2))
        p->bitmap &= random(~0ull);
    if (h_.lies & LIE_BYTES && random(4) == 0)
        p->bytes = static_cast<u32>(random(1 << 24));
    if (h_.lies & LIE_BACK && random(4) == 0) {
        u32 back = static_cast<u32>(random(300));

        p->psn = psn_add(p->psn, -static_cast<s64>(back));
        p->base = static_cast<s16>(p->base + static_cast<s16>(back));
        p->trigger = static_cast<s16>(std::min<s32>(p->trigger + static_cast<s32>(back), 32767));
    }
}

void foreign_receiver::lie_nack(foreign_packet *p)
{
    static const u8 reasons[] = {TRIMMED, TRIMMED_LASTHOP, NO_BITMAP, NO_PKT_BUFFER, NO_RESOURCE,
                                 PSN_OOR_WINDOW, 0x7e};

    p->opcode = NACK;
    p->reason = reasons[random(sizeof(reasons))];
    p->psn = psn_add(cack_, static_cast<s64>(random(3000)) - 500);
    p->echo_ev = static_cast<u32>(random(~0ull));
    p->stamp = static_cast<u16>(random(65536));
}

bool foreign_receiver::next(foreign_packet *p, const std::vector<foreign_path> &paths, u64)
{
    *p = {};
    if (owed_.empty() && !ack_)
        return false;
    const foreign_path &way = paths[random(paths.size())];

    p->ev = way.ev;
    p->plane = way.plane;
    if (ack_) {
        ack_ = false;
        ack_at_ns_ = ~0ull;
        acked_ = done_;
        p->opcode = ACK;
        p->psn = cack_;
        p->syndrome = 0x1f;
        p->ack_msn = done_ & psn_mask;
        return true;
    }
    if (h_.lies & LIE_NACK_UNSENT && turn_++ % 4 == 0) {
        lie_nack(p);
        return true;
    }
    owed o = owed_.front();
    owed_.pop_front();
    p->opcode = o.opcode;
    p->echo_ev = o.ev;
    if (o.opcode == SACK) {
        sack(o, p);
    } else {
        p->psn = o.psn;
        p->reason = o.reason;
        p->stamp = h_.echo ? o.stamp : static_cast<u16>(0);
    }
    if (h_.lies)
        lie(p);
    return true;
}

void foreign_receiver::timer(u64 now_ns)
{
    if (now_ns >= ack_at_ns_) {
        ack_at_ns_ = ~0ull;
        ack_ = done_ != acked_;
    }
}

} // namespace sim
