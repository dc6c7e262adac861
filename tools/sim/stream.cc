// SPDX-License-Identifier: GPL-2.0
// stream.cc - checks one direction of one QP (stream.h).
#include "stream.h"

#include <algorithm>

namespace sim {

// The WRITE whose target contains this packet; by_va is sorted by target.
u32 stream::find_write(u64 va, u32 len) const
{
    auto it = std::upper_bound(by_va.begin(), by_va.end(), va, [this](u64 v, u32 m) {
        return v < msg[m].wr.va;
    });

    // Later messages may aim at an earlier target again: take the one begun.
    u32 found = none32;
    while (it != by_va.begin()) {
        u32 m = *--it;
        const message &x = msg[m];

        if (va > x.wr.va + x.wr.len || (x.wr.len && va == x.wr.va + x.wr.len))
            break;
        u64 off = va - x.wr.va;
        bool want = m < posted && off % mtu == 0 && off + len <= x.wr.len;
        if (want && !x.landed(mtu) && m < found)
            found = m;
        if (it != by_va.begin() && msg[*(it - 1)].wr.va != x.wr.va)
            break;
    }
    if (found == none32)
        fail("placement at va %#llx len %u hits no posted and unfinished WRITE",
             (unsigned long long)va, len);
    return found;
}

void stream::check_packet(u32 m, u32 off, u32 len) const
{
    const message &x = msg[m];
    u32 want = std::min(mtu, x.wr.len - std::min(off, x.wr.len));

    if (m >= posted)
        fail("packet of message %u, which was not posted", m);
    if (off % mtu || off > x.wr.len || len != want)
        fail("message %u: packet at off %u len %u, want len %u", m, off, len, want);
    if (x.got.size() > off / mtu && x.got[off / mtu])
        fail("message %u: packet at off %u placed twice", m, off);
}

void stream::advance_low()
{
    while (low < msg.size() &&
           (msg[low].is_exec() || msg[low].wr.op == MRC_OP_LOCAL || msg[low].landed(mtu)))
        low++;
}

// Strict placement: a packet of message @m is placed after all messages before.
void stream::check_strict(u32 m)
{
    advance_low();
    if (low < m)
        fail("message %u placed before message %u has landed", m, low);
}

void stream::commit(u32 m, u32 off, u32 len)
{
    message &x = msg[m];

    check_packet(m, off, len);
    x.got.resize(x.npkts(mtu));
    x.got[off / mtu] = true;
    x.got_bytes += len;
    x.got_pkts++;
    if (any_order && x.got_pkts == x.npkts(mtu))
        x.visible = true;
    if (x.got_pkts == x.npkts(mtu) && x.got_bytes != x.wr.len)
        fail("message %u: %u bytes of %u", m, x.got_bytes, x.wr.len);
    advance_low();
}

// The last bytes of WRITE m are being placed: nothing before may be missing.
void stream::make_visible(u32 m)
{
    message &x = msg[m];

    if (x.visible)
        fail("message %u: last bytes placed twice", m);
    // Its own last packet may be under way: placed now, committed next.
    if (x.got_pkts + (x.got.empty() || !x.got.back()) != x.npkts(mtu))
        fail("message %u: last bytes placed after %u of %u packets", m, x.got_pkts,
             x.npkts(mtu));
    // A message of one packet guards only itself.
    if (low < m && x.npkts(mtu) > 1)
        fail("message %u: last bytes placed before message %u has landed", m, low);
    x.visible = true;
}

u32 stream::exec(const mrc_exec &x)
{
    if (execs >= exec_msg.size())
        fail("request executed that was never posted");
    u32 m = exec_msg[execs++];
    const message &want = msg[m];

    if (x.op != want.wr.op || x.va != want.wr.va || x.len != want.wr.len ||
        x.rkey != want.wr.rkey)
        fail("request %u (message %u) executed wrongly or twice: op %d va %#llx len %u", execs - 1,
             m, x.op, (unsigned long long)x.va, x.len);
    if (want.is_atomic() && (x.swap_add != want.wr.swap_add ||
                             (x.op == MRC_OP_CMP_SWAP && x.compare != want.wr.compare)))
        fail("message %u: atomic operands differ", m);
    advance_low();
    if (low < m)
        fail("message %u executed before message %u has landed", m, low);
    return m;
}

void stream::check_landed(const message &m, const char *when) const
{
    if (m.is_write() && !m.visible)
        fail("message %u %s before its last bytes were placed", m.wr.cookie, when);
    if ((m.is_write() || m.is_send()) && !m.landed(mtu))
        fail("message %u %s after %u of %u packets", m.wr.cookie, when, m.got_pkts,
             m.npkts(mtu));
    const u8 *p = nullptr;
    // A READ may be answered before what precedes it is acknowledged, and so
    // the fenced WRITE behind it may land first.
    if (m.is_write() && (m.rewritten == none32 || !msg[m.rewritten].got_pkts))
        p = mem.at(m.wr.va);
    else if (m.is_send())
        p = recv_buf[m.rq].data();
    if (!p)
        return;
    size_t same = pattern_compare(p, m.key, 0, m.wr.len);
    if (same != m.wr.len)
        fail("message %u %s: byte %zu of %u is wrong", m.wr.cookie, when, same, m.wr.len);
}

void stream::recv_complete(const mrc_cpl &c)
{
    if (c.rq_idx != recv_done || c.rq_idx >= recv_msg.size())
        fail("receive %u completed, next is %u of %zu", c.rq_idx, recv_done, recv_msg.size());
    const message &m = msg[recv_msg[recv_done++]];

    if (c.status != MRC_ST_OK)
        fail("receive %u completed with status %d", c.rq_idx, c.status);
    if (c.op != m.wr.op || c.len != m.wr.len)
        fail("receive %u: op %d len %u, want op %d len %u", c.rq_idx, c.op, c.len, m.wr.op,
             m.wr.len);
    if (m.wr.op != MRC_OP_SEND && c.imm != m.wr.imm)
        fail("receive %u: imm %#x, want %#x", c.rq_idx, c.imm, m.wr.imm);
    if (c.solicited != (all_solicited || m.wr.flags & MRC_WR_SOLICITED))
        fail("receive %u: solicited is %d", c.rq_idx, c.solicited);
    check_landed(m, "was received");
    advance_low();
    if (low < m.wr.cookie)
        fail("receive %u completed before message %u has landed", c.rq_idx, low);
    for (size_t i = m.is_send() ? m.wr.len : 0; i < recv_buf[c.rq_idx].size(); i++)
        if (recv_buf[c.rq_idx][i] != guard_byte)
            fail("receive %u: byte %zu written, message has %u", c.rq_idx, i, m.wr.len);
}

void stream::resp_commit(u32 m, u32 off, u32 len, u64 orig)
{
    message &x = msg[m];
    u32 total = x.is_atomic() ? 0 : x.wr.len;
    u32 npkts = x.is_atomic() ? 1 : x.npkts(mtu);

    if (m >= posted || !x.is_exec())
        fail("response to message %u, which is no posted request", m);
    if (x.completed)
        fail("response to message %u, which is completed", m);
    if (off % mtu || off > total || len != std::min(mtu, total - off))
        fail("message %u: response at off %u len %u", m, off, len);
    x.resp.resize(npkts);
    if (x.resp[off / mtu])
        fail("message %u: response at off %u placed twice", m, off);
    x.resp[off / mtu] = true;
    x.resp_pkts++;
    x.orig = orig;
}

void stream::send_complete(const mrc_cpl &c, bool may_fail)
{
    if (c.cookie != send_done || c.cookie >= posted)
        fail("message %u completed, next is %u, posted %u", c.cookie, send_done, posted);
    message &m = msg[send_done++];

    m.completed = true;
    if (c.op != m.wr.op)
        fail("message %u: completed as op %d, is %d", c.cookie, c.op, m.wr.op);
    if (send_failed && c.status != MRC_ST_FLUSHED)
        fail("message %u: status %d behind a failed one", c.cookie, c.status);
    if (c.status != MRC_ST_OK) {
        if (!may_fail && !(bad != none32 && c.cookie >= bad))
            fail("message %u failed with status %d", c.cookie, c.status);
        if (c.cookie == bad && !may_fail && c.status != m.want)
            fail("message %u failed with status %d, want %d", c.cookie, c.status, m.want);
        send_failed = true;
        m.result = {};
        return;
    }
    if (m.want != MRC_ST_OK)
        fail("message %u completed, but must fail", c.cookie);
    check_landed(m, "completed");
    if (m.is_exec() && m.resp_pkts != (m.is_atomic() ? 1 : m.npkts(mtu)))
        fail("message %u completed after %u packets of its response", c.cookie, m.resp_pkts);
    if (m.wr.op == MRC_OP_READ) {
        size_t same = pattern_compare(m.result.data(), m.read_key, m.read_off, m.wr.len);

        if (same != m.wr.len)
            fail("message %u: READ saw a wrong byte at %zu of %u", c.cookie, same, m.wr.len);
        m.result = {};
    }
    if (m.is_atomic() && m.orig != m.want_orig)
        fail("message %u: ATOMIC returned %#llx, want %#llx", c.cookie, (unsigned long long)m.orig,
             (unsigned long long)m.want_orig);
}

// Between the targets nothing may have been written.
void stream::check_guards() const
{
    u64 at = 0;

    for (u32 m : by_va) {
        u64 begin = msg[m].wr.va - mem.va;

        for (; at && at < begin; at++)
            if (mem.bytes[at] != guard_byte)
                fail("memory at offset %llu outside all messages was written",
                     (unsigned long long)at);
        at = std::max(at, begin + msg[m].wr.len);
    }
}

} // namespace sim
