// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_rig.h - a path set, a rotation and a clock for the tests of EVs.
#ifndef EV_RIG_H
#define EV_RIG_H

#include <span>
#include <vector>

extern "C" {
#include "paths/mrc_ev.h"
#include "paths/mrc_suspect.h"
}

#include <gtest/gtest.h>

constexpr u64 kUs = 1000, kMs = 1000 * kUs;

class ev_rig : public testing::Test {
protected:
    // @n EVs, as equal per plane as can be.
    void make(u16 n, u8 planes, u16 min_active = 1, u8 readmit = 0)
    {
        std::vector<u16> len;

        for (u8 p = 0; p < planes; p++)
            len.push_back(static_cast<u16>(n / planes + (p < n % planes)));
        make_planes(len, min_active, readmit);
    }
    void make_planes(const std::vector<u16> &len, u16 min_active = 1, u8 readmit = 0)
    {
        mrc_evset_cfg cfg = {};
        std::vector<u32> values;
        std::vector<u8> on;

        for (size_t p = 0; p < len.size(); p++)
            on.insert(on.end(), len[p], static_cast<u8>(p));
        for (u32 i = 0; i < on.size(); i++)
            values.push_back(1000 + i);
        cfg.n = static_cast<u16>(on.size());
        cfg.n_planes = static_cast<u8>(len.size());
        cfg.min_active = min_active;
        cfg.readmit = readmit;
        cfg.counts = true;
        cfg.planes_up = static_cast<u32>((1ull << len.size()) - 1);
        cfg.probe_ns = 100 * kUs;
        cfg.probe_max_ns = 1 * kMs;
        mem.assign(mrc_evset_mem_size(cfg.n, true) / 8, 0);
        ASSERT_EQ(mrc_evset_init(&s, mem.data(), &cfg, values.data(), on.data()), 0);
        rotate(cfg.n);
    }
    // A rotation of at most @active EVs.
    void rotate(u16 active, u64 seed = 42)
    {
        store.assign(MRC_SPRAY_LEN(active), 0);
        order = std::span<u16>(store).first(active);
        mrc_spray_init(&r, order.data(), active, seed);
    }
    void TearDown() override
    {
        if (!mem.empty()) {
            EXPECT_EQ(mrc_evset_check(&s), 0);
        }
    }

    u16 pick(u16 avoid = MRC_NONE16) { return mrc_spray_pick(&r, &s, avoid); }
    void sign(u16 i, mrc_ev_sign what) { mrc_evset_sign(&s, i, what, now); }
    u8 state(u16 i) { return s.ev[i].state; }
    // One packet of the peer came in by @plane.
    void heard(u8 plane)
    {
        mrc_arrivals h = {};

        mrc_arrivals_add(&h, plane);
        mrc_evset_arrived(&s, &h, now);
    }
    // So many packets that probes need not wait for want of them.
    void traffic() { mrc_evset_earn(&s, MRC_PROBE_COST * MRC_PROBE_BURST); }
    // The probes that may be sent now.
    std::vector<u16> probes()
    {
        std::vector<u16> v;
        u16 i;

        if (!idle)
            traffic();
        while (mrc_evset_probe_next(&s, now, &i))
            v.push_back(i);
        return v;
    }
    // Answer every probe of @idx at once until it is back.
    u32 answers_to_readmit(u16 idx)
    {
        u32 n = 0;

        while (state(idx) == MRC_EV_ASSUMED_BAD && n < 100) {
            now = std::max(now, s.next_probe_ns);
            for (u16 i : probes())
                if (i == idx) {
                    mrc_evset_probe_answer(&s, i, false, now);
                    n++;
                }
        }
        return n;
    }

    mrc_evset s = {};
    mrc_spray r = {};
    std::vector<u64> mem;
    std::vector<u16> store;
    std::span<u16> order; // the active set
    u64 now = 1 * kMs;
    bool idle = false; // no packets but ours
};

#endif
