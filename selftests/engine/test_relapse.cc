// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_relapse.cc - a plane that answers probes and loses data: when answers are believed.
#include "ev_rig.h"

namespace {

class relapse : public ev_rig {
protected:
    void SetUp() override
    {
        make(32, 4);
        for (u8 p = 0; p < 4; p++)
            mrc_evset_rtt(&s, p, 10 * kUs, now);
    }
    bool suspect() { return s.plane[1].suspect; }
    // Data of the second plane is lost; then each probe is answered. Returns how long it is left out, in us.
    u64 round()
    {
        u64 from = now;

        mrc_suspect_make(&s, 1, mrc_ev_tick(now), now);
        for (int i = 0; suspect() && i < 100000; i++) {
            now += 10 * kUs;
            for (u16 idx : probes())
                mrc_evset_probe_answer(&s, idx, false, now);
        }
        return (now - from) / kUs;
    }
};

TEST_F(relapse, the_first_answer_is_believed)
{
    EXPECT_LE(round(), 20u);
}

TEST_F(relapse, each_relapse_doubles_the_time)
{
    u64 was = 0;

    for (int i = 0; i < 4; i++)
        EXPECT_LE(round(), 20u); // some EVs of the plane may be dead
    for (u64 hold = 200; hold <= 102400; hold *= 2) {
        was = round();
        EXPECT_GE(was, hold);
        EXPECT_LE(was, hold + hold / 32 + 220);
    }
    EXPECT_LE(round(), was + 20); // and no more than that
}

TEST_F(relapse, what_lasted_is_no_relapse)
{
    round();
    now += 10 * kMs;
    EXPECT_LE(round(), 20u);
}

TEST_F(relapse, a_long_hold_is_remembered_for_long)
{
    for (int i = 0; i < 11; i++)
        round(); // the last took 12.8 ms
    now += 100 * kMs;
    EXPECT_GT(round(), 20000u);
    now += 300 * kMs;
    EXPECT_LE(round(), 20u);
}

TEST_F(relapse, a_plane_that_delivered_since_does_not_relapse)
{
    for (int i = 0; i < 8; i++)
        round();
    now += 20 * kUs;
    mrc_evset_delivered(&s, 1, 8, mrc_ev_tick(now - 10 * kUs), now);
    now += 10 * kUs;
    EXPECT_LE(round(), 20u);
}

TEST_F(relapse, a_port_that_returns_begins_anew)
{
    for (int i = 0; i < 8; i++)
        round();
    mrc_evset_local_planes(&s, 0xd, now);
    mrc_evset_local_planes(&s, 0xf, now);
    EXPECT_LE(round(), 20u);
}

TEST_F(relapse, one_plane_knows_nothing_of_another)
{
    for (int i = 0; i < 8; i++)
        round();
    mrc_suspect_make(&s, 2, mrc_ev_tick(now), now);
    now += 10 * kUs;
    for (u16 idx : probes())
        mrc_evset_probe_answer(&s, idx, false, now);
    EXPECT_FALSE(s.plane[2].suspect);
}

} // namespace
