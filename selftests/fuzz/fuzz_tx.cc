// SPDX-License-Identifier: GPL-2.0
// fuzz_tx.cc - two connections and a link that the fuzzer owns: it delivers, drops,
// repeats, reorders, trims and marks what they send, and forges answers of its own.
//
// Never may a message complete for which no acknowledgement came (READ, ATOMIC:
// no whole response). Then the link becomes honest and stays so: everything completes,
// or a QP has failed with a reason and flushed. Nothing may hang, but for what a lie made
// the peer forget.
#include "endpoint.h"

#include <deque>
#include <map>

namespace {

constexpr u32 steps_max = 300;
constexpr u32 honest_rounds = 3000;

struct packet {
    mrc_pkt hdr;
    bool forged;
};

// One end with the application on it, and a diary of what it was told.
struct side {
    side(const endpoint_cfg &k, const u64 &now) : e(k, now), sent(k.tx.psn), acked(k.tx.psn)
    {
        acked.set(acked.at() - 1);
    }

    struct message {
        mrc_op op;
        u32 pieces = 0;     // of a response still missing
        u64 last = ~0ull;   // PSN of its last packet, once cut
    };

    endpoint e;
    psn_count sent, acked; // next PSN; highest one a transport ACK covered
    std::map<u32, message> posted;
    std::deque<packet> out;
    u32 cookies = 0, completed = 0;
    u32 receives = 0;      // posted
    bool broken = false;   // one completion said why the QP failed
};

endpoint_cfg config(bytes &in)
{
    const u16 mtus[] = {256, 1024, 4096};
    const u32 windows[] = {0, 4096, 20000};
    endpoint_cfg k;

    k.evs = static_cast<u16>(in.between(2, 12));
    k.conn.mpr_max = static_cast<u8>(1u << in.below(2));
    k.conn.sq_max = static_cast<u16>(1u << in.below(4));
    k.conn.rd_max = static_cast<u16>(1u << in.below(3));
    k.conn.rq_max = static_cast<u16>(1u << in.below(4));
    k.conn.tails = static_cast<u8>(in.between(1, 4));
    u32 draw = in.below(8); // both of one, so that the corpus keeps its meaning in all else
    k.conn.seed = draw % 4;
    k.tx.burst = draw < 4 ? 0 : 8;
    k.rx.mtu = in.pick(mtus);
    k.rx.rd_atomic = static_cast<u8>(k.conn.rd_max);
    k.rx.dqpn = 0x77;
    k.rx.min_rnr_timer = static_cast<u8>(in.between(1, 8));
    k.rx.oor_nack = in.below(2);
    k.tx.rd_atomic = static_cast<u8>(in.between(1, k.conn.rd_max));
    k.tx.timeout_ns = 1 * ms;
    k.tx.linear_cnt = static_cast<u8>(in.below(3));
    k.tx.exp_cnt = static_cast<u8>(in.below(4));
    k.tx.rnr_retry = static_cast<u8>(in.below(8));
    k.tx.cwnd_bytes = in.pick(windows);
    k.conn.strict = k.rx.strict = in.one_in(4);
    k.rx.dyn_mpr = k.tx.dyn_mpr = in.below(2);
    k.rx.svc_time = in.below(2);
    k.tx.timestamps = in.below(2);
    k.tx.trim_nack = in.below(2);
    k.rx.no_trim_nack = !k.tx.trim_nack;
    k.tx.sleek = in.one_in(4);
    if (in.below(2))
        k.cc = mrc_cc_find("uet-1.0-nscc");
    return k;
}

class tx_run {
public:
    explicit tx_run(bytes &in) : in_(in), now_(1000 * ms)
    {
        const u32 psns[] = {0, 1, 0xffffff, 0xfffff0, 0x7ffff0, 2000};
        endpoint_cfg k = config(in);
        u32 a = in.pick(psns), b = in.pick(psns);
        const u8 mpr[] = {k.conn.mpr_max, static_cast<u8>(1u << in.below(2))};

        for (int i = 0; i < 2; i++) {
            // Each keeps to its own window, which may be more than the other's bitmap.
            k.conn.mpr_max = k.tx.mpr = mpr[i];
            k.rx.mpr = mpr[1 - i];
            k.rx.psn = i ? a : b;
            k.tx.psn = i ? b : a;
            side_[i] = std::make_unique<side>(k, now_);
        }
    }

    void run()
    {
        for (u32 i = 0; i < steps_max && in_.more(); i++)
            step();
        be_honest();
    }

private:
    side &one() { return *side_[in_.below(2)]; }
    side &other(side &s) { return &s == side_[0].get() ? *side_[1] : *side_[0]; }

    void step()
    {
        switch (in_.below(12)) {
        case 0:
        case 1:
            post(one());
            break;
        case 2:
        case 3:
            transmit(one(), in_.below(40));
            break;
        case 4:
        case 5:
            carry(one());
            break;
        case 6:
        case 7:
            forge(one());
            break;
        case 8:
            now_ += in_.below(2) ? in_.below(50) * us : in_.below(500) * us * 10;
            for (auto &s : side_)
                s->e.timer();
            break;
        case 9:
            one().receives += in_.below(4);
            break;
        case 10:
            if (in_.one_in(3))
                one().e.planes(in_.below(4), in_.below(4));
            else if (in_.one_in(3))
                one().e.change_path();
            break;
        case 11:
            settle(one());
            break;
        }
    }

    void post(side &s)
    {
        const mrc_op ops[] = {MRC_OP_WRITE,    MRC_OP_SEND,      MRC_OP_READ,      MRC_OP_WRITE_IMM,
                              MRC_OP_SEND_IMM, MRC_OP_CMP_SWAP,  MRC_OP_FETCH_ADD, MRC_OP_LOCAL,
                              MRC_OP_SEND_INV, MRC_OP_READ_RESP, MRC_OP_WRITE,     MRC_OP_WRITE};
        mrc_wr wr = {};
        u32 mtu = s.e.cfg.rx.mtu;

        wr.op = in_.pick(ops);
        wr.cookie = s.cookies;
        wr.flags = in_.below(4);
        wr.len = in_.below(2) ? in_.below(4 * mtu) : mtu * in_.below(60);
        if (wr.op == MRC_OP_CMP_SWAP || wr.op == MRC_OP_FETCH_ADD)
            wr.len = 8;
        if (in_.one_in(40))
            wr.error = MRC_ST_LOC_PROT;
        if (s.e.post(wr))
            return;
        side::message &m = s.posted[s.cookies++];
        m.op = wr.op;
        if (wr.op == MRC_OP_READ)
            m.pieces = wr.len ? (wr.len - 1) / mtu + 1 : 1;
        else if (wr.op == MRC_OP_CMP_SWAP || wr.op == MRC_OP_FETCH_ADD)
            m.pieces = 1;
    }

    // ---- the link ----

    void transmit(side &s, u32 n)
    {
        mrc_txop t;

        for (u32 i = 0; i < n && s.e.tx(&t); i++) {
            if (in_.one_in(32)) {
                s.e.undo(t);
                continue;
            }
            left(s, t);
            s.out.push_back({t.hdr, false});
        }
    }

    void left(side &s, const mrc_txop &t)
    {
        if (!mrc_opc_is_data(t.hdr.opcode))
            return;
        u64 psn = s.sent.near(t.hdr.psn);

        REQUIRE(psn <= s.sent.at() && t.len <= s.e.cfg.rx.mtu);
        REQUIRE(mrc_evset_plane_live(s.e.c.evs, t.hdr.plane));
        if (psn == s.sent.at())
            s.sent.set(psn + 1);
        bool response = mrc_opc_is_read_resp(t.hdr.opcode) || t.hdr.opcode == MRC_OPC_ATOMIC_ACK;
        if (!response && mrc_opc_is_last(t.hdr.opcode))
            s.posted.at(t.cookie).last = psn;
    }

    // One or more of what `s` has sent reach the other, or do not.
    void carry(side &s)
    {
        u32 n = in_.between(1, 16);

        for (u32 i = 0; i < n && !s.out.empty(); i++) {
            size_t at = in_.below(4) ? 0 : in_.below(static_cast<u32>(s.out.size()));
            packet p = s.out[at];

            switch (in_.below(12)) {
            case 0:
                break; // lost
            case 1:
                p.hdr.trimmed = static_cast<u8>(mrc_opc_is_data(p.hdr.opcode) * in_.between(1, 2));
                deliver(other(s), p);
                break;
            case 2:
                deliver(other(s), p);
                continue; // and stays: again later
            case 3:
                p.hdr.ecn_ce = true;
                deliver(other(s), p);
                break;
            default:
                deliver(other(s), p);
                break;
            }
            s.out.erase(s.out.begin() + static_cast<long>(at));
        }
    }

    void deliver(side &to, const packet &p)
    {
        mrc_rxop op;

        told(to, p.hdr);
        if (to.e.rx(p.hdr, &op) != MRC_V_PLACE)
            return;
        if (op.needs_rq && op.rq_idx >= to.receives) {
            to.e.reject(op, MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
            return;
        }
        to.e.commit(op);
        if (op.place == MRC_PLACE_RESP) {
            REQUIRE(to.posted.count(op.cookie) && to.posted[op.cookie].pieces);
            side::message &m = to.posted[op.cookie];
            m.pieces--;
            if (m.last > to.acked.at()) // an answer says what an ACK of its request would
                to.acked.set(m.last);
        }
    }

    // Remember what a transport ACK or NAK covers: nothing that was not sent.
    void told(side &s, const mrc_pkt &p)
    {
        u8 kind = p.u.aeth.syndrome & 0xe0;

        if (p.opcode != MRC_OPC_ACK || (kind && kind != MRC_AETH_NAK))
            return;
        u64 psn = s.sent.near(p.psn);
        if (psn >= s.sent.at())
            return;
        if (kind == MRC_AETH_NAK)
            psn--;
        if (psn > s.acked.at())
            s.acked.set(psn);
    }

    // ---- lies ----

    // Answers about PSNs sent, acknowledged long ago, or never sent.
    void forge(side &to)
    {
        const u8 reasons[] = {MRC_NACK_TRIMMED, MRC_NACK_TRIMMED_LASTHOP, MRC_NACK_NO_BITMAP,
                              MRC_NACK_NO_PKT_BUFFER, MRC_NACK_NO_RESOURCE,
                              MRC_NACK_PSN_OOR_WINDOW};
        mrc_pkt p = {};
        u32 at = in_.below(2) ? to.e.psn_una() : to.e.psn_next();

        p.psn = in_.below(2) ? mrc_psn_add(at, static_cast<s32>(in_.below(5)) - 3)
                             : in_.psn(at, to.e.cfg.conn.mpr_max * MRC_MPR_UNIT);
        p.ev = in_.extreme<u32>();
        switch (in_.below(5)) {
        case 0:
        case 1:
            p.opcode = MRC_OPC_SACK;
            p.u.sack.cack = p.psn;
            p.u.sack.bitmap = in_.extreme<u64>();
            p.u.sack.sack_offset = in_.below(2) ? 1 : in_.extreme<s16>();
            p.u.sack.m = static_cast<u8>(in_.below(3));
            p.u.sack.ev = 0x10000 * in_.below(16) + 7;
            p.u.sack.pr = in_.one_in(3);
            if (p.u.sack.pr)
                p.u.sack.probe_id = in_.below(2) ? to.e.c.pto.id : in_.extreme<u16>();
            else
                p.u.sack.ack_psn_offset = in_.extreme<s16>();
            p.u.sack.rcv_cwnd_pen = static_cast<u8>(in_.below(128));
            p.u.sack.restore_cwnd = in_.one_in(4);
            p.u.sack.ooo_count = in_.below(0x8000) & 0x7fff;
            p.u.sack.rcvd_bytes = in_.any<u32>() & 0xffffff;
            p.u.sack.mpr = in_.extreme<u8>();
            p.u.sack.tx_ts = in_.any<u16>();
            break;
        case 2:
            p.opcode = MRC_OPC_NACK;
            p.u.nack.psn = p.psn;
            p.u.nack.reason = in_.one_in(16) ? in_.any<u8>() : in_.pick(reasons);
            p.u.nack.vendor_info = static_cast<u8>(in_.below(4));
            p.u.nack.ev = in_.below(2) ? 0x10000 * in_.below(12) + 7 : in_.any<u32>();
            break;
        case 3:
            p.opcode = MRC_OPC_ACK;
            p.u.aeth.syndrome = in_.one_in(16) ? in_.any<u8>() : MRC_AETH_CREDIT_NONE;
            p.u.aeth.msn = in_.any<u32>() & MRC_PSN_MASK;
            break;
        case 4:
            p.opcode = MRC_OPC_PROBE;
            p.u.probe.probe_id = in_.extreme<u16>();
            break;
        }
        deliver(to, {p, true});
    }

    // ---- what the caller does after a batch ----

    void settle(side &s)
    {
        mrc_tail t;
        mrc_exec x;
        mrc_cpl cp;
        u16 slot;
        u32 held;

        while (s.e.hold(&held))
            s.e.hold_done(MRC_NAK_NONE);
        while (s.e.tail(&t))
            ;
        while (s.e.exec(&x))
            s.e.exec_done(x.slot, 7);
        while (s.e.exec_free(&slot))
            ;
        while (s.e.complete(&cp))
            completed(s, cp);
        if (mrc_conn_nak_sent(&s.e.c) && !s.e.failed())
            s.e.fail(MRC_ST_FLUSHED);
    }

    void completed(side &s, const mrc_cpl &cp)
    {
        if (cp.kind == MRC_CPL_RECV)
            return;
        REQUIRE(cp.cookie == s.completed && cp.cookie < s.cookies);
        s.completed++;
        const side::message &m = s.posted.at(cp.cookie);
        if (cp.status != MRC_ST_OK) {
            REQUIRE(s.e.failed() && (s.broken == (cp.status == MRC_ST_FLUSHED) || !s.broken));
            s.broken = true;
        } else if (m.op == MRC_OP_READ || m.op == MRC_OP_CMP_SWAP || m.op == MRC_OP_FETCH_ADD) {
            REQUIRE(!s.broken && !m.pieces);
        } else if (m.op != MRC_OP_LOCAL) {
            REQUIRE(!s.broken && m.last <= s.acked.at());
        }
        s.posted.erase(cp.cookie);
    }

    // ---- the end: an honest link ----

    bool over(side &s)
    {
        return s.e.failed() ? s.completed == s.cookies
                            : mrc_conn_idle(&s.e.c) && s.completed == s.cookies;
    }

    // A forged answer acknowledged a piece of a response that never came: its sender has
    // forgotten it, and who asked waits for as long as the peer is there to be asked.
    bool waits_for_the_forgotten(side &s)
    {
        return s.e.c.msgs.rd_out && mrc_psn_diff(other(s).e.psn_una(), s.e.c.rcv.cack) > 1;
    }

    // False: nothing left.
    bool honest_round()
    {
        mrc_txop t;
        bool some = false;

        for (auto &s : side_) {
            for (u32 i = 0; i < 1000 && s->e.tx(&t); i++) {
                left(*s, t);
                s->out.push_back({t.hdr, false});
                some = true;
            }
        }
        now_ += 10 * us;
        for (auto &s : side_) {
            for (; !s->out.empty(); s->out.pop_front())
                deliver(other(*s), s->out.front());
        }
        for (auto &s : side_)
            settle(*s);
        return some;
    }

    // To the earliest deadline.
    void sleep()
    {
        u64 at = MRC_TIME_NEVER;

        for (auto &s : side_)
            at = std::min(at, mrc_conn_deadline_ns(&s->e.c));
        if (at != MRC_TIME_NEVER)
            now_ = std::max(now_, at);
    }

    void be_honest()
    {
        for (auto &s : side_) {
            s->receives = ~0u;
            s->e.planes(3, 3);
        }
        // Who was told of round trips of a second waits for them, while the other one asks each
        // millisecond: time counts, not rounds.
        for (u64 i = 0, end = now_ + 20000 * ms; i < honest_rounds || (now_ < end && i < 40000); i++) {
            bool busy = honest_round();
            if (over(*side_[0]) && over(*side_[1]))
                return;
            if (!busy)
                sleep();
            for (auto &s : side_)
                s->e.timer();
        }
        if (waits_for_the_forgotten(*side_[0]) || waits_for_the_forgotten(*side_[1]))
            return;
        for (auto &s : side_)
            std::fprintf(stderr, "%u of %u completed, status %u, una %06x next %06x\n",
                         s->completed, s->cookies, mrc_conn_failed(&s->e.c), s->e.psn_una(),
                         s->e.psn_next());
        DIE("no end on an honest link");
    }

    bytes &in_;
    u64 now_;
    std::unique_ptr<side> side_[2];
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);

    tx_run(in).run();
    return 0;
}
