// SPDX-License-Identifier: GPL-2.0
#include "world.h"

#include <algorithm>
#include <cmath>

namespace world {

using mrcver::Counts;
using mrcver::ProbeKind;

namespace {

constexpr double kRtt = 12000;         // ns, where no queue is
constexpr double kFullShare = 0.01, kControlShare = 0.5;

}   // namespace

double Fault::active(double begin, double end) const
{
    const double first = std::max(begin, from), last = std::min(end, to);
    double sum = 0;

    if (first >= last)
        return 0;
    if (period == 0)
        return (last - first) / (end - begin);
    for (double t = from + std::floor((first - from) / period) * period; t < last; t += period)
        sum += std::max(0.0, std::min(last, t + on) - std::max(first, t));
    return sum / (end - begin);
}

World::World(const Dims &dims, const mrcver::Layout &layout, std::uint32_t seed)
    : dims_(dims), random_(seed)
{
    of_host_.resize(layout.hosts() + 1);
    of_plane_.resize(dims.planes + 1);
    rates_.resize(layout.hosts() + 1);
    for (unsigned host = 1; host <= layout.hosts(); host++)
        for (const auto &p : mrcver::plan_probes(layout, host, mrcver::Rate::kNormal)) {
            const std::size_t i = sent_.size();
            sent_.push_back({p.probe, p.per_second});
            rates_[host].resize(dims.planes);
            rates_[host][p.probe.plane - 1][static_cast<std::size_t>(p.probe.kind)] += p.per_second;
            all_ += p.per_second;
            of_host_[host].push_back(i);
            of_plane_[p.probe.plane].push_back(i);
            std::map<std::array<unsigned, 3>, bool> links;
            for (const Hop &h : hops(p.probe))
                if (h.at == At::kUp || h.at == At::kDown)
                    links[{p.probe.plane, h.a, h.b}] = true;
            for (const auto &[link, yes] : links)
                of_link_[link].push_back(i);
        }
}

// Up one T1 and down; for a split loop once more, from the other T0.
std::vector<World::Hop> World::hops(const Probe &p)
{
    std::vector<Hop> way{{At::kHostUp, p.host, 0}, {At::kT0, p.t0, 0}};

    if (p.kind != ProbeKind::kT0Loop) {
        const unsigned turn = p.kind == ProbeKind::kSplit ? p.via : p.t0;
        way.insert(way.end(), {{At::kUp, p.t0, p.up}, {At::kT1, p.up, 0}, {At::kDown, turn, p.up},
                               {At::kT0, turn, 0}});
        if (p.kind == ProbeKind::kSplit)
            way.insert(way.end(), {{At::kUp, p.via, p.down}, {At::kT1, p.down, 0},
                                   {At::kDown, p.t0, p.down}, {At::kT0, p.t0, 0}});
    }
    way.push_back({At::kHostDown, p.host, 0});
    return way;
}

bool World::hits(const Fault &f, const Probe &p, const Hop &h)
{
    if (f.at == At::kNic)
        return h.at == At::kHostUp && h.a == f.a;
    if (p.plane != f.plane)
        return false;
    if (f.at == At::kPlane)
        return h.at == At::kHostUp;
    return h.at == f.at && h.a == f.a && h.b == f.b;
}

std::uint64_t World::poisson(double mean)
{
    return mean <= 0 ? 0 : std::poisson_distribution<std::uint64_t>(mean)(random_);
}

std::uint64_t World::binomial(std::uint64_t n, double p)
{
    return n == 0 || p <= 0 ? 0 : std::binomial_distribution<std::uint64_t>(n, std::min(1.0, p))(random_);
}

void World::lose(Evidence &e, const Sent &s, const Fault &f, double share, double begin, double end)
{
    const double dt = end - begin;
    double pass = 1;
    Counts n;

    for (const Hop &h : hops(s.probe))
        if (hits(f, s.probe, h))
            pass *= 1 - f.rate;
    const double p = 1 - pass;
    if (p <= 0)
        return;
    n.sent = static_cast<std::uint64_t>(s.per_second * dt + uniform());
    n.full_sent = std::min(n.sent, poisson(static_cast<double>(n.sent) * kFullShare));
    n.control_sent = binomial(n.sent, kControlShare);
    const std::uint64_t in_time = binomial(n.sent, share);
    switch (f.harm) {
    case Harm::kDrop:
    case Harm::kElsewhere:
        n.lost = binomial(in_time, p);
        n.full_lost = binomial(std::min(n.full_sent, n.lost), p * share);
        n.control_lost = std::min(n.control_sent, binomial(n.lost, kControlShare));
        break;
    case Harm::kFull:
        n.lost = n.full_lost = binomial(n.full_sent, p * share);
        n.control_lost = binomial(n.lost, kControlShare);
        break;
    case Harm::kCorrupt: n.corrupt = binomial(in_time, p); break;
    case Harm::kOtherPlane: n.other_plane = binomial(in_time, p); break;
    case Harm::kQueue:
        n.lost = binomial(n.sent - n.control_sent, p * share);
        n.queued = binomial(n.sent - n.control_sent - n.lost, std::min(1.0, 20 * p * share));
        break;
    }
    n.rtt_low = static_cast<std::uint64_t>(kRtt);
    n.rtt_sum = static_cast<std::uint64_t>(kRtt * 1.2 * static_cast<double>(n.back()) *
                                           (f.harm == Harm::kQueue ? 1 + 3 * uniform() * share + 2 : 1));
    if (n.failed() == 0)
        return;
    mrcver::Result r{n, std::max(begin, std::min(end, f.from)), 0};
    r.first += uniform() * 0.01;
    r.last = std::max(r.first, std::min(end, f.to));
    if (f.harm == Harm::kElsewhere)
        e.hosts[f.other].strays += n.lost;
    e.failed[s.probe] += r;
}

void World::harm(Evidence &e, const Fault &f, double begin, double end)
{
    const double share = f.active(begin, end);

    if (share <= 0)
        return;
    if (f.at == At::kHostUp || f.at == At::kHostDown || f.at == At::kNic)
        for (const std::size_t i : of_host_[f.a])
            lose(e, sent_[i], f, share, begin, end);
    else if (f.at == At::kUp || f.at == At::kDown)
        for (const std::size_t i : of_link_[{f.plane, f.a, f.b}])
            lose(e, sent_[i], f, share, begin, end);
    else
        for (const std::size_t i : of_plane_[f.plane])
            lose(e, sent_[i], f, share, begin, end);
}

// One in very many, anywhere.
void World::stray(Evidence &e, double begin, double end)
{
    for (std::uint64_t n = poisson(all_ * stray_loss * (end - begin)); n; n--) {
        const Sent &s = sent_[static_cast<std::size_t>(uniform() * static_cast<double>(sent_.size()))];
        Counts c;
        c.sent = static_cast<std::uint64_t>(s.per_second * (end - begin)) + 1;
        c.lost = 1;
        c.control_sent = c.sent / 2;
        e.failed[s.probe] += {c, begin, end};
    }
}

// The module sees nearly every pause that is long enough to lose anything, and leaves what was under way
// out. Of some it sees too late: everything under way comes late.
void World::pauses(Evidence &e, double begin, double end)
{
    const unsigned hosts = dims_.t0s * dims_.hosts_per_t0;

    for (std::uint64_t n = poisson(hosts * pauses_per_hour * (end - begin) / 3600); n; n--) {
        const auto host = 1 + static_cast<unsigned>(uniform() * hosts);
        const double length = 0.001 + 0.199 * uniform() * uniform();
        if (length < 0.010)
            continue;   // no probe times out
        if (uniform() < 0.97) {
            e.hosts[host].stalls++;
            e.hosts[host].void_ += 4;
            continue;
        }
        for (const std::size_t i : of_host_[host]) {
            Counts c;
            c.sent = static_cast<std::uint64_t>(sent_[i].per_second * (end - begin)) + 1;
            c.lost = c.late = std::min(c.sent, poisson(sent_[i].per_second * (length - 0.010)));
            c.control_sent = c.sent / 2;
            c.control_lost = binomial(c.lost, 0.5);
            if (c.lost)
                e.failed[sent_[i].probe] += {c, begin, end};
        }
    }
}

// A queue that fills for a while becomes a fault that is none.
void World::bursts(double begin, double end)
{
    faults.erase(std::remove_if(faults.begin(), faults.end(),
                                [&](const Fault &f) { return f.harm == Harm::kQueue && f.to < begin; }),
                 faults.end());
    for (std::uint64_t n = poisson(bursts_per_hour * (end - begin) / 3600); n; n--) {
        Fault f;
        f.at = uniform() < 0.5 ? At::kUp : At::kDown;
        f.plane = 1 + static_cast<unsigned>(uniform() * dims_.planes);
        f.a = 1 + static_cast<unsigned>(uniform() * dims_.t0s);
        f.b = 1 + static_cast<unsigned>(uniform() * dims_.t1s);
        f.harm = Harm::kQueue;
        f.rate = 0.001 + 0.05 * uniform() * uniform();
        f.from = begin + uniform() * (end - begin);
        f.to = f.from + 0.1 + 10 * uniform() * uniform();
        faults.push_back(f);
    }
}

Evidence World::slice(double seconds)
{
    const double begin = now_, end = now_ + seconds;
    Evidence e;

    e.from = begin;
    e.to = end;
    for (unsigned h = 1; h < of_host_.size(); h++) {
        auto &planes = e.hosts.emplace_hint(e.hosts.end(), h, mrcver::HostSent{})->second.planes;
        planes.resize(rates_[h].size());
        for (std::size_t p = 0; p < planes.size(); p++)
            for (unsigned k = 0; k < mrcver::kProbeKinds; k++)
                planes[p][k] = static_cast<std::uint64_t>(rates_[h][p][k] * seconds + 0.5);
    }
    bursts(begin, end);
    const auto now_active = faults;
    for (const Fault &f : now_active)
        harm(e, f, begin, end);
    stray(e, begin, end);
    pauses(e, begin, end);
    now_ = end;
    return e;
}

}   // namespace world
