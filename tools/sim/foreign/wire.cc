// SPDX-License-Identifier: GPL-2.0
// wire.cc - see wire.h.
#include "wire.h"

namespace sim::foreign {

namespace {

class bytes {
public:
    explicit bytes(u8 *b) : b_(b) {}

    void put(u64 v, u32 n)
    {
        while (n--)
            b_[at_++] = static_cast<u8>(v >> 8 * n);
    }
    u32 at() const { return at_; }

private:
    u8 *b_;
    u32 at_ = 0;
};

u64 get(const u8 *b, u32 n)
{
    u64 v = 0;

    while (n--)
        v = v << 8 | *b++;
    return v;
}

void put_sack(bytes &w, const foreign_packet &p)
{
    w.put(static_cast<u64>(p.mark) << 5 | (p.answer ? 2 : 0), 2);
    w.put(p.answer ? p.probe_id : static_cast<u16>(p.trigger), 2);
    w.put(p.echo_ev, 4);
    w.put(0, 4); // context ids
    w.put(0, 1);
    w.put(p.psn, 3);
    w.put(0, 2); // cc_type, mpr
    w.put(static_cast<u16>(p.base), 2);
    w.put(p.bitmap, 8);
    w.put(p.stamp, 2);
    w.put(p.ooo, 2);
    w.put(0, 1);
    w.put(p.bytes, 3);
}

void get_sack(const u8 *b, foreign_packet *p)
{
    p->mark = b[1] >> 5 & 3;
    p->answer = b[1] & 2;
    p->probe_id = static_cast<u16>(get(b + 2, 2));
    p->trigger = static_cast<s16>(get(b + 2, 2));
    p->echo_ev = static_cast<u32>(get(b + 4, 4));
    p->psn = static_cast<u32>(get(b + 13, 3));
    p->base = static_cast<s16>(get(b + 18, 2));
    p->bitmap = get(b + 20, 8);
    p->stamp = static_cast<u16>(get(b + 28, 2));
    p->bytes = static_cast<u32>(get(b + 33, 3));
}

} // namespace

u32 encode(const foreign_packet &p, u8 *b)
{
    bytes w(b);
    u32 pad = is_data(p.opcode) ? -p.len & 3 : 0;

    w.put(p.opcode, 1);
    w.put(pad << 4, 1);
    w.put(0xffff, 2);
    w.put(p.dest_qp, 4);
    w.put((p.ask ? 0x80 : 0) | (p.rtx ? 0x20 : 0) | (p.stamped ? 0x10 : 0), 1);
    w.put(p.opcode == PROBE ? 0 : p.psn, 3);
    switch (p.opcode) {
    case ACK:
        w.put(p.syndrome, 1);
        w.put(p.ack_msn, 3);
        break;
    case SACK: put_sack(w, p); break;
    case NACK:
        w.put(0, 2);
        w.put(p.reason, 1);
        w.put(0, 1);
        w.put(p.echo_ev, 4);
        w.put(0, 5); // context ids
        w.put(p.psn, 3);
        w.put(0x20, 1);
        w.put(0, 1);
        w.put(p.stamp, 2);
        break;
    case PROBE:
        w.put(0, 4);
        w.put(p.probe_id, 2);
        w.put(0, 6);
        w.put(p.stamp, 2);
        w.put(1, 2);
        break;
    default:
        w.put(p.rqmsn, 2);
        w.put(p.msn, 2);
        if (p.stamped) {
            w.put(p.stamp, 2);
            w.put(1, 2);
        }
        w.put(p.va, 8);
        w.put(p.rkey, 4);
        w.put(p.dmalen, 4);
        if (has_imm(p.opcode))
            w.put(p.imm, 4);
        break;
    }
    return w.at();
}

bool decode(const u8 *b, u32 len, foreign_packet *p, u32 *at)
{
    u8 trimmed = p->trimmed;
    u32 pad = len > 1 ? b[1] >> 4 & 3 : 0;

    if (len < 12)
        return false;
    p->opcode = b[0];
    p->dest_qp = static_cast<u32>(get(b + 5, 3));
    p->ask = b[8] & 0x80;
    p->rtx = b[8] & 0x20;
    p->stamped = b[8] & 0x10;
    p->psn = static_cast<u32>(get(b + 9, 3));
    *at = 12;
    b += 12;
    len -= 12;
    switch (p->opcode) {
    case ACK:
        p->syndrome = b[0];
        p->ack_msn = static_cast<u32>(get(b + 1, 3));
        return len >= 4;
    case SACK:
        if (len < 36)
            return false;
        get_sack(b, p);
        return true;
    case NACK:
        if (len < 20)
            return false;
        p->reason = b[2];
        p->echo_ev = static_cast<u32>(get(b + 4, 4));
        p->psn = static_cast<u32>(get(b + 13, 3));
        p->stamp = static_cast<u16>(get(b + 18, 2));
        return true;
    case PROBE:
        p->probe_id = static_cast<u16>(get(b + 4, 2));
        p->stamp = static_cast<u16>(get(b + 12, 2));
        return len >= 16;
    default: break;
    }
    if (!is_data(p->opcode))
        return false;
    u32 need = 4 + (p->stamped ? 4 : 0);
    if (len < need)
        return false;
    p->rqmsn = static_cast<u16>(get(b, 2));
    p->msn = static_cast<u16>(get(b + 2, 2));
    if (p->stamped)
        p->stamp = static_cast<u16>(get(b + 4, 2));
    if (trimmed)
        return true;
    b += need;
    len -= need;
    need = has_imm(p->opcode) ? 20 : 16;
    if (len < need)
        return false;
    p->va = get(b, 8);
    p->rkey = static_cast<u32>(get(b + 8, 4));
    p->dmalen = static_cast<u32>(get(b + 12, 4));
    if (has_imm(p->opcode))
        p->imm = static_cast<u32>(get(b + 16, 4));
    *at += 4 + (p->stamped ? 4 : 0) + need;
    if (len < need + pad)
        return false;
    p->len = len - need - pad;
    return true;
}

} // namespace sim::foreign
