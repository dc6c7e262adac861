// SPDX-License-Identifier: GPL-2.0
// fuzz_rx.cc - a receive stream under a peer that may send anything, and a caller
// that may react in every allowed way. Nothing is placed twice, outside or out of order
// where order counts, what is told to the peer is true (rx_model.h), and its requests leave alone what
// connections share (endpoint.h).
//
// At the end a well-behaved peer fills every hole with empty WRITEs: the left edge
// must move over all of it, unless the stream was refused or the QP has failed.
#include "rx_model.h"

namespace {

constexpr u32 steps_max = 400;

const u8 data_opcodes[] = {
    MRC_OPC_WRITE_ONLY,     MRC_OPC_WRITE_FIRST,     MRC_OPC_WRITE_MIDDLE, MRC_OPC_WRITE_LAST,
    MRC_OPC_WRITE_LAST_IMM, MRC_OPC_WRITE_ONLY_IMM,  MRC_OPC_SEND_ONLY,    MRC_OPC_SEND_FIRST,
    MRC_OPC_SEND_MIDDLE,    MRC_OPC_SEND_LAST,       MRC_OPC_SEND_LAST_IMM,
    MRC_OPC_SEND_ONLY_IMM,  MRC_OPC_SEND_LAST_INV,   MRC_OPC_SEND_ONLY_INV,
    MRC_OPC_READ_REQ,       MRC_OPC_CMP_SWAP,        MRC_OPC_FETCH_ADD,
    MRC_OPC_READ_RESP_ONLY, MRC_OPC_READ_RESP_FIRST, MRC_OPC_READ_RESP_MIDDLE,
    MRC_OPC_READ_RESP_LAST, MRC_OPC_ATOMIC_ACK,
};

endpoint_cfg config(bytes &in)
{
    const u16 mtus[] = {256, 1024, 4096};
    const u32 psns[] = {0, 1, 0xffffff, 0xffff80, 0x800000, 2000};
    endpoint_cfg k;

    k.conn.mpr_max = static_cast<u8>(1u << in.below(3));
    k.conn.sq_max = 8;
    k.conn.rd_max = static_cast<u16>(1u << in.below(4));
    k.conn.rq_max = static_cast<u16>(1u << in.below(5));
    k.conn.tails = static_cast<u8>(in.between(1, 4));
    k.conn.seed = in.below(4);
    k.rx.psn = in.pick(psns);
    k.rx.mtu = in.pick(mtus);
    k.rx.mpr = static_cast<u8>(in.between(1, k.conn.mpr_max + 1u)); // more than fits, too
    k.rx.wimm = static_cast<u16>(in.between(1, k.conn.rq_max));
    k.rx.rd_atomic = static_cast<u8>(in.below(k.conn.rd_max + 1u));
    k.rx.sack_pkts = static_cast<u16>(in.between(1, 20));
    k.rx.dqpn = 0x77;
    k.rx.mrc_only = in.one_in(8);
    k.rx.oor_nack = in.below(2);
    k.conn.strict = k.rx.strict = in.one_in(3);
    k.rx.no_trim_nack = in.one_in(8);
    k.rx.dyn_mpr = in.below(2);
    k.rx.svc_time = in.below(2);
    k.tx.psn = in.pick(psns);
    k.tx.rd_atomic = static_cast<u8>(in.between(1, k.conn.rd_max));
    k.tx.timeout_ns = in.below(2) * ms;
    k.tx.linear_cnt = 2;
    k.tx.exp_cnt = 3;
    k.rts = !in.one_in(8);
    return k;
}

class rx_run {
public:
    explicit rx_run(bytes &in)
        : in_(in), e_(config(in), now_), model_(e_.cfg.rx, window())
    {
    }

    void run()
    {
        for (u32 i = 0; i < steps_max && in_.more(); i++)
            step();
        fill_holes();
    }

private:
    // What the bitmap holds, whatever was agreed.
    u32 window() const { return std::min(e_.cfg.rx.mpr, e_.cfg.conn.mpr_max) * MRC_MPR_UNIT; }

    void step()
    {
        switch (in_.below(17)) {
        case 0:
            receive(control());
            break;
        case 1:
            receive_raw();
            break;
        case 2:
            post();
            break;
        case 3:
            send(in_.below(20));
            break;
        case 4:
            settle();
            break;
        case 5:
            run_request();
            break;
        case 6:
            now_ += in_.below(2) ? in_.below(100 * us) : in_.below(4000) * ms / 10;
            e_.timer();
            break;
        case 7:
            if (in_.one_in(4))
                e_.planes(in_.below(4), in_.below(4));
            break;
        case 8:
            believe_us();
            break;
        case 9:
            levers();
            if (!e_.c.tx_ready && in_.one_in(4))
                e_.do_([&] { e_.ready_to_send(); });
            break;
        default:
            receive(data());
            break;
        }
    }

    // ---- what the peer sends ----

    // A packet that fits, then some of its fields do not.
    mrc_pkt data()
    {
        mrc_pkt p = {};
        u32 mtu = e_.cfg.rx.mtu;

        p.opcode = in_.pick(data_opcodes);
        p.psn = in_.below(4) ? mrc_psn_add(model_.next_psn(), static_cast<s32>(in_.below(6)))
                             : in_.psn(model_.next_psn(), static_cast<s32>(window()));
        p.rqmsn = static_cast<u16>(model_.next_rq() + in_.below(3));
        p.msn = static_cast<u16>(in_.below(cookies_ + 1));
        p.rkey = in_.below(3);
        p.ackreq = in_.one_in(8);
        p.se = in_.one_in(4);
        p.imm = in_.below(256);
        sizes(p, mtu);
        while (in_.one_in(3))
            spoil(p);
        p.ev = in_.below(2) ? 7 : in_.extreme<u32>();
        p.ecn_ce = in_.one_in(8);
        p.rtx = in_.one_in(8);
        p.trimmed = in_.one_in(16) ? static_cast<u8>(1 + in_.below(2)) : 0;
        p.udp_len = static_cast<u16>(p.payload_len + 48);
        return p;
    }

    // Length and offset as the opcode has them.
    void sizes(mrc_pkt &p, u32 mtu)
    {
        u32 len = in_.below(2) ? mtu : in_.below(64);

        if (p.opcode == MRC_OPC_CMP_SWAP || p.opcode == MRC_OPC_FETCH_ADD) {
            p.dmalen = 8;
            p.va = 8 * in_.below(100);
        } else if (p.opcode == MRC_OPC_READ_REQ) {
            p.dmalen = in_.below(5000);
        } else if (mrc_opc_is_read_resp(p.opcode)) {
            p.va = in_.below(3) * mtu;
            p.payload_len = static_cast<u16>(len);
        } else if (p.opcode != MRC_OPC_ATOMIC_ACK) {
            bool first = mrc_opc_is_first(p.opcode), last = mrc_opc_is_last(p.opcode);

            p.payload_len = static_cast<u16>(last ? len : mtu);
            p.va = mrc_opc_is_send(p.opcode) && first ? 0 : mtu * in_.between(1, 3);
            p.dmalen = static_cast<u32>(first && last ? p.payload_len
                                        : last        ? p.va + p.payload_len
                                                      : 4 * mtu + len);
        }
    }

    void spoil(mrc_pkt &p)
    {
        switch (in_.below(7)) {
        case 0:
            p.payload_len = in_.extreme<u16>();
            break;
        case 1:
            p.dmalen = in_.extreme<u32>();
            break;
        case 2:
            p.va = in_.extreme<u64>();
            break;
        case 3:
            p.rqmsn = in_.extreme<u16>();
            break;
        case 4:
            p.msn = in_.extreme<u16>();
            break;
        case 5:
            p.opcode = in_.pick(data_opcodes);
            break;
        case 6:
            p.psn = in_.any<u32>() & MRC_PSN_MASK;
            break;
        }
        // An answer of gigabytes would be the whole run.
        if (p.opcode == MRC_OPC_READ_REQ && p.dmalen <= 0x80000000u)
            p.dmalen %= 20000;
        // As the parser leaves them: payload only where the opcode has one.
        if (p.opcode == MRC_OPC_READ_REQ || p.opcode >= MRC_OPC_ATOMIC_ACK)
            if (!mrc_opc_is_send(p.opcode))
                p.payload_len = 0;
    }

    mrc_pkt control()
    {
        const u8 opcodes[] = {MRC_OPC_SACK, MRC_OPC_NACK, MRC_OPC_ACK, MRC_OPC_PROBE,
                              MRC_OPC_EP_REQ};
        mrc_pkt p = {};

        p.opcode = in_.pick(opcodes);
        p.psn = in_.psn(e_.psn_next(), 128);
        if (p.opcode == MRC_OPC_SACK) {
            p.u.sack.cack = p.psn;
            p.u.sack.bitmap = in_.extreme<u64>();
            p.u.sack.sack_offset = in_.extreme<s16>();
            p.u.sack.pr = in_.one_in(4);
            p.u.sack.probe_id = in_.extreme<u16>();
        } else if (p.opcode == MRC_OPC_PROBE) {
            p.u.probe.probe_id = in_.extreme<u16>();
        } else if (p.opcode == MRC_OPC_NACK) {
            p.u.nack.psn = p.psn;
            p.u.nack.reason = in_.one_in(8) ? in_.any<u8>() : MRC_NACK_TRIMMED;
        } else {
            p.u.aeth.syndrome = in_.one_in(8) ? in_.any<u8>() : MRC_AETH_CREDIT_NONE;
        }
        p.ecn_ce = in_.one_in(4);
        p.ev = in_.extreme<u32>();
        return p;
    }

    void receive_raw()
    {
        std::vector<u8> b = in_.raw(MRC_HDR_MAX + 8);
        mrc_pkt p;

        if (mrc_wire_parse(b.data(), static_cast<u32>(b.size()), 0, &p))
            return;
        p.udp_len = static_cast<u16>(b.size() + 12);
        receive(p);
    }

    // A peer that took all we sent: our requests may leave, our answers are done.
    void believe_us()
    {
        mrc_pkt p = {};

        if (!e_.c.snd.known) { // in RTR only: it asks where its stream begins
            p.opcode = MRC_OPC_SACK;
            p.u.sack.cack = mrc_psn_add(e_.cfg.tx.psn, -1);
            p.u.sack.pr = true;
            p.u.sack.probe_id = e_.c.pto.id;
            now_ += 10 * us;
            receive(p);
            return;
        }
        p.opcode = in_.below(2) ? MRC_OPC_SACK : MRC_OPC_ACK;
        p.psn = mrc_psn_add(e_.psn_next(), -1);
        p.u.sack = {};
        if (p.opcode == MRC_OPC_SACK) {
            p.u.sack.cack = p.psn;
            p.u.sack.sack_offset = 1;
        } else {
            p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
        }
        receive(p);
    }

    // ---- how the caller reacts ----

    void receive(const mrc_pkt &p)
    {
        mrc_rxop op;

        if (e_.rx(p, &op) != MRC_V_PLACE)
            return;
        model_.place(p, op);
        switch (in_.below(16)) {
        case 0:
            e_.drop(op);
            break;
        case 1:
            if (op.needs_rq)
                e_.reject(op, MRC_NACK_NO_RESOURCE, MRC_NAK_NONE);
            else
                e_.drop(op);
            break;
        case 2: {
            const mrc_nak why[] = {MRC_NAK_INV_REQ, MRC_NAK_REM_ACCESS, MRC_NAK_REM_OP};

            if (in_.one_in(8) && op.place != MRC_PLACE_RESP)
                e_.reject(op, static_cast<mrc_nack>(0), in_.pick(why));
            else
                e_.drop(op);
            break;
        }
        default:
            e_.commit(op);
            model_.commit(p, op);
            break;
        }
    }

    void post()
    {
        const mrc_op ops[] = {MRC_OP_READ, MRC_OP_CMP_SWAP, MRC_OP_FETCH_ADD, MRC_OP_WRITE,
                              MRC_OP_LOCAL, MRC_OP_READ};
        mrc_wr wr = {};

        wr.op = in_.pick(ops);
        wr.cookie = cookies_;
        wr.len = wr.op == MRC_OP_CMP_SWAP || wr.op == MRC_OP_FETCH_ADD ? 8 : in_.below(9000);
        wr.flags = in_.below(4);
        if (e_.post(wr))
            return;
        if (wr.op == MRC_OP_READ || wr.len == 8)
            if (wr.op != MRC_OP_WRITE && wr.op != MRC_OP_LOCAL)
                model_.asked(cookies_, wr.op, wr.len);
        cookies_++;
    }

    void send(u32 n)
    {
        mrc_txop t;

        for (u32 i = 0; i < n && e_.tx(&t); i++) {
            model_.says(t);
            if (in_.one_in(16))
                e_.undo(t);
        }
        if (mrc_conn_nak_sent(&e_.c) && in_.below(2))
            e_.fail(MRC_ST_FLUSHED);
    }

    // Tails, requests and completions, in the order the contract asks for.
    void settle()
    {
        place_held(true);
        deliver();
    }

    // The order is the engine's: who asked for a request may have been told of others.
    void deliver()
    {
        mrc_tail t;
        mrc_cpl x;
        u16 slot;

        while (e_.tail(&t))
            model_.tail(t);
        while (e_.exec_free(&slot))
            model_.exec_free(slot);
        while (e_.complete(&x)) {
            model_.complete(x);
            if (x.kind == MRC_CPL_SEND)
                REQUIRE(x.cookie == completed_++);
        }
    }

    // What the glue learns of load, and says about it.
    void levers()
    {
        mrc_incast_note note;

        if (in_.below(2))
            e_.do_([&] { mrc_conn_set_mpr(&e_.c, in_.any<u8>()); });
        while (e_.do_([&] { return mrc_conn_incast_note(&e_.c, &note); }))
            REQUIRE(note.bytes || note.trims || note.marks);
        e_.do_([&] { mrc_conn_set_penalty(&e_.c, in_.any<u8>(), in_.below(2)); });
    }

    // Strict placement: what is held is placed in its turn, or refused.
    void place_held(bool refuse)
    {
        u32 slot;

        while (e_.hold(&slot)) {
            model_.hold(slot, e_.cfg.conn.mpr_max * MRC_MPR_UNIT - 1u);
            if (refuse && in_.one_in(40)) {
                e_.hold_done(MRC_NAK_REM_ACCESS);
                return;
            }
            e_.hold_done(MRC_NAK_NONE);
            model_.placed();
        }
    }

    void run_request()
    {
        mrc_exec x;

        bool any = e_.exec(&x);

        deliver();
        if (!any)
            return;
        model_.exec(x);
        if (in_.one_in(16)) {
            e_.exec_fail(x.slot, MRC_NAK_REM_ACCESS);
            model_.exec_over(x.slot, false);
        } else {
            e_.exec_done(x.slot, in_.any<u64>());
            model_.exec_over(x.slot, true);
        }
    }

    // ---- the end: no hole can stop the stream for ever ----

    void drain()
    {
        mrc_txop t;
        mrc_exec x;

        for (u32 i = 0; i < 64 && (i < 2 || !mrc_conn_idle(&e_.c)); i++) {
            place_held(false);
            while (e_.exec(&x)) {
                model_.exec(x);
                e_.exec_done(x.slot, 1);
                model_.exec_over(x.slot, true);
            }
            deliver();
            for (u32 n = 0; n < 1000 && e_.tx(&t); n++)
                model_.says(t);
            believe_us();
            settle();
            now_ += 2 * ms;
            e_.timer();
        }
    }

    bool ended() { return e_.failed() || model_.nak_sent(); }

    void fill_holes()
    {
        e_.planes(3, 3);
        drain();
        u64 goal = model_.highest() + 1; // and one more
        while (model_.cack() < goal && !ended()) {
            u64 before = model_.cack();
            mrc_pkt p = {};
            mrc_rxop op;

            p.opcode = MRC_OPC_WRITE_ONLY;
            p.psn = model_.next_psn();
            p.ev = 7;
            if (e_.rx(p, &op) == MRC_V_PLACE) {
                model_.place(p, op);
                e_.commit(op);
                model_.commit(p, op);
                place_held(false);
            }
            if (model_.cack() == before) {
                drain(); // a refusal is told when what precedes it is answered
                if (!ended() && model_.cack() == before)
                    DIE("the stream is stuck at PSN %06x", p.psn);
            }
        }
        drain();
        if (!ended())
            REQUIRE(!model_.tails_left() && !model_.exec_left() && !model_.held());
    }

    bytes &in_;
    u64 now_ = 1000 * ms;
    endpoint e_;
    rx_model model_;
    u32 cookies_ = 0, completed_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);

    rx_run(in).run();
    return 0;
}
