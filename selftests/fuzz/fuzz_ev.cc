// SPDX-License-Identifier: GPL-2.0
// fuzz_ev.cc - a path set and two rotations under any sequence of signs, losses, deliveries, round
// trips, suspicions, probes, answers and planes that come and go, with any times. The counts agree,
// the floor holds, a pick is usable whenever there is something to pick, probes cost what was
// earned; in the end bad EVs come back and planes take equal shares.
#include "bytes.h"
#include "work.h"

#include <algorithm>
#include <map>
#include <vector>

extern "C" {
#include "paths/mrc_ev.h"
#include "paths/mrc_suspect.h"
}

namespace {

constexpr u64 us = 1000, ms = 1000 * us;
constexpr u64 work_max = 100000; // basic blocks per call, for the few EVs of these sets

class ev_run {
public:
    explicit ev_run(bytes &in) : in_(in)
    {
        static const u16 sizes[] = {1, 2, 5, 16, 64};
        std::vector<u32> values;
        std::vector<u8> planes;
        mrc_evset_cfg k = {};

        k.n = in.pick(sizes);
        k.n_planes = static_cast<u8>(in.between(1, std::min<u32>(k.n, 6)));
        k.min_active = static_cast<u16>(in.below(k.n + 1u));
        k.readmit = static_cast<u8>(in.below(4));
        k.counts = in.below(2);
        k.planes_up = (1u << k.n_planes) - 1;
        k.probe_ns = in.below(3) * 50 * us;
        for (u16 i = 0; i < k.n; i++) {
            values.push_back(in.below(100)); // duplicates are allowed
            planes.push_back(static_cast<u8>(in.below(k.n_planes)));
        }
        std::sort(planes.begin(), planes.end());
        // Blocks of exactly their size, for ASan.
        mem_.reset(static_cast<u64 *>(std::malloc(mrc_evset_mem_size(k.n, k.counts))));
        REQUIRE(!mrc_evset_init(&s_, mem_.get(), &k, values.data(), planes.data()));
        for (int i = 0; i < 2; i++) {
            // Room for one EV of every plane at least.
            u16 n = static_cast<u16>(in.between(k.n_planes, k.n));

            order_[i].reset(static_cast<u16 *>(std::malloc(MRC_SPRAY_LEN(n) * sizeof(u16))));
            mrc_spray_init(&r_[i], order_[i].get(), n, in.below(8));
        }
    }

    void run()
    {
        for (u32 i = 0; i < 500 && in_.more(); i++) {
            work_left = work_max;
            step();
            work_left = ~0ull;
            sound();
        }
        recover();
        equal_shares();
    }

private:
    void sound()
    {
        int rc = mrc_evset_check(&s_);

        if (rc)
            DIE("mrc_evset_check(): line %d", rc);
    }
    u16 some_ev() { return static_cast<u16>(in_.below(s_.n)); }
    u32 skips() const
    {
        return static_cast<u32>(std::count_if(s_.ev, s_.ev + s_.n, [](const mrc_ev &e) {
            return e.state == MRC_EV_SKIP;
        }));
    }

    void step()
    {
        u16 i;

        switch (in_.below(16)) {
        case 0:
        case 1:
            sign();
            break;
        case 2:
            mrc_evset_local_planes(&s_, in_.extreme<u32>(), now_);
            break;
        case 3:
            mrc_evset_remote_planes(&s_, in_.extreme<u32>(), now_);
            break;
        case 4:
            now_ += in_.below(2) ? in_.below(300) * us : in_.extreme<u32>() * 10ull;
            break;
        case 5:
            (void)mrc_evset_set_state(&s_, in_.below(2) ? some_ev() : in_.any<u16>(),
                                      in_.any<u8>() & 3, now_);
            break;
        case 6:
            probes();
            break;
        case 7:
            mrc_evset_probe_answer(&s_, in_.below(4) ? some_ev() : in_.extreme<u16>(),
                                   in_.below(2), now_);
            break;
        case 8:
            if (mrc_evset_verify_next(&s_, &r_[in_.below(2)], now_, &i))
                REQUIRE(i < s_.n && mrc_ev_usable(&s_, i));
            break;
        case 9:
        case 10:
            pick();
            break;
        case 11:
            (void)mrc_evset_overdue(&s_, some_plane(), some_tick(), now_);
            break;
        case 12:
            i = some_ev();
            mrc_evset_delivered(&s_, static_cast<u8>(s_.ev[i].plane), i, some_tick(), now_);
            break;
        case 13:
            lose();
            break;
        case 14:
            mrc_evset_rtt(&s_, some_plane(), in_.below(2) ? in_.below(300) * us : in_.extreme<u64>(), now_);
            plane_sound(some_plane());
            break;
        case 15:
            heard_or_false_alarm();
            break;
        }
    }

    u8 some_plane() { return static_cast<u8>(in_.below(s_.n_planes)); }
    // When something was sent: lately, or any number.
    u32 some_tick()
    {
        return in_.below(4) ? mrc_ev_tick(now_) - in_.below(3000) : in_.extreme<u32>();
    }

    // As a sign: never below the floor; on a suspect plane it takes nothing.
    void lose()
    {
        u16 i = some_ev(), before = s_.usable;
        u8 p = static_cast<u8>(s_.ev[i].plane), was = s_.ev[i].state & 3;
        bool suspect = s_.plane[p].suspect;

        mrc_evset_lost(&s_, i, some_tick(), in_.below(2), now_);
        if (suspect)
            REQUIRE(s_.ev[i].state == was);
        if (!s_.plane[p].suspect)
            REQUIRE(s_.usable >= before || s_.usable >= s_.floor);
    }

    void heard_or_false_alarm()
    {
        if (in_.below(2)) {
            for (u64 n = in_.below(4); n; n--)
                mrc_arrivals_add(&heard_, some_plane());
            heard_.doubt |= !in_.below(16);
            mrc_evset_arrived(&s_, &heard_, now_);
            return;
        }
        u16 i = some_ev();
        u8 p = static_cast<u8>(s_.ev[i].plane);

        u32 tick = some_tick();

        mrc_evset_false_alarm(&s_, p, in_.below(2) ? i : MRC_NONE16, tick,
                              in_.below(2) ? in_.below(999) * us : in_.extreme<u64>(), now_);
        REQUIRE(!s_.plane[p].suspect || static_cast<s32>(tick - s_.plane[p].suspect_tick) < 0);
        plane_sound(p);
    }

    void plane_sound(u8 p)
    {
        u64 srtt = mrc_evset_srtt_ns(&s_, p), lost = mrc_evset_lost_ns(&s_, p);

        REQUIRE(srtt <= 1000 * ms && lost >= srtt && lost <= 70000 * ms);
        REQUIRE(mrc_evset_late_ns(&s_, p) >= srtt);
        REQUIRE(mrc_evset_share(&s_, p) && mrc_evset_share(&s_, p) <= MRC_SHARE_FULL);
        (void)mrc_evset_mean_base_ns(&s_);
        (void)mrc_evset_patience_ns(&s_);
    }

    // A sign never takes the set below its floor.
    void sign()
    {
        u16 before = s_.usable;

        mrc_evset_sign(&s_, some_ev(), static_cast<mrc_ev_sign>(in_.below(MRC_SIGN_DELIVERED + 1)),
                       now_);
        REQUIRE(s_.usable >= before || s_.usable >= s_.floor);
    }

    void probes()
    {
        u16 i;
        u32 n = 0;

        for (; mrc_evset_probe_next(&s_, now_, &i); n++) {
            REQUIRE(i < s_.n && (s_.ev[i].state == MRC_EV_ASSUMED_BAD ||
                                 s_.plane[s_.ev[i].plane].suspect ||
                                 s_.plane[s_.ev[i].plane].query_ev == i));
            REQUIRE(mrc_evset_plane_live(&s_, static_cast<u8>(s_.ev[i].plane)));
            REQUIRE(n < MRC_PROBE_BURST);
        }
        REQUIRE(s_.next_probe_ns > now_);
    }

    void pick()
    {
        mrc_spray &r = r_[in_.below(2)];
        u16 avoid = in_.below(2) ? MRC_NONE16 : some_ev(), usable = s_.usable;
        u32 skipped = skips();
        bool ack = in_.below(3) == 0;
        u32 off = in_.below(4) ? 0 : in_.any<u32>();
        u16 got = ack ? mrc_spray_pick_ack(&r, &s_, now_, in_.below(2)) :
                        mrc_spray_pick_off(&r, &s_, avoid, off);

        REQUIRE((got == MRC_NONE16) == !usable);
        REQUIRE(skips() <= skipped && skips() + 1 >= skipped);
        if (got == MRC_NONE16)
            return;
        REQUIRE(got < s_.n && mrc_ev_usable(&s_, got));
        if (!ack && got == avoid)
            REQUIRE(usable == 1);
        if (!ack && off >> s_.ev[got].plane & 1 && avoid == MRC_NONE16)
            REQUIRE(!(s_.in_use & ~off));
    }

    // Answers come again: whatever was called bad returns, within its back-off.
    void recover()
    {
        u16 i;

        mrc_evset_local_planes(&s_, ~0u, now_);
        mrc_evset_remote_planes(&s_, ~0u, now_);
        for (u32 n = 0; s_.bad || s_.next_probe_ns != MRC_TIME_NEVER; n++) {
            mrc_evset_earn(&s_, 100);
            // What is as old as ticks can tell looks up to a second ahead: looks for nothing.
            REQUIRE(n < 200u * s_.n + 1000 + 1100 * ms / s_.probe_ns &&
                    s_.next_probe_ns != MRC_TIME_NEVER);
            now_ = std::max(now_, s_.next_probe_ns);
            while (mrc_evset_probe_next(&s_, now_, &i)) {
                now_ += 10 * us;
                mrc_evset_probe_answer(&s_, i, false, now_);
            }
        }
        sound();
    }

    // All well: planes take strict turns.
    void equal_shares()
    {
        std::map<u8, u32> share;
        u32 rounds = 2u * s_.n;
        u16 i;

        for (i = 0; i < s_.n; i++)
            REQUIRE(!mrc_evset_set_state(&s_, i, MRC_EV_GOOD, now_));
        recover();      // a suspect plane may have had none to be asked by
        for (i = 0; i < s_.n_planes; i++) {
            // Round trips without a sign give weights back.
            mrc_evset_false_alarm(&s_, static_cast<u8>(i), MRC_NONE16, mrc_ev_tick(now_), 0,
                                  now_);
            for (u32 n = 0; n < 600; n++, now_ += 1100 * ms)
                mrc_evset_rtt(&s_, static_cast<u8>(i), 50 * us, now_);
            REQUIRE(mrc_evset_share(&s_, static_cast<u8>(i)) == MRC_SHARE_FULL);
        }
        for (i = 0; i < s_.n; i++)
            share[s_.ev[i].plane] = 0;
        for (u32 n = 0; n < rounds * share.size(); n++)
            share[s_.ev[mrc_spray_pick(&r_[0], &s_, MRC_NONE16)].plane]++;
        for (auto [plane, n] : share)
            REQUIRE(n == rounds);
    }

    struct free_it {
        void operator()(void *p) const { std::free(p); }
    };

    bytes &in_;
    u64 now_ = 1000 * ms;
    mrc_arrivals heard_ = {};
    mrc_evset s_;
    mrc_spray r_[2];
    std::unique_ptr<u64, free_it> mem_;
    std::unique_ptr<u16, free_it> order_[2];
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);

    ev_run(in).run();
    return 0;
}
