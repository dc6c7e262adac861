// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// sent.cc - see sent.h.
#include "sent.h"

#include <algorithm>
#include <cmath>

namespace mrcver {

namespace {

constexpr double kTouch = 1e-6;        // seconds: spans with no more between them follow each other
constexpr double kJitter = 2;          // packets that a rate may be off, and
constexpr double kJitterOf = 1.0 / 16; // of what is expected
constexpr double kShortest = 0.5;      // seconds: of less, packets are too few to tell a rate

}   // namespace

double grain(double age) { return age > 150 ? 60 : age > 15 ? 6 : age > 2 ? 1 : 0; }

HostSent &HostSent::operator+=(const HostSent &m)
{
    planes.resize(std::max(planes.size(), m.planes.size()));
    for (std::size_t p = 0; p < m.planes.size(); p++)
        for (unsigned k = 0; k < kProbeKinds; k++)
            planes[p][k] += m.planes[p][k];
    stalls += m.stalls;
    void_ += m.void_;
    strays += m.strays;
    return *this;
}

bool SentLog::Run::same_rate(const Run &next) const
{
    const double part = (next.to - next.from) / (to - from);

    if (next.from - to > kTouch || std::min(to - from, next.to - next.from) < kShortest || sent.planes.size() != next.sent.planes.size())
        return false;
    for (const HostSent *s : {&sent, &next.sent})
        if (s->stalls || s->void_ || s->strays)
            return false;
    for (std::size_t p = 0; p < sent.planes.size(); p++)
        for (unsigned k = 0; k < kProbeKinds; k++) {
            const double wanted = static_cast<double>(sent.planes[p][k]) * part;
            if (std::abs(static_cast<double>(next.sent.planes[p][k]) - wanted) > kJitter + kJitterOf * wanted)
                return false;
        }
    return true;
}

void SentLog::Run::join(const Run &next)
{
    to = std::max(to, next.to);
    sent += next.sent;
}

// Shares of spans that follow each other add up to the whole.
HostSent SentLog::Run::share(double begin, double end) const
{
    if (begin <= from && end >= to)
        return sent;
    const double first = std::max(0.0, (begin - from) / (to - from)), last = std::min(1.0, (end - from) / (to - from));
    HostSent part = sent;

    for (auto &plane : part.planes)
        for (auto &count : plane) {
            const auto n = static_cast<double>(count);
            count = static_cast<std::uint64_t>(std::floor(n * last) - std::floor(n * first));
        }
    if (end < to)
        part.stalls = part.void_ = part.strays = 0;
    return part;
}

bool SentLog::add(unsigned host, double from, double to, const HostSent &sent)
{
    auto &runs = hosts_[host];
    auto at = std::partition_point(runs.begin(), runs.end(), [&](const Run &r) { return r.from < from; });

    if (to <= from) {
        if (at == runs.begin())
            return false;
        std::prev(at)->sent += sent;
        return true;
    }
    if ((at != runs.begin() && std::prev(at)->to > from + kTouch) || (at != runs.end() && at->from < to - kTouch))
        return false;
    const Run run{from, to, sent};
    if (at != runs.begin() && std::prev(at)->same_rate(run)) {
        --at;
        at->join(run);
    } else {
        at = runs.insert(at, run);
    }
    if (const auto next = std::next(at); next != runs.end() && at->same_rate(*next)) {
        at->join(*next);
        runs.erase(next);
    }
    return true;
}

std::map<unsigned, HostSent> SentLog::between(double from, double to) const
{
    std::map<unsigned, HostSent> sum;

    for (const auto &[host, runs] : hosts_) {
        auto r = std::partition_point(runs.begin(), runs.end(), [&](const Run &x) { return x.to <= from; });
        if (r == runs.end() || r->from >= to)
            continue;
        HostSent &mine = sum.emplace_hint(sum.end(), host, r->share(from, to))->second;
        while (++r != runs.end() && r->from < to)
            mine += r->share(from, to);
    }
    return sum;
}

double SentLog::begin() const
{
    double first = 0;

    for (const auto &[host, runs] : hosts_)
        if (!runs.empty() && (first == 0 || runs.front().from < first))
            first = runs.front().from;
    return first;
}

void SentLog::forget(double before)
{
    for (auto &[host, runs] : hosts_)
        if (!runs.empty() && runs.front().to < before)
            runs.erase(runs.begin(), std::partition_point(runs.begin(), runs.end(), [&](const Run &r) { return r.to < before; }));
    std::erase_if(hosts_, [](const auto &x) { return x.second.empty(); });
}

void SentLog::compact(double now)
{
    for (auto &[host, runs] : hosts_)
        for (std::size_t i = 0; i + 1 < runs.size();) {
            const Run &next = runs[i + 1];
            if (next.to - runs[i].from <= grain(now - next.to) || runs[i].same_rate(next)) {
                runs[i].join(next);
                runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            } else {
                i++;
            }
        }
}

}   // namespace mrcver
