// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// conn_rig.h - one connection on a bench: packets go in by hand, what comes
// out is looked at. The peer is the test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // struct and function mrc_conn_info
extern "C" {
#include "conn/mrc_conn.h"
}
#pragma GCC diagnostic pop

#include "events.h"

#include <gtest/gtest.h>

namespace {

constexpr u32 kDqpn = 0x77, kRkey = 0xabc;
constexpr u64 kUs = 1000, kMs = 1000 * kUs;

struct rig_cfg {
    u16 evs = 8;
    u8 planes = 2;
    u16 min_active = 1;
    u32 rx_psn = 2000, tx_psn = 1000;
    mrc_conn_cfg conn = {};
    mrc_rx_cfg rx = {};
    mrc_tx_cfg tx = {};
};

// All of the window at once, as where the fabric trims: test_cc_fixed.cc has the other.
inline void whole_window(mrc_conn &c, u64 now)
{
    mrc_cc_cfg cc = {};

    if (c.cc != &c.own_cc->cc)
        return;
    cc.window_bytes = c.own_cc->window;
    cc.trimming = true;
    mrc_cc_set_cfg(c.cc, &cc, now);
}

inline rig_cfg defaults()
{
    rig_cfg k;

    k.conn.mpr_max = 1;
    k.conn.sq_max = 16;
    k.conn.rd_max = 4;
    k.conn.rq_max = 16;
    k.conn.tails = 4;
    k.conn.seed = 1;
    k.rx.dqpn = kDqpn;
    k.rx.mtu = 1024;
    k.rx.rd_atomic = 4;
    k.rx.min_rnr_timer = 1; // 10 us
    k.tx.rd_atomic = 4;
    k.tx.timeout_ns = 1 * kMs;
    k.tx.linear_cnt = 2;
    k.tx.exp_cnt = 3;
    k.tx.rnr_retry = MRC_RNR_FOREVER;
    k.tx.trim_nack = true;
    return k;
}

class rig : public testing::Test {
protected:
    void make(rig_cfg k = defaults())
    {
        std::vector<u32> values;
        std::vector<u8> planes;
        mrc_evset_cfg ec = {};

        for (u16 i = 0; i < k.evs; i++) {
            values.push_back(0x10000u * i + 7);
            planes.push_back(static_cast<u8>(i * k.planes / k.evs)); // ascending
        }
        ec.n = k.evs;
        ec.n_planes = k.planes;
        ec.min_active = k.min_active;
        ec.counts = true;
        ec.planes_up = (1u << k.planes) - 1;
        evs_mem.assign(mrc_evset_mem_size(k.evs, true) / 8 + 1, 0);
        ASSERT_EQ(mrc_evset_init(&evs, evs_mem.data(), &ec, values.data(), planes.data()), 0);
        k.rx.psn = k.rx_psn;
        k.tx.psn = k.tx_psn;
        mem.assign(mrc_conn_mem_size(&k.conn) / 8 + 1, 0x5a5a5a5a5a5a5a5a);
        ASSERT_EQ(mrc_conn_init(&c, &k.conn, mem.data()), 0);
        mrc_conn_set_path(&c, &evs);
        ASSERT_EQ(mrc_conn_set_rx(&c, &k.rx, now), 0);
        ASSERT_EQ(mrc_conn_set_tx(&c, &k.tx, now), 0);
        whole_window(c, now);
        cfg = k;
    }

    void TearDown() override { sound(); }

    void sound()
    {
        if (evs_mem.empty())
            return;
        EXPECT_EQ(mrc_conn_check(&c), 0);
        EXPECT_EQ(mrc_evset_check(&evs), 0);
    }

    // ---- what the peer sends ----

    mrc_pkt data(u8 opcode, u32 psn, u32 len, u32 dmalen, u64 va = 0x10000, u16 rqmsn = 0,
                 u16 msn = 0)
    {
        mrc_pkt p = {};

        p.opcode = opcode;
        p.psn = psn & MRC_PSN_MASK;
        p.payload_len = static_cast<u16>(len);
        p.dmalen = dmalen;
        p.va = va;
        p.rkey = kRkey;
        p.rqmsn = rqmsn;
        p.msn = msn;
        p.ev = evs.ev[psn % evs.n].value;
        p.udp_len = static_cast<u16>(len + 48);
        return p;
    }
    mrc_pkt write_only(u32 psn, u32 len = 100) { return data(MRC_OPC_WRITE_ONLY, psn, len, len); }
    mrc_pkt send_only(u32 psn, u16 rqmsn)
    {
        return data(MRC_OPC_SEND_ONLY, psn, 10, 10, 0, rqmsn);
    }

    mrc_verdict rx(const mrc_pkt &p)
    {
        last = p;
        op = {};
        return mrc_conn_rx_begin(&c, &last, now, &op);
    }
    // Place and commit; false if the engine did not want to place.
    bool take(const mrc_pkt &p)
    {
        if (rx(p) != MRC_V_PLACE)
            return false;
        mrc_conn_rx_commit(&c, &op, now);
        sound();
        return true;
    }
    // A READ or ATOMIC comes and is executed; its slot.
    u16 serve(u8 opcode, u32 psn, u32 len = 8)
    {
        mrc_exec x = {};

        EXPECT_TRUE(take(data(opcode, psn, 0, len, 0x4000)));
        EXPECT_TRUE(ev.exec(&x));
        mrc_conn_exec_done(&c, x.slot, 0, now);
        return x.slot;
    }
    void reject(const mrc_pkt &p, mrc_nack nack, mrc_nak nak)
    {
        mrc_reject why = {nack, nak};

        ASSERT_EQ(rx(p), MRC_V_PLACE);
        mrc_conn_rx_reject(&c, &op, &why, now);
        sound();
    }

    // A peer's acknowledgements take its planes in turns.
    u8 turn()
    {
        turn_ = static_cast<u8>((turn_ + 1) % std::max<u8>(evs.n_planes, 1));
        return turn_;
    }

    void sack(u32 cack, u64 bitmap = 0, s16 offset = 1, u32 trigger = 0, u8 m = MRC_M_NONE,
              u32 by = 0)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_SACK;
        p.plane = turn();
        p.psn = cack & MRC_PSN_MASK;
        p.u.sack.cack = cack & MRC_PSN_MASK;
        p.u.sack.bitmap = bitmap;
        p.u.sack.sack_offset = offset;
        p.u.sack.ack_psn_offset = static_cast<s16>(trigger ? mrc_psn_diff(trigger, cack) : 0);
        p.u.sack.m = m;
        p.u.sack.ev = by;
        EXPECT_EQ(rx(p), MRC_V_DONE);
        sound();
    }
    // Any SACK; its cack, bitmap and so on as they are.
    void sack(const mrc_sack &s)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_SACK;
        p.plane = turn();
        p.psn = s.cack;
        p.u.sack = s;
        EXPECT_EQ(rx(p), MRC_V_DONE);
        sound();
    }
    void probe_answer(u16 id, u32 cack, bool ecn = false)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_SACK;
        p.plane = turn();
        p.u.sack.cack = cack & MRC_PSN_MASK;
        p.u.sack.sack_offset = 1;
        p.u.sack.pr = true;
        p.u.sack.probe_id = id;
        p.u.sack.m = ecn ? MRC_M_SKIP_ONCE : MRC_M_NONE;
        rx(p);
        sound();
    }
    void ack(u32 psn, u8 syndrome = MRC_AETH_CREDIT_NONE)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_ACK;
        p.plane = turn();
        p.psn = psn & MRC_PSN_MASK;
        p.u.aeth.syndrome = syndrome;
        rx(p);
        sound();
    }
    void nack(const mrc_txop &of, mrc_nack reason, u8 vendor = 1)
    {
        nack(of.hdr.psn, of.hdr.ev, reason, vendor);
    }
    void nack(u32 psn, u32 by, mrc_nack reason, u8 vendor = 1)
    {
        mrc_pkt p = {};

        p.opcode = MRC_OPC_NACK;
        p.psn = psn;
        p.u.nack.psn = psn;
        p.u.nack.ev = by;
        p.u.nack.reason = static_cast<u8>(reason);
        p.u.nack.vendor_info = vendor;
        rx(p);
        sound();
    }

    // ---- what we do ----

    int post(mrc_op what, u32 len, u32 flags = 0, mrc_status error = MRC_ST_OK)
    {
        mrc_wr wr = {};

        wr.op = what;
        wr.len = len;
        wr.flags = flags;
        wr.cookie = next_cookie;
        wr.va = 0x100000 + 0x10000ull * next_cookie;
        wr.rkey = kRkey;
        wr.error = error;
        int rc = mrc_conn_post(&c, &wr, now);
        next_cookie += rc == 0;
        return rc;
    }
    std::optional<mrc_txop> tx()
    {
        mrc_txop t;

        if (!mrc_conn_tx_next(&c, now, &t))
            return {};
        sound();
        return t;
    }
    // All that may leave now: data packets, or control packets.
    std::vector<mrc_txop> tx_all()
    {
        std::vector<mrc_txop> v;

        while (auto t = tx())
            v.push_back(*t);
        return v;
    }
    std::vector<mrc_txop> tx_data()
    {
        std::vector<mrc_txop> v;

        for (const mrc_txop &t : tx_all())
            if (mrc_opc_is_data(t.hdr.opcode))
                v.push_back(t);
        return v;
    }
    std::vector<mrc_txop> tx_ctrl(u8 opcode)
    {
        std::vector<mrc_txop> v;

        for (const mrc_txop &t : tx_all())
            if (t.hdr.opcode == opcode)
                v.push_back(t);
        return v;
    }
    // PSN 1000, the first, is answered after 50 us; then a WRITE of @n packets leaves.
    std::vector<mrc_txop> after_a_round_trip(u32 n)
    {
        now += 50 * kUs;
        sack(1000, 0, 1, 1000);
        ack(1000);
        cpls();
        post(MRC_OP_WRITE, n * 1024);
        return tx_data();
    }
    std::vector<mrc_cpl> cpls()
    {
        std::vector<mrc_cpl> v;
        mrc_cpl x;

        while (ev.complete(&x))
            v.push_back(x);
        sound();
        return v;
    }
    void run_to(u64 t)
    {
        now = t;
        mrc_conn_timer(&c, now);
        sound();
    }
    // To the next deadline.
    void fire()
    {
        u64 d = mrc_conn_deadline_ns(&c);

        ASSERT_NE(d, MRC_TIME_NEVER);
        run_to(std::max(now, d));
    }

    // Largest reordering window of the planes, quarters of a round trip.
    int reo() const
    {
        int most = 0;

        for (const auto &p : evs.plane)
            most = std::max<int>(most, p.reo);
        return most;
    }

    rig_cfg cfg;
    mrc_evset evs = {};
    mrc_conn c = {};
    event_tap ev{c};
    std::vector<u64> evs_mem, mem;
    u64 now = 1000000000;
    mrc_pkt last = {};
    mrc_rxop op = {};
    u32 next_cookie = 100;
    u8 turn_ = 0;
};

// "100:0 101:1": cookie or receive index, and status.
inline std::string show(const std::vector<mrc_cpl> &v)
{
    std::string s;

    for (const mrc_cpl &x : v)
        s += (s.empty() ? "" : " ") + std::string(x.kind == MRC_CPL_RECV ? "r" : "") +
             std::to_string(x.kind == MRC_CPL_RECV ? x.rq_idx : x.cookie) + ":" +
             std::to_string(x.status);
    return s;
}

inline std::vector<u32> psns(const std::vector<mrc_txop> &v)
{
    std::vector<u32> s;

    for (const mrc_txop &t : v)
        s.push_back(t.hdr.psn);
    return s;
}

using psn_list = std::vector<u32>;

} // namespace
