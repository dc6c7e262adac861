// SPDX-License-Identifier: GPL-2.0
// mrcd's self-probes against a kernel that is a struct: what it programs and renews, what it concludes,
// writes and shows.
#include <gtest/gtest.h>

#include <linux/mrc.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <set>

#include "../../tools/lib/health/exposition.h"
#include "../../tools/lib/verdict/lines.h"
#include "fabrics.h"
#include "probe_genl.h"
#include "prober.h"
#include "rules.h"

namespace mrcd {

namespace {

// Sends in no time; what @lost says does not come back.
struct FakeProbes : ProbeKernel {
    std::vector<ProbeTest> tests;
    ProbeTimes times;
    std::map<std::uint32_t, ProbeCount> counts;
    std::function<bool(const ProbeTest &)> lost = [](const ProbeTest &) { return false; };
    std::uint64_t stalls = 0, bad_sid = 0;
    unsigned sets = 0;
    int refuse = 0;
    double ends = 0, now = 0;

    mrcnl::error set(const std::string &dev, const std::vector<ProbeTest> &list, const ProbeTimes &set_times) override
    {
        EXPECT_EQ(dev, "mrc0");
        if (refuse)
            return {refuse, "refused", true};
        tests = list;
        ends = now + set_times.expiry_s;
        times = set_times;
        sets++;
        return {};
    }
    mrcnl::error get(const std::string &, ProbeState &state) override
    {
        for (const ProbeTest &t : tests)
            state.tests.emplace_back(t.id, counts[t.id]);
        state.stalls = stalls;
        state.bad_sid = bad_sid;
        return {};
    }
    std::optional<std::uint8_t> data_dscp(const std::string &) override { return 10; }
    LinkTraffic links;
    unsigned asked = 0;
    mrcnl::error traffic(const std::string &, LinkTraffic &all) override
    {
        asked++;
        all = links;
        return {};
    }

    void pass(double seconds)
    {
        now += seconds;
        for (const ProbeTest &t : tests) {
            ProbeCount &n = counts[t.id];
            const auto sent = static_cast<std::uint64_t>(seconds * 1e6 / t.interval_us + 0.5);
            if (lost(t)) {
                n.lost += sent;
                n.last_lost = now;
            } else {
                n.received += sent;
                n.rtt_sum += sent * 20000;
                n.rtt_low = 20000;
            }
        }
    }
};

struct ProbeRig {
    Fabric fabric = make_rule({.planes = 2, .t0s = 3, .t1s = 4, .hosts_per_t0 = 4});
    mrcver::Layout layout{fabric};
    FakeProbes kernel;
    Log log{"h1-1", Log::Level::kSilent};
    std::vector<Prober::Verdict> said;
    Prober prober;

    explicit ProbeRig(const std::string &file = "", bool advise = false, unsigned timeout_ms = 10)
        : prober(fabric, {"h1-1", "mrc0", mrcver::Rate::kNormal, advise, file, timeout_ms}, kernel, log,
                 [this](const auto &v) { said.push_back(v); })
    {
        kernel.now = 1000;
    }
    void run(double seconds)
    {
        for (const double end = kernel.now + seconds; kernel.now < end;) {
            kernel.pass(Prober::kEach);
            prober.tick(kernel.now);
        }
    }
    // Probes whose path goes up that T1 first.
    static std::function<bool(const ProbeTest &)> up(unsigned plane, unsigned t1)
    {
        return [=](const ProbeTest &t) {
            return t.plane == plane && get_bits(t.path, 48, 16) == (0x8000u | t1);
        };
    }
};

TEST(prober, programs_what_the_rule_says)
{
    ProbeRig g;
    double per_second = 0;
    std::set<std::uint32_t> ids;

    g.run(1);
    for (const ProbeTest &t : g.kernel.tests) {
        EXPECT_TRUE(ids.insert(t.id).second);
        if (t.plane) {
            per_second += 1e6 / t.interval_us;
            EXPECT_EQ(get_bits(t.path, 32, 16), 0x4001u);
        }
    }
    EXPECT_NEAR(per_second, 400, 1);   // two planes
    EXPECT_EQ(g.kernel.tests.front().kind, static_cast<unsigned>(MRC_PROBE_HOST));
    EXPECT_EQ(g.kernel.tests.size(), 1 + 2 * mrcver::plan_probes(g.layout, 1, mrcver::Rate::kNormal).size());
    const auto data = std::count_if(g.kernel.tests.begin(), g.kernel.tests.end(), [](const auto &t) { return t.dscp == 10; });
    EXPECT_EQ(static_cast<std::size_t>(2 * data + 1), g.kernel.tests.size());
}

// The module takes a timeout of at most sixteen intervals.
TEST(prober, a_long_timeout_asks_less_often)
{
    ProbeRig g("", false, 1000);

    g.run(1);
    EXPECT_EQ(g.kernel.times.timeout_us, 1000000u);
    EXPECT_EQ(g.kernel.times.stall_us, 500000u);
    ASSERT_FALSE(g.kernel.tests.empty());
    for (const ProbeTest &t : g.kernel.tests)
        EXPECT_GE(t.interval_us * 16ull, 1000000u) << t.id;
}

// They end when mrcd does, and not before.
TEST(prober, renews)
{
    ProbeRig g;

    for (unsigned i = 0; i < 300; i++) {
        g.run(1);
        ASSERT_GT(g.kernel.ends, g.kernel.now + 30);
    }
    EXPECT_LE(g.kernel.sets, 20u);
    g.prober.renew();   // another module
    const auto before = g.kernel.sets;
    g.run(1);
    EXPECT_EQ(g.kernel.sets, before + 1);
}

TEST(prober, well)
{
    ProbeRig g;

    g.run(60);
    EXPECT_TRUE(g.said.empty());
    EXPECT_TRUE(g.prober.verdicts().empty());
    EXPECT_NE(g.prober.metrics(300).find("mrc_probe_loss_ratio{device=\"mrc0\",plane=\"1\",kind=\"t0-loop\"} 0\n"), std::string::npos);
    EXPECT_NE(g.prober.metrics(300).find("mrc_probe_rtt_seconds{device=\"mrc0\",plane=\"2\",kind=\"t1-loop\"} 2e-05\n"), std::string::npos);
}

// The EVs of all peers are gone through while probes are lost, and half a minute longer.
TEST(prober, reads_what_traffic_lost)
{
    ProbeRig g;
    const auto usid = [&](mrcver::PartKind kind, unsigned n) { return usid_links(g.layout, {kind, 2, n, 0}).front().from; };
    const unsigned t0 = usid(mrcver::PartKind::kT0, 1), far = usid(mrcver::PartKind::kT0, 2), t1 = usid(mrcver::PartKind::kT1, 3),
                   fine = usid(mrcver::PartKind::kT1, 4);
    const auto send = [&](std::uint64_t lost) {
        for (auto &[link, n] : g.kernel.links) {
            n.sent += 1000;
            n.lost += link.from == t1 || link.to == t1 ? lost : 0;
        }
    };

    g.kernel.links = {{{2, t0, t1}, {5000, 9, 4, 0}}, {{2, t1, far}, {5000, 9, 4, 0}}, {{2, t0, fine}, {5000, 0, 4, 0}},
                      {{2, fine, far}, {5000, 0, 4, 0}}, {{2, far, 0x1234}, {5000, 9, 4, 0}}, {{9, 1, 2}, {1, 1, 1, 1}}};
    g.run(60);
    EXPECT_EQ(g.kernel.asked, 0u);
    g.kernel.lost = ProbeRig::up(2, 3);
    g.run(1);
    EXPECT_EQ(g.kernel.asked, 1u);   // what was lost before is not of this
    send(40);
    g.run(3);
    EXPECT_EQ(g.kernel.asked, 2u);
    send(50);
    g.run(20);
    ASSERT_EQ(g.prober.verdicts().size(), 1u);
    EXPECT_NE(g.prober.verdicts()[0].text.find("(seen by this host alone; traffic lost 90 of 2000 packets by it)"), std::string::npos)
        << g.prober.verdicts()[0].text;
    // A path set goes, with its counters.
    g.kernel.links[{2, t0, t1}] = {10, 0, 1, 0};
    g.run(20);
    EXPECT_NE(g.prober.verdicts()[0].text.find("traffic lost"), std::string::npos) << g.prober.verdicts()[0].text;
    g.kernel.lost = [](const ProbeTest &) { return false; };
    g.run(TrafficReader::kAfter + 1);
    const unsigned asked = g.kernel.asked;
    g.run(60);
    EXPECT_EQ(g.kernel.asked, asked);
}

TEST(prober, metrics_have_room)
{
    ProbeRig g;

    g.run(60);
    const auto whole = health::series_in(g.prober.metrics(300));
    ASSERT_GT(whole, 4u);
    EXPECT_EQ(health::series_in(g.prober.metrics(whole)), whole);
    const auto planes = g.prober.metrics(whole - 1);   // kinds are left out first
    EXPECT_NE(planes.find("mrc_probe_loss_ratio{device=\"mrc0\",plane=\"2\",kind=\"all\"} 0\n"), std::string::npos);
    EXPECT_LT(health::series_in(planes), whole);
    EXPECT_EQ(health::series_in(g.prober.metrics(3)), 2u);
    EXPECT_EQ(health::series_in(g.prober.metrics(1)), 0u);
}

TEST(prober, dead_uplink)
{
    ProbeRig g;

    g.run(20);
    g.kernel.lost = ProbeRig::up(2, 3);
    g.run(1);
    ASSERT_EQ(g.said.size(), 1u);
    EXPECT_TRUE(g.said[0].bad && g.said[0].fault);
    EXPECT_EQ(g.said[0].text.rfind("plane 2: p2-t0-1 to p2-t1-3 drops", 0), 0u) << g.said[0].text;
    EXPECT_NE(g.said[0].text.find("upwards since 00:17:00 (seen by this host alone)"), std::string::npos) << g.said[0].text;
    EXPECT_EQ(g.prober.verdicts().size(), 1u);
    g.run(20);
    EXPECT_EQ(g.said.size(), 1u);
    EXPECT_NE(g.prober.verdicts()[0].text.find("drops all packets"), std::string::npos);
    g.kernel.lost = [](const ProbeTest &) { return false; };
    g.run(55);
    EXPECT_EQ(g.said.size(), 1u);
    g.run(10);
    ASSERT_EQ(g.said.size(), 2u);
    EXPECT_FALSE(g.said[1].bad);
    EXPECT_TRUE(g.prober.verdicts().empty());
}

TEST(prober, advice)
{
    ProbeRig g("", true);

    g.run(2);
    g.kernel.lost = [](const ProbeTest &t) { return t.plane == 1; };
    g.run(1);
    ASSERT_EQ(g.said.size(), 1u);
    EXPECT_NE(g.said[0].text.find("Advice: mrcctl plane set dev mrc0 plane 1 admin off."), std::string::npos) << g.said[0].text;
}

// A module without self-probes, or none: tried again, and nothing is concluded.
TEST(prober, refused)
{
    ProbeRig g;

    g.kernel.refuse = EOPNOTSUPP;
    g.run(30);
    EXPECT_TRUE(g.said.empty());
    g.kernel.refuse = 0;
    g.run(10);
    EXPECT_GE(g.kernel.sets, 1u);
}

// Counters that begin anew are not losses.
TEST(prober, another_module)
{
    ProbeRig g;

    g.run(20);
    g.kernel.counts.clear();
    g.run(20);
    EXPECT_TRUE(g.said.empty());
}

TEST(prober, writes_lines)
{
    const std::string file = testing::TempDir() + "probes.jsonl";
    std::remove(file.c_str());
    std::size_t n = 0;
    {
        ProbeRig g(file);
        mrcver::Lines lines(g.layout, 1e9);
        g.run(30);
        g.kernel.lost = ProbeRig::up(1, 2);
        g.run(5);
        std::ifstream in(file);
        for (std::string line; std::getline(in, line); n++)
            EXPECT_TRUE(lines.add(line)) << line;
        EXPECT_GE(n, 6u);
        EXPECT_LE(n, 9u);
        std::size_t failed = 0;
        lines.each_slice(1, [&](const mrcver::Evidence &e) { failed += e.failed.size(); });
        EXPECT_GT(failed, 0u);
    }
    std::remove(file.c_str());
}

// Packets for the locator of another host that came here, and none from before this process.
TEST(prober, counts_strays)
{
    const std::string file = testing::TempDir() + "strays.jsonl";
    std::remove(file.c_str());
    {
        ProbeRig g(file);
        mrcver::Lines lines(g.layout, 1e9);
        std::uint64_t strays = 0;
        g.kernel.bad_sid = 1000;
        g.run(5);
        g.kernel.bad_sid += 40;
        g.run(25);
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);)
            EXPECT_TRUE(lines.add(line)) << line;
        lines.each_slice(1, [&](const mrcver::Evidence &e) { strays += e.hosts.at(g.layout.host("h1-1")).strays; });
        EXPECT_EQ(strays, 40u);
    }
    std::remove(file.c_str());
}

TEST(prober, only_hosts_of_switches)
{
    const Fabric f = make_rule();
    FakeProbes kernel;
    Log log("x", Log::Level::kSilent);

    EXPECT_THROW(Prober(f, {"p1-t0-1", "mrc0", mrcver::Rate::kNormal, false, ""}, kernel, log, [](const auto &) {}),
                 std::runtime_error);
}

}   // namespace

}   // namespace mrcd
