// SPDX-License-Identifier: GPL-2.0
// qp.cc - models the verbs glue around one connection (qp.h).
#include "qp.h"

#include "world.h"

namespace sim {

namespace {

constexpr u32 tail_bytes = MRC_TAIL_LEN;

} // namespace

// ---- receiving ----

void qp::rx(const packet &p, const mrc_pkt &parsed)
{
    mrc_rxop op;

    if (foreign_)
        return rx_foreign(p);
    h_.to(remote_).spent.packets += mrc_opc_is_data(parsed.opcode);
    std::memset(&op, 0xcd, sizeof(op));
    mrc_verdict v = mrc_conn_rx_begin(&conn_, &parsed, h_.clock_ns(), &op);
    w_.tr.add(v);
    w_.tr.say(h_.sim_ps(), "%c%u rx %02x psn %06x ev %u plane %u%s%s -> %s", 'A' + h_.id(),
              id_ / 2, parsed.opcode, parsed.psn, p.ev_idx, p.plane, p.ecn ? " CE" : "",
              p.trimmed ? " trimmed" : "",
              v == MRC_V_DROP ? "drop" : v == MRC_V_DONE ? "done" : "place");
    if (v == MRC_V_PLACE)
        place(op, p.buf + parsed.hdr_len, parsed);
}

void qp::reject(const mrc_rxop &op, mrc_nack nack, mrc_nak nak)
{
    mrc_reject why = {nack, nak};

    w_.tr.say(h_.sim_ps(), "%c%u reject nack %u nak %u", 'A' + h_.id(), id_ / 2, nack, nak);
    mrc_conn_rx_reject(&conn_, &op, &why, h_.clock_ns());
}

void qp::place(const mrc_rxop &op, const u8 *payload, const mrc_pkt &p)
{
    if (p.trimmed || !mrc_opc_is_data(p.opcode))
        sim::fail("engine wants to place a trimmed or a control packet");
    if (op.place != MRC_PLACE_NONE && op.len != p.payload_len)
        sim::fail("engine wants to place %u of %u bytes", op.len, p.payload_len);
    if (op.needs_rq && op.rq_idx >= recv_posted_) {
        if (w_.opt.mrc_only)
            sim::fail("receive %u needed, %u posted", op.rq_idx, recv_posted_);
        reject(op, MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
        return;
    }
    if (w_.faults_on() && rand_.chance(w_.opt.rx_drop_ppm)) {
        w_.tr.say(h_.sim_ps(), "%c%u rx_drop", 'A' + h_.id(), id_ / 2);
        mrc_conn_rx_drop(&conn_, &op);
        return;
    }
    if (op.hold) {
        hold(op, payload);
        mrc_conn_rx_commit(&conn_, &op, h_.clock_ns());
        return;
    }
    mrc_nak nak = place_now(op, payload);
    if (nak != MRC_NAK_NONE)
        reject(op, static_cast<mrc_nack>(0), nak);
    else
        mrc_conn_rx_commit(&conn_, &op, h_.clock_ns());
}

// MRC_NAK_NONE: done, and the books of the stream say so.
mrc_nak qp::place_now(const mrc_rxop &op, const u8 *payload)
{
    mrc_nak nak = MRC_NAK_NONE;

    last_msg_ = none32;
    switch (op.place) {
    case MRC_PLACE_NONE: break;
    case MRC_PLACE_WRITE: nak = place_write(op, payload); break;
    case MRC_PLACE_RECV: nak = place_recv(op, payload); break;
    case MRC_PLACE_RESP: place_resp(op, payload); break;
    }
    if (nak != MRC_NAK_NONE || last_msg_ == none32)
        return nak;
    u32 off = op.place == MRC_PLACE_WRITE
                  ? static_cast<u32>(op.va - in_.msg[last_msg_].wr.va)
                  : op.off;
    bool last = off + op.len == in_.msg[last_msg_].wr.len;

    in_.commit(last_msg_, off, op.len);
    if (op.place == MRC_PLACE_WRITE && last && op.tail < 0 && !in_.any_order)
        in_.make_visible(last_msg_);
    return nak;
}

void qp::hold(const mrc_rxop &op, const u8 *payload)
{
    if (!w_.opt.strict)
        sim::fail("packet to be held without strict placement");
    held &x = hold_[op.psn & hold_mask_];

    if (x.used)
        sim::fail("slot of PSN %#x holds a packet already", op.psn);
    x.used = true;
    x.op = op;
    x.bytes.assign(payload, payload + op.len);
}

// Strict placement: what is next in PSN order.
void qp::place_held(u32 slot)
{
    if (slot > hold_mask_ || !hold_[slot].used)
        sim::fail("nothing is held in slot %u", slot);
    held &x = hold_[slot];

    x.used = false;
    mrc_conn_hold_done(&conn_, place_now(x.op, x.bytes.data()), h_.clock_ns());
}

mrc_nak qp::place_write(const mrc_rxop &op, const u8 *payload)
{
    u32 tail = op.tail >= 0 ? std::min(op.len, tail_bytes) : 0;
    u32 now = op.len - tail;

    if (op.len && (op.rkey != in_.mem.rkey || !in_.mem.covers(op.va, op.len)))
        return MRC_NAK_REM_ACCESS;
    last_msg_ = in_.find_write(op.va, op.len);
    const message &m = in_.msg[last_msg_];
    in_.check_packet(last_msg_, static_cast<u32>(op.va - m.wr.va), op.len);
    if (w_.opt.strict)
        in_.check_strict(last_msg_);
    if (now)
        std::memcpy(in_.mem.at(op.va), payload, now);
    if (op.tail >= 0) {
        tail_slot &t = tail_[static_cast<size_t>(op.tail)];

        if (t.used || op.tail >= static_cast<s16>(w_.opt.tails))
            sim::fail("tail slot %d is in use or out of range", op.tail);
        if (op.va + op.len != m.wr.va + m.wr.len)
            sim::fail("tail of message %u is not its end", last_msg_);
        t.used = true;
        t.message = last_msg_;
        t.len = tail;
        std::memcpy(t.bytes.data(), payload + now, tail);
    }
    return MRC_NAK_NONE;
}

mrc_nak qp::place_recv(const mrc_rxop &op, const u8 *payload)
{
    if (!op.needs_rq)
        sim::fail("placement into a receive without needs_rq");
    if (op.rq_idx >= in_.recv_msg.size())
        sim::fail("placement into receive %u of %zu", op.rq_idx, in_.recv_msg.size());
    u32 m = in_.recv_msg[op.rq_idx];
    std::vector<u8> &buf = in_.recv_buf[op.rq_idx];

    if (op.msg_len != in_.msg[m].wr.len)
        sim::fail("receive %u: message length %u, is %u", op.rq_idx, op.msg_len, in_.msg[m].wr.len);
    if (op.msg_len > buf.size() || op.off > buf.size() || op.len > buf.size() - op.off)
        return MRC_NAK_INV_REQ;
    last_msg_ = m;
    in_.check_packet(m, op.off, op.len);
    if (w_.opt.strict)
        in_.check_strict(m);
    if (op.len)
        std::memcpy(buf.data() + op.off, payload, op.len);
    return MRC_NAK_NONE;
}

void qp::place_resp(const mrc_rxop &op, const u8 *payload)
{
    if (op.cookie >= out_.msg.size())
        sim::fail("response to message %u, which does not exist", op.cookie);
    message &m = out_.msg[op.cookie];
    bool atomic = m.is_atomic();

    out_.resp_commit(op.cookie, atomic ? 0 : op.off, op.len, op.atomic_orig);
    if (op.len)
        std::memcpy(m.result.data() + op.off, payload, op.len);
}

// ---- what became ready ----

void qp::place_tail(const mrc_tail &t)
{
    tail_slot &s = tail_[t.slot];
    const message &m = in_.msg[s.message];

    if (!s.used || t.len != s.len)
        sim::fail("tail slot %u is empty or of another length", t.slot);
    if (t.rkey != in_.mem.rkey || t.va + t.len != m.wr.va + m.wr.len)
        sim::fail("tail slot %u: wrong address", t.slot);
    if (t.len)
        std::memcpy(in_.mem.at(t.va), s.bytes.data(), t.len);
    s.used = false;
    in_.make_visible(s.message);
    w_.tr.add(s.message);
}

void qp::execute(const mrc_exec &x)
{
    u32 m = in_.exec(x);
    bool ok = x.rkey == in_.mem.rkey && in_.mem.covers(x.va, x.len);
    u64 orig = 0;

    w_.tr.say(h_.sim_ps(), "%c%u exec message %u slot %u%s", 'A' + h_.id(), id_ / 2, m, x.slot,
              ok ? "" : " refused");
    if (x.slot >= w_.opt.rd_max || exec_[x.slot].used)
        sim::fail("exec slot %u is in use or out of range", x.slot);
    exec_[x.slot] = {true, ok && x.op == MRC_OP_READ, x.va, x.len};
    if (!ok && x.len) {
        mrc_conn_exec_fail(&conn_, x.slot, MRC_NAK_REM_ACCESS, h_.clock_ns());
        return;
    }
    if (x.op != MRC_OP_READ) {
        u64 value;

        std::memcpy(&orig, in_.mem.at(x.va), 8);
        value = x.op == MRC_OP_FETCH_ADD  ? orig + x.swap_add
                : orig == x.compare ? x.swap_add
                                    : orig;
        std::memcpy(in_.mem.at(x.va), &value, 8);
    }
    mrc_conn_exec_done(&conn_, x.slot, orig, h_.clock_ns());
}

void qp::exec_freed(u16 slot)
{
    if (!exec_[slot].used)
        sim::fail("exec slot %u freed twice", slot);
    exec_[slot].used = false;
}

// Whether these options justify that a message of this QP fails.
bool qp::may_fail(mrc_status why) const
{
    const options &o = w_.opt;
    bool other_failed = w_.peer_of(*this).failed();

    if (o.exp_cnt < MRC_EXP_FOREVER && (why == MRC_ST_RETRY_EXC || why == MRC_ST_FLUSHED))
        return true;
    if (o.rnr_retry < MRC_RNR_FOREVER && (why == MRC_ST_RNR_EXC || why == MRC_ST_FLUSHED))
        return true;
    return (o.fatal == FATAL_CALLER || in_.bad != none32 || other_failed) && id_ / 2 == 0;
}

void qp::completed(const mrc_cpl &c)
{
    w_.tr.add(static_cast<u64>(c.kind) << 40 | static_cast<u64>(c.status) << 32 |
              (c.kind == MRC_CPL_SEND ? c.cookie : c.rq_idx));
    if (c.kind == MRC_CPL_SEND) {
        w_.tr.say(h_.sim_ps(), "%c%u sent message %u status %d", 'A' + h_.id(), id_ / 2, c.cookie,
                  c.status);
        bool strict = out_.bad != none32 && w_.opt.exp_cnt == MRC_EXP_FOREVER &&
                      w_.opt.rnr_retry == MRC_RNR_FOREVER;
        out_.send_complete(c, !strict && may_fail(c.status));
        return;
    }
    w_.tr.say(h_.sim_ps(), "%c%u received %u", 'A' + h_.id(), id_ / 2, c.rq_idx);
    in_.recv_complete(c);
    u64 delay = rand_.below(w_.opt.recv_delay_ns);
    if (recv_posted_ < in_.recv_msg.size())
        w_.at_ns(w_.now_ns() + delay, event_kind::recv_post, id_, 1);
}

void qp::pull()
{
    mrc_todo e;

    while (mrc_conn_next(&conn_, &e)) {
        switch (e.what) {
        case MRC_DO_PLACE: place_held(e.hold); break;
        case MRC_DO_TAIL: place_tail(e.tail); break;
        case MRC_DO_FREE: exec_freed(e.slot); break;
        case MRC_DO_EXEC: execute(e.exec); break;
        case MRC_DO_COMPLETE: completed(e.cpl); break;
        }
    }
    note_failure();
}

void qp::note_failure()
{
    mrc_status why = mrc_conn_failed(&conn_);

    if (why == MRC_ST_OK || failed_)
        return;
    w_.tr.say(h_.sim_ps(), "%c%u QP failed: %d", 'A' + h_.id(), id_ / 2, why);
    bool refused = in_.bad != none32 && mrc_conn_nak_sent(&conn_);
    if (!may_fail(why) && out_.bad == none32)
        sim::fail("QP failed with status %d", why);
    failed_ = true;
    // Who was refused learns it by the NAK; otherwise the programs tell each other.
    if (!refused)
        w_.at_ns(w_.now_ns() + 1000000, event_kind::kill, id_ ^ 1);
}

// ---- sending ----

void qp::post()
{
    while (out_.posted < released_ && !failed_) {
        message &m = out_.msg[out_.posted];
        int rc = mrc_conn_post(&conn_, &m.wr, h_.clock_ns());

        if (rc == -EAGAIN && out_.posted - out_.send_done >= w_.opt.sq_max)
            return;
        if (rc == -ENOENT && mrc_conn_failed(&conn_) != MRC_ST_OK)
            return;
        if (rc)
            sim::fail("mrc_conn_post() of message %u: %d with %u in flight", out_.posted, rc,
                 out_.posted - out_.send_done);
        if (m.wr.op == MRC_OP_READ)
            m.result.assign(m.wr.len, 0);
        out_.posted++;
    }
}

void qp::check_txop(const mrc_txop &op) const
{
    const mrc_evset &s = h_.to(remote_).evs;
    const mrc_conn &peer = w_.peer_of(*this).conn();

    if (op.ev_idx >= s.n || s.ev[op.ev_idx].value != op.hdr.ev ||
        s.ev[op.ev_idx].plane != op.hdr.plane)
        sim::fail("packet out: EV %u does not match", op.ev_idx);
    if (!mrc_evset_plane_live(&s, op.hdr.plane))
        sim::fail("packet out on plane %u, which is known to be down", op.hdr.plane);
    if (op.hdr.dqpn != 0x1000 + (id_ ^ 1))
        sim::fail("packet out to QP %#x", op.hdr.dqpn);
    if (op.len > w_.opt.mtu || (op.src == MRC_SRC_NONE && op.len))
        sim::fail("packet out with %u bytes of payload", op.len);
    bool data = mrc_opc_is_data(op.hdr.opcode);
    if ((data || op.hdr.opcode == MRC_OPC_PROBE) != (op.tclass != MRC_TC_CONTROL))
        sim::fail("packet out: opcode %#x in class %d", op.hdr.opcode, op.tclass);
    // A peer that refused what it had acknowledged (strict) stands before it, and fails.
    if (data && !w_.peer_of(*this).foreign() && peer.rcv.nak == MRC_NAK_NONE &&
        mrc_psn_diff(op.hdr.psn, peer.rcv.cack) > static_cast<s32>(peer.rcv.window))
        sim::fail("PSN %#x is %d beyond the peer's cack, window %u", op.hdr.psn,
             mrc_psn_diff(op.hdr.psn, peer.rcv.cack), peer.rcv.window);
}

void qp::payload(const mrc_txop &op, u8 *dst)
{
    if (!op.len)
        return;
    if (op.src == MRC_SRC_SQ) {
        if (op.cookie >= out_.posted || op.cookie < out_.send_done)
            sim::fail("payload wanted of message %u, posted %u, completed %u", op.cookie, out_.posted,
                 out_.send_done);
        const message &m = out_.msg[op.cookie];
        if (op.off > m.wr.len || op.len > m.wr.len - op.off)
            sim::fail("payload wanted beyond message %u", op.cookie);
        pattern_fill(dst, m.key, op.off, op.len);
        return;
    }
    const exec_slot &x = exec_[op.cookie];
    if (op.cookie >= w_.opt.rd_max || !x.used || !x.read)
        sim::fail("payload wanted of exec slot %u", op.cookie);
    if (op.off > x.len || op.len > x.len - op.off)
        sim::fail("payload wanted beyond exec slot %u", op.cookie);
    std::memcpy(dst, in_.mem.at(x.va + op.off), op.len);
}

bool qp::send_one(mrc_txop &op)
{
    std::memset(&op, 0xcd, sizeof(op));
    if (!mrc_conn_tx_next(&conn_, h_.clock_ns(), &op))
        return false;
    check_txop(op);

    u32 idx = w_.packets.get();
    packet &p = w_.packets[idx];

    op.hdr.pad = static_cast<u8>(-op.len & 3);
    int hdr_len = mrc_wire_build(p.buf, sizeof(p.buf), &op.hdr);
    if (hdr_len <= 0)
        sim::fail("mrc_wire_build() of opcode %#x: %d", op.hdr.opcode, hdr_len);
    u32 n = static_cast<u32>(hdr_len);
    payload(op, p.buf + n);
    std::memset(p.buf + n + op.len, 0, op.hdr.pad);
    p.len = n + op.len + op.hdr.pad;
    p.ev = op.hdr.ev;
    p.ev_idx = op.ev_idx;
    p.src = static_cast<u8>(h_.id());
    p.dst = static_cast<u8>(remote_);
    p.plane = op.hdr.plane;
    p.tclass = static_cast<u8>(op.tclass);
    p.trimmed = 0;
    p.ecn = false;
    p.udp_len = static_cast<u16>(8 + p.len + MRC_ICRC_LEN);

    if (w_.faults_on() && rand_.chance(w_.opt.undo_ppm)) {
        w_.tr.say(h_.sim_ps(), "%c%u undo %02x psn %06x", 'A' + h_.id(), id_ / 2, op.hdr.opcode,
                  op.hdr.psn);
        w_.packets.put(idx);
        mrc_conn_tx_undo(&conn_, &op);
        w_.seen.undone++;
        w_.at_ns(w_.now_ns() + 1 + rand_.below(5000), event_kind::qp_run, id_);
        return false;
    }
    w_.tr.say(h_.sim_ps(), "%c%u tx %02x psn %06x ev %u plane %u cookie %u off %u len %u%s%s%s",
              'A' + h_.id(), id_ / 2, op.hdr.opcode, op.hdr.psn, op.ev_idx, op.hdr.plane,
              op.hdr.opcode == MRC_OPC_PROBE ? op.hdr.u.probe.probe_id :
              op.src == MRC_SRC_NONE ? 0 : op.cookie, op.off, op.len, op.hdr.rtx ? " RTX" : "",
              op.hdr.ackreq ? " AR" : "", op.src == MRC_SRC_RESP ? " resp" : "");
    spend(op);
    h_.transmit(idx);
    return true;
}

// One turn: as many packets as there are, or a batch.
void qp::send_all()
{
    u64 turn = w_.opt.batch ? w_.opt.batch : 100000;
    mrc_txop op;

    for (u64 n = 0; send_one(op);)
        if (++n >= turn && w_.opt.batch) {
            w_.seen.turns_left++;
            w_.at_ns(w_.now_ns() + 1, event_kind::qp_run, id_);
            return;
        } else if (n > turn) {
            sim::fail("mrc_conn_tx_next() never ends");
        }
}

// Every packet is counted before it is asked whether it was one too many.
void qp::spend(const mrc_txop &op)
{
    expense &x = h_.to(remote_).spent;

    if (op.hdr.opcode != MRC_OPC_PROBE) {
        x.packets++;
    } else if (op.hdr.u.probe.probe_id >= MRC_PROBE_ID_EV_END) {
        x.tails++;
        w_.seen.tail_pkts++;
    } else {
        x.probes++;
        check_probes(w_, x, h_.id(), remote_);
    }
}

void qp::arm()
{
    u64 d = mrc_conn_deadline_ns(&conn_);

    // As the kernel's timer: moved only when the deadline is earlier.
    if (d >= timer_ns_)
        return;
    timer_ns_ = d;
    u64 late = w_.faults_on() && rand_.chance(w_.opt.late_ppm) ? rand_.below(w_.opt.late_ns) : 0;
    h_.timer(std::max(d, h_.clock_ns()) + late, event_kind::qp_timer, id_, ++timer_gen_);
}

void qp::note_incast()
{
    mrc_incast_note note;
    bool restore = false;

    if (!mrc_conn_incast_note(&conn_, &note))
        return;
    u8 pen = mrc_incast_update(&h_.incast(), &flow_, &note, h_.clock_ns(), &restore);
    mrc_conn_set_penalty(&conn_, pen, restore);
}

// As the kernel: asked after each turn, answered later, when there is memory; what comes next finds it larger.
void qp::grow()
{
    if (!mrc_conn_wants_mem(&conn_))
        return;
    if (!want_ns_)
        want_ns_ = w_.now_ns() + w_.opt.grow_ns;
    if (w_.now_ns() < want_ns_)
        return;
    room_.assign((mrc_conn_grow_size(&conn_) + 7) / 8, 0xcdcdcdcdcdcdcdcdull);
    mrc_conn_grow(&conn_, room_.data());
}

void qp::run()
{
    if (foreign_)
        return run_foreign();
    // Calls before the deadline do no harm; make some.
    if (h_.clock_ns() >= mrc_conn_deadline_ns(&conn_) || rand_.chance(50000))
        mrc_conn_timer(&conn_, h_.clock_ns());
    pull();
    note_incast();
    post();
    send_all();
    if (mrc_conn_nak_sent(&conn_) && mrc_conn_failed(&conn_) == MRC_ST_OK)
        mrc_conn_fail(&conn_, MRC_ST_FLUSHED, h_.clock_ns());
    // A failed local request completes when its turn to be sent has come.
    u32 before = out_.send_done;
    pull();
    // What completed there made room, as the kernel sees before it sleeps.
    if (out_.send_done != before && out_.posted < released_ && !failed_)
        w_.at_ns(w_.now_ns() + 1, event_kind::qp_run, id_);
    grow();
    arm();
    wake_others();
}

// As the kernel: who asks about EVs is not answered, so all that could have to look.
void qp::wake_others()
{
    peer &p = h_.to(remote_);

    if (!mrc_evset_take_wake(&p.evs))
        return;
    for (u32 q : p.qps)
        if (q != id_)
            w_.at_ns(w_.now_ns() + 1, event_kind::qp_run, q);
}

void qp::on_timer(u64 gen)
{
    if (gen != timer_gen_)
        return;
    timer_ns_ = MRC_TIME_NEVER;
    if (foreign_)
        return foreign_timer();
    mrc_conn_timer(&conn_, h_.clock_ns());
    run();
}

void qp::on_app_post()
{
    u32 total = static_cast<u32>(out_.msg.size());
    u32 together = total - static_cast<u32>(std::min<u64>(total, w_.opt.lone_msgs));
    bool lone = released_ >= together;
    u64 burst = lone ? 1 : rand_.range(1, w_.opt.post_burst);

    released_ = static_cast<u32>(std::min<u64>(lone ? total : together, released_ + burst));
    if (released_ < total) {
        u64 gap = released_ >= together ? w_.opt.lone_gap_ns : w_.opt.post_gap_ns;

        w_.at_ns(w_.now_ns() + 1 + rand_.below(gap), event_kind::app_post, id_);
    }
    run();
}

void qp::on_recv_post(u32 count)
{
    if (w_.flt.stalled(h_.id())) {
        w_.at_ns(w_.now_ns() + 5000, event_kind::recv_post, id_, count);
        return;
    }
    recv_posted_ += count;
}

void qp::on_plane_event()
{
    if (foreign_)
        return;
    mrc_conn_plane_event(&conn_, h_.clock_ns());
    run();
}

void qp::fail(mrc_status why)
{
    if (foreign_)
        failed_ = true;
    else if (!failed_)
        mrc_conn_fail(&conn_, why, h_.clock_ns());
    run();
}

bool qp::done() const
{
    if (foreign_ && failed_) // its program has given up
        return true;
    u32 todo = failed_ ? out_.posted : static_cast<u32>(out_.msg.size());

    return out_.send_done == todo && (failed_ || in_.recv_done == in_.recv_msg.size());
}

void qp::check() const
{
    int line = mrc_conn_check(&conn_);

    if (line)
        sim::fail("mrc_conn_check() of %c%u: %d", 'A' + h_.id(), id_ / 2, line);
}

std::string qp::progress() const
{
    char buf[500];

    std::snprintf(buf, sizeof(buf),
                  "%c%u: sent %u/%u/%zu (done/posted/all), received %u/%zu, posted %u%s, "
                  "una %06x next %06x acked %06x cack %06x out %u lost %u paced %u idle %d "
                  "rtx %llu/%llu cwnd %u/%u usable %u/%u hold %+lld us deadline %+lld us",
                  'A' + h_.id(), id_ / 2, out_.send_done, out_.posted, out_.msg.size(),
                  in_.recv_done, in_.recv_msg.size(), recv_posted_, failed_ ? ", failed" : "",
                  conn_.snd.una, conn_.snd.next, conn_.snd.acked, conn_.rcv.cack, conn_.snd.out,
                  conn_.snd.lost.count, conn_.snd.paced.count, mrc_conn_idle(&conn_),
                  (unsigned long long)conn_.stats.tx_pkts, (unsigned long long)conn_.stats.timeouts,
                  conn_.cc ? conn_.cc->inflight_bytes : 0, conn_.cc ? conn_.cc->cwnd_bytes : 0,
                  conn_.evs ? conn_.evs->usable : 0, conn_.evs ? conn_.evs->bad : 0,
                  conn_.hold_until_ns ? (long long)(conn_.hold_until_ns - h_.clock_ns()) / 1000 : 0,
                  (long long)(mrc_conn_deadline_ns(&conn_) - h_.clock_ns()) / 1000);
    return buf;
}

} // namespace sim
