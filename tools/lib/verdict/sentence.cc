// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// sentence.cc - see sentence.h.
#include "sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace mrcver {

namespace {

constexpr double kAll = 0.95;          // of packets
constexpr std::size_t kInsteadMax = 3; // named

bool is_link(PartKind k) { return k == PartKind::kUp || k == PartKind::kDown || k == PartKind::kCable; }

std::string clock_time(double when)
{
    const auto seconds = static_cast<std::time_t>(when);
    std::tm tm{};
    char text[32] = "?";

    if (gmtime_r(&seconds, &tm))
        std::strftime(text, sizeof(text), "%H:%M:%S", &tm);
    return text;
}

std::string amount(const Finding &f)
{
    if (f.loss >= kAll)
        return "all packets";
    const double percent = 100 * f.loss;
    return fmt::format("{:.{}f} % of packets", percent, percent >= 10 ? 0 : percent >= 0.095 ? 1 : 3);
}

std::string what(const Layout &l, const Finding &f)
{
    switch (f.symptom) {
    case Symptom::kLoss: return "drops " + amount(f);
    case Symptom::kFullSize: return "drops packets of the full MTU, short ones pass";
    case Symptom::kCorruption: return "corrupts " + amount(f);
    case Symptom::kMisCabled:
        if (f.gets_it)
            return fmt::format("is mis-cabled: {} and {} receive each other's packets", l.host_name(f.part.a),
                               l.host_name(f.gets_it));
        return "is mis-cabled: answers come by another plane";
    case Symptom::kMisConfigured:
        return fmt::format("is mis-configured: {} receives what is for {}", l.host_name(f.gets_it),
                           l.host_name(f.part.a));
    case Symptom::kDataClass: return fmt::format("drops {} of the data class, control passes", amount(f));
    case Symptom::kCongestion: return "is congested: queues are long and data is dropped; no fault";
    case Symptom::kStalled: break;
    }
    return "was starved of processor time; no fault of the fabric";
}

const char *way(const Finding &f)
{
    if (f.symptom == Symptom::kCongestion)
        return "";
    switch (f.part.kind) {
    case PartKind::kUp: return " upwards";
    case PartKind::kDown: return " downwards";
    case PartKind::kCable: return " both ways";
    default: return "";
    }
}

std::string subject(const Layout &l, const Finding &f)
{
    switch (f.part.kind) {
    case PartKind::kNic: return fmt::format("all planes: the NIC of {}", part_name(l, f.part));
    case PartKind::kPlane: return fmt::format("plane {}: the whole plane", f.part.plane);
    case PartKind::kT0:
    case PartKind::kT1: return fmt::format("plane {}: switch {}", f.part.plane, part_name(l, f.part));
    case PartKind::kHostCable: return fmt::format("plane {}: cable {}", f.part.plane, part_name(l, f.part));
    default: return fmt::format("plane {}: {}", f.part.plane, part_name(l, f.part));
    }
}

// Of the same T0, links that nobody complains of.
std::string fine(const Layout &l, const Finding &f, const std::vector<Finding> &all)
{
    if (!is_link(f.part.kind))
        return "";
    std::size_t n = l.uplinks(f.part.plane, f.part.a).size();
    std::vector<unsigned> bad;
    for (const Finding &o : all)
        if (is_link(o.part.kind) && o.part.plane == f.part.plane && o.part.a == f.part.a)
            bad.push_back(o.part.b);
    std::sort(bad.begin(), bad.end());
    n -= std::min(n, static_cast<std::size_t>(std::unique(bad.begin(), bad.end()) - bad.begin()));
    return n ? fmt::format("; {} other uplink{} fine", n, n == 1 ? "" : "s") : "";
}

std::string traffic(const Finding &f)
{
    const Traffic &t = f.traffic;

    if (t.lost)
        return fmt::format("; traffic lost {} of {} packets by it", t.lost, std::max(t.sent, t.lost));
    return t.bad ? fmt::format("; {} % of the EVs over it are withdrawn", 100 * t.bad / std::max(t.evs, t.bad)) : "";
}

std::string evidence(const Layout &l, const Finding &f, const std::vector<Finding> &all, bool alone)
{
    if (f.symptom == Symptom::kStalled)
        return "";
    if (alone && shared(l, f.part))
        return fmt::format(" (seen by this host alone{})", traffic(f));
    if (!shared(l, f.part))
        return fmt::format(" ({:.0f} probes lost)", f.losses);
    return fmt::format(" ({} of {} observers{}{})", f.observers, f.of, fine(l, f, all), traffic(f));
}

std::string or_else(const Layout &l, const Finding &f)
{
    std::string s;

    for (std::size_t i = 0; i < f.instead.size() && i < kInsteadMax; i++)
        s += fmt::format("{}{} {}", i ? ", " : "; it may as well be ", part_word(f.instead[i].kind),
                         part_name(l, f.instead[i]));
    if (f.instead.size() > kInsteadMax)
        s += fmt::format(" or one of {} others", f.instead.size() - kInsteadMax);
    return s;
}

const char *effect(const Finding &f)
{
    if (!f.fault())
        return "";
    switch (f.symptom) {
    case Symptom::kFullSize: return "; full packets over it are retransmitted";
    case Symptom::kMisCabled:
    case Symptom::kMisConfigured: return "; this plane of the host carries nothing";
    default: break;
    }
    if (f.loss < kAll)
        return "; lost packets are retransmitted";
    switch (f.part.kind) {
    case PartKind::kNic: return "; the host cannot be reached";
    case PartKind::kHostCable: return "; the host uses its other planes";
    case PartKind::kPlane:
    case PartKind::kT0: return "; hosts behind it use other planes";
    default: return "; EVs over it are avoided";
    }
}

const char *todo(const Finding &f)
{
    switch (f.symptom) {
    case Symptom::kFullSize: return "; check the MTU at both ends";
    case Symptom::kCorruption: return "; clean or replace the cable";
    case Symptom::kMisCabled: return "; compare the cable with the fabric file";
    case Symptom::kMisConfigured: return "; check the routes of the T0";
    case Symptom::kDataClass: return "; check queues and trimming of this port";
    case Symptom::kCongestion: return "";
    case Symptom::kStalled: return "; look at the load of the host";
    case Symptom::kLoss: break;
    }
    switch (f.part.kind) {
    case PartKind::kNic: return "; check the NIC and its driver";
    case PartKind::kHostCable: return "; check cable, port and NIC";
    case PartKind::kT0:
    case PartKind::kT1: return "; check the switch";
    case PartKind::kPlane: return "; check what all switches of the plane share";
    default: return "; check the optic";
    }
}

}   // namespace

const char *symptom_word(Symptom s)
{
    switch (s) {
    case Symptom::kLoss: return "loss";
    case Symptom::kFullSize: return "full-size";
    case Symptom::kCorruption: return "corruption";
    case Symptom::kMisCabled: return "mis-cabled";
    case Symptom::kMisConfigured: return "mis-configured";
    case Symptom::kDataClass: return "data-class";
    case Symptom::kCongestion: return "congestion";
    case Symptom::kStalled: break;
    }
    return "host-stalled";
}

const char *part_word(PartKind k)
{
    switch (k) {
    case PartKind::kHostCable: return "cable";
    case PartKind::kUp:
    case PartKind::kDown:
    case PartKind::kCable: return "uplink";
    case PartKind::kT0: return "t0";
    case PartKind::kT1: return "t1";
    case PartKind::kNic: return "nic";
    case PartKind::kPlane: break;
    }
    return "plane";
}

const char *direction_word(PartKind k)
{
    return k == PartKind::kUp ? "up" : k == PartKind::kDown ? "down" : k == PartKind::kCable ? "both" : "";
}

std::string sentence(const Layout &l, const Finding &f, const std::vector<Finding> &all, bool alone)
{
    return subject(l, f) + " " + what(l, f) + way(f) + " since " + clock_time(f.since) +
           evidence(l, f, all, alone) + effect(f) + todo(f) + or_else(l, f) + ".";
}

std::string not_known(const Inferred &r)
{
    if (r.unexplained < kLossesWanted || r.explained())
        return "";
    return fmt::format("{:.0f} of {} lost probes are not explained by any part.", std::ceil(r.unexplained), r.losses);
}

}   // namespace mrcver
