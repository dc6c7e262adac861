// SPDX-License-Identifier: GPL-2.0
// prober.cc - see prober.h.
#include "prober.h"

#include <linux/mrc.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "../tools/lib/verdict/lines.h"
#include "../tools/lib/verdict/sentence.h"

namespace mrcd {

using mrcver::Change;
using mrcver::Counts;
using mrcver::Evidence;
using mrcver::Finding;
using mrcver::HostSent;
using mrcver::Part;
using mrcver::PartKind;
using mrcver::Planned;
using mrcver::Probe;
using mrcver::probe_word;
using mrcver::ProbeKind;
using mrcver::switches_of;

namespace {

constexpr double kRenew = 20, kAgain = 5;          // seconds
constexpr double kWriteWell = 10, kWriteBad = 1;   // between two lines of the result file
constexpr double kShown = 10;
constexpr std::uint32_t kHostInterval = 10000;     // us
constexpr std::uint32_t kAhead = 16;               // the module's bound: a timeout is at most this many intervals
constexpr double kIntervalMin = 1000, kIntervalMax = 1e9;
constexpr std::array kKinds{MRC_PROBE_T0, MRC_PROBE_T1, MRC_PROBE_SPLIT};

// The increase of a counter, which restarts at 0 with a new module.
std::uint64_t since(std::uint64_t now, std::uint64_t before) { return now >= before ? now - before : now; }

std::uint32_t interval(double per_second)
{
    return static_cast<std::uint32_t>(std::clamp(1e6 / per_second, kIntervalMin, kIntervalMax));
}

}   // namespace

Prober::Prober(const mrcfab::Fabric &fabric, const Setup &setup, ProbeKernel &kernel, const Log &log,
               OnVerdict told)
    : layout_(fabric), setup_(setup), kernel_(kernel), log_(log), told_(std::move(told)),
      host_(layout_.host(setup.node)), tracker_(layout_, true), traffic_(layout_, kernel),
      file_(setup.file)
{
    if (!host_)
        throw std::runtime_error(fmt::format("{} is not a host of a fabric with switches: there is nothing to probe",
                                             setup.node));
}

// The host counts as starved after half of the timeout: so a probe that the host delays by less is
// not lost.
ProbeTimes Prober::times() const
{
    ProbeTimes t;

    t.timeout_us = setup_.timeout_ms * 1000;
    t.stall_us = t.timeout_us / 2;
    return t;
}

// Tests each path twice: as data and as control. If the module cannot take so many, in turn.
void Prober::plan()
{
    auto planned = plan_probes(layout_, host_, setup_.rate);
    const std::size_t room = MRC_SELFPROBES_MAX - 1;
    const bool both = 2 * planned.size() <= room;
    std::map<std::uint32_t, Test> tests;
    std::uint32_t id = 1;

    if (planned.size() > room) {
        log_.warning("only {} of {} paths are probed: the module has no room for more", room, planned.size());
        std::stable_partition(planned.begin(), planned.end(),
                              [](const Planned &p) { return p.probe.kind == ProbeKind::kT0Loop; });
        planned.resize(room);
    }
    const std::uint32_t least = times().timeout_us / kAhead + 1;

    tests_ = {{id, MRC_PROBE_HOST, 0, {}, {}, std::max(kHostInterval, least)}};
    tests[id].host = true;
    for (std::size_t i = 0; i < planned.size(); i++)
        for (const bool control : {false, true}) {
            const Probe &p = planned[i].probe;
            if (!both && control == (i % 2 == 0))
                continue;
            tests_.push_back({++id, static_cast<std::uint32_t>(kKinds[static_cast<std::size_t>(p.kind)]),
                              static_cast<std::uint8_t>(p.plane),
                              layout_.carrier(p.plane, host_, switches_of(p)),
                              control ? std::nullopt : dscp_,
                              std::max(interval(planned[i].per_second / (both ? 2 : 1)), least)});
            Test &t = tests[id];
            t.probe = p;
            t.control = control;
            // The module keeps the counters of an unchanged test.
            if (const auto old = by_id_.find(id); old != by_id_.end() && old->second.probe == p) {
                t.seen = old->second.seen;
                t.known = old->second.known;
            }
        }
    by_id_ = std::move(tests);
}

void Prober::complain(const mrcnl::error &e)
{
    if (e.text != complaint_)
        log_.warning("self-probes of {}: {}", setup_.dev, e.text);
    complaint_ = e.text;
}

bool Prober::set(double now)
{
    if (now < next_set_)
        return true;
    const auto dscp = kernel_.data_dscp(setup_.dev);
    if (tests_.empty() || dscp != dscp_) {
        dscp_ = dscp;
        plan();
    }
    const auto e = kernel_.set(setup_.dev, tests_, times());
    next_set_ = now + (e ? kAgain : kRenew);
    if (e) {
        complain(e);
        return false;
    }
    if (!complaint_.empty() || written_ == 0)
        log_.info("self-probes of {}: {} paths, {}", setup_.dev, tests_.size() - 1, rate_word(setup_.rate));
    complaint_.clear();
    written_ = written_ == 0 ? now : written_;
    return true;
}

void Prober::add(Evidence &e, Test &t, const ProbeCount &now)
{
    const ProbeCount &was = t.seen;
    const double last = now.last_lost;
    Counts n;

    n.lost = since(now.lost, was.lost);
    n.corrupt = since(now.corrupt, was.corrupt);
    n.other_plane = since(now.other_plane, was.other_plane);
    n.sent = since(now.received, was.received) + n.failed();
    n.full_lost = std::min(n.lost, since(now.full_lost, was.full_lost));
    n.full_sent = std::clamp(since(now.full_sent, was.full_sent), n.full_lost, std::max(n.sent, n.full_lost));
    if (t.control) {
        n.control_sent = n.sent;
        n.control_lost = n.lost;
    }
    n.late = since(now.late, was.late);
    n.queued = since(now.trimmed, was.trimmed) + since(now.marked, was.marked);
    n.rtt_sum = since(now.rtt_sum, was.rtt_sum);
    n.rtt_low = now.rtt_low;
    HostSent &sent = e.hosts[host_];
    sent.void_ += since(now.void_, was.void_);
    if (t.host)
        return;
    const auto kind = static_cast<unsigned>(t.probe.kind);
    sent.planes[t.probe.plane - 1][kind] += n.sent;
    Sum &sum = sums_[{t.probe.plane, kind}];
    sum.sent += n.sent;
    sum.failed += n.failed();
    sum.back += n.back();
    sum.rtt += n.rtt_sum;
    if (n.failed()) {
        const double at = last > e.from && last <= e.to ? last : e.to;
        e.failed[t.probe] += {n, n.failed() > 1 ? e.from : at, at};
    }
}

Evidence Prober::difference(const ProbeState &state, double now)
{
    Evidence e;

    // A probe of another host has that host's secret, and its locator where a switch sent it here.
    const std::uint64_t strays = state.forged + state.bad_sid;

    e.from = last_;
    e.to = now;
    HostSent &sent = e.hosts[host_];
    sent.planes.resize(layout_.planes());
    if (counted_) {
        sent.stalls = since(state.stalls, stalls_);
        sent.strays = since(strays, strays_);
    }
    stalls_ = state.stalls;
    strays_ = strays;
    for (const auto &[id, count] : state.tests) {
        const auto it = by_id_.find(id);
        if (it == by_id_.end())
            continue;
        // Counts from before this process do not belong to this interval.
        if (it->second.known)
            add(e, it->second, count);
        it->second.seen = count;
        it->second.known = true;
    }
    counted_ = true;
    return e;
}

void Prober::tick(double now)
{
    ProbeState state;

    if (!set(now))
        return;
    if (const auto e = kernel_.get(setup_.dev, state)) {
        complain(e);
        next_set_ = std::min(next_set_, now + kAgain);
        return;
    }
    const bool first = last_ == 0 || now <= last_;   // or the clock was set back
    Evidence slice = difference(state, now);
    last_ = now;
    if (first)
        return;
    traffic_.add(setup_.dev, now, slice);
    judge(slice);
    pending_.add(slice);
    write(now);
    if (now - shown_at_ >= kShown) {
        shown_ = std::exchange(sums_, {});
        shown_at_ = now;
    }
}

std::string Prober::said(const Finding &f) const
{
    std::vector<Finding> all;

    for (const auto &[part, known] : tracker_.known())
        if (known.bad)
            all.push_back(known.finding);
    auto text = sentence(layout_, f, all, true);
    // Only advice: an administrator decides.
    if (setup_.advise && f.fault() && f.part.plane && (f.part.kind == PartKind::kHostCable || f.part.kind == PartKind::kPlane))
        text += fmt::format(" Advice: mrcctl plane set dev {} plane {} admin off.", setup_.dev, f.part.plane);
    return text;
}

void Prober::judge(const Evidence &slice)
{
    for (const Change &c : tracker_.add(slice)) {
        const auto it = tracker_.known().find(c.part);
        Verdict v{"", c.bad, false, c.part.plane, c.when};
        if (c.bad && it != tracker_.known().end()) {
            v.fault = it->second.finding.fault();
            v.text = said(it->second.finding);
        } else {
            v.text = fmt::format("plane {}: {} {} is no longer blamed", c.part.plane, part_word(c.part.kind),
                                 part_name(layout_, c.part));
        }
        told_(v);
    }
}

void Prober::write(double now)
{
    if (setup_.file.empty() || now - written_ < (pending_.failed.empty() ? kWriteWell : kWriteBad))
        return;
    if (const int code = file_.append(to_line(layout_, host_, pending_)))
        complain({code, fmt::format("{}: {}", setup_.file, std::generic_category().message(code)), false});
    pending_ = {};
    written_ = now;
}

std::vector<Prober::Verdict> Prober::verdicts() const
{
    std::vector<Verdict> list;

    for (const auto &[part, known] : tracker_.known())
        if (known.bad)
            list.push_back({said(known.finding), true, known.finding.fault(), part.plane, known.changed});
    return list;
}

std::vector<Part> Prober::sick() const
{
    std::vector<Part> list;

    for (const auto &[part, known] : tracker_.known())
        if (known.bad && known.finding.fault())
            list.push_back(part);
    return list;
}

std::string verdict_json(const Prober::Verdict &v)
{
    return nlohmann::json{{"event", v.bad ? "verdict" : "verdict-over"}, {"when", v.when}, {"plane", v.plane},
                          {"fault", v.fault}, {"text", v.text}}
        .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string Prober::metrics(std::size_t room) const
{
    std::map<std::pair<unsigned, std::string_view>, Sum> shown;
    const bool kinds = 2 * shown_.size() <= room;
    std::string loss = "# HELP mrc_probe_loss_ratio Self-probes that were lost or damaged, of the last 10 s.\n"
                       "# TYPE mrc_probe_loss_ratio gauge\n";
    std::string rtt = "# HELP mrc_probe_rtt_seconds Mean round trip of self-probes, of the last 10 s.\n"
                      "# TYPE mrc_probe_rtt_seconds gauge\n";

    for (const auto &[key, s] : shown_) {
        Sum &sum = shown[{key.first, kinds ? probe_word(static_cast<ProbeKind>(key.second)) : "all"}];
        sum.sent += s.sent;
        sum.failed += s.failed;
        sum.back += s.back;
        sum.rtt += s.rtt;
    }
    for (const auto &[key, s] : shown) {
        if (room < 2)
            break;
        room -= 2;
        const auto labels = fmt::format("{{device=\"{}\",plane=\"{}\",kind=\"{}\"}}", setup_.dev, key.first, key.second);
        if (s.sent)
            loss += fmt::format("mrc_probe_loss_ratio{} {:.9g}\n", labels,
                                static_cast<double>(s.failed) / static_cast<double>(s.sent));
        if (s.back)
            rtt += fmt::format("mrc_probe_rtt_seconds{} {:.9g}\n", labels,
                               static_cast<double>(s.rtt) / static_cast<double>(s.back) * 1e-9);
    }
    return loss + rtt;
}

}   // namespace mrcd
