// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// infer.cc - see infer.h.
#include "infer.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <set>
#include <unordered_map>

#include "symptom.h"

namespace mrcver {

namespace {

constexpr double kBase = 1e-6;         // packets are lost now and then, by nobody's fault
constexpr double kRateMin = 1e-6, kRateMax = 0.999;
constexpr unsigned kFitSteps = 28;
constexpr unsigned kExchanges = 4;     // rounds
constexpr std::size_t kFindingsMax = 512;
// How far tests may be from what is expected of them: twice the logarithm, of each and of all.
constexpr double kMisfitEach = 6, kMisfitOfAll = 0.1;
constexpr double kAsGood = 3;          // of likelihood's logarithm: cannot be told apart

// What a part costs: so much must it explain. A small part is the likelier of two that explain the same.
double cost(PartKind kind)
{
    switch (kind) {
    case PartKind::kHostCable: return 16;
    case PartKind::kUp:
    case PartKind::kDown: return 16;
    case PartKind::kCable: return 16.5;
    case PartKind::kNic: return 17;
    case PartKind::kT0:
    case PartKind::kT1: return 18;
    case PartKind::kPlane: break;
    }
    return 20;
}

constexpr double kKnownCost = 1;
constexpr double kLossesOfNic = 4 * kLossesWanted;
constexpr std::size_t kSieve = 1 << 18;   // bits

double likelihood(double failed, double sent, double passes)
{
    const double p = std::clamp(1 - passes, kBase, kRateMax);

    return failed * std::log(p) + std::max(0.0, sent - failed) * std::log1p(-p);
}

struct Test {
    Probe probe;
    const Result *result = nullptr;
    double sent = 0, failed = 0;
    double passes = 1 - kBase;         // by all parts that are blamed so far
    double now = 0, best = 0;          // likelihoods: of that, and of what explains it wholly

    double at(double pass) const { return likelihood(failed, sent, pass); }
    void settle(double pass)
    {
        passes = pass;
        now = at(pass);
    }
};

struct Use {
    std::size_t test = 0;
    unsigned times = 1;
};

struct Candidate {
    Part part;
    std::vector<Use> uses;             // of tests that failed
    double failed = 0;
    double well = 0;                   // packets of other tests, by how often they cross it
    unsigned well_tests = 0;
    unsigned hosts = 0, last_host = 0; // that probe it
    // Worked out:
    double gain = 0, rate = 0;
    bool fresh = false;                // as the tests are now
    double cost = 0, support = 0;      // support: by traffic
};

struct Blamed {
    std::size_t candidate = 0;
    double rate = 0;
};

class Search {
public:
    Search(const Layout &l, const Evidence &e, Plans &plans, const std::set<Part> &known)
        : layout_(l), evidence_(e)
    {
        list_tests();
        list_candidates(known);
        if (!candidates_.empty())
            count_well(plans);
        for (Test &t : tests_) {
            t.settle(t.passes);
            t.best = t.at(1 - t.failed / t.sent);
        }
    }

    void run()
    {
        while (blamed_.size() < kFindingsMax && accept_best())
            ;
        for (unsigned i = 0; i < kExchanges && exchange(); i++)
            ;
    }

    Inferred result(bool alone);

private:
    void list_tests();
    void list_candidates(const std::set<Part> &known);
    void count_well(Plans &plans);
    void count_crossings(const Probe &probe, double share, bool well);
    void fit(Candidate &c) const;
    double gain(const Candidate &c, double x) const;
    double gain_at_most(const Candidate &c) const;
    bool accept_best(std::size_t except = SIZE_MAX);
    void apply(std::size_t candidate, double rate, bool add);
    bool exchange();
    bool fits(std::size_t nth) const;
    bool everywhere(const Candidate &nic) const;
    Finding finding(std::size_t nth, bool alone);
    void rivals(Finding &f, std::size_t nth);

    const Layout &layout_;
    const Evidence &evidence_;
    std::vector<Test> tests_;
    std::vector<Candidate> candidates_;
    std::unordered_map<Part, std::size_t, PartHash> by_part_;
    std::bitset<kSieve> may_be_;       // most parts are no candidates
    std::vector<std::vector<std::size_t>> of_test_;   // candidates
    std::vector<Blamed> blamed_;
};

// ------------------------------------------------------------------ what there is

// Probes of a kind share what the host sent on that plane.
std::array<double, kProbeKinds> shares(const std::vector<Planned> &plan, const std::array<std::uint64_t, kProbeKinds> &sent)
{
    std::array<double, kProbeKinds> n{}, each{};

    for (const Planned &p : plan)
        n[static_cast<std::size_t>(p.probe.kind)]++;
    for (unsigned k = 0; k < kProbeKinds; k++)
        if (n[k] > 0)
            each[k] = static_cast<double>(sent[k]) / n[k];
    return each;
}

void Search::list_tests()
{
    for (const auto &[probe, result] : evidence_.failed)
        if (const auto failed = static_cast<double>(result.n.failed()); failed > 0)
            tests_.push_back({probe, &result, std::max(static_cast<double>(result.n.sent), failed), failed});
}

void Search::list_candidates(const std::set<Part> &known)
{
    std::unordered_map<Part, double, PartHash> failed;

    for (const Test &t : tests_)
        for (const Crossing &c : crossings(t.probe))
            failed[c.part] += t.failed;
    of_test_.resize(tests_.size());
    for (std::size_t i = 0; i < tests_.size(); i++)
        for (const Crossing &c : crossings(tests_[i].probe)) {
            if (failed[c.part] < kLossesWanted && !known.count(c.part))
                continue;
            const auto [it, fresh] = by_part_.try_emplace(c.part, candidates_.size());
            if (fresh) {
                may_be_.set(PartHash{}(c.part) % kSieve);
                const double support = evidence_.traffic.empty() ? 0 : evidence_.traffic.support(c.part);
                candidates_.push_back({c.part, {}, 0, 0, 0, 0, 0, 0, 0, false,
                                       known.count(c.part) ? kKnownCost : cost(c.part.kind) - support, support});
            }
            Candidate &cand = candidates_[it->second];
            cand.uses.push_back({i, c.times});
            cand.failed += tests_[i].failed;
            of_test_[i].push_back(it->second);
        }
}

void Search::count_well(Plans &plans)
{
    std::set<unsigned> planes, nics;
    std::map<Probe, std::size_t> failed;

    for (std::size_t i = 0; i < tests_.size(); i++)
        failed.emplace(tests_[i].probe, i);
    for (const Candidate &c : candidates_)
        (c.part.kind == PartKind::kNic ? nics.insert(c.part.a) : planes.insert(c.part.plane));
    for (const auto &[host, sent] : evidence_.hosts) {
        const bool all = nics.count(host);
        for (unsigned plane = 1; plane <= sent.planes.size(); plane++) {
            if (!all && !planes.count(plane))
                continue;   // nobody is suspected there
            const auto &plan = plans.of(host, plane);
            const auto each = shares(plan, sent.planes[plane - 1]);
            for (const Planned &p : plan) {
                const double share = each[static_cast<std::size_t>(p.probe.kind)];
                const auto bad = failed.find(p.probe);
                if (bad != failed.end())
                    tests_[bad->second].sent = std::max(tests_[bad->second].sent, share);
                count_crossings(p.probe, share, bad == failed.end());
            }
        }
    }
}

// Of a probe of which the host sent @share. If it is @well, it speaks for what it crosses.
void Search::count_crossings(const Probe &probe, double share, bool well)
{
    for (const Crossing &c : crossings(probe)) {
        if (!may_be_[PartHash{}(c.part) % kSieve])
            continue;
        const auto it = by_part_.find(c.part);
        if (it == by_part_.end())
            continue;
        Candidate &cand = candidates_[it->second];
        if (well) {
            cand.well += share * c.times;
            cand.well_tests++;
        }
        if (cand.last_host != probe.host)
            cand.hosts++;
        cand.last_host = probe.host;
    }
}

// ------------------------------------------------------------------ likelihood

// Of a loss rate of 1 - exp(-x), over what is blamed already.
double Search::gain(const Candidate &c, double x) const
{
    const double once = std::exp(-x), twice = std::exp(-x * 2);   // no probe crosses a part more often
    double sum = -c.well * x;

    for (const Use &u : c.uses) {
        const Test &t = tests_[u.test];
        sum += t.at(t.passes * (u.times == 1 ? once : twice)) - t.now;
    }
    return sum;
}

// If nothing contradicted it.
double Search::gain_at_most(const Candidate &c) const
{
    double sum = 0;

    for (const Use &u : c.uses) {
        const Test &t = tests_[u.test];
        sum += t.best - t.now;
    }
    return sum;
}

// The best rate. The likelihood is concave in x, so it has one summit.
void Search::fit(Candidate &c) const
{
    c.fresh = true;
    c.gain = 0;
    c.rate = 0;
    if (gain_at_most(c) < c.cost)
        return;
    double low = std::log(kRateMin), high = std::log(-std::log1p(-kRateMax));
    const double golden = (std::sqrt(5.0) - 1) / 2;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = gain(c, std::exp(a)), at_b = gain(c, std::exp(b));
    for (unsigned i = 0; i < kFitSteps; i++)
        if (at_a > at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = gain(c, std::exp(a));
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = gain(c, std::exp(b));
        }
    c.gain = std::max(at_a, at_b);
    c.rate = -std::expm1(-std::exp((low + high) / 2));
}

// ------------------------------------------------------------------ search

void Search::apply(std::size_t candidate, double rate, bool add)
{
    for (const Use &u : candidates_[candidate].uses) {
        const double f = std::pow(1 - rate, u.times);
        Test &t = tests_[u.test];
        t.settle(add ? t.passes * f : t.passes / f);
        for (const std::size_t other : of_test_[u.test])
            candidates_[other].fresh = false;
    }
}

bool Search::accept_best(std::size_t except)
{
    std::size_t best = SIZE_MAX;
    double most = 0;

    for (std::size_t i = 0; i < candidates_.size(); i++) {
        Candidate &c = candidates_[i];
        if (!c.fresh)
            fit(c);
        if (i != except && c.gain - c.cost > most) {
            most = c.gain - c.cost;
            best = i;
        }
    }
    if (best == SIZE_MAX)
        return false;
    blamed_.push_back({best, candidates_[best].rate});
    apply(best, candidates_[best].rate, true);
    return true;
}

// Each part is judged again, with all others blamed: it goes, or another one takes its place, where
// that explains more.
bool Search::exchange()
{
    bool changed = false;

    if (blamed_.size() < 2)
        return false;
    for (std::size_t i = 0; i < blamed_.size();) {
        const Blamed old = blamed_[i];
        apply(old.candidate, old.rate, false);
        blamed_.erase(blamed_.begin() + static_cast<std::ptrdiff_t>(i));
        const bool again = accept_best();
        if (again) {
            const Blamed now = blamed_.back();
            blamed_.pop_back();
            blamed_.insert(blamed_.begin() + static_cast<std::ptrdiff_t>(i), now);
            changed |= now.candidate != old.candidate;
            i++;
        } else {
            changed = true;
        }
    }
    return changed;
}

// ------------------------------------------------------------------ findings

// Of the losses of a test, what this part explains among those that are blamed.
double part_of(const std::vector<Blamed> &blamed, const std::vector<Candidate> &candidates, const Test &t,
               std::size_t nth)
{
    double all = -std::log1p(-kBase), mine = 0;
    const Crossings list = crossings(t.probe);

    for (std::size_t i = 0; i < blamed.size(); i++)
        for (const Crossing &c : list)
            if (c.part == candidates[blamed[i].candidate].part) {
                const double x = -std::log1p(-blamed[i].rate) * c.times;
                all += x;
                if (i == nth)
                    mine += x;
            }
    return mine / all;
}

void Search::rivals(Finding &f, std::size_t nth)
{
    const Blamed own = blamed_[nth];
    std::set<std::size_t> others;

    apply(own.candidate, own.rate, false);
    for (const Use &u : candidates_[own.candidate].uses)
        others.insert(of_test_[u.test].begin(), of_test_[u.test].end());
    const double mine = gain(candidates_[own.candidate], -std::log1p(-own.rate)) - cost(f.part.kind) +
                        candidates_[own.candidate].support;
    double all = 1;
    for (const std::size_t i : others) {
        Candidate &c = candidates_[i];
        if (i == own.candidate || gain_at_most(c) - c.cost < mine - 12)
            continue;
        fit(c);
        const double theirs = c.gain - c.cost;
        all += std::exp(std::min(0.0, theirs - mine));
        if (theirs > mine - kAsGood)
            f.instead.push_back(c.part);
    }
    f.confidence = 1 / all;
    apply(own.candidate, own.rate, true);
}

// A host that tells of losses which its other probes, by the same part, do not have, fits nothing.
bool Search::fits(std::size_t nth) const
{
    const Candidate &c = candidates_[blamed_[nth].candidate];
    double away = -std::log1p(-blamed_[nth].rate) * c.well, gained = 0;

    for (const Use &u : c.uses) {
        const Test &t = tests_[u.test];
        away += t.best - t.now;
        gained += t.best - t.at(1 - kBase);
    }
    return 2 * away <= kMisfitEach * static_cast<double>(c.uses.size() + c.well_tests) + kMisfitOfAll * gained;
}

// A NIC drops packets of all planes. Few losses of some planes are what faults of several other parts have left in a long
// window: a NIC explains them all at little cost.
bool Search::everywhere(const Candidate &nic) const
{
    const auto host = evidence_.hosts.find(nic.part.a);
    std::set<unsigned> planes;

    for (const Use &u : nic.uses)
        planes.insert(tests_[u.test].probe.plane);
    if (nic.failed < kLossesOfNic || host == evidence_.hosts.end())
        return false;
    for (unsigned p = 1; p <= host->second.planes.size(); p++) {
        const auto &sent = host->second.planes[p - 1];
        if (std::any_of(sent.begin(), sent.end(), [](auto n) { return n > 0; }) && !planes.count(p))
            return false;
    }
    return true;
}

Finding Search::finding(std::size_t nth, bool alone)
{
    const Candidate &c = candidates_[blamed_[nth].candidate];
    std::set<unsigned> saw;
    Counts sum;
    Finding f;

    f.part = c.part;
    f.loss = blamed_[nth].rate;
    f.traffic = evidence_.traffic.over(c.part);
    f.of = c.hosts;
    std::vector<double> shares;
    for (const Use &u : c.uses)
        shares.push_back(blamed_.size() == 1 ? 1 : part_of(blamed_, candidates_, tests_[u.test], nth));
    // Tests that others explain tell nothing of how it fails, unless there are no better ones.
    const double wanted = std::min(0.5, *std::max_element(shares.begin(), shares.end()));
    for (std::size_t i = 0; i < shares.size(); i++) {
        const Test &t = tests_[c.uses[i].test];
        f.losses += t.failed * shares[i];
        if (shares[i] < wanted)
            continue;
        saw.insert(t.probe.host);
        sum += t.result->n;
        f.since = f.since == 0 ? t.result->first : std::min(f.since, t.result->first);
        f.last = std::max(f.last, t.result->last);
    }
    f.observers = static_cast<unsigned>(saw.size());
    f.of = std::max(f.of, f.observers);
    f.symptom = symptom_of(f, sum, layout_, evidence_);
    const bool others = shared(layout_, f.part);
    f.fits = fits(nth) && (c.part.kind != PartKind::kNic || !f.fault() || everywhere(c));
    f.confirmed = f.fits && f.losses >= kLossesWanted - 0.01 &&
                  (!others || (!alone && f.observers >= kHostsWanted));
    return f;
}

Inferred Search::result(bool alone)
{
    Inferred r;

    r.reporting = static_cast<unsigned>(evidence_.hosts.size());
    for (const Test &t : tests_)
        r.losses += static_cast<std::uint64_t>(t.failed);
    r.unexplained = static_cast<double>(r.losses);
    for (std::size_t i = 0; i < blamed_.size(); i++) {
        Finding f = finding(i, alone);
        if (f.fits)
            r.unexplained -= f.losses;
        rivals(f, i);
        r.findings.push_back(std::move(f));
    }
    std::stable_sort(r.findings.begin(), r.findings.end(),
                     [](const Finding &a, const Finding &b) { return a.losses > b.losses; });
    return r;
}

}   // namespace

Inferred infer(const Layout &layout, const Evidence &evidence, Plans &plans, const std::set<Part> &known,
               bool alone)
{
    Search search(layout, evidence, plans, known);

    search.run();
    return search.result(alone);
}

}   // namespace mrcver
