// SPDX-License-Identifier: GPL-2.0
// How often verdicts are right: 1,024 hosts, 4 planes, faults of each kind at random places, while hosts
// pause and queues fill.
//
//	ACCURACY_SEEDS=1000    of each kind
//	ACCURACY_HOURS=1000    without a fault; ACCURACY_FIRST=500: from that hour on
//	ACCURACY_LARGE=1       131,072 hosts, 8 planes, once
//	ACCURACY_LINES=131072  lines of so many hosts, by a process of its own: its memory is measured
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>
#include <set>

#include "../../tools/lib/verdict/lines.h"
#include "../../tools/lib/verdict/sentence.h"
#include "../../tools/lib/verdict/tracker.h"
#include "../daemon/rules.h"
#include "world.h"

namespace mrcver {

namespace {

using world::At;
using world::Fault;
using world::Harm;
using world::World;

unsigned flag(const char *name, unsigned otherwise)
{
    const char *text = std::getenv(name);

    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double most_megabytes()
{
    rusage used{};

    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) / 1024;
}

struct Kind {
    const char *name;
    std::vector<At> at;             // one of them
    Harm harm;
    double least, most;             // loss
    double seconds, slice;          // watched
    Symptom symptom;
    double period = 0, on = 0;
    bool both = false;              // ways of a cable
    unsigned faults = 1;
};

const std::vector<Kind> &kinds()
{
    using enum At;
    static const std::vector<Kind> list{
        {"dead NIC-T0 cable", {kHostUp, kHostDown}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss},
        {"dead uplink, one way", {kUp, kDown}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss},
        {"dead uplink, both ways", {kUp}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss, 0, 0, true},
        {"dead T0", {kT0}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss},
        {"dead T1", {kT1}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss},
        {"dead plane", {kPlane}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss},
        {"dead NIC", {kNic}, Harm::kDrop, 1, 1, 1, 0.1, Symptom::kLoss},
        {"uplink loses 1 %", {kUp, kDown}, Harm::kDrop, 0.01, 0.01, 30, 1, Symptom::kLoss},
        {"NIC-T0 cable loses 1 %", {kHostUp, kHostDown}, Harm::kDrop, 0.01, 0.01, 30, 1, Symptom::kLoss},
        {"T1 loses 1 %", {kT1}, Harm::kDrop, 0.01, 0.01, 30, 1, Symptom::kLoss},
        {"uplink loses 2 to 50 %", {kUp, kDown}, Harm::kDrop, 0.02, 0.5, 15, 1, Symptom::kLoss},
        {"uplink loses 0.1 %", {kUp, kDown}, Harm::kDrop, 0.001, 0.001, 300, 10, Symptom::kLoss},
        {"uplink flaps", {kUp, kDown}, Harm::kDrop, 1, 1, 15, 1, Symptom::kLoss, 2, 0.2},
        {"full size only", {kUp, kDown, kHostUp}, Harm::kFull, 1, 1, 60, 1, Symptom::kFullSize},
        {"corruption", {kUp, kDown, kHostUp}, Harm::kCorrupt, 0.01, 0.2, 30, 1, Symptom::kCorruption},
        {"mis-cabled", {kHostUp}, Harm::kOtherPlane, 1, 1, 1, 0.1, Symptom::kMisCabled},
        {"mis-configured", {kHostDown}, Harm::kElsewhere, 1, 1, 1, 0.1, Symptom::kMisConfigured},
        {"three at once", {kHostUp, kUp, kDown, kT1}, Harm::kDrop, 0.05, 1, 15, 1, Symptom::kLoss, 0, 0,
         false, 3},
        {"congestion only", {kUp, kDown, kHostDown}, Harm::kQueue, 0.005, 0.05, 20, 1, Symptom::kCongestion},
    };
    return list;
}

struct Score {
    unsigned seeds = 0, wanted = 0, found = 0;   // faults
    unsigned said = 0, right = 0;                // verdicts
    unsigned directed = 0, right_way = 0;
    unsigned symptoms = 0;                       // right ones, of those found
};

Part truth(const Fault &f, bool both)
{
    switch (f.at) {
    case At::kHostUp:
    case At::kHostDown: return {PartKind::kHostCable, f.plane, f.a, 0};
    case At::kUp: return {both ? PartKind::kCable : PartKind::kUp, f.plane, f.a, f.b};
    case At::kDown: return {PartKind::kDown, f.plane, f.a, f.b};
    case At::kT0: return {PartKind::kT0, f.plane, f.a, 0};
    case At::kT1: return {PartKind::kT1, f.plane, f.a, 0};
    case At::kNic: return {PartKind::kNic, 0, f.a, 0};
    case At::kPlane: break;
    }
    return {PartKind::kPlane, f.plane, 0, 0};
}

// Without its direction.
Part place(Part p)
{
    if (p.kind == PartKind::kUp || p.kind == PartKind::kDown)
        p.kind = PartKind::kCable;
    return p;
}

class Trial {
public:
    Trial() { world_.bursts_per_hour = 60; }

    void run(const Kind &kind, unsigned seed, Score &score)
    {
        Tracker t(layout_);
        std::set<Part> wanted, places;

        world_.reseed(seed);
        for (unsigned i = 0; i < 5; i++)
            t.add(world_.slice(1));
        for (unsigned i = 0; i < kind.faults; i++)
            add_fault(kind, wanted);
        for (const Part &p : wanted)
            places.insert(place(p));
        std::map<Part, Finding> said;
        for (const double end = world_.now() + kind.seconds; world_.now() < end - kind.slice / 2;) {
            const auto changes = t.add(world_.slice(kind.slice));
            for (const Change &c : changes)
                if (const auto it = t.known().find(c.part); it != t.known().end() && c.bad)
                    said[c.part] = it->second.finding;
        }
        for (auto &[part, f] : said)
            if (const auto it = t.known().find(part); it != t.known().end())
                f = it->second.finding;
        judge(kind, seed, wanted, places, said, score);
    }

    // Seconds from a fault until it is named; as much as is watched: it is not.
    double delay(const Kind &kind, unsigned seed)
    {
        Tracker t(layout_);
        std::set<Part> wanted;

        world_.reseed(seed);
        for (unsigned i = 0; i < 5; i++)
            t.add(world_.slice(1));
        add_fault(kind, wanted);
        const double from = world_.faults.back().from;
        while (world_.now() < from + kind.seconds)
            for (const Change &c : t.add(world_.slice(kind.slice)))
                if (const auto it = t.known().find(c.part);
                    c.bad && it != t.known().end() && it->second.finding.fault() && place(c.part) == place(*wanted.begin()))
                    return c.when - from;
        return kind.seconds;
    }

private:
    unsigned any(unsigned n) { return 1 + static_cast<unsigned>(world_.uniform() * n); }

    void add_fault(const Kind &kind, std::set<Part> &wanted)
    {
        Fault f;

        f.at = kind.at[any(static_cast<unsigned>(kind.at.size())) - 1];
        f.harm = kind.harm;
        f.rate = kind.least + (kind.most - kind.least) * world_.uniform();
        f.plane = any(kDims.planes);
        f.a = f.at == At::kT0 || f.at == At::kUp || f.at == At::kDown ? any(kDims.t0s)
              : f.at == At::kT1 ? any(kDims.t1s)
              : f.at == At::kPlane ? 0 : any(kDims.t0s * kDims.hosts_per_t0);
        f.b = f.at == At::kUp || f.at == At::kDown ? any(kDims.t1s) : 0;
        f.from = world_.now() + world_.uniform() * 0.1;
        f.period = kind.period;
        f.on = kind.on;
        if (f.harm == Harm::kElsewhere)
            f.other = f.a % kDims.hosts_per_t0 == 0 ? f.a - 1 : f.a + 1;
        world_.faults.push_back(f);
        wanted.insert(truth(f, kind.both));
        if (kind.both) {
            f.at = At::kDown;
            world_.faults.push_back(f);
        }
    }

    void judge(const Kind &kind, unsigned seed, const std::set<Part> &wanted, const std::set<Part> &places,
               const std::map<Part, Finding> &said, Score &score)
    {
        std::set<Part> found;

        score.seeds++;
        score.wanted += static_cast<unsigned>(places.size());
        for (const auto &[part, f] : said) {
            if (!f.fault() && kind.symptom != f.symptom)
                continue;   // the queues of the background
            const bool right = places.count(place(part));
            if (!f.fault() && !right)
                continue;
            score.said++;
            score.right += right;
            if (!right) {
                if (flag("ACCURACY_VERBOSE", 0))
                    fmt::print("# {}, seed {}: {}\n", kind.name, seed, part_name(layout_, part));
                continue;
            }
            found.insert(place(part));
            score.symptoms += f.symptom == kind.symptom;
            if (place(part).kind == PartKind::kCable) {
                score.directed++;
                score.right_way += wanted.count(part);
            }
        }
        score.found += static_cast<unsigned>(found.size());
        if (found.size() < places.size() && flag("ACCURACY_VERBOSE", 0))
            for (const Part &p : places)
                if (!found.count(p))
                    fmt::print("# {}, seed {}: missed {}\n", kind.name, seed, part_name(layout_, p));
    }

    static constexpr world::Dims kDims{};
    mrcfab::Fabric fabric_ = mrcd::make_rule({.planes = kDims.planes, .t0s = kDims.t0s, .t1s = kDims.t1s,
                                              .hosts_per_t0 = kDims.hosts_per_t0});
    Layout layout_{fabric_};
    World world_{kDims, layout_, 1};
};

double percent(unsigned part, unsigned of) { return of ? 100.0 * part / of : 100; }

TEST(accuracy, each_kind)
{
    const unsigned seeds = flag("ACCURACY_SEEDS", 1);
    Trial trial;
    Score sum;

    fmt::print("# {:<24} {:>6} {:>9} {:>7} {:>9} {:>8}\n", "fault", "seeds", "precision", "recall",
               "direction", "symptom");
    for (const Kind &kind : kinds()) {
        Score s;
        for (unsigned seed = 1; seed <= seeds; seed++)
            trial.run(kind, seed, s);
        fmt::print("# {:<24} {:>6} {:>8.1f}% {:>6.1f}% {:>8}% {:>7.1f}%\n", kind.name, s.seeds,
                   percent(s.right, s.said), percent(s.found, s.wanted),
                   s.directed ? fmt::format("{:.1f}", percent(s.right_way, s.directed)) : "-",
                   percent(s.symptoms, s.right));
        std::fflush(stdout);
        sum.wanted += s.wanted;
        sum.found += s.found;
        sum.said += s.said;
        sum.right += s.right;
        sum.directed += s.directed;
        sum.right_way += s.right_way;
    }
    fmt::print("# all: precision {:.2f} %, right part {:.2f} %, right direction {:.2f} %\n",
               percent(sum.right, sum.said), percent(sum.found, sum.wanted),
               percent(sum.right_way, sum.directed));
    EXPECT_GE(percent(sum.right, sum.said), 99);
    EXPECT_GE(percent(sum.found, sum.wanted), seeds >= 100 ? 99 : 95);
    EXPECT_GE(percent(sum.right_way, sum.directed), 95);
}

// How soon, at the default rate. A slice is what mrcd or an aggregator waits for.
TEST(accuracy, delays)
{
    using enum At;
    struct Wanted {
        Kind kind;
        double seconds;
    };
    const std::vector<Wanted> list{
        {{"dead NIC-T0 cable", {kHostUp, kHostDown}, Harm::kDrop, 1, 1, 1, 0.01, Symptom::kLoss}, 0.04},
        {{"dead uplink, one way", {kUp, kDown}, Harm::kDrop, 1, 1, 5, 0.1, Symptom::kLoss}, 1},
        {{"uplink loses 1 %", {kUp, kDown}, Harm::kDrop, 0.01, 0.01, 30, 1, Symptom::kLoss}, 12},
    };
    const unsigned seeds = flag("ACCURACY_SEEDS", 3);
    Trial trial;

    fmt::print("# {:<24} {:>6} {:>9} {:>8} {:>8} {:>8}\n", "fault", "seeds", "median", "99 %", "worst", "wanted");
    for (const Wanted &w : list) {
        std::vector<double> all;
        for (unsigned seed = 1; seed <= seeds; seed++)
            all.push_back(trial.delay(w.kind, seed));
        std::sort(all.begin(), all.end());
        const double most = all[(all.size() * 99 + 99) / 100 - 1];
        fmt::print("# {:<24} {:>6} {:>7.3f} s {:>6.3f} s {:>6.3f} s {:>6} s\n", w.kind.name, seeds, all[all.size() / 2],
                   most, all.back(), w.seconds);
        std::fflush(stdout);
        EXPECT_LE(most, w.seconds + w.kind.slice) << w.kind.name;
    }
}

// Counts what a tracker says in hours without a fault.
struct Alarms {
    unsigned false_ones = 0, congested = 0, stalled = 0;

    void add(const Layout &l, const Tracker &t, const std::vector<Change> &changes, unsigned hour)
    {
        for (const Change &c : changes) {
            const auto it = t.known().find(c.part);
            if (!c.bad || it == t.known().end())
                continue;
            const Finding &f = it->second.finding;
            congested += f.symptom == Symptom::kCongestion;
            stalled += f.symptom == Symptom::kStalled;
            false_ones += f.fault();
            if (f.fault())
                fmt::print("# hour {}: {}, {} losses, {}\n", hour, part_name(l, c.part), f.losses,
                           symptom_word(f.symptom));
        }
    }
    void print(const char *of, unsigned hours) const
    {
        fmt::print("# {} {} without a fault: {} false verdicts, congestion named {} times, stalls {}\n", hours, of,
                   false_ones, congested, stalled);
    }
};

struct Hours {
    unsigned first = flag("ACCURACY_FIRST", 0), end = first + flag("ACCURACY_HOURS", 3);
    mrcfab::Fabric f = mrcd::make_rule({.planes = 4, .t0s = 16, .t1s = 64, .hosts_per_t0 = 64});
    Layout l{f};
    World w{{}, l, 7};

    Hours() { w.bursts_per_hour = 60; }
};

TEST(accuracy, hours_without_fault)
{
    Hours h;
    Alarms all;

    for (unsigned hour = h.first; hour < h.end; hour++) {
        Tracker t(h.l);
        h.w.reseed(hour + 1);
        for (unsigned i = 0; i < 360; i++)
            all.add(h.l, t, t.add(h.w.slice(10)), hour);
    }
    all.print("hours", h.end - h.first);
    EXPECT_EQ(all.false_ones, 0u);
}

// As mrcd judges: each host has its own results only.
TEST(accuracy, hours_of_single_hosts)
{
    constexpr unsigned kEach = 64;   // every such host is watched, one of each T0
    Hours h;
    Alarms all;
    unsigned sum = 0;

    for (unsigned hour = h.first; sum < h.end - h.first; hour++) {
        std::map<unsigned, Tracker> alone;
        for (unsigned host = 1 + hour % kEach; host <= h.l.hosts(); host += kEach, sum++)
            alone.try_emplace(host, h.l, true);
        h.w.reseed(hour + 1);
        for (unsigned i = 0; i < 1800; i++) {
            const Evidence e = h.w.slice(2);
            std::map<unsigned, Evidence> own;
            for (const auto &[probe, result] : e.failed)
                if (alone.count(probe.host))
                    own[probe.host].failed.emplace(probe, result);
            for (auto &[host, t] : alone) {
                Evidence &mine = own[host];
                mine.from = e.from;
                mine.to = e.to;
                mine.hosts.emplace(host, e.hosts.at(host));
                all.add(h.l, t, t.add(mine), hour);
            }
        }
    }
    all.print("hours of single hosts", sum);
    EXPECT_EQ(all.false_ones, 0u);
}

TEST(accuracy, reference_fabric)
{
    if (!flag("ACCURACY_LARGE", 0))
        GTEST_SKIP() << "ACCURACY_LARGE=1";
    const mrcfab::Fabric f = mrcd::make_rule(mrcd::whole_size());
    const Layout l(f);
    Plans plans(l);
    World w({8, 512, 256, 256}, l, 1);

    w.bursts_per_hour = w.pauses_per_hour = 0;
    w.faults = {{At::kT1, 3, 17, 0}, {At::kUp, 5, 400, 200}, {At::kHostUp, 8, 131072, 0}};
    const auto r = infer(l, w.slice(1), plans);
    std::set<Part> found;
    for (const Finding &x : r.findings)
        found.insert(x.part);
    EXPECT_EQ(found, (std::set<Part>{{PartKind::kT1, 3, 17, 0}, {PartKind::kUp, 5, 400, 200},
                                     {PartKind::kHostCable, 8, 131072, 0}}));
}

// All lines of the reference fabric, or of some hosts, as whoever judges it has them: a file of each host, of as many
// seconds as there are windows for. One T1 is dead all the time. A gigabyte must do.
TEST(accuracy, reference_fabric_lines)
{
    const bool all = std::getenv("ACCURACY_LINES");
    const unsigned hosts = flag("ACCURACY_LINES", 1024), step = all ? 1 : 16;
    const mrcfab::Fabric f = mrcd::make_rule(mrcd::whole_size());
    const Layout l(f);
    const Part dead{PartKind::kT1, 3, 1, 0};   // each 64th host watches it
    const double begin = 1000, end = begin + (all ? 1260 : 180);
    Lines lines(l, end);
    std::mt19937 random(1);
    std::size_t bytes = 0;

    for (unsigned host = 1; host <= hosts; host += step) {
        Evidence e;
        for (const Planned &p : plan_probes(l, host, Rate::kNormal)) {
            const Crossings list = crossings(p.probe);
            if (std::any_of(list.begin(), list.end(), [&](const Crossing &c) { return c.part == dead; }))
                e.failed[p.probe].n.sent = e.failed[p.probe].n.lost = static_cast<std::uint64_t>(p.per_second);
        }
        const double span = e.failed.empty() ? 10 : 1;
        for (double at = begin; at < end; at += span) {
            e.from = at;
            e.to = at + span;
            for (auto &[probe, result] : e.failed) {
                result.first = at + 0.01;
                result.last = e.to - 0.01;
            }
            auto &planes = e.hosts[host].planes;
            planes.resize(l.planes());
            for (auto &plane : planes)
                for (auto &n : plane)
                    n = static_cast<std::uint64_t>(100 * span) - 1 + random() % 3;
            const auto line = to_line(l, host, e);
            bytes += line.size() + 1;
            ASSERT_TRUE(lines.add(line)) << line;
        }
    }
    const double read = cpu_seconds(), read_mb = most_megabytes();
    Tracker t(l);
    lines.each_slice(1, [&](const Evidence &slice) { t.add(slice); });
    EXPECT_TRUE(t.known().count(dead));
    EXPECT_EQ(t.known().size(), 1u);
    std::printf("# %zu lines, %zu MB: written and read in %.0f s of CPU, %.0f MB of memory; judged in %.0f s, %.0f MB\n",
                lines.taken(), bytes >> 20, read, read_mb, cpu_seconds() - read, most_megabytes());
    EXPECT_TRUE(hosts < l.hosts() || most_megabytes() <= 1000);
}

}   // namespace

}   // namespace mrcver
