// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lines.cc - see lines.h.
#include "lines.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "packed.h"

namespace mrcver {

namespace {

using nlohmann::json;

constexpr double kSpanMax = 3600, kTimeMax = 1e11;   // seconds
constexpr double kKept = 1260;                       // the longest window, and some
constexpr double kPerTenth = 10;
constexpr double kForgetEach = 60;
constexpr double kAhead = 60;                        // that a clock may be
constexpr std::uint64_t kCountMax = 1'000'000'000'000;
constexpr double kSlack = 1.5;                       // of the fast rate: clocks differ
constexpr std::uint64_t kMore = 100;

struct Refused {
    Refusal why;
};

[[noreturn]] void no(Refusal why) { throw Refused{why}; }

const json &at(const json &j, const char *key)
{
    if (!j.is_object())
        no(Refusal::kMalformed);
    const auto it = j.find(key);

    if (it == j.end())
        no(Refusal::kMalformed);
    return *it;
}

double seconds(const json &j)
{
    if (!j.is_number())
        no(Refusal::kMalformed);
    const double d = j.get<double>();
    if (!std::isfinite(d) || d < 0 || d > kTimeMax)
        no(Refusal::kImpossible);
    return d;
}

std::uint64_t count(const json &j)
{
    if (!j.is_number_unsigned())
        no(Refusal::kMalformed);
    const auto n = j.get<std::uint64_t>();
    if (n > kCountMax)
        no(Refusal::kImpossible);
    return n;
}

std::uint64_t count_of(const json &j, const char *key)
{
    const auto it = j.find(key);

    return it == j.end() ? 0 : count(*it);
}

// [of sent, of lost]
void pair_of(const json &j, const char *key, std::uint64_t &sent, std::uint64_t &lost)
{
    const auto it = j.find(key);

    if (it == j.end())
        return;
    if (!it->is_array() || it->size() != 2)
        no(Refusal::kMalformed);
    sent = count((*it)[0]);
    lost = count((*it)[1]);
}

Counts counts(const json &j)
{
    Counts n;

    n.sent = count(at(j, "sent"));
    n.lost = count_of(j, "lost");
    n.corrupt = count_of(j, "corrupt");
    n.other_plane = count_of(j, "other_plane");
    pair_of(j, "full", n.full_sent, n.full_lost);
    pair_of(j, "control", n.control_sent, n.control_lost);
    n.late = count_of(j, "late");
    n.queued = count_of(j, "queued");
    n.rtt_sum = count_of(j, "rtt_sum_ns");
    n.rtt_low = count_of(j, "rtt_low_ns");
    if (n.failed() == 0 || n.failed() > n.sent || n.full_sent > n.sent || n.full_lost > std::min(n.lost, n.full_sent) ||
        n.control_sent > n.sent || n.control_lost > std::min(n.lost, n.control_sent))
        no(Refusal::kImpossible);
    return n;
}

// The switches, T0 and T1 in turn; they must be this host's, and cabled to each other.
Probe probe_of(const Layout &l, unsigned host, const json &j)
{
    const auto plane = count(at(j, "plane"));
    const json &path = at(j, "path");
    std::vector<unsigned> way;
    Probe p;

    if (plane < 1 || plane > l.planes())
        no(Refusal::kStranger);
    if (!path.is_array() || (path.size() != 1 && path.size() != 3 && path.size() != 5))
        no(Refusal::kMalformed);
    p.plane = static_cast<unsigned>(plane);
    for (std::size_t i = 0; i < path.size(); i++) {
        if (!path[i].is_string())
            no(Refusal::kMalformed);
        const auto &name = path[i].get_ref<const std::string &>();
        way.push_back(i % 2 ? l.t1(name, p.plane) : l.t0(name, p.plane));
        if (!way.back() || (i && !l.joined(p.plane, i % 2 ? way[i - 1] : way[i], i % 2 ? way[i] : way[i - 1])))
            no(Refusal::kStranger);
    }
    p.host = host;
    p.t0 = l.t0_of(p.plane, host);
    if (way.front() != p.t0 || way.back() != p.t0)
        no(Refusal::kStranger);
    if (way.size() == 1)
        return p;
    p.kind = way.size() == 3 ? ProbeKind::kT1Loop : ProbeKind::kSplit;
    p.up = way[1];
    if (way.size() == 5) {
        p.via = way[2];
        p.down = way[3];
        if (p.via == p.t0 || p.up == p.down)
            no(Refusal::kImpossible);
    }
    return p;
}

void read_sent(const json &j, HostSent &sent, const Layout &l, double span)
{
    const double most = kSlack * per_kind(Rate::kFast) * span + static_cast<double>(kMore);

    if (!j.is_array() || j.size() > l.planes())
        no(Refusal::kMalformed);
    for (const json &plane : j) {
        if (!plane.is_array() || plane.size() != kProbeKinds)
            no(Refusal::kMalformed);
        std::array<std::uint64_t, kProbeKinds> n{};
        for (unsigned k = 0; k < kProbeKinds; k++) {
            n[k] = count(plane[k]);
            if (static_cast<double>(n[k]) > most)
                no(Refusal::kImpossible);
        }
        sent.planes.push_back(n);
    }
}

void read_failed(const json &j, Evidence &e, unsigned host, const Layout &l)
{
    const HostSent &sent = e.hosts[host];

    if (!j.is_array() || j.size() > kFailedMax)
        no(Refusal::kMalformed);
    std::map<std::pair<unsigned, ProbeKind>, std::uint64_t> sums;
    for (const json &one : j) {
        if (!one.is_object())
            no(Refusal::kMalformed);
        const Probe p = probe_of(l, host, one);
        Result r{counts(one), 0, 0};
        r.first = std::clamp(one.contains("first") ? seconds(one["first"]) : e.from, e.from, e.to);
        r.last = std::clamp(one.contains("last") ? seconds(one["last"]) : e.to, r.first, e.to);
        auto &sum = sums[{p.plane, p.kind}];
        sum += r.n.sent;
        if (p.plane > sent.planes.size() || sum > sent.planes[p.plane - 1][static_cast<std::size_t>(p.kind)])
            no(Refusal::kImpossible);
        if (!e.failed.emplace(p, r).second)
            no(Refusal::kImpossible);
    }
}

// [sent, lost, evs, bad]
Traffic traffic_of(const json &j)
{
    if (!j.is_array() || j.size() != 4)
        no(Refusal::kMalformed);
    const Traffic t{count(j[0]), count(j[1]), count(j[2]), count(j[3])};
    if (t.lost > t.sent || t.bad > t.evs)
        no(Refusal::kImpossible);
    return t;
}

// Upwards it is an uplink of this host's own T0.
Part link_of(const Layout &l, unsigned host, const json &j)
{
    const auto plane = count(at(j, "plane"));
    const json &from = at(j, "from"), &to = at(j, "to");

    if (!from.is_string() || !to.is_string())
        no(Refusal::kMalformed);
    if (plane < 1 || plane > l.planes())
        no(Refusal::kStranger);
    const auto p = static_cast<unsigned>(plane);
    const auto &a = from.get_ref<const std::string &>(), &b = to.get_ref<const std::string &>();
    const unsigned t0 = l.t0(a, p);
    const Part link = t0 ? Part{PartKind::kUp, p, t0, l.t1(b, p)} : Part{PartKind::kDown, p, l.t0(b, p), l.t1(a, p)};
    if (!link.a || !link.b || !l.joined(p, link.a, link.b) || (t0 && t0 != l.t0_of(p, host)))
        no(Refusal::kStranger);
    return link;
}

void read_traffic(const json &j, TrafficSeen &seen, unsigned host, const Layout &l)
{
    const json &links = at(j, "links");

    seen.all = traffic_of(at(j, "all"));
    if (!links.is_array() || links.size() > kTrafficMax)
        no(Refusal::kMalformed);
    for (const json &one : links) {
        const Traffic t = traffic_of(at(one, "n"));
        if (t.sent > seen.all.sent || t.lost > seen.all.lost || t.evs > seen.all.evs || t.bad > seen.all.bad ||
            !seen.links.emplace(link_of(l, host, one), t).second)
            no(Refusal::kImpossible);
    }
}

Evidence read(std::string_view line, const Layout &l, unsigned &host)
{
    Evidence e;

    if (line.size() > kLineMax)
        no(Refusal::kMalformed);
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object() || count(at(j, "mrc_probes")) != 1 || !at(j, "host").is_string())
        no(Refusal::kMalformed);
    host = l.host(j["host"].get_ref<const std::string &>());
    if (!host)
        no(Refusal::kStranger);
    e.from = seconds(at(j, "from"));
    e.to = seconds(at(j, "to"));
    if (e.from >= e.to || e.to - e.from > kSpanMax)
        no(Refusal::kImpossible);
    HostSent &sent = e.hosts[host];
    read_sent(at(j, "sent"), sent, l, e.to - e.from);
    sent.stalls = count_of(j, "stalls");
    sent.void_ = count_of(j, "void");
    sent.strays = count_of(j, "strays");
    if (j.contains("failed"))
        read_failed(j["failed"], e, host, l);
    if (j.contains("traffic"))
        read_traffic(j["traffic"], e.traffic, host, l);
    return e;
}

// The tenth of a second in which a line ends: after the tenth before, and not after this one.
double end_of(long tenth) { return static_cast<double>(tenth) / kPerTenth; }

long tenth_of(double end)
{
    long tenth = std::lround(end * kPerTenth);

    for (; end_of(tenth - 1) >= end; tenth--)
        ;
    for (; end_of(tenth) < end; tenth++)
        ;
    return tenth;
}

json numbers(const Traffic &t) { return {t.sent, t.lost, t.evs, t.bad}; }

json traffic_json(const Layout &l, const TrafficSeen &seen)
{
    std::vector<std::pair<Part, Traffic>> links(seen.links.begin(), seen.links.end());
    json j{{"all", numbers(seen.all)}, {"links", json::array()}};

    std::stable_sort(links.begin(), links.end(), [](const auto &a, const auto &b) {
        return std::pair(a.second.lost, a.second.bad) > std::pair(b.second.lost, b.second.bad);
    });
    links.resize(std::min(links.size(), kTrafficMax));
    for (const auto &[part, t] : links) {
        const auto t0 = l.t0_name(part.plane, part.a), t1 = l.t1_name(part.plane, part.b);
        const bool up = part.kind == PartKind::kUp;
        j["links"].push_back({{"plane", part.plane}, {"from", up ? t0 : t1}, {"to", up ? t1 : t0}, {"n", numbers(t)}});
    }
    return j;
}

}   // namespace

const char *refusal_word(Refusal why)
{
    switch (why) {
    case Refusal::kMalformed: return "malformed";
    case Refusal::kStranger: return "not-of-this-fabric";
    case Refusal::kImpossible: return "impossible";
    case Refusal::kDuplicate: return "duplicate";
    case Refusal::kLate: break;
    }
    return "late";
}

std::string to_line(const Layout &l, unsigned host, const Evidence &e)
{
    json j{{"mrc_probes", 1}, {"host", l.host_name(host)}, {"from", e.from}, {"to", e.to}};
    const auto it = e.hosts.find(host);

    j["sent"] = it == e.hosts.end() ? json::array() : json(it->second.planes);
    if (it != e.hosts.end()) {
        const std::pair<const char *, std::uint64_t> sums[] = {
            {"stalls", it->second.stalls}, {"void", it->second.void_}, {"strays", it->second.strays}};
        for (const auto &[key, n] : sums)
            if (n)
                j[key] = n;
    }
    for (const auto &[p, r] : e.failed) {
        if (p.host != host)
            continue;
        const Ids way = switches_of(p);
        json path = json::array();
        for (std::size_t i = 0; i < way.size(); i++)
            path.push_back(i % 2 ? l.t1_name(p.plane, way[i]) : l.t0_name(p.plane, way[i]));
        json one{{"plane", p.plane}, {"path", path}, {"sent", r.n.sent}, {"first", r.first}, {"last", r.last}};
        const std::pair<const char *, std::uint64_t> numbers[] = {
            {"lost", r.n.lost}, {"corrupt", r.n.corrupt}, {"other_plane", r.n.other_plane},
            {"late", r.n.late}, {"queued", r.n.queued}, {"rtt_sum_ns", r.n.rtt_sum},
            {"rtt_low_ns", r.n.rtt_low}};
        for (const auto &[key, n] : numbers)
            if (n)
                one[key] = n;
        if (r.n.full_sent)
            one["full"] = {r.n.full_sent, r.n.full_lost};
        if (r.n.control_sent)
            one["control"] = {r.n.control_sent, r.n.control_lost};
        j["failed"].push_back(std::move(one));
    }
    if (!e.failed.empty() && !e.traffic.empty())
        j["traffic"] = traffic_json(l, e.traffic);
    return j.dump(-1, ' ', true, json::error_handler_t::replace);
}

bool Lines::refuse(Refusal why)
{
    refused_[static_cast<std::size_t>(why)]++;
    return false;
}

std::size_t Lines::refused() const { return std::accumulate(refused_.begin(), refused_.end(), std::size_t{0}); }

bool Lines::add(std::string_view line)
{
    unsigned host = 0;
    Evidence e;

    try {
        e = read(line, layout_, host);
    } catch (const Refused &r) {
        return refuse(r.why);
    }
    if (e.to > now_ + kAhead)
        return refuse(Refusal::kImpossible);
    if (e.to < newest_ - kKept)
        return refuse(Refusal::kLate);
    if (!sent_.add(host, e.from, e.to, e.hosts[host]))
        return refuse(Refusal::kDuplicate);
    if (!e.failed.empty()) {
        Lossy &lossy = lossy_[tenth_of(e.to)];
        for (const auto &[probe, result] : e.failed)
            pack(lossy.failed, probe, result);
        lossy.traffic += e.traffic;
    }
    if (host >= seen_.size())
        seen_.resize(host + 1);
    seen_[host] = true;
    newest_ = std::max(newest_, e.to);
    if (newest_ - kKept > kept_ + kForgetEach) {
        kept_ = newest_ - kKept;
        sent_.forget(kept_);
        lossy_.erase(lossy_.begin(), lossy_.lower_bound(tenth_of(kept_)));
    }
    taken_++;
    return true;
}

std::size_t Lines::hosts() const { return static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), true)); }

void Lines::each_slice(double seconds, const std::function<void(const Evidence &)> &take) const
{
    const long end = tenth_of(newest_), each = std::max(1L, std::lround(seconds * kPerTenth));
    const long n = (end - tenth_of(std::max(sent_.begin(), newest_ - kKept))) / each + 1;
    auto lossy = lossy_.upper_bound(end - n * each);

    // The last one is whole: losses of a whole line beside a piece of what others sent would be too many.
    for (long from = end - n * each; from < end; from += each) {
        const long to = from + each;
        Evidence slice{end_of(from), end_of(to), sent_.between(end_of(from), end_of(to)), {}, {}};
        for (; lossy != lossy_.end() && lossy->first <= to; ++lossy) {
            std::string_view packed = lossy->second.failed;
            while (!packed.empty()) {
                const auto [probe, result] = unpack(packed);
                slice.failed[probe] += result;
            }
            slice.traffic += lossy->second.traffic;
        }
        if (!slice.hosts.empty())
            take(slice);
    }
}

}   // namespace mrcver
