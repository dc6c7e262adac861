// SPDX-License-Identifier: GPL-2.0
// What a plan costs, in basic blocks of plan.cc and reconcile.cc, which the compiler counts for
// us: the same on every machine. Eight times as much of anything is eight times the work, and a
// bit for the trees' depth.
#include <gtest/gtest.h>

#include "../../tools/lib/fabric/desired.h"
#include "fake_kernel.h"
#include "reconcile.h"
#include "rules.h"

static unsigned long blocks;

extern "C" __attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc()
{
    blocks++;
}

namespace mrcd {

namespace {

constexpr unsigned kTimes = 8;
constexpr double kLinear = 1.5 * kTimes;   // quadratic would be kTimes * kTimes

struct Cost {
    unsigned long first = 0, again = 0;   // a plan for nothing there, and for all there
    std::size_t ops = 0;
};

Cost cost_of(const Desired &want, FakeKernel &kernel)
{
    Observed have;
    Cost cost;

    kernel.look(want, have);
    blocks = 0;
    const Plan p = plan(want, have, {});
    cost = {blocks, 0, p.ops.size()};
    for (int pass = 0; pass < 4; pass++) {
        kernel.look(want, have);
        for (const Op &op : plan(want, have, {}).ops)
            EXPECT_FALSE(kernel.apply(op)) << to_string(op);
    }
    kernel.look(want, have);
    blocks = 0;
    EXPECT_TRUE(plan(want, have, {}).complete());
    cost.again = blocks;
    return cost;
}

Cost of_switch(unsigned ports)
{
    const Fabric f = make_rule({.planes = 1, .t0s = ports, .t1s = 1, .hosts_per_t0 = 1});
    const Desired want = *desired_for(f, "p1-t1-1");
    FakeKernel kernel;

    for (const WantedLink &l : want.links)
        if (l.physical)
            kernel.add_link(l.name);
    return cost_of(want, kernel);
}

// The observed side by hand: the fake kernel looks for a profile among all, as none should.
Cost of_profiles(unsigned n, bool there)
{
    const Fabric f = make_rule({.planes = 1});
    Desired want = *desired_for(f, "h1-1");
    FakeKernel kernel;
    Observed have;

    kernel.add_link("eth1");
    cost_of(want, kernel);
    Profile p{{1, *parse_ip6("fd00:6d72:63:0:1::"), 128}, 1, {{*parse_ip6("fcbb:bb00:4001:c001::"), 1}}};
    for (unsigned i = 0; i < n; i++) {
        put_bits(p.key.dst, 96, 32, i);
        want.device->profiles.push_back(p);
    }
    kernel.look(want, have);
    if (there)
        for (const Profile &w : want.device->profiles)
            have.device->profiles.push_back({w, false, MRC_FMT_SRV6, mode_of(w)});
    blocks = 0;
    const Plan made = plan(want, have, {});
    EXPECT_EQ(made.ops.size(), there ? 0 : n);
    return {blocks, 0, made.ops.size()};
}

TEST(size, a_switch_with_eight_times_the_ports)
{
    const Cost one = of_switch(64), more = of_switch(64 * kTimes);

    ASSERT_GT(one.first, 10'000u) << "nothing is counted";
    EXPECT_LT(static_cast<double>(more.first), kLinear * static_cast<double>(one.first));
    EXPECT_LT(static_cast<double>(more.again), kLinear * static_cast<double>(one.again));
}

TEST(size, eight_times_the_profiles_up_to_the_modules_limit)
{
    for (const bool there : {false, true}) {
        const auto one = of_profiles(16384 / kTimes, there).first;
        const auto more = of_profiles(16384 - 8, there).first;
        EXPECT_LT(static_cast<double>(more), kLinear * static_cast<double>(one)) << there;
    }
}

TEST(size, a_run_looks_at_each_port_a_few_times)
{
    unsigned long cost[2];
    unsigned i = 0;

    for (const unsigned n : {64u, 64 * kTimes}) {
        const Fabric of_n = make_rule({.planes = 1, .t0s = n, .t1s = 1, .hosts_per_t0 = 1});
        const Desired want = *desired_for(of_n, "p1-t1-1");
        const Log log("fake", Log::Level::kSilent);
        FakeKernel kernel;
        Reconciler mrcd(kernel, log);
        for (const WantedLink &l : want.links)
            if (l.physical)
                kernel.add_link(l.name);
        mrcd.want(want);
        mrcd.confirm();
        ASSERT_EQ(mrcd.run(), Reconciler::Outcome::kComplete);
        blocks = 0;
        ASSERT_EQ(mrcd.run(), Reconciler::Outcome::kComplete);   // at rest
        cost[i++] = blocks;
    }
    EXPECT_LT(static_cast<double>(cost[1]), kLinear * static_cast<double>(cost[0]));
}

// By size alone: what one host of 131,072 shall have does not grow with them.
TEST(size, a_host_has_as_much_in_a_fabric_of_any_size)
{
    const auto profiles = [](const RuleSize &z) {
        return desired_for(make_rule(z), "h1-1")->device->profiles.size();
    };
    RuleSize small = whole_size();
    small.t0s = 2;
    small.hosts_per_t0 = 2;

    EXPECT_EQ(profiles(whole_size()), profiles(small));
    EXPECT_EQ(profiles(whole_size()), 4u);
}

}   // namespace

}   // namespace mrcd
