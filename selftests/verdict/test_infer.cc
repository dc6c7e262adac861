// SPDX-License-Identifier: GPL-2.0
// One fault at a time, seen for a while: the right part, direction and symptom.
#include <gtest/gtest.h>

#include "../../tools/lib/verdict/infer.h"
#include "../../tools/lib/verdict/sentence.h"
#include "../../tools/lib/verdict/symptom.h"
#include "../daemon/rules.h"
#include "world.h"

namespace mrcver {

namespace {

using world::At;
using world::Harm;
using world::World;

struct InferRig {
    world::Dims dims{2, 4, 8, 8};
    mrcfab::Fabric f = mrcd::make_rule({.planes = 2, .t0s = 4, .t1s = 8, .hosts_per_t0 = 8});
    Layout l{f};
    Plans plans{l};
    World w{dims, l, 1};

    InferRig() { w.pauses_per_hour = w.bursts_per_hour = 0; }
    Inferred after(const world::Fault &fault, double seconds)
    {
        w.faults = {fault};
        return infer(l, w.slice(seconds), plans);
    }
};

void is(const Inferred &r, const Part &part, Symptom s = Symptom::kLoss)
{
    ASSERT_EQ(r.findings.size(), 1u);
    const Finding &f = r.findings[0];
    EXPECT_EQ(f.part, part) << static_cast<int>(f.part.kind) << " " << f.part.a << " " << f.part.b;
    EXPECT_EQ(f.symptom, s);
    EXPECT_TRUE(f.confirmed);
    EXPECT_GT(f.confidence, 0.9);
    EXPECT_TRUE(r.explained());
}

TEST(infer, dead_links)
{
    InferRig g;

    is(g.after({At::kUp, 1, 2, 3}, 1), {PartKind::kUp, 1, 2, 3});
    is(g.after({At::kDown, 2, 4, 8}, 1), {PartKind::kDown, 2, 4, 8});
    is(g.after({At::kHostUp, 2, 5, 0}, 1), {PartKind::kHostCable, 2, 5, 0});
    is(g.after({At::kT1, 1, 3, 0}, 1), {PartKind::kT1, 1, 3, 0});
    is(g.after({At::kT0, 1, 3, 0}, 1), {PartKind::kT0, 1, 3, 0});
    is(g.after({At::kPlane, 1, 0, 0}, 1), {PartKind::kPlane, 1, 0, 0});
    is(g.after({At::kNic, 1, 7, 0}, 1), {PartKind::kNic, 0, 7, 0});
}

TEST(infer, gray)
{
    InferRig g;

    is(g.after({At::kUp, 1, 2, 3, Harm::kDrop, 0.01}, 60), {PartKind::kUp, 1, 2, 3});
    is(g.after({At::kDown, 1, 2, 3, Harm::kDrop, 0.01}, 60), {PartKind::kDown, 1, 2, 3});
    is(g.after({At::kT1, 2, 3, 0, Harm::kDrop, 0.01}, 60), {PartKind::kT1, 2, 3, 0});
    is(g.after({At::kHostDown, 2, 9, 0, Harm::kDrop, 0.01}, 60), {PartKind::kHostCable, 2, 9, 0});
}

TEST(infer, symptoms)
{
    InferRig g;

    is(g.after({At::kUp, 1, 2, 3, Harm::kFull, 1}, 120), {PartKind::kUp, 1, 2, 3}, Symptom::kFullSize);
    is(g.after({At::kDown, 1, 2, 3, Harm::kCorrupt, 0.02}, 60), {PartKind::kDown, 1, 2, 3},
       Symptom::kCorruption);
    is(g.after({At::kHostUp, 1, 4, 0, Harm::kOtherPlane, 1}, 1), {PartKind::kHostCable, 1, 4, 0},
       Symptom::kMisCabled);
    is(g.after({At::kUp, 1, 2, 3, Harm::kQueue, 0.05}, 30), {PartKind::kUp, 1, 2, 3}, Symptom::kCongestion);
    world::Fault astray{At::kHostDown, 1, 4, 0, Harm::kElsewhere};
    astray.other = 6;
    const auto r = g.after(astray, 1);
    is(r, {PartKind::kHostCable, 1, 4, 0}, Symptom::kMisConfigured);
    EXPECT_EQ(r.findings[0].gets_it, 6u);
}

// The cables of two hosts have changed places at their T0.
TEST(infer, exchanged_cables)
{
    InferRig g;
    world::Fault one{At::kHostDown, 1, 4, 0, Harm::kElsewhere}, two{At::kHostDown, 1, 6, 0, Harm::kElsewhere};

    one.other = 6;
    two.other = 4;
    g.w.faults = {one, two};
    const auto r = infer(g.l, g.w.slice(1), g.plans);
    ASSERT_EQ(r.findings.size(), 2u);
    for (const Finding &f : r.findings) {
        EXPECT_EQ(f.symptom, Symptom::kMisCabled);
        EXPECT_EQ(f.part.a + f.gets_it, 10u);
        EXPECT_NE(sentence(g.l, f, r.findings).find("receive each other's packets"), std::string::npos);
    }
}

// Likewise, where the T0 has no other hosts: it is not dead, since probes of others cross it.
TEST(infer, exchanged_cables_of_all_hosts_of_a_t0)
{
    const mrcfab::Fabric f = mrcd::make_rule({.planes = 4, .t0s = 2, .t1s = 2, .hosts_per_t0 = 2});
    const Layout l(f);
    Plans plans(l);
    World w({4, 2, 2, 2}, l, 1);

    w.pauses_per_hour = w.bursts_per_hour = 0;
    world::Fault one{At::kHostDown, 1, 1, 0, Harm::kElsewhere}, two{At::kHostDown, 1, 2, 0, Harm::kElsewhere};
    one.other = 2;
    two.other = 1;
    w.faults = {one, two};
    for (const double seconds : {1, 12, 120}) {
        const auto r = infer(l, w.slice(seconds), plans);
        for (const Finding &x : r.findings) {
            EXPECT_EQ(x.part.kind, PartKind::kHostCable) << seconds << " " << sentence(l, x, r.findings);
            EXPECT_EQ(x.symptom, Symptom::kMisCabled) << seconds << " " << sentence(l, x, r.findings);
            EXPECT_GT(x.since, 0);
        }
        EXPECT_EQ(r.findings.size(), 2u) << seconds;
    }
}

TEST(infer, several_at_once)
{
    InferRig g;

    g.w.faults = {{At::kUp, 1, 2, 3}, {At::kT1, 1, 5, 0}, {At::kHostUp, 2, 20, 0, Harm::kDrop, 0.05}};
    const auto r = infer(g.l, g.w.slice(10), g.plans);
    std::set<Part> found;
    for (const Finding &f : r.findings)
        found.insert(f.part);
    EXPECT_EQ(found, (std::set<Part>{{PartKind::kUp, 1, 2, 3}, {PartKind::kT1, 1, 5, 0},
                                     {PartKind::kHostCable, 2, 20, 0}}));
}

TEST(infer, nothing_to_find)
{
    InferRig g;
    const auto r = infer(g.l, g.w.slice(60), g.plans);

    EXPECT_TRUE(r.findings.empty());
    EXPECT_EQ(r.reporting, 32u);
}

// A pause that the module did not see, so short that the probes it delays are of one plane by chance.
TEST(infer, short_pause)
{
    InferRig g;
    auto e = g.w.slice(10);
    Counts n;

    n.sent = 1000;
    n.control_sent = 500;
    n.lost = n.late = 6;
    n.control_lost = 3;
    e.failed[Probe{ProbeKind::kT0Loop, 2, 5, 1}] += {n, e.from, e.to};
    is(infer(g.l, e, g.plans), {PartKind::kNic, 0, 5, 0}, Symptom::kStalled);
}

// Two queues one after the other, on the way of the same probes: most losses fit both.
TEST(infer, few_losses_of_queues)
{
    const InferRig g;
    Finding f;
    Counts n;

    f.part = {PartKind::kUp, 1, 2, 3};
    n.sent = 375;
    n.control_sent = 188;
    n.lost = 3;
    n.queued = 18;
    n.rtt_low = 12000;
    n.rtt_sum = 45000 * n.back();
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kCongestion);
    n.queued = 0;
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kCongestion) << "the switch marks nothing";
    n.rtt_sum = 30000 * n.back();
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kLoss) << "too few to tell by the class";
    n.lost = 5;
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kDataClass);
    n.queued = 18;
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kCongestion);
    n.control_lost = 1;
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kLoss) << "control is lost, too";
}

// One of the observers pauses meanwhile, which delays a control packet.
TEST(infer, queue_and_pause)
{
    const InferRig g;
    Finding f;
    Counts n;

    f.part = {PartKind::kDown, 1, 2, 3};
    n.sent = 876;
    n.control_sent = 434;
    n.lost = 11;
    n.control_lost = 1;
    n.late = 3;
    n.queued = 49;
    n.rtt_low = 12000;
    n.rtt_sum = 37000 * n.back();
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kCongestion);
    n.late = 0;
    EXPECT_EQ(symptom_of(f, n, g.l, {}), Symptom::kLoss) << "control is lost";
}

// One host alone names what it cannot tell apart, and is not confirmed by anybody.
TEST(infer, alone)
{
    InferRig g;
    g.w.faults = {{At::kUp, 1, 1, 1}};
    auto e = g.w.slice(1);
    Evidence mine;

    mine.from = e.from;
    mine.to = e.to;
    for (unsigned host = 1; host <= 8; host++) {
        const auto has = std::any_of(e.failed.begin(), e.failed.end(), [&](const auto &x) {
            return x.first.host == host && x.first.kind == ProbeKind::kT1Loop;
        });
        if (!has)
            continue;
        mine.hosts[host] = e.hosts[host];
        for (const auto &[p, r] : e.failed)
            if (p.host == host)
                mine.failed[p] = r;
        break;
    }
    ASSERT_EQ(mine.hosts.size(), 1u);
    const auto r = infer(g.l, mine, g.plans, {}, true);
    ASSERT_GE(r.findings.size(), 1u);
    EXPECT_EQ(r.findings[0].part, (Part{PartKind::kUp, 1, 1, 1}));
    EXPECT_FALSE(r.findings[0].confirmed);
}

// Both ways of an uplink explain these losses alike: T1 loops only.
Evidence either_way()
{
    Evidence e;

    e.from = 100;
    e.to = 101;
    for (const unsigned host : {1u, 2u}) {
        e.hosts[host].planes.resize(2, {100, 50, 0});
        Result r{{}, 100, 101};
        r.n.sent = 25;
        r.n.lost = 10;
        e.failed[{ProbeKind::kT1Loop, 1, host, 1, 3, 0, 0}] = r;
    }
    return e;
}

TEST(infer, traffic_decides_between_equals)
{
    InferRig g;
    const Part up{PartKind::kUp, 1, 1, 3}, down{PartKind::kDown, 1, 1, 3};
    Evidence e = either_way();

    auto r = infer(g.l, e, g.plans);
    ASSERT_EQ(r.findings.size(), 1u);
    EXPECT_GE(r.findings[0].instead.size(), 3u);
    EXPECT_LT(r.findings[0].confidence, 0.6);
    for (const Part &sick : {up, down}) {
        e.traffic = {{{sick, {1000, 300, 0, 0}}}, {16000, 300, 0, 0}};
        e.traffic.all.evs = 16;
        r = infer(g.l, e, g.plans);
        ASSERT_EQ(r.findings.size(), 1u);
        EXPECT_EQ(r.findings[0].part, sick);
        // The T1 of the EVs that lost is still possible.
        EXPECT_EQ(r.findings[0].instead, (std::vector<Part>{{PartKind::kT1, 1, 3, 0}}));
        EXPECT_GT(r.findings[0].confidence, 0.8);
        EXPECT_NE(sentence(g.l, r.findings[0], r.findings).find("; traffic lost 300 of 1000 packets by it)"), std::string::npos)
            << sentence(g.l, r.findings[0], r.findings);
        // The same, of EVs that were withdrawn before anybody looked.
        e.traffic = {{{sick, {0, 0, 4, 3}}}, {1000, 0, 64, 4}};
        r = infer(g.l, e, g.plans);
        EXPECT_EQ(r.findings[0].part, sick);
        EXPECT_NE(sentence(g.l, r.findings[0], r.findings).find("; 75 % of the EVs over it are withdrawn)"), std::string::npos)
            << sentence(g.l, r.findings[0], r.findings);
    }
}

// It is weak: of all links alike it says nothing, few losses say nothing, and alone it blames nobody.
TEST(infer, traffic_is_weak)
{
    InferRig g;
    const Part up{PartKind::kUp, 1, 1, 3}, other{PartKind::kUp, 1, 1, 4};
    TrafficSeen alike{{{up, {1000, 300, 4, 2}}, {other, {1000, 300, 4, 2}}}, {2000, 600, 8, 4}};
    TrafficSeen few{{{up, {1000, 4, 4, 1}}}, {100000, 4, 64, 1}};
    TrafficSeen lie{{{up, {1'000'000'000'000, 1'000'000'000'000, 1000, 1000}}}, {1'000'000'000'000, 1'000'000'000'000, 1000, 1000}};
    Evidence e;

    EXPECT_EQ(alike.support(up), 0);
    EXPECT_EQ(few.support(up), 0);
    EXPECT_EQ(lie.support(up), 0);   // all that was sent went there
    lie.all.sent *= 2;
    EXPECT_EQ(lie.support(up), kSupportMost);
    EXPECT_EQ(lie.support({PartKind::kT1, 1, 3, 0}), kSupportMost);
    EXPECT_EQ(lie.support({PartKind::kHostCable, 1, 1, 0}), 0);
    EXPECT_EQ(TrafficSeen{}.support(up), 0);
    e.from = 100;
    e.to = 101;
    e.hosts[1].planes.resize(2, {100, 50, 50});
    e.traffic = lie;
    EXPECT_TRUE(infer(g.l, e, g.plans).findings.empty());
    // Fewer lost probes than anybody is blamed for.
    Result r{{}, 100, 101};
    r.n.sent = 25;
    r.n.lost = 2;
    e.failed[{ProbeKind::kT1Loop, 1, 1, 1, 3, 0, 0}] = r;
    for (const Finding &f : infer(g.l, e, g.plans).findings)
        EXPECT_FALSE(f.confirmed);
}

// What three old faults of other parts have left in a long window, on three planes, is not the NIC's. A NIC that drops as
// small a share drops on all planes, and more with time.
TEST(infer, a_nic_drops_on_all_planes)
{
    const mrcfab::Fabric f = mrcd::make_rule({.planes = 4, .t0s = 2, .t1s = 2, .hosts_per_t0 = 2});
    const Layout l(f);
    Plans plans(l);
    const auto losses = [&](std::array<unsigned, 4> of_plane) {
        Evidence e;
        e.from = 100;
        e.to = 1300;
        e.hosts[1].planes.resize(4, {2000, 1000, 1000});
        for (unsigned p = 1; p <= 4; p++) {
            Result r{{}, 200, 300};
            r.n.sent = 2000;
            r.n.lost = of_plane[p - 1];
            if (r.n.lost)
                e.failed[{ProbeKind::kT0Loop, p, 1, 1, 0, 0, 0}] = r;
        }
        return e;
    };
    const auto blamed = [&](const std::array<unsigned, 4> &n, bool alone) {
        const auto r = infer(l, losses(n), plans, {}, alone);
        return std::any_of(r.findings.begin(), r.findings.end(), [](const Finding &x) {
            return x.part.kind == PartKind::kNic && x.fits && x.losses >= kLossesWanted;
        });
    };

    for (const bool alone : {false, true}) {
        EXPECT_FALSE(blamed({2, 2, 1, 0}, alone));
        EXPECT_FALSE(blamed({2, 1, 1, 1}, alone));
        EXPECT_FALSE(blamed({8, 8, 8, 0}, alone));
        EXPECT_TRUE(blamed({6, 5, 6, 4}, alone));
    }
}

}   // namespace

}   // namespace mrcver
