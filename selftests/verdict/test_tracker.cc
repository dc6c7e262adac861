// SPDX-License-Identifier: GPL-2.0
// Verdicts over time: how soon, how long, and what flaps.
#include <gtest/gtest.h>

#include "../../tools/lib/verdict/tracker.h"
#include "../daemon/rules.h"
#include "world.h"

namespace mrcver {

namespace {

using world::At;
using world::Harm;
using world::World;

struct TrackerRig {
    mrcfab::Fabric f = mrcd::make_rule({.planes = 2, .t0s = 4, .t1s = 16, .hosts_per_t0 = 16});
    Layout l{f};
    World w{{2, 4, 16, 16}, l, 1};
    Tracker t{l};

    TrackerRig() { w.pauses_per_hour = w.bursts_per_hour = 0; }
    std::vector<Change> run(double seconds, double slice)
    {
        std::vector<Change> all;
        for (const double end = w.now() + seconds; w.now() < end - slice / 2;)
            for (const Change &c : t.add(w.slice(slice)))
                all.push_back(c);
        return all;
    }
    // From the fault to its verdict.
    double delay(const world::Fault &fault, double slice, double within)
    {
        run(5, 1);
        w.faults = {fault};
        w.faults[0].from = w.now();
        for (const double end = w.now() + within; w.now() < end;)
            for (const Change &c : t.add(w.slice(slice)))
                return c.when - w.faults[0].from;
        return 1e9;
    }
};

TEST(tracker, dead_nic_cable_in_40_ms)
{
    TrackerRig g;
    EXPECT_LE(g.delay({At::kHostUp, 1, 3, 0}, 0.01, 1), 0.041);
    EXPECT_TRUE(g.t.known().count({PartKind::kHostCable, 1, 3, 0}));
}

TEST(tracker, dead_uplink_in_1_s)
{
    TrackerRig g;
    EXPECT_LE(g.delay({At::kUp, 1, 3, 5}, 0.1, 5), 1.001);
    EXPECT_TRUE(g.t.known().count({PartKind::kUp, 1, 3, 5}));
}

// A host alone, at a rate that fills only the window of 12 s: the cable to the dead T1 is dead, and the T1 is not said to
// drop a third.
TEST(tracker, dead_for_a_part_of_the_window)
{
    const mrcfab::Fabric f = mrcd::make_rule({.planes = 2, .t0s = 2, .t1s = 2, .hosts_per_t0 = 2});
    const Layout l(f);
    World w({2, 2, 2, 2}, l, 1);
    Tracker alone(l, true);
    bool found = false;

    w.pauses_per_hour = w.bursts_per_hour = 0;
    w.faults = {{At::kT1, 1, 2, 0}};
    w.faults[0].from = w.now() + 15;
    for (unsigned i = 0; i < 24; i++) {
        w.slice(0.96);
        Evidence e = w.slice(0.04);   // a twenty-fifth of the rate
        e.from -= 0.96;
        std::erase_if(e.failed, [](const auto &x) { return x.first.host != 1; });
        std::erase_if(e.hosts, [](const auto &x) { return x.first != 1; });
        for (const Change &c : alone.add(e))
            if (c.bad) {
                found = true;
                EXPECT_GT(alone.known().at(c.part).finding.loss, 0.9) << part_name(l, c.part) << " after " << c.when - w.faults[0].from;
            }
    }
    EXPECT_TRUE(found);
}

// The cables of one host, one after the other: none of them is found again, and the NIC is not to blame.
TEST(tracker, one_fault_after_the_other)
{
    const mrcfab::Fabric f = mrcd::make_rule({.planes = 4, .t0s = 2, .t1s = 2, .hosts_per_t0 = 2});
    const Layout l(f);
    World w({4, 2, 2, 2}, l, 1);
    Tracker alone(l, true);
    std::vector<Part> blamed;

    w.pauses_per_hour = w.bursts_per_hour = 0;
    for (const unsigned plane : {4, 1, 2}) {
        w.faults = {{At::kHostDown, plane, 1, 0}};
        w.faults[0].to = w.now() + 20;
        for (unsigned i = 0; i < 100; i++) {
            Evidence e = w.slice(1);
            std::erase_if(e.failed, [](const auto &x) { return x.first.host != 1; });
            std::erase_if(e.hosts, [](const auto &x) { return x.first != 1; });
            for (const Change &c : alone.add(e))
                if (c.bad)
                    blamed.push_back(c.part);
        }
    }
    EXPECT_EQ(blamed, (std::vector<Part>{{PartKind::kHostCable, 4, 1, 0}, {PartKind::kHostCable, 1, 1, 0}, {PartKind::kHostCable, 2, 1, 0}}));
}

TEST(tracker, gray_loss_of_1_percent)
{
    TrackerRig g;
    EXPECT_LE(g.delay({At::kDown, 2, 3, 5, Harm::kDrop, 0.01}, 1, 60), 13);
    EXPECT_TRUE(g.t.known().count({PartKind::kDown, 2, 3, 5}));
}

// Good after a minute without loss, not before.
TEST(tracker, comes_back)
{
    TrackerRig g;
    const Part up{PartKind::kUp, 1, 3, 5};

    g.run(5, 1);
    g.w.faults = {{At::kUp, 1, 3, 5}};
    g.w.faults[0].from = g.w.now();
    g.w.faults[0].to = g.w.now() + 3;
    auto changes = g.run(55, 1);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_TRUE(changes[0].bad);
    EXPECT_EQ(changes[0].part, up);
    changes = g.run(20, 1);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_FALSE(changes[0].bad);
    EXPECT_NEAR(changes[0].when - g.w.faults[0].to, 60, 2);
    EXPECT_TRUE(g.run(120, 5).empty());
}

TEST(damper, third_flap_holds)
{
    Damper d;

    d.bad(0);
    EXPECT_FALSE(d.good(59, 0));
    EXPECT_TRUE(d.good(60, 0));
    d.bad(100);
    EXPECT_TRUE(d.good(160, 100));
    d.bad(200);
    EXPECT_EQ(d.held_until(), 800);
    EXPECT_FALSE(d.good(790, 200));
    EXPECT_TRUE(d.good(800, 200));
    d.bad(900);                       // twenty minutes now
    EXPECT_FALSE(d.good(2099, 900));
    EXPECT_TRUE(d.good(2100, 900));
    double now = 2100;
    for (unsigned i = 0; i < 6; i++) {
        d.bad(now);
        EXPECT_LE(d.held_until() - now, 7200);
        now = d.held_until();
        EXPECT_TRUE(d.good(now, 0));
    }
    EXPECT_EQ(d.held_until() - 7200, now - 7200);
    d.bad(now + 700);                 // a new life
    EXPECT_TRUE(d.good(now + 760, now + 700));
}

// Bounded, however long it goes on; old failures are not found again.
TEST(tracker, hours)
{
    TrackerRig g;

    g.w.faults = {{At::kT1, 1, 5, 0}};
    g.w.faults[0].from = g.w.now() + 10;
    g.w.faults[0].to = g.w.now() + 20;
    const auto changes = g.run(2 * 3600, 10);
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].part, (Part{PartKind::kT1, 1, 5, 0}));
    EXPECT_TRUE(g.t.known().empty());
}

}   // namespace

}   // namespace mrcver
