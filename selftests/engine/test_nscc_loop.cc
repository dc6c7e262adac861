// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_nscc_loop.cc - NSCC in a closed loop: connections through one port that marks and trims.
#include "cc_rig.h"

#include <gtest/gtest.h>

using cc_rig::config;
using cc_rig::rig;

namespace {

constexpr u64 ms = 1000000;
constexpr u64 endless = 1u << 20;

// Packets that a port of @mbps takes in @ns.
double capacity(u64 mbps, u64 ns)
{
    return double(mbps) * double(ns) / 8000.0 / 4160.0;
}

std::vector<u64> delivered(const rig& r)
{
    std::vector<u64> v;

    for (auto& f : r.flows)
        v.push_back(f.delivered);
    return v;
}

TEST(nscc_loop, alone_it_fills_the_link)
{
    config c;
    rig r(c, 1);

    r.offer(0, endless);
    r.run(2 * ms);
    u64 start = r.delivered();
    r.run(4 * ms);
    EXPECT_GT(double(r.delivered() - start), 0.99 * capacity(100000, 2 * ms));
    EXPECT_EQ(r.rtx(), 0u);
}

TEST(nscc_loop, property_full_link_fair_shares_and_target_delay)
{
    for (u32 n : {2u, 3u, 4u, 8u, 16u}) {
        config c;

        c.seed = n;
        rig r(c, n);
        for (u32 i = 0; i < n; i++)
            r.offer(i, endless, i * 5000);
        r.run(5 * ms);
        auto before = delivered(r);
        u64 start = r.delivered(), rtx = r.rtx();
        r.rtt_sum_ns = r.rtt_n = 0;
        r.run(25 * ms);
        double all = double(r.delivered() - start), sum = 0, squares = 0;

        EXPECT_GT(all, 0.95 * capacity(100000, 20 * ms)) << n;
        for (u32 i = 0; i < n; i++) {
            double x = double(r.flows[i].delivered - before[i]);

            sum += x;
            squares += x * x;
        }
        EXPECT_GT(sum * sum / (n * squares), 0.9) << "Jain's index of " << n;
        // base 12 us, two packets' serialisation, target 9.5 us
        EXPECT_LT(double(r.rtt_sum_ns) / double(r.rtt_n), 27000) << n;
        EXPECT_LT(double(r.rtx() - rtx), 0.01 * all) << n;
    }
}

TEST(nscc_loop, half_of_the_rate_is_noticed_and_the_return_too)
{
    config c;
    rig r(c, 4);

    for (u32 i = 0; i < 4; i++)
        r.offer(i, endless);
    r.run(5 * ms);
    r.set_rate(50000);
    r.run(6 * ms);
    u64 start = r.delivered(), rtx = r.rtx();
    r.run(10 * ms);
    EXPECT_GT(double(r.delivered() - start), 0.95 * capacity(50000, 4 * ms));
    EXPECT_LT(double(r.rtx() - rtx), 0.03 * double(r.delivered() - start));
    r.set_rate(100000);
    r.run(11 * ms);
    start = r.delivered();
    r.run(15 * ms);
    EXPECT_GT(double(r.delivered() - start), 0.95 * capacity(100000, 4 * ms));
}

TEST(nscc_loop, late_comer_gets_its_share)
{
    config c;
    rig r(c, 2);

    r.offer(0, endless);
    r.offer(1, endless, 5 * ms);
    r.run(10 * ms);
    auto before = delivered(r);
    r.run(20 * ms);
    double a = double(r.flows[0].delivered - before[0]), b = double(r.flows[1].delivered - before[1]);
    EXPECT_GT(b, 0.7 * a);
    EXPECT_GT(a, 0.7 * b);
}

TEST(nscc_loop, connections_that_share_a_controller_are_one_to_the_network)
{
    config c;

    c.conns_per_cc = 8; // 8 connections on one controller against one on its own
    rig r(c, 9);
    for (u32 i = 0; i < 9; i++)
        r.offer(i, endless, i * 1000);
    r.run(5 * ms);
    auto before = delivered(r);
    r.run(25 * ms);
    double group = 0, single = double(r.flows[8].delivered - before[8]);
    for (u32 i = 0; i < 8; i++) {
        double x = double(r.flows[i].delivered - before[i]);

        group += x;
        EXPECT_GT(x, 0.5 * capacity(100000, 20 * ms) / 16) << i;
    }
    EXPECT_GT(group + single, 0.95 * capacity(100000, 20 * ms));
    EXPECT_GT(single, 0.5 * group);
    EXPECT_LT(single, 2 * group);
}

TEST(nscc_loop, network_that_drops_instead_of_trimming)
{
    config c;

    c.trim = false;
    c.queue_bytes = 450000;
    c.ecn_min = 75000;
    c.ecn_max = 225000;
    rig r(c, 4);
    for (u32 i = 0; i < 4; i++)
        r.offer(i, endless);
    r.run(5 * ms);
    u64 start = r.delivered(), rtx = r.rtx();
    r.run(15 * ms);
    EXPECT_GT(double(r.delivered() - start), 0.95 * capacity(100000, 10 * ms));
    EXPECT_LT(double(r.rtx() - rtx), 0.01 * double(r.delivered() - start));
}

TEST(nscc_loop, slow_and_long_networks)
{
    struct {
        u32 mbps;
        u64 rtt_ns;
    } nets[] = {{1000, 100000}, {10000, 50000}, {400000, 8000}, {800000, 20000}, {100000, 200000}};

    for (auto& net : nets) {
        config c;
        u32 bdp = u32(u64{net.mbps} * net.rtt_ns / 8000);

        c.rate_mbps = net.mbps;
        c.base_rtt_ns = net.rtt_ns;
        c.queue_bytes = bdp * 3 / 2 + 4 * c.mtu;
        c.ecn_min = bdp / 5 + c.mtu;
        c.ecn_max = bdp * 4 / 5 + 2 * c.mtu;
        rig r(c, 3);
        u64 span = 300 * (net.rtt_ns + 33280000ull / net.mbps);
        for (u32 i = 0; i < 3; i++)
            r.offer(i, endless);
        r.run(span);
        u64 start = r.delivered();
        r.run(2 * span);
        EXPECT_GT(double(r.delivered() - start), 0.95 * capacity(net.mbps, span) - 1)
            << net.mbps << " Mb/s " << net.rtt_ns << " ns";
    }
}

TEST(nscc_loop, same_input_same_output)
{
    std::vector<u64> first;

    for (int i = 0; i < 2; i++) {
        config c;
        rig r(c, 5);

        for (u32 f = 0; f < 5; f++)
            r.offer(f, 2000);
        r.run(3 * ms);
        if (i) {
            EXPECT_EQ(delivered(r), first);
        }
        first = delivered(r);
    }
}

} // namespace
