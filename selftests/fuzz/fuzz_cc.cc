// SPDX-License-Identifier: GPL-2.0
// fuzz_cc.cc - congestion control on samples that no network would give, with any
// parameters: the window stays between one packet and the largest one, pacing ends,
// and the counts of a shared controller agree. The receiver's incast policy beside it.
#include "bytes.h"

#include <algorithm>
#include <cstring>
#include <memory>

extern "C" {
#include "cc/mrc_cc.h"
#include "conn/mrc_conn.h"
#include "peer/mrc_incast.h"
}

namespace {

constexpr u64 ms = 1000000;
constexpr u32 window_limit = 1u << 30, conns = 3;

mrc_cc_cfg config(bytes &in)
{
    mrc_cc_cfg k = {};

    k.mtu = in.below(2) ? 0 : in.between(256, 9000);
    k.window_bytes = in.below(2) ? 0 : in.extreme<u32>() % window_limit;
    k.rate_mbps = in.below(2) ? 0 : in.extreme<u32>();
    k.trimming = in.below(2);
    if (in.below(2))
        return k;
    k.nscc.disable_qa = in.below(2);
    k.nscc.qa_gate = in.extreme<u8>();
    k.nscc.qa_threshold_ns = in.extreme<u32>();
    k.nscc.target_delay_ns = in.extreme<u32>();
    k.nscc.base_rtt_ns = in.extreme<u32>();
    k.nscc.max_cwnd = in.extreme<u32>();
    k.nscc.adjust_bytes = in.extreme<u32>();
    k.nscc.adjust_period_ns = in.extreme<u32>();
    k.nscc.eta_q8 = in.extreme<u32>();
    k.nscc.fi_q8 = in.extreme<u32>();
    k.nscc.fi_scale_q16 = in.extreme<u32>();
    k.nscc.gamma_q16 = in.extreme<u32>();
    k.nscc.max_md_jump_q16 = in.extreme<u32>();
    return k;
}

class cc_run {
public:
    explicit cc_run(bytes &in) : in_(in)
    {
        const mrc_cc_ops *ops = in.one_in(4) ? mrc_cc_find(nullptr) : mrc_cc_find("uet-1.0-nscc");

        mem_.reset(static_cast<u8 *>(std::malloc(ops->size)));
        cc_ = reinterpret_cast<mrc_cc *>(mem_.get());
        mrc_cc_cfg k = config(in);
        mrc_cc_init(cc_, ops, &k, now_);
        mrc_incast_cfg ic = {};
        ic.epoch_ns = in.below(2) ? 0 : in.extreme<u64>();
        ic.off = in.one_in(8);
        mrc_incast_init(&incast_, &ic);
    }

    void run()
    {
        for (u32 i = 0; i < 400 && in_.more(); i++) {
            step();
            REQUIRE(cc_->cwnd_bytes >= cc_->mtu && cc_->cwnd_bytes <= window_limit);
            REQUIRE(cc_->hold_until_ns <= now_ + 300 * ms);
            REQUIRE(cc_->inflight_bytes == own_[0] + own_[1] + own_[2]);
            REQUIRE(cc_->n_active == u32{!!own_[0]} + !!own_[1] + !!own_[2]);
        }
        // One with nothing in flight may always send, whatever the others have.
        for (u32 own : own_)
            REQUIRE(own || mrc_cc_room(cc_, 0, cc_->mtu));
    }

private:
    mrc_cc_sample sample()
    {
        mrc_cc_sample s = {};

        s.now_ns = now_;
        s.acked_bytes = in_.below(2) ? in_.below(10000) : in_.extreme<u32>();
        s.lost_bytes = in_.below(2) ? in_.below(10000) : in_.extreme<u32>();
        s.inflight_bytes = in_.below(2) ? cc_->inflight_bytes : in_.extreme<u32>();
        s.rtt_ns = in_.below(2) ? in_.below(50000) : in_.extreme<u64>();
        s.ecn = in_.below(2);
        s.trimmed = in_.below(2);
        s.trimmed_again = s.trimmed && in_.below(2);
        s.rcv_cwnd_pen = in_.below(2) ? 0 : in_.any<u8>();
        s.restore_cwnd = in_.one_in(4);
        return s;
    }

    void step()
    {
        mrc_cc_sample s = sample();

        now_ += in_.below(3) ? in_.below(20000) : in_.any<u32>();
        switch (in_.below(8)) {
        case 0:
            cc_->ops->on_nack(cc_, &s);
            break;
        case 1:
            cc_->ops->on_loss(cc_, &s);
            break;
        case 2:
            if (in_.below(2))
                cc_->ops->on_timeout(cc_, &s);
            else
                cc_->ops->on_spurious(cc_, &s);
            break;
        case 3:
            if (in_.one_in(4)) {
                mrc_cc_cfg k = config(in_);

                cc_->ops->set_cfg(cc_, &k, now_);
            }
            break;
        case 4:
            account();
            break;
        case 5:
            incast();
            break;
        default:
            cc_->ops->on_ack(cc_, &s);
            break;
        }
    }

    void account()
    {
        u32 i = in_.below(conns), bytes = in_.between(1, 9000);
        s32 delta = in_.below(2) ? static_cast<s32>(bytes) : -static_cast<s32>(own_[i]);

        if (own_[i] + static_cast<u32>(delta) > window_limit / conns)
            return;
        mrc_cc_account(cc_, own_[i], delta);
        own_[i] += static_cast<u32>(delta);
    }

    void incast()
    {
        mrc_incast_note note = {};
        bool restore = true;

        note.bytes = in_.below(2) ? in_.below(100000) : in_.extreme<u32>();
        note.trims = in_.below(2) ? 0 : in_.extreme<u16>();
        note.marks = in_.extreme<u16>();
        u8 pen = mrc_incast_update(&incast_, &flow_[in_.below(conns)], &note, now_, &restore);
        REQUIRE(pen < 128 && !(pen && restore));
        REQUIRE(!incast_.cfg.off || (!pen && !restore));
    }

    struct free_it {
        void operator()(void *p) const { std::free(p); }
    };

    bytes &in_;
    u64 now_ = 1000 * ms;
    std::unique_ptr<u8, free_it> mem_;
    mrc_cc *cc_;
    u32 own_[conns] = {};
    mrc_incast incast_;
    mrc_incast_flow flow_[conns] = {};
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);

    cc_run(in).run();
    return 0;
}
