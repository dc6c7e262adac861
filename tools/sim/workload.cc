// SPDX-License-Identifier: GPL-2.0
// workload.cc - draws the messages of one direction of one QP (workload.h).
#include "workload.h"

#include <algorithm>

namespace sim {

namespace {

constexpr u32 n_atomics = 8;

class drawer {
public:
    drawer(const options &o, u64 seed, u32 index)
        : o_(o), r_(seed, "workload", index), index_(index), seed_(seed)
    {
    }

    stream run(bool with_fatal);

private:
    u32 draw_len();
    void add(mrc_op op);
    void add_write(message &m);
    void add_read(message &m);
    void add_atomic(message &m);
    void add_bad();
    void layout();
    u64 take(u32 len);

    const options &o_;
    prng r_;
    u32 index_;
    u64 seed_;
    stream s_;
    u64 budget_ = 0;
    u64 end_ = 0;              // of the region so far
    u32 static_len_ = 0;       // the constant area at the region's start
    u64 static_key_ = 0;
    u64 word_[n_atomics] = {}; // the atomics' values as they will be
    bool overwrite_next_ = false;
};

u32 drawer::draw_len()
{
    u64 mtu = o_.mtu, len;

    switch (r_.below(8)) {
    case 0: len = r_.below(4) ? 1 : 0; break;
    case 1: len = r_.range(1, 64); break;
    case 2: len = r_.range(1, mtu); break;
    case 3: len = mtu * r_.range(1, 8); break;
    case 4: len = mtu * r_.range(1, 8) + r_.range(1, 65); break;
    case 5: len = r_.range(1, 8 * mtu); break;
    default: len = r_.log_range(1, o_.len_max); break;
    }
    return static_cast<u32>(std::min({len, o_.len_max, budget_}));
}

// A new piece of the region, guard bytes around it.
u64 drawer::take(u32 len)
{
    u64 va = s_.mem.va + end_ + r_.range(1, 16);

    end_ = va - s_.mem.va + len + 1;
    return va;
}

void drawer::add_write(message &m)
{
    m.wr.rkey = s_.mem.rkey;
    if (overwrite_next_) {
        // What the READ before looked at; the fence makes it wait.
        const message &read = s_.msg.back();

        m.wr.va = read.wr.va;
        m.wr.len = read.wr.len;
        m.wr.flags |= MRC_WR_FENCE;
        for (message &x : s_.msg)
            if (x.is_write() && x.wr.va == m.wr.va && x.rewritten == none32)
                x.rewritten = m.wr.cookie;
        overwrite_next_ = false;
    } else {
        m.wr.va = take(m.wr.len);
    }
    if (m.wr.op == MRC_OP_WRITE_IMM)
        m.wr.imm = static_cast<u32>(r_.next());
}

void drawer::add_read(message &m)
{
    m.wr.rkey = s_.mem.rkey;
    m.exec_no = static_cast<u32>(s_.exec_msg.size());
    if (r_.chance(500000) && !s_.msg.empty()) {
        // Look at a recent WRITE, all of it or a part.
        for (u32 tries = 0; tries < 8; tries++) {
            size_t back = r_.range(1, std::min<size_t>(s_.msg.size(), 8));
            u32 w = static_cast<u32>(s_.msg.size() - back);
            const message &x = s_.msg[w];
            bool later = false;

            for (u32 k = w + 1; k < s_.msg.size(); k++)
                later |= s_.msg[k].is_write() && s_.msg[k].wr.va == x.wr.va && x.wr.len;
            if (!x.is_write() || x.wr.len == 0 || later)
                continue;
            m.read_key = x.key;
            m.wr.va = x.wr.va;
            m.wr.len = x.wr.len;
            if (r_.chance(300000)) {
                m.read_off = r_.below(x.wr.len);
                m.wr.va += m.read_off;
                m.wr.len -= static_cast<u32>(m.read_off);
            } else if (x.wr.op != MRC_OP_SEND && (o_.ops & 1 << MRC_OP_WRITE)) {
                overwrite_next_ = r_.chance(300000);
            }
            return;
        }
    }
    m.wr.len = std::min(m.wr.len, static_len_);
    m.read_key = static_key_;
    m.read_off = r_.below(static_len_ - m.wr.len + 1);
    m.wr.va = s_.mem.va + m.read_off;
}

void drawer::add_atomic(message &m)
{
    u32 w = static_cast<u32>(r_.below(n_atomics));

    m.exec_no = static_cast<u32>(s_.exec_msg.size());
    m.wr.rkey = s_.mem.rkey;
    m.wr.va = s_.atomics_va + 8 * w;
    m.wr.len = 8;
    m.wr.swap_add = r_.next();
    m.want_orig = word_[w];
    if (m.wr.op == MRC_OP_FETCH_ADD) {
        word_[w] += m.wr.swap_add;
    } else {
        m.wr.compare = r_.chance(700000) ? word_[w] : r_.next();
        if (m.wr.compare == word_[w])
            word_[w] = m.wr.swap_add;
    }
}

void drawer::add(mrc_op op)
{
    message m;

    m.wr.op = op;
    m.wr.cookie = static_cast<u32>(s_.msg.size());
    m.key = mix64(seed_ ^ (static_cast<u64>(index_) << 32 | m.wr.cookie));
    m.wr.len = op == MRC_OP_LOCAL ? 0 : draw_len();
    m.wr.flags = r_.chance(o_.fence_ppm) ? MRC_WR_FENCE : 0;
    if (m.is_write())
        add_write(m);
    if (op == MRC_OP_READ)
        add_read(m);
    if (m.is_atomic())
        add_atomic(m);
    if (op == MRC_OP_SEND_IMM || op == MRC_OP_SEND_INV)
        m.wr.imm = static_cast<u32>(r_.next());
    if (m.is_send() || op == MRC_OP_WRITE_IMM) {
        if (r_.chance(300000))
            m.wr.flags |= MRC_WR_SOLICITED;
        m.rq = static_cast<u32>(s_.recv_msg.size());
        m.recv_size = (m.is_send() ? m.wr.len : 0) + static_cast<u32>(r_.below(32));
        s_.recv_msg.push_back(m.wr.cookie);
    }
    if (m.is_exec())
        s_.exec_msg.push_back(m.wr.cookie);
    budget_ -= std::min<u64>(budget_, m.wr.len);
    s_.msg.push_back(std::move(m));
}

// The message that must fail takes the next place.
void drawer::add_bad()
{
    static const mrc_op ops[] = {MRC_OP_WRITE, MRC_OP_WRITE, MRC_OP_READ, MRC_OP_SEND,
                                 MRC_OP_WRITE, MRC_OP_FETCH_ADD};

    overwrite_next_ = false;
    if (o_.fatal == FATAL_SEND_LONG && budget_ < 64)
        budget_ = 64;
    add(ops[o_.fatal]);
    message &m = s_.msg.back();

    s_.bad = m.wr.cookie;
    overwrite_next_ = false;
    switch (o_.fatal) {
    case FATAL_WRITE:
    case FATAL_READ:
        m.wr.len = std::max(m.wr.len, 1u);
        m.wr.rkey ^= 0x100;
        m.want = MRC_ST_REM_ACCESS;
        break;
    case FATAL_ATOMIC:
        m.wr.va -= 1ull << 40;
        m.want = MRC_ST_REM_ACCESS;
        break;
    case FATAL_SEND_LONG:
        m.wr.len = std::max(m.wr.len, 1u);
        m.recv_size = m.wr.len - 1;
        m.want = MRC_ST_REM_INV_REQ;
        break;
    case FATAL_LOCAL:
        m.wr.error = MRC_ST_LOC_PROT;
        m.want = MRC_ST_LOC_PROT;
        break;
    }
}

// Memory and receive buffers, now that the sizes are known.
void drawer::layout()
{
    s_.mem.bytes.assign(end_ + 16, guard_byte);
    pattern_fill(s_.mem.bytes.data(), static_key_, 0, static_len_);
    for (u32 i = 0; i < n_atomics; i++)
        pattern_fill(s_.mem.at(s_.atomics_va + 8 * i), static_key_ ^ 1, 8 * i, 8);
    for (const message &m : s_.msg)
        if (m.is_write() && m.want != MRC_ST_REM_ACCESS)
            s_.by_va.push_back(m.wr.cookie);
    std::stable_sort(s_.by_va.begin(), s_.by_va.end(), [this](u32 a, u32 b) {
        return s_.msg[a].wr.va < s_.msg[b].wr.va;
    });
    for (u32 m : s_.recv_msg)
        s_.recv_buf.emplace_back(s_.msg[m].recv_size, guard_byte);
}

stream drawer::run(bool with_fatal)
{
    u32 count = static_cast<u32>(r_.range(1, o_.msgs));
    u32 bad_at = with_fatal ? static_cast<u32>(r_.below(count)) : none32;
    mrc_op ops[16];
    u32 n_ops = 0;

    s_.mtu = static_cast<u32>(o_.mtu);
    s_.all_solicited = o_.mrc_only;
    s_.any_order = o_.mrc_only;
    s_.mem.va = (r_.below(1ull << 46) + (1ull << 41)) & ~7ull;
    s_.mem.rkey = static_cast<u32>(r_.next());
    static_len_ = static_cast<u32>(std::min<u64>(o_.len_max, 300000));
    static_key_ = mix64(seed_ ^ ~static_cast<u64>(index_));
    s_.atomics_va = s_.mem.va + ((static_len_ + 7) & ~7u);
    end_ = s_.atomics_va - s_.mem.va + 8 * n_atomics;
    for (u32 i = 0; i < n_atomics; i++) {
        u8 b[8];

        pattern_fill(b, static_key_ ^ 1, 8 * i, 8);
        std::memcpy(&word_[i], b, 8);
    }
    for (u32 op = 0; op <= MRC_OP_FETCH_ADD; op++)
        if (o_.ops >> op & 1)
            ops[n_ops++] = static_cast<mrc_op>(op);

    budget_ = o_.bytes;
    for (u32 i = 0; i < count; i++) {
        mrc_op op = ops[r_.below(n_ops)];

        if (overwrite_next_)
            op = MRC_OP_WRITE;
        else if (!o_.mrc_only && r_.chance(20000))
            op = MRC_OP_LOCAL;
        if (i == bad_at)
            add_bad();
        else
            add(op);
    }
    layout();
    return std::move(s_);
}

} // namespace

stream draw_stream(const options &o, u64 seed, u32 index, bool with_fatal)
{
    return drawer(o, seed, index).run(with_fatal);
}

} // namespace sim
