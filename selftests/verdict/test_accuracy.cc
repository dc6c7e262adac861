// SPDX-License-Identifier: GPL-2.0
// How often verdicts are right: 1,024 hosts, 4 planes, faults of each kind at random places, while hosts
// pause and queues fill.
//
//	ACCURACY_SEEDS=1000    of each kind
//	ACCURACY_HOURS=1000    without a fault
//	ACCURACY_LARGE=1       131,072 hosts, 8 planes, once
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <set>

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

TEST(accuracy, hours_without_fault)
{
    const unsigned hours = flag("ACCURACY_HOURS", 1);
    const mrcfab::Fabric f = mrcd::make_rule({.planes = 4, .t0s = 16, .t1s = 64, .hosts_per_t0 = 64});
    const Layout l(f);
    World w({}, l, 7);
    unsigned said = 0, congested = 0, stalled = 0;

    w.bursts_per_hour = 60;
    for (unsigned h = 0; h < hours; h++) {
        Tracker t(l);
        w.reseed(h + 1);
        for (unsigned i = 0; i < 360; i++)
            for (const Change &c : t.add(w.slice(10)))
                if (const auto it = t.known().find(c.part); c.bad && it != t.known().end()) {
                    const Finding &v = it->second.finding;
                    congested += v.symptom == Symptom::kCongestion;
                    stalled += v.symptom == Symptom::kStalled;
                    said += v.fault();
                    if (v.fault())
                        fmt::print("# hour {}: {}, {} losses, symptom {}\n", h, part_name(l, c.part), v.losses,
                                   static_cast<int>(v.symptom));
                }
    }
    fmt::print("# {} hours without a fault: {} false verdicts, congestion named {} times, stalls {}\n", hours,
               said, congested, stalled);
    EXPECT_EQ(said, 0u);
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

}   // namespace

}   // namespace mrcver
