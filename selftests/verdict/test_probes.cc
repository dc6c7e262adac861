// SPDX-License-Identifier: GPL-2.0
// Who probes what: every uplink has its observers, all hosts send equally much, and each probe
// comes back over the switches that it names.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "../../tools/lib/fabric/forward.h"
#include "../../tools/lib/verdict/probes.h"
#include "../daemon/fabrics.h"
#include "../daemon/rules.h"

namespace mrcver {

namespace {

using mrcd::fabric_text;
using mrcd::make_rule;
using mrcfab::Fabric;

// The directions of the uplinks of a T0 that each host's probes cross.
struct Watchers {
    std::map<unsigned, std::set<unsigned>> up, down;   // by T1: hosts
};

void note(Watchers &w, const Probe &p)
{
    if (p.kind == ProbeKind::kT0Loop)
        return;
    w.up[p.up].insert(p.host);
    w.down[p.kind == ProbeKind::kSplit ? p.down : p.up].insert(p.host);
}

double per_second(const std::vector<Planned> &plan)
{
    double sum = 0;

    for (const Planned &p : plan)
        sum += p.per_second;
    return sum;
}

TEST(probes, reference_fabric)
{
    const Fabric f = make_rule(mrcd::whole_size());
    const Layout l(f);

    ASSERT_EQ(l.hosts(), 131072u);
    // The rule is the same at each T0 and in each plane: some of them, the first and last among them.
    for (const unsigned t0 : {1u, 2u, 300u, 512u})
        for (const unsigned plane : {1u, 8u}) {
            Watchers w;
            std::map<unsigned, double> load;   // of uplinks, upwards
            for (const unsigned host : l.hosts_of(plane, t0)) {
                const auto plan = plan_probes(l, host, Rate::kNormal);
                ASSERT_NEAR(per_second(plan), 1600, 0.01);   // operations.md
                for (const Planned &p : plan)
                    if (p.probe.plane == plane) {
                        note(w, p.probe);
                        load[p.probe.up] += p.per_second;
                    }
            }
            ASSERT_EQ(w.up.size(), 256u);
            for (unsigned t1 = 1; t1 <= 256; t1++) {
                ASSERT_GE(w.up[t1].size(), 4u) << t1;
                ASSERT_GE(w.down[t1].size(), 4u) << t1;
                ASSERT_NEAR(load[t1], 100, 0.01) << t1;
            }
        }
    EXPECT_NEAR(per_second(plan_probes(l, 1, Rate::kFast)), 16000, 0.1);
    EXPECT_NEAR(per_second(plan_probes(l, 1, Rate::kSlow)), 160, 0.1);
    EXPECT_TRUE(plan_probes(l, 1, Rate::kOff).empty());
}

// Split loops burden the T0s where they turn; that is shared, too.
TEST(probes, turns_are_shared)
{
    const Fabric f = make_rule({.planes = 1, .t0s = 16, .t1s = 16, .hosts_per_t0 = 16});
    const Layout l(f);
    std::map<std::pair<unsigned, unsigned>, unsigned> turns;   // T0', T1

    for (unsigned host = 1; host <= l.hosts(); host++)
        for (const Planned &p : plan_probes(l, host, Rate::kNormal))
            if (p.probe.kind == ProbeKind::kSplit)
                turns[{p.probe.via, p.probe.up}]++;
    EXPECT_EQ(turns.size(), 256u);
    for (const auto &[at, n] : turns)
        EXPECT_LE(n, 8u) << at.first << " " << at.second;
}

TEST(probes, few_hosts_watch_all)
{
    for (const unsigned hosts : {1u, 2u, 3u, 4u, 5u, 7u})
        for (const unsigned t1s : {1u, 2u, 3u, 8u, 64u}) {
            const Fabric f = make_rule({.planes = 1, .t0s = 3, .t1s = t1s, .hosts_per_t0 = hosts});
            const Layout l(f);
            Watchers w;
            for (const unsigned host : l.hosts_of(1, 2))
                for (const Planned &p : plan_probes(l, host, Rate::kNormal))
                    note(w, p.probe);
            for (unsigned t1 = 1; t1 <= t1s; t1++) {
                EXPECT_GE(w.up[t1].size(), std::min(hosts, 4u)) << hosts << " " << t1s;
                EXPECT_GE(w.down[t1].size(), std::min(hosts, 4u)) << hosts << " " << t1s;
            }
        }
}

// More hosts than uplinks need: nobody idles.
TEST(probes, every_host_watches)
{
    const Fabric f = make_rule({.planes = 1, .t0s = 2, .t1s = 2, .hosts_per_t0 = 200});
    const Layout l(f);

    for (unsigned host = 1; host <= l.hosts(); host++)
        EXPECT_NEAR(per_second(plan_probes(l, host, Rate::kNormal)), 200, 0.01);
}

TEST(probes, budget)
{
    const Fabric f = make_rule({.planes = 1});
    const Layout l(f);

    EXPECT_NEAR(per_second(plan_probes(l, 1, Rate::kFast, 100000)), 2000, 0.1);
    // 0.01 % of 1 Gb/s is 100 kb/s.
    const double slow = per_second(plan_probes(l, 1, Rate::kFast, 1000));
    EXPECT_NEAR(slow * 8 * (158 * 0.99 + 9000 * 0.01), 100000, 1);
}

void all_come_back(const Fabric &f)
{
    const Layout l(f);
    mrcfab::Forwarding net(f);
    unsigned followed = 0;

    for (unsigned host = 1; host <= l.hosts(); host++)
        for (const Planned &planned : plan_probes(l, host, Rate::kNormal)) {
            const Probe &p = planned.probe;
            const Ids way = switches_of(p);
            std::vector<std::string> names;
            for (std::size_t i = 0; i < way.size(); i++)
                names.push_back(i % 2 ? l.t1_name(p.plane, way[i]) : l.t0_name(p.plane, way[i]));
            const auto j = net.send(l.host_name(host), {l.carrier(p.plane, host, way),
                                                        static_cast<std::uint8_t>(p.plane)});
            ASSERT_EQ(j.lost, "");
            ASSERT_EQ(j.host, l.host_name(host));
            ASSERT_EQ(j.named, names);
            followed++;
        }
    EXPECT_GT(followed, 0u);
}

TEST(probes, come_back)
{
    all_come_back(make_rule({.planes = 3, .t0s = 4, .t1s = 3, .hosts_per_t0 = 3}));
    all_come_back(make_rule({.planes = 2, .t0s = 4, .t1s = 3, .hosts_per_t0 = 3,
                             .more = "[topology.missing]\nnodes = [\"p1-t1-2\", \"p2-t0-3\", \"h1-1\"]\n"}));
    all_come_back(mrcfab::parse_fabric(fabric_text({.hosts = 6, .planes = 3, .t0s = 2, .t1s = 3}), "lists"));
    all_come_back(mrcfab::parse_fabric(fabric_text({.hosts = 2, .planes = 1, .t0s = 1, .t1s = 1}), "lists"));
}

TEST(probes, names)
{
    const Fabric rule = make_rule(), lists = mrcfab::parse_fabric(fabric_text(), "lists");

    for (const Fabric *f : {&rule, &lists}) {
        const Layout l(*f);
        for (unsigned h = 1; h <= l.hosts(); h++)
            EXPECT_EQ(l.host(l.host_name(h)), h);
        for (const unsigned t0 : {l.t0_of(2, 1), l.t0_of(2, l.hosts())}) {
            EXPECT_EQ(l.t0(l.t0_name(2, t0), 2), t0);
            EXPECT_EQ(l.t0(l.t0_name(2, t0), 1), 0u);
            EXPECT_EQ(l.t1(l.t0_name(2, t0), 2), 0u);
            for (const unsigned t1 : l.uplinks(2, t0))
                EXPECT_EQ(l.t1(l.t1_name(2, t1), 2), t1);
        }
        EXPECT_EQ(l.host("nobody"), 0u);
    }
    for (const Rate r : {Rate::kOff, Rate::kSlow, Rate::kNormal, Rate::kFast})
        EXPECT_EQ(probe_rate(rate_word(r)), r);
    EXPECT_FALSE(probe_rate("quick"));
    for (const ProbeKind k : {ProbeKind::kT0Loop, ProbeKind::kT1Loop, ProbeKind::kSplit})
        EXPECT_EQ(probe_kind(probe_word(k)), k);
}

}   // namespace

}   // namespace mrcver
