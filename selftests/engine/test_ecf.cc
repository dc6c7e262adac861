// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_ecf.cc - planes that are longer than others: which they are, and which packets take them.
#include "conn_rig.h"

extern "C" {
#include "paths/mrc_no_acks.h"
}

namespace {

constexpr u32 kPkt = 1024 + MRC_PKT_OVERHEAD, kHeld = 512 << 10;

// Four planes of 10 us, of which the second is what the test makes it.
class ecf : public rig {
protected:
    void SetUp() override
    {
        rig_cfg k = defaults();

        k.evs = 16;
        k.planes = 4;
        k.conn.mpr_max = 8;
        make(k);
    }
    // A round trip of data by @plane.
    void trip(u8 plane, u64 us)
    {
        now += us * kUs;
        mrc_evset_delivered(&evs, plane, static_cast<u16>(plane * 4), mrc_ev_tick(now - us * kUs), now);
        mrc_evset_rtt(&evs, plane, us * kUs, now);
    }
    void one_each(u64 second_us)
    {
        for (u8 p = 0; p < 4; p++)
            trip(p, p == 1 ? second_us : 10);
    }
    // So many that each plane was looked at once.
    void look(u64 second_us)
    {
        for (int i = 0; i < MRC_SHARE_SAMPLES + 2; i++)
            one_each(second_us);
    }
    u32 off(u32 pkts, bool spare = true) { return mrc_ecf_off(&evs, pkts * kPkt, kHeld, spare); }
    // What leaves by the second plane of a message of @len.
    size_t by_second(u32 len)
    {
        size_t n = 0;

        post(MRC_OP_WRITE, len);
        for (const mrc_txop &t : tx_data())
            n += t.hdr.plane == 1;
        return n;
    }
};

TEST_F(ecf, planes_of_a_length_are_not_longer)
{
    look(10);
    EXPECT_EQ(evs.longer, 0u);
    EXPECT_GT(by_second(32 << 10), 0u);
}

TEST_F(ecf, a_plane_eight_times_as_long_is_known_by_its_first_packet)
{
    one_each(160);
    EXPECT_EQ(evs.longer, 2u);
    EXPECT_EQ(by_second(32 << 10), 0u);
}

// The first packets may have met a queue.
TEST_F(ecf, half_as_long_again_takes_a_look)
{
    one_each(60);
    EXPECT_EQ(evs.longer, 0u);
    look(60);
    EXPECT_EQ(evs.longer, 2u);
}

TEST_F(ecf, a_little_longer_is_not_longer)
{
    look(14);
    EXPECT_EQ(evs.longer, 0u);
}

// Hosts answer after 300 us to 3 ms, as in a virtual machine: a plane with few samples had no lucky one yet.
TEST_F(ecf, a_plane_without_luck_is_not_longer)
{
    for (u64 us : {300, 3000, 1200, 2400, 600, 1800, 2700, 900, 1500, 2100})
        for (u8 p : {0, 2, 3})
            trip(p, us);
    for (int i = 0; i < MRC_SHARE_SAMPLES + 2; i++)
        trip(1, 1000);
    EXPECT_EQ(evs.longer, 0u);
}

TEST_F(ecf, what_it_would_delay_does_not_take_it)
{
    one_each(160);
    EXPECT_EQ(off(0), 2u);
    EXPECT_EQ(off(16), 2u);
    // 150 us are 15 windows of the shorter planes
    EXPECT_EQ(off(14 * kHeld / kPkt), 2u);
    EXPECT_EQ(off(16 * kHeld / kPkt), 0u);
}

TEST_F(ecf, a_full_window_is_for_the_shorter_planes)
{
    one_each(160);
    EXPECT_EQ(off(16 * kHeld / kPkt, false), 2u);
    evs.stood_ns = 3 * kUs; // a third of 10 us is more
    EXPECT_EQ(off(16 * kHeld / kPkt, false), 2u);
    evs.stood_ns = 4 * kUs;
    EXPECT_EQ(off(16 * kHeld / kPkt, false), 0u);
}

// A queue on one of the shorter planes is none of all.
TEST_F(ecf, the_least_queue_counts)
{
    look(160);
    for (u8 p : {0, 2, 3})
        evs.plane[p].stood_ns = p == 2 ? 1000 : 9000;
    mrc_ecf_update(&evs);
    EXPECT_EQ(evs.stood_ns, 1000u);
}

// Its probes pass its queue by. A second later it may have become longer.
TEST_F(ecf, a_slower_plane_has_its_share)
{
    look(160);
    mrc_evset_probe_rtt(&evs, 1, 11 * kUs, now);
    look(160);
    EXPECT_EQ(evs.longer, 0u);
    now += 1000 * kMs;
    look(160);
    EXPECT_EQ(evs.longer, 2u);
}

TEST_F(ecf, a_plane_that_becomes_longer_is_known_after_looks)
{
    look(10);
    for (int i = 0; i < 33 && !evs.longer; i++)
        look(160);
    EXPECT_EQ(evs.longer, 2u);
}

TEST_F(ecf, one_that_is_left_out_is_measured_now_and_then)
{
    one_each(160);
    EXPECT_FALSE(mrc_ecf_left_out(&evs, 2, now));
    EXPECT_FALSE(mrc_ecf_left_out(&evs, 2, now + 16 * 160 * kUs - 1));
    EXPECT_TRUE(mrc_ecf_left_out(&evs, 2, now + 16 * 160 * kUs));
    EXPECT_FALSE(mrc_ecf_left_out(&evs, 0, now + 1000 * kMs));
}

// Though data waits, which tests all other planes.
TEST_F(ecf, the_measurement_is_a_probe_by_that_plane)
{
    size_t probes = 0;

    one_each(160);
    EXPECT_EQ(by_second(4 << 10), 0u);
    now += 16 * 160 * kUs;
    post(MRC_OP_WRITE, 4 << 10);
    for (const mrc_txop &t : tx_all())
        if (t.hdr.opcode == MRC_OPC_PROBE) {
            EXPECT_EQ(t.hdr.plane, 1u);
            probes++;
        }
    EXPECT_EQ(probes, 1u);
}

TEST_F(ecf, an_answer_as_late_as_before_changes_nothing)
{
    one_each(160);
    mrc_evset_probe_rtt(&evs, 1, 100 * kUs, now);
    EXPECT_EQ(evs.longer, 2u);
}

TEST_F(ecf, a_plane_that_became_shorter_is_used_again)
{
    one_each(160);
    mrc_evset_probe_rtt(&evs, 1, 40 * kUs, now);
    EXPECT_EQ(evs.longer, 0u);
    EXPECT_GT(by_second(32 << 10), 0u);
}

TEST_F(ecf, acknowledgements_leave_by_the_shorter_ones)
{
    one_each(160);
    for (int i = 0; i < 40; i++)
        EXPECT_NE(evs.ev[mrc_spray_pick_ack(&c.spray, &evs, now, false)].plane, 1u);
}

// The peer does not send by it, either.
TEST_F(ecf, acknowledgements_by_it_are_not_missed)
{
    one_each(160);
    for (int i = 0; i < 100; i++, now += 10 * kUs)
        for (u8 p : {0, 2, 3})
            EXPECT_EQ(mrc_evset_acked_by(&evs, p, now), MRC_PLANES_MAX);
}

TEST_F(ecf, what_carries_nothing_has_no_part_in_the_mean)
{
    one_each(160);
    for (int i = 0; i < 50; i++)
        for (u8 p : {0, 2, 3})
            trip(p, 10);
    EXPECT_EQ(mrc_evset_mean_base_ns(&evs), 10 * kUs);
    trip(1, 160);
    EXPECT_EQ(mrc_evset_mean_base_ns(&evs), (3 * 10 + 160) * kUs / 4);
}

TEST_F(ecf, planes_that_are_down_are_no_measure)
{
    one_each(160);
    mrc_evset_local_planes(&evs, 2 | 4, now);
    EXPECT_EQ(evs.longer, 2u);
    mrc_evset_local_planes(&evs, 2, now);
    EXPECT_EQ(evs.longer, 0u);
    EXPECT_GT(by_second(4 << 10), 0u);
}

} // namespace
