// SPDX-License-Identifier: GPL-2.0
// qp_foreign.cc - see qp_foreign.h. The stream checks everything that a program could notice, as
// for the engine's own ends.
#include "qp_foreign.h"

#include "foreign/wire.h"
#include "world.h"

namespace sim {

namespace {

foreign_habits habits(const options &o)
{
    foreign_habits h;

    h.sack_pkts = static_cast<u32>(o.peer_sack_pkts);
    h.bitmap = static_cast<u8>(o.peer_bitmap);
    h.echo = o.peer_echo;
    h.counts = o.peer_counts;
    h.answers = o.peer_answers;
    h.trim_nacks = o.trim_nack;
    h.ack_every = static_cast<u32>(o.peer_ack_every);
    h.refuse_ppm = static_cast<u32>(o.peer_refuse_ppm);
    h.window = static_cast<u32>(o.peer_window);
    h.messages = static_cast<u32>(o.peer_messages);
    h.ask_every = static_cast<u32>(o.peer_ask_every);
    h.stamps = o.peer_stamps;
    h.probes = o.peer_probes;
    h.halves = o.peer_halves;
    h.late_pkts = static_cast<u32>(o.peer_late_pkts);
    h.timeout_ns = o.peer_timeout_ns;
    h.lies = static_cast<u32>(o.peer_lies);
    return h;
}

} // namespace

void qp::make_foreign()
{
    const options &o = w_.opt;
    bool a = id_ % 2 == 0;
    prng r(w_.seed, "qp/foreign", id_);
    u64 tx_seed = r.next(), rx_seed = r.next();
    u32 window = static_cast<u32>(a ? o.mpr_b : o.mpr) * MRC_MPR_UNIT;
    u32 takes = static_cast<u32>(a ? o.mpr : o.mpr_b) * MRC_MPR_UNIT;
    u32 wimm = static_cast<u32>(o.wimm ? o.wimm : o.rq_max);
    const mrc_evset &s = h_.to(remote_).evs;

    foreign_ = std::make_shared<foreign_end>(foreign_end{
        {habits(o), tx_seed, static_cast<u32>(a ? o.psn_a : o.psn_b), static_cast<u32>(o.mtu),
         window, wimm},
        {habits(o), rx_seed, static_cast<u32>(a ? o.psn_b : o.psn_a), takes, wimm}, {}});
    for (u32 i = 0; i < s.n; i++)
        foreign_->paths.push_back({s.ev[i].value, static_cast<u8>(s.ev[i].plane)});
}

void qp::place_foreign(const foreign_packet &f, const u8 *payload)
{
    if (f.len && (f.rkey != in_.mem.rkey || !in_.mem.covers(f.va, f.len)))
        sim::fail("foreign: packet for va %#llx, %u bytes", (unsigned long long)f.va, f.len);
    u32 m = in_.find_write(f.va, f.len), off = static_cast<u32>(f.va - in_.msg[m].wr.va);

    in_.check_packet(m, off, f.len);
    if (f.len)
        std::memcpy(in_.mem.at(f.va), payload, f.len);
    in_.commit(m, off, f.len);
}

void qp::rx_foreign(const packet &p)
{
    u64 now_ns = h_.clock_ns();
    foreign_packet f;
    u32 at = 0, imm, len;

    f.trimmed = p.trimmed;
    f.ev = p.ev;
    f.plane = p.plane;
    f.ce = p.ecn;
    f.udp_len = p.udp_len;
    if (!foreign::decode(p.buf, p.len, &f, &at))
        sim::fail("foreign: the engine's packet of opcode %#x is no packet", p.buf[0]);
    if (!w_.faults_on())
        foreign_->rx.tell_truth(), foreign_->tx.tell_truth();
    w_.seen.foreign_pkts++;
    if (!foreign::is_data(f.opcode) && f.opcode != foreign::PROBE)
        foreign_->tx.take(f, now_ns);
    else if (foreign_->rx.take(f, now_ns))
        place_foreign(f, p.buf + at);
    while (foreign_->rx.complete(&imm, &len)) {
        mrc_cpl c = {};

        c.kind = MRC_CPL_RECV;
        c.op = MRC_OP_WRITE_IMM;
        c.rq_idx = in_.recv_done;
        c.imm = imm;
        c.len = len;
        c.solicited = true;
        in_.recv_complete(c);
    }
}

void qp::send_foreign(const foreign_packet &f, u32 number, u32 off)
{
    const mrc_evset &s = h_.to(remote_).evs;
    u32 idx = w_.packets.get(), ev = 0;
    packet &p = w_.packets[idx];
    foreign_packet out = f;

    out.dest_qp = 0x1000 + (id_ ^ 1);
    u32 n = foreign::encode(out, p.buf), pad = -f.len & 3;
    if (f.len)
        pattern_fill(p.buf + n, out_.msg[number].key, off, f.len);
    std::memset(p.buf + n + f.len, 0, pad);
    while (s.ev[ev].value != f.ev || s.ev[ev].plane != f.plane)
        ev++;
    p.len = n + f.len + pad;
    p.ev = f.ev;
    p.ev_idx = static_cast<u16>(ev);
    p.src = static_cast<u8>(h_.id());
    p.dst = static_cast<u8>(remote_);
    p.plane = f.plane;
    p.tclass = foreign::is_data(f.opcode) ? (w_.opt.trim_nack ? MRC_TC_DATA : MRC_TC_NO_TRIM)
               : f.opcode == foreign::PROBE ? MRC_TC_NO_TRIM : MRC_TC_CONTROL;
    p.trimmed = 0;
    p.ecn = false;
    p.udp_len = static_cast<u16>(8 + p.len + MRC_ICRC_LEN);
    w_.tr.say(h_.sim_ps(), "%c%u foreign tx %02x psn %06x plane %u", 'A' + h_.id(), id_ / 2,
              f.opcode, f.psn, f.plane);
    h_.transmit(idx);
}

void qp::run_foreign()
{
    foreign_sender &tx = foreign_->tx;
    foreign_packet f;
    u32 number = 0, off = 0;

    while (out_.posted < released_ && !failed_) {
        const mrc_wr &wr = out_.msg[out_.posted++].wr;

        tx.post({wr.va, wr.rkey, wr.len, wr.imm, wr.op == MRC_OP_WRITE_IMM});
    }
    while (tx.complete(&number)) {
        mrc_cpl c = {};

        c.kind = MRC_CPL_SEND;
        c.cookie = number;
        c.op = out_.msg[number].wr.op;
        out_.send_complete(c, false);
    }
    if (tx.refused() && !failed_ && !w_.peer_of(*this).failed())
        sim::fail("foreign: the engine refused an honest packet for good");
    while (!failed_ && foreign_->rx.next(&f, foreign_->paths, h_.clock_ns()))
        send_foreign(f, 0, 0);
    while (!failed_ && tx.next(&f, foreign_->paths, h_.clock_ns(), &number, &off))
        send_foreign(f, number, off);
    u64 at = std::min(tx.deadline_ns(), foreign_->rx.deadline_ns());
    if (at != MRC_TIME_NEVER && at != timer_ns_ && !failed_) {
        timer_ns_ = at;
        h_.timer(std::max(at, h_.clock_ns() + 1), event_kind::qp_timer, id_, ++timer_gen_);
    }
}

void qp::foreign_timer()
{
    foreign_->tx.timer(h_.clock_ns());
    foreign_->rx.timer(h_.clock_ns());
    run_foreign();
}

} // namespace sim
