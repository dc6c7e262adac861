// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ack_rig.h - a flight of packets under the eyes of a congestion controller that only notes
// what it is told. The peer, honest or not, is the test.
#pragma once

#include "conn_rig.h"

namespace {

// A controller that remembers what it was told.
struct spy_cc {
    mrc_cc cc;
    mrc_cc_sample ack, nack, loss, timeout, spurious;
    u32 acks, nacks, losses, timeouts, spurious_n;
    u64 acked, lost;
};

void spy_init(mrc_cc *cc, const mrc_cc_cfg *cfg, u64)
{
    cc->cwnd_bytes = cfg->window_bytes;
}
void spy_set(mrc_cc *, const mrc_cc_cfg *, u64) {}
spy_cc *spy(mrc_cc *cc) { return reinterpret_cast<spy_cc *>(cc); }
void spy_ack(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->ack = *s;
    spy(cc)->acks++;
    spy(cc)->acked += s->acked_bytes;
}
void spy_nack(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->nack = *s;
    spy(cc)->nacks++;
}
void spy_loss(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->loss = *s;
    spy(cc)->losses++;
    spy(cc)->lost += s->lost_bytes;
}
void spy_timeout(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->timeout = *s;
    spy(cc)->timeouts++;
}
void spy_spurious(mrc_cc *cc, const mrc_cc_sample *s)
{
    spy(cc)->spurious = *s;
    spy(cc)->spurious_n++;
}
const mrc_cc_ops spy_ops = {"spy",    sizeof(spy_cc), spy_init, spy_set,
                            spy_ack, spy_nack,       spy_loss, spy_timeout, spy_spurious};

constexpr u32 kFull = 1024 + MRC_PKT_OVERHEAD; // a full packet in flight

class ack_rig : public rig {
protected:
    // @n full packets in flight from PSN 1000 on, sent now, under the spy's eyes.
    std::vector<mrc_txop> flight(u32 n, rig_cfg k = defaults())
    {
        mrc_cc_cfg cc = {};

        cc.window_bytes = 1u << 30;
        mrc_cc_init(&eye.cc, &spy_ops, &cc, now);
        k.tx.cc = &eye.cc;
        make(k);
        EXPECT_EQ(post(MRC_OP_WRITE, n * 1024), 0);
        return tx_data();
    }
    // A SACK by the packet @op, which arrived; @held: the stamp is moved on by so much.
    mrc_sack sack_of(const mrc_txop &t, u32 cack, u64 held = 0)
    {
        mrc_sack s = {};

        s.cack = cack;
        s.ack_psn_offset = static_cast<s16>(mrc_psn_diff(t.hdr.psn, cack));
        s.ev = t.hdr.ev;
        s.sack_offset = 1;
        if (mrc_psn_diff(t.hdr.psn, cack) > 0)
            s.bitmap = 1ull << (mrc_psn_diff(t.hdr.psn, cack) - 1);
        s.tx_ts = static_cast<u16>(t.hdr.tx_ts + (held >> MRC_TS_SHIFT));
        return s;
    }
    void TearDown() override
    {
        rig::TearDown();
        if (!evs_mem.empty())
            mrc_conn_reset(&c);
        EXPECT_EQ(eye.cc.inflight_bytes, 0u) << "nothing stays behind";
        EXPECT_EQ(eye.cc.n_active, 0u);
    }

    void until_lost()
    {
        for (int i = 0; i < 10 && !c.snd.lost.count; i++)
            fire();
        ASSERT_NE(c.snd.lost.count, 0u);
    }

    spy_cc eye = {};
};

} // namespace
