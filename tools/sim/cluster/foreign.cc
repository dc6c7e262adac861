// SPDX-License-Identifier: GPL-2.0
// foreign.cc - see foreign.h. In clusters packets are not encoded, so fields are carried over.
#include "foreign.h"

#include "worker.h"

#include <stdexcept>

namespace sim {

namespace {

foreign_habits habits(const foreign_cfg &f)
{
    foreign_habits h;

    h.sack_pkts = static_cast<u32>(f.sack_pkts);
    h.bitmap = f.bitmap == "near" ? BITMAP_NEAR : f.bitmap == "none" ? BITMAP_NONE : BITMAP_CACK;
    h.echo = f.echo;
    h.counts = f.counts;
    h.answers = f.answers;
    h.ack_every = static_cast<u32>(f.ack_every);
    h.window = static_cast<u32>(f.window);
    h.messages = static_cast<u32>(f.messages);
    h.ask_every = static_cast<u32>(f.ask_every);
    h.stamps = f.stamps;
    h.probes = f.probes;
    h.halves = f.halves;
    h.late_pkts = static_cast<u32>(f.late_pkts);
    h.timeout_ns = f.timeout_us * 1000;
    return h;
}

foreign_packet to_foreign(const mrc_pkt &p)
{
    foreign_packet f;

    f.opcode = p.opcode;
    f.psn = p.psn;
    f.rtx = p.rtx;
    f.ask = p.ackreq;
    f.stamped = p.has_ts;
    f.stamp = p.tx_ts;
    f.rqmsn = p.rqmsn;
    f.msn = p.msn;
    f.va = p.va;
    f.rkey = p.rkey;
    f.dmalen = p.dmalen;
    f.imm = p.imm;
    f.len = p.payload_len;
    f.ev = p.ev;
    f.plane = p.plane;
    f.ce = p.ecn_ce;
    f.trimmed = p.trimmed;
    f.udp_len = p.udp_len;
    if (p.opcode == MRC_OPC_SACK) {
        const mrc_sack &s = p.u.sack;

        f.mark = s.m;
        f.answer = s.pr;
        f.probe_id = s.probe_id;
        f.trigger = s.ack_psn_offset;
        f.base = s.sack_offset;
        f.echo_ev = s.ev;
        f.bitmap = s.bitmap;
        f.bytes = s.rcvd_bytes;
        f.stamp = s.tx_ts;
    } else if (p.opcode == MRC_OPC_NACK) {
        f.reason = p.u.nack.reason;
        f.echo_ev = p.u.nack.ev;
        f.stamp = p.u.nack.tx_ts;
    } else if (p.opcode == MRC_OPC_ACK) {
        f.syndrome = p.u.aeth.syndrome;
        f.ack_msn = p.u.aeth.msn;
    } else if (p.opcode == MRC_OPC_PROBE) {
        f.probe_id = p.u.probe.probe_id;
        f.stamp = p.u.probe.tx_ts;
    }
    return f;
}

void from_foreign(const foreign_packet &f, bool trim, mrc_txop &op)
{
    mrc_pkt &p = op.hdr;

    op = {};
    op.tclass = MRC_TC_CONTROL;
    op.len = f.len;
    p.opcode = f.opcode;
    p.psn = f.psn;
    p.ev = f.ev;
    p.plane = f.plane;
    if (f.opcode == foreign::SACK) {
        mrc_sack &s = p.u.sack;

        s.m = f.mark;
        s.pr = f.answer;
        s.probe_id = f.probe_id;
        s.ack_psn_offset = f.trigger;
        s.sack_offset = f.base;
        s.cack = f.psn;
        s.ev = f.echo_ev;
        s.bitmap = f.bitmap;
        s.rcvd_bytes = f.bytes;
        s.tx_ts = f.stamp;
        s.ooo_count = f.ooo;
    } else if (f.opcode == foreign::NACK) {
        p.u.nack.reason = f.reason;
        p.u.nack.ev = f.echo_ev;
        p.u.nack.psn = f.psn;
        p.u.nack.tx_ts = f.stamp;
    } else if (f.opcode == foreign::ACK) {
        p.u.aeth.syndrome = f.syndrome;
        p.u.aeth.msn = f.ack_msn;
    } else if (f.opcode == foreign::PROBE) {
        op.tclass = MRC_TC_NO_TRIM;
        p.u.probe.probe_id = f.probe_id;
        p.u.probe.tx_ts = f.stamp;
    } else {
        op.tclass = trim ? MRC_TC_DATA : MRC_TC_NO_TRIM;
        p.rtx = f.rtx;
        p.ackreq = f.ask;
        p.has_ts = f.stamped;
        p.tx_ts = f.stamp;
        p.rqmsn = f.rqmsn;
        p.msn = f.msn;
        p.va = f.va;
        p.rkey = f.rkey;
        p.dmalen = f.dmalen;
        p.imm = f.imm;
    }
}

} // namespace

// With the paths and the PSNs that the engine's end would have.
void worker::make_foreign(end &e)
{
    const foreign_habits h = habits(w_.s.foreign);
    u64 seed = mix64(w_.s.run.seed << 32 | e.id) ^ 0xf0e1;
    u32 window = static_cast<u32>(w_.s.host.mpr * MRC_MPR_UNIT);
    auto f = std::make_unique<foreign_end>(foreign_end{
        {h, seed, end_maker::first_psn(e.id), static_cast<u32>(w_.s.fabric.mtu), window, 16},
        {h, seed + 1, end_maker::first_psn(e.id ^ 1), window, MRC_WIMM_MAX}, {}, {}});

    for (u32 i = 0; i < e.evs->n; i++)
        f->paths.push_back({e.evs->ev[i].value, static_cast<u8>(e.evs->ev[i].plane)});
    e.foreign = f.get();
    foreign_.push_back(std::move(f));
}

void worker::post_foreign(host &h, end &e)
{
    for (; e.post_head != none32; e.post_head = w_.work.flows[e.post_head].next_post) {
        const flow &x = w_.work.flows[e.post_head];

        e.foreign->flows.push_back(e.post_head);
        e.foreign->tx.post({0, e.post_head, x.bytes, 0, false});
    }
    make_ready(h, e);
}

// A plain WRITE is received when its last byte has come.
void worker::placed(flow &x, u64 t)
{
    x.rx_done = t;
    count.flows_received++;
}

void worker::receive_foreign(host &h, end &e, const packet &p, u64 t)
{
    foreign_end &f = *e.foreign;
    u64 now_ns = h.clock.ns(t);
    u32 number, len;
    mrc_pkt pkt;

    unpack(p, pkt);
    foreign_packet in = to_foreign(pkt);
    if (p.is_data() || in.opcode == foreign::PROBE) {
        bool fresh = f.rx.take(in, now_ns);

        if (fresh) {
            flow &x = w_.work.flows[in.rkey];

            if (in.va + in.len > x.bytes)
                throw std::logic_error("the engine sends what is outside its flow");
            x.placed += in.len;
            count.delivered += in.len;
            bucket(t).delivered += in.len;
        }
        if (p.is_data())
            note_data(e, p, fresh, t);
        while (f.rx.complete(&number, &len)) {
            if (w_.work.flows[number].placed != len)
                throw std::logic_error("a flow was completed before it was all there");
            placed(w_.work.flows[number], t);
        }
    } else {
        f.tx.take(in, now_ns);
        while (f.tx.complete(&number)) {
            w_.work.flows[f.flows[number]].tx_done = t;
            count.flows_sent++;
        }
        if (f.tx.refused())
            throw std::runtime_error("the engine refused a foreign peer's packet for good");
    }
    make_first(h, e);
    arm(h, e);
}

bool worker::pull_foreign(u32 id, host &h, end &e, u64 t, bool &control)
{
    foreign_end &f = *e.foreign;
    u64 now_ns = h.clock.ns(t);
    u32 number = 0, off = 0;
    foreign_packet p;
    mrc_txop op;

    control = f.rx.next(&p, f.paths, now_ns);
    if (!control && !f.tx.next(&p, f.paths, now_ns, &number, &off))
        return false;
    from_foreign(p, w_.s.fabric.trim, op);
    transmit(id, h, e, op, t);
    return true;
}

} // namespace sim
