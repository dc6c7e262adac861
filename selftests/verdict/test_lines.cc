// SPDX-License-Identifier: GPL-2.0
// Lines of results: written and read alike; what is wrong is refused and counted by its cause.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "../../tools/lib/verdict/lines.h"
#include "../../tools/lib/verdict/sentence.h"
#include "../../tools/lib/verdict/tracker.h"
#include "../daemon/rules.h"
#include "world.h"

namespace mrcver {

namespace {

using world::At;
using world::Harm;

struct LinesRig {
    mrcfab::Fabric f = mrcd::make_rule({.planes = 2, .t0s = 3, .t1s = 4, .hosts_per_t0 = 4});
    Layout l{f};
    world::World w{{2, 3, 4, 4}, l, 1};
    Lines lines{l, 5000};

    LinesRig() { w.pauses_per_hour = w.bursts_per_hour = 0; }
    std::vector<std::string> text(double seconds)
    {
        std::vector<std::string> all;
        const auto e = w.slice(seconds);
        for (const auto &[host, sent] : e.hosts)
            all.push_back(to_line(l, host, e));
        return all;
    }
};

std::vector<Evidence> slices_of(const Lines &lines, double seconds)
{
    std::vector<Evidence> list;

    lines.each_slice(seconds, [&](const Evidence &e) { list.push_back(e); });
    return list;
}

TEST(lines, there_and_back)
{
    LinesRig g;
    g.w.faults = {{At::kUp, 1, 2, 3}, {At::kHostUp, 2, 5, 0, Harm::kCorrupt, 0.5}};
    const auto e = g.w.slice(2);

    for (const auto &[host, sent] : e.hosts)
        ASSERT_TRUE(g.lines.add(to_line(g.l, host, e)));
    const auto s = slices_of(g.lines, 10);
    ASSERT_EQ(s.size(), 1u);
    EXPECT_EQ(s[0].hosts.size(), 12u);
    ASSERT_EQ(s[0].failed.size(), e.failed.size());
    for (const auto &[p, r] : e.failed) {
        ASSERT_TRUE(s[0].failed.count(p));
        const Result &other = s[0].failed.at(p);
        EXPECT_EQ(other.n.sent, r.n.sent);
        EXPECT_EQ(other.n.failed(), r.n.failed());
        EXPECT_EQ(other.n.control_lost, r.n.control_lost);
        EXPECT_NEAR(other.first, r.first, 1e-3);
    }
}

TEST(lines, traffic_there_and_back)
{
    LinesRig g;
    const Part up{PartKind::kUp, 1, 1, 3}, down{PartKind::kDown, 1, 2, 3};
    g.w.faults = {{At::kUp, 1, 1, 3}};
    auto e = g.w.slice(2);

    e.traffic = {{{up, {1000, 300, 4, 2}}, {down, {900, 7, 4, 0}}}, {64000, 307, 256, 2}};
    ASSERT_TRUE(g.lines.add(to_line(g.l, 1, e)));
    const auto s = slices_of(g.lines, 10);
    ASSERT_EQ(s.size(), 1u);
    ASSERT_EQ(s[0].traffic.links.size(), 2u);
    EXPECT_EQ(s[0].traffic.all.sent, 64000u);
    EXPECT_EQ(s[0].traffic.all.evs, 256u);
    EXPECT_EQ(s[0].traffic.over(up).lost, 300u);
    EXPECT_EQ(s[0].traffic.over(down).lost, 7u);
    EXPECT_EQ(s[0].traffic.over({PartKind::kT1, 1, 3, 0}).bad, 2u);
}

// Of too many links the line has those that lost most.
TEST(lines, most_of_traffic)
{
    const mrcfab::Fabric f = mrcd::make_rule({.planes = 4, .t0s = 3, .t1s = 8, .hosts_per_t0 = 4});
    const Layout l(f);
    world::World w({4, 3, 8, 4}, l, 1);
    Lines lines(l, 5000);

    w.pauses_per_hour = w.bursts_per_hour = 0;
    w.faults = {{At::kUp, 1, 1, 3}};
    auto e = w.slice(2);
    std::uint64_t lost = 0;
    e.traffic.all = {100000, 10000, 1000, 0};
    for (unsigned plane = 1; plane <= 4; plane++)
        for (unsigned t0 = 1; t0 <= 3; t0++)
            for (unsigned t1 = 1; t1 <= 8; t1++)
                e.traffic.links[{PartKind::kDown, plane, t0, t1}] = {200, ++lost, 1, 0};
    ASSERT_GT(lost, kTrafficMax);
    ASSERT_TRUE(lines.add(to_line(l, 1, e)));
    const auto s = slices_of(lines, 10);
    ASSERT_EQ(s.size(), 1u);
    EXPECT_EQ(s[0].traffic.links.size(), kTrafficMax);
    for (const auto &[link, t] : s[0].traffic.links)
        EXPECT_GT(t.lost, lost - kTrafficMax);
}

// 400 bytes a host and 10 s, where all is well.
TEST(lines, short_when_well)
{
    LinesRig g;

    for (const auto &line : g.text(10))
        EXPECT_LT(line.size(), 400u) << line;
}

TEST(lines, refused)
{
    LinesRig g;
    const std::string head = R"({"mrc_probes":1,"host":"h1-1","from":100,"to":101,"sent":[[100,50,50],[100,50,50]])";
    const auto failed = [&](const char *text) { return head + ",\"failed\":[" + text + "]}"; };
    const auto traffic = [&](const char *text) { return head + ",\"traffic\":" + text + "}"; };
    const auto link = [&](const char *from, const char *to, const char *n) {
        return traffic(fmt::format(R"({{"all":[9,9,9,9],"links":[{{"plane":1,"from":"{}","to":"{}","n":{}}}]}})", from, to, n).c_str());
    };
    const std::pair<std::string, Refusal> wrong[] = {
        {"", Refusal::kMalformed},
        {"{", Refusal::kMalformed},
        {"[]", Refusal::kMalformed},
        {"{}", Refusal::kMalformed},
        {std::string(200000, '['), Refusal::kMalformed},
        {std::string(kLineMax + 1, ' '), Refusal::kMalformed},
        {R"({"mrc_probes":2,"host":"h1-1"})", Refusal::kMalformed},
        {R"({"mrc_probes":1,"host":7})", Refusal::kMalformed},
        {R"({"mrc_probes":1,"host":"h9-9","from":1,"to":2,"sent":[]})", Refusal::kStranger},
        {R"({"mrc_probes":1,"host":"h1-1","from":2,"to":2,"sent":[]})", Refusal::kImpossible},
        {R"({"mrc_probes":1,"host":"h1-1","from":1,"to":1e300,"sent":[]})", Refusal::kImpossible},
        {R"({"mrc_probes":1,"host":"h1-1","from":9000,"to":9001,"sent":[]})", Refusal::kImpossible},
        {R"({"mrc_probes":1,"host":"h1-1","from":1,"to":2,"sent":[[1,2]]})", Refusal::kMalformed},
        {R"({"mrc_probes":1,"host":"h1-1","from":1,"to":2,"sent":[[-1,2,3]]})", Refusal::kMalformed},
        {R"({"mrc_probes":1,"host":"h1-1","from":1,"to":2,"sent":[[99999,2,3]]})", Refusal::kImpossible},
        {failed("7"), Refusal::kMalformed},
        {failed(R"({"plane":3,"path":["p1-t0-1"],"sent":9,"lost":9})"), Refusal::kStranger},
        {failed(R"({"plane":1,"path":[],"sent":9,"lost":9})"), Refusal::kMalformed},
        {failed(R"({"plane":1,"path":["p2-t0-1"],"sent":9,"lost":9})"), Refusal::kStranger},
        {failed(R"({"plane":1,"path":["p1-t0-2"],"sent":9,"lost":9})"), Refusal::kStranger},
        {failed(R"({"plane":1,"path":["p1-t0-1"],"sent":9,"lost":10})"), Refusal::kImpossible},
        {failed(R"({"plane":1,"path":["p1-t0-1"],"sent":9,"lost":0})"), Refusal::kImpossible},
        {failed(R"({"plane":1,"path":["p1-t0-1"],"sent":101,"lost":1})"), Refusal::kImpossible},
        {failed(R"({"plane":1,"path":["p1-t0-1"],"sent":9,"lost":1,"full":[1]})"), Refusal::kMalformed},
        {failed(R"({"plane":1,"path":["p1-t0-1"],"sent":9,"lost":1},{"plane":1,"path":["p1-t0-1"],"sent":9,"lost":1})"),
         Refusal::kImpossible},
        {failed(R"({"plane":1,"path":["p1-t0-1","p1-t1-1","p1-t0-1","p1-t1-2","p1-t0-1"],"sent":9,"lost":1})"),
         Refusal::kImpossible},
        {traffic("7"), Refusal::kMalformed},
        {traffic(R"({"all":[1,2,3,4]})"), Refusal::kMalformed},
        {traffic(R"({"all":[1,2,4,4],"links":[]})"), Refusal::kImpossible},
        {traffic(R"({"all":[1,1,4,5],"links":[]})"), Refusal::kImpossible},
        {traffic(R"({"all":[1,1,4],"links":[]})"), Refusal::kMalformed},
        {traffic(R"({"all":[9,9,9,9],"links":[7]})"), Refusal::kMalformed},
        {link("p1-t0-1", "p1-t1-1", "[10,1,1,1]"), Refusal::kImpossible},
        {link("p1-t0-1", "p1-t1-1", "[-1,1,1,1]"), Refusal::kMalformed},
        {link("p1-t0-2", "p1-t1-1", "[9,1,1,1]"), Refusal::kStranger},   // another T0's uplink
        {link("p1-t0-1", "p2-t1-1", "[9,1,1,1]"), Refusal::kStranger},
        {link("p1-t0-1", "p1-t0-2", "[9,1,1,1]"), Refusal::kStranger},
        {link("p1-t1-1", "", "[9,1,1,1]"), Refusal::kStranger},
    };

    for (const auto &[line, why] : wrong) {
        const auto before = g.lines.refused(why);
        EXPECT_FALSE(g.lines.add(line)) << line.substr(0, 200);
        EXPECT_EQ(g.lines.refused(why), before + 1) << line.substr(0, 200) << " " << refusal_word(why);
    }
    EXPECT_EQ(g.lines.taken(), 0u);
    EXPECT_TRUE(g.lines.add(head + "}"));
    EXPECT_FALSE(g.lines.add(head + "}"));
    EXPECT_EQ(g.lines.refused(Refusal::kDuplicate), 1u);
    EXPECT_TRUE(g.lines.add(R"({"mrc_probes":1,"host":"h1-2","from":4000,"to":4001,"sent":[]})"));
    EXPECT_FALSE(g.lines.add(R"({"mrc_probes":1,"host":"h1-2","from":1,"to":2,"sent":[]})"));
    EXPECT_EQ(g.lines.refused(Refusal::kLate), 1u);
    EXPECT_EQ(g.lines.refused(), std::size(wrong) + 2);
}

// Ten seconds of a host without losses, beside each second of one with: its probes count in each.
TEST(lines, long_lines_count_in_each_second)
{
    LinesRig g;
    const Evidence well = g.w.slice(10);
    std::uint64_t sent = 0;

    ASSERT_TRUE(g.lines.add(to_line(g.l, 1, well)));
    for (unsigned i = 0; i < 10; i++) {
        Evidence e = well;
        e.from = well.from + i;
        e.to = e.from + 1;
        ASSERT_TRUE(g.lines.add(to_line(g.l, 2, e)));
    }
    const auto slices = slices_of(g.lines, 1);
    for (const Evidence &e : slices) {
        const auto &mine = e.hosts.at(1).planes[0];
        sent += mine[1];
        EXPECT_LE(mine[1], well.hosts.at(1).planes[0][1] / 10 + 1);
    }
    EXPECT_GE(slices.size(), 10u);
    EXPECT_EQ(sent, well.hosts.at(1).planes[0][1]);
}

// One host alone cannot make others believe that a switch is dead.
TEST(lines, one_liar)
{
    LinesRig g;
    Tracker t(g.l);
    const Evidence well = g.w.slice(1);
    g.w.faults = {{At::kT1, 1, 2, 0}};
    const Evidence ill = g.w.slice(1);

    for (const auto &[host, sent] : well.hosts) {
        Evidence lie = host == 1 ? ill : well;
        lie.from = 100;
        lie.to = 101;
        for (auto &[p, r] : lie.failed)
            r.first = r.last = 100.5;
        ASSERT_TRUE(g.lines.add(to_line(g.l, host, lie)));
    }
    for (const Evidence &e : slices_of(g.lines, 1))
        t.add(e);
    EXPECT_TRUE(t.known().empty());
}

std::string said(LinesRig &g, const world::Fault &f, double seconds, bool alone = false, unsigned host = 0)
{
    g.w.faults = {f};
    Plans plans(g.l);
    Evidence e = g.w.slice(seconds);
    if (host) {
        std::erase_if(e.hosts, [&](const auto &x) { return x.first != host; });
        std::erase_if(e.failed, [&](const auto &x) { return x.first.host != host; });
    }
    auto r = infer(g.l, e, plans, {}, alone);
    if (r.findings.empty())
        return "";
    r.findings[0].since = 43391;   // 12:03:11
    return sentence(g.l, r.findings[0], r.findings, alone);
}

TEST(sentence, names_part_and_direction)
{
    LinesRig g;

    EXPECT_EQ(said(g, {At::kUp, 1, 2, 3}, 1),
              "plane 1: p1-t0-2 to p1-t1-3 drops all packets upwards since 12:03:11 (8 of 8 observers; "
              "3 other uplinks fine); EVs over it are avoided; check the optic.");
    EXPECT_EQ(said(g, {At::kHostUp, 2, 5, 0}, 1).substr(0, 57),
              "plane 2: cable h2-1 to p2-t0-2 drops all packets since 12");
    EXPECT_EQ(said(g, {At::kT1, 2, 3, 0}, 1),
              "plane 2: switch p2-t1-3 drops all packets since 12:03:11 (12 of 12 observers); EVs over it are "
              "avoided; check the switch.");
    const auto alone = said(g, {At::kT1, 2, 3, 0}, 1, true, 1);
    EXPECT_NE(alone.find("seen by this host alone"), alone.npos) << alone;
    EXPECT_NE(alone.find("it may as well be t1 p2-t1-3"), alone.npos) << alone;
}

}   // namespace

}   // namespace mrcver
