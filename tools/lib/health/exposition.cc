// SPDX-License-Identifier: GPL-2.0
// exposition.cc - see exposition.h.
#include "exposition.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "../words/counters.h"
#include "hints.h"
#include "judge.h"

namespace health {

namespace {

// A label's value in quotes.
std::string quoted(std::string_view value)
{
    std::string out = "\"";
    for (char c : value) {
        if (c == '\\' || c == '"')
            out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out + '"';
}

using label = std::pair<std::string_view, std::string_view>;

class page {
  public:
    void family(std::string_view name, std::string_view type, std::string_view help)
    {
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    template <class V> void sample(V value, std::initializer_list<label> labels = {})
    {
        std::string inside;
        for (auto &[key, word] : labels)
            inside += fmt::format("{}{}={}", inside.empty() ? "" : ",", key, quoted(word));
        text_ += name_ + (inside.empty() ? "" : "{" + inside + "}") + fmt::format(" {}\n", value);
    }
    template <class V> void gauge(std::string_view name, std::string_view help, V value)
    {
        family(name, "gauge", help);
        sample(value);
    }
    std::string text() && { return std::move(text_); }

  private:
    std::string name_, text_;
};

double seconds(std::chrono::system_clock::time_point t)
{
    return std::chrono::duration<double>(t.time_since_epoch()).count();
}

template <class V> void add_plane_family(page &out, const snapshot &s, std::string_view name, std::string_view type,
                                         std::string_view help, V value)
{
    size_t left = planes_max;
    out.family(name, type, help);
    for (auto &d : s.devices)
        for (auto &p : d.planes)
            if (left && left--)
                out.sample(value(p), {{"device", d.name}, {"plane", std::to_string(p.number)}, {"port", p.port}});
}

void add_planes(page &out, const snapshot &s)
{
    size_t planes = 0;
    for (auto &d : s.devices)
        planes += d.planes.size();
    add_plane_family(out, s, "mrc_plane_up", "gauge", "1 if packets may leave by the plane",
                     [](const plane_now &p) { return int(p.up); });
    add_plane_family(out, s, "mrc_plane_admin", "gauge", "0 if the plane is disabled by an administrator or controller",
                     [](const plane_now &p) { return int(p.admin); });
    add_plane_family(out, s, "mrc_plane_speed_bytes_per_second", "gauge", "speed of the port, 0 if unknown",
                     [](const plane_now &p) { return 125000ULL * p.speed_mbps; });
    add_plane_family(out, s, "mrc_plane_transmit_bytes_total", "counter", "bytes sent on the plane",
                     [](const plane_now &p) { return p.tx_bytes; });
    add_plane_family(out, s, "mrc_plane_receive_bytes_total", "counter", "bytes received on the plane",
                     [](const plane_now &p) { return p.rx_bytes; });
    out.gauge("mrc_planes_not_shown", fmt::format("planes beyond {}, which have no series", planes_max),
              planes - std::min(planes, planes_max));
}

void add_peers(page &out, const snapshot &s)
{
    uint64_t good = 0, skip = 0, bad = 0, denied = 0, qps = 0;
    for (auto &d : s.devices)
        qps += d.qps;
    for (auto &p : s.peers) {
        good += p.good;
        skip += p.skip;
        bad += p.assumed_bad;
        denied += p.denied;
    }
    out.gauge("mrc_qps", "number of QPs", qps);
    out.gauge("mrc_peers", "number of peers", s.peers.size());
    out.family("mrc_paths", "gauge", "number of EVs by state, over all peers");
    out.sample(good, {{"state", "good"}});
    out.sample(skip, {{"state", "skip"}});
    out.sample(bad, {{"state", "assumed-bad"}});
    out.sample(denied, {{"state", "denied"}});
    out.family("mrc_peer_hints", "gauge", "number of peers with a hint, see mrcctl explain");
    for (auto &hint : hint_names(~0ULL)) {
        auto has = [&](const peer_now &p) { return std::count(p.hints.begin(), p.hints.end(), hint) != 0; };
        out.sample(std::count_if(s.peers.begin(), s.peers.end(), has), {{"hint", hint}});
    }
}

constexpr std::string_view kCause = "rtx_";    // and what follows: why packets were sent again
constexpr std::string_view kNoCause = "rtx_spurious"; // of those, and no cause

bool is_cause(std::string_view name)
{
    return name.starts_with(kCause) && name != kNoCause;
}

void add_counters(page &out, const measurement &m)
{
    auto value = [&](std::string_view name) {
        auto it = m.counters.find(name);
        return it == m.counters.end() ? 0 : it->second;
    };
    out.family("mrc_retransmits_total", "counter", "retransmitted data packets, by cause");
    for (auto &c : words::counters())
        if (is_cause(c.name))
            out.sample(value(c.name), {{"cause", std::string_view(c.name).substr(kCause.size())}});
    for (auto &c : words::counters())
        if (!is_cause(c.name)) {
            out.family(fmt::format("mrc_{}_total", c.name), "counter", c.meaning);
            out.sample(value(c.name));
        }
}

void add_daemon(page &out, const daemon_state &d)
{
    out.gauge("mrcd_ready", "1 if all of the fabric file is in place", int(d.ready));
    out.gauge("mrcd_open", "number of parts of the fabric file that are not in place", d.open);
    out.gauge("mrcd_config_hash", "checksum of the fabric file, equal on hosts with the same file", d.config_hash);
    out.family("mrc_check_last_run_timestamp_seconds", "gauge", "when a check ran last");
    out.sample(seconds(d.looked), {{"check", "reconcile"}});
    out.family("mrc_check_interval_seconds", "gauge", "how often a check runs at least");
    out.sample(d.looks_each.count(), {{"check", "reconcile"}});
}

} // namespace

size_t series_in(std::string_view page)
{
    size_t n = 0;
    bool begins = true;

    for (char c : page) {
        n += begins && c != '#' && c != '\n';
        begins = c == '\n';
    }
    return n;
}

std::string exposition(const measurement &m, const std::string &tool, const std::optional<daemon_state> &daemon)
{
    page out;
    out.family("mrc_build_info", "gauge", "versions of the tools and of the loaded module");
    out.sample(1, {{"version", tool}, {"module", m.module_version}});
    if (daemon)
        add_daemon(out, *daemon);
    out.gauge("mrc_measured", "1 if the module answered, otherwise the state of the host is unknown", int(!m.trouble));
    out.gauge("mrc_measured_timestamp_seconds", "when the module was queried", seconds(m.at));
    if (m.trouble)
        return std::move(out).text();
    out.gauge("mrc_problems", "number of problems that mrcctl status names", problems_of(m.now).size());
    add_planes(out, m.now);
    add_peers(out, m.now);
    add_counters(out, m);
    return std::move(out).text();
}

} // namespace health
