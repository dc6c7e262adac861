// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// nscc_rig.h - NSCC by itself on the reference network (100 Gb/s, 12 us): what it is told
// comes from the test, one sample at a time.
#pragma once

#include "cc_rig.h"

#include <gtest/gtest.h>

namespace {

constexpr u32 pkt = 4160, max_wnd = 225000;
constexpr u64 base = 12000, target = 9000; // with trimming: 0.75 base

struct nscc : testing::Test {
    void SetUp() override
    {
        cfg.mtu = pkt;
        cfg.rate_mbps = 100000;
        cfg.trimming = true;
        init();
    }
    void init()
    {
        mem.assign(mrc_nscc.size / 8 + 1, ~0ull);
        cc = reinterpret_cast<mrc_cc*>(mem.data());
        now = 1000000;
        mrc_cc_init(cc, &mrc_nscc, &cfg, now);
    }
    // The base RTT is known, quick adapt and all periods have begun anew.
    void warm()
    {
        ack(pkt, base);
        now += 100000;
    }
    mrc_cc_sample sample()
    {
        mrc_cc_sample s{};

        s.now_ns = now;
        s.inflight_bytes = cc->cwnd_bytes;
        return s;
    }
    void ack(u32 bytes, u64 rtt, bool ecn = false, u8 pen = 0, bool restore = false)
    {
        mrc_cc_sample s = sample();

        s.inflight_bytes -= u32(u64{s.inflight_bytes} * spare / 8);
        s.acked_bytes = bytes;
        s.rtt_ns = rtt;
        s.ecn = ecn;
        s.rcv_cwnd_pen = pen;
        s.restore_cwnd = restore;
        mrc_nscc.on_ack(cc, &s);
    }
    void nack(u32 bytes, bool trimmed = true, u64 rtt = 0, bool last_hop = true)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        s.trimmed = trimmed;
        s.last_hop = last_hop;
        s.rtt_ns = rtt;
        mrc_nscc.on_nack(cc, &s);
    }
    void loss(u32 bytes)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        mrc_nscc.on_loss(cc, &s);
    }
    // So much of what was called lost had arrived.
    void spurious(u32 bytes)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        mrc_nscc.on_spurious(cc, &s);
    }
    void timeout(u32 bytes = 0)
    {
        mrc_cc_sample s = sample();

        s.lost_bytes = bytes;
        mrc_nscc.on_timeout(cc, &s);
    }
    // One window's worth of packets, spread over one round trip.
    void round(u64 rtt, bool ecn = false, u8 pen = 0)
    {
        u32 n = std::max(cc->cwnd_bytes / pkt, 1u);

        for (u32 i = 0; i < n; i++) {
            now += rtt / n;
            ack(pkt, rtt, ecn, pen);
        }
    }
    void set_wnd(u32 bytes) { cc->cwnd_bytes = bytes; }

    mrc_cc_cfg cfg{};
    std::vector<u64> mem;
    mrc_cc* cc = nullptr;
    u64 now = 0;
    u32 spare = 2; // eighths of the window that are not out when an ACK comes
};

} // namespace
