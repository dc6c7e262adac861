// SPDX-License-Identifier: GPL-2.0
// check.cc - validates a scenario as a whole (scenario.h). options.cc has the limits of each
// number.
#include "scenario.h"

namespace sim {

namespace {

struct checker {
    const scenario &s;

    void want(bool good, u64 line, const std::string &what) const
    {
        if (!good)
            refuse_scenario(s.path + ":" + (line ? std::to_string(line) + ":" : "") + " " + what);
    }

    void want_plane(const std::string &key, u64 plane, u64 line) const
    {
        want(plane == none32 || plane < s.fabric.planes, line,
             key + ".plane: there are " + std::to_string(s.fabric.planes) + " planes");
    }

    void want_t1s(const std::string &key, u64 t1, u64 count, u64 line) const
    {
        want(t1 == none32 || t1 + count <= s.fabric.t1s, line,
             key + ".t1: there are " + std::to_string(s.fabric.t1s) + " T1s");
    }

    void want_host(const std::string &key, u64 host, u64 line) const
    {
        want(host == none32 || host < s.fabric.hosts, line,
             key + ": there are " + std::to_string(s.fabric.hosts) + " hosts");
    }

    void want_time(const std::string &key, u64 at, u64 until, u64 line) const
    {
        want(!until || until > at, line, key + ".until_us: ends before it begins");
    }

    void fabric() const;
    void rest() const;
    void faults() const;
    void disturbances() const;
    void pauses() const;
    void flows() const;
    void expectations() const;
};

void checker::fabric() const
{
    const fabric_cfg &f = s.fabric;

    want(f.ecn_hi >= f.ecn_lo, 0, "fabric.ecn_hi: less than ecn_lo");
    want(f.ecn == "off" || f.ecn == "ramp" || f.ecn == "threshold", 0,
         "fabric.ecn is off, ramp or threshold");
    // A queue's drain time and a window's bytes stay in 64 bits.
    want(s.base_rtt_ps() < 100'000'000 * ps_per_us, 0,
         "fabric: a round trip of more than 100 s");
}

void checker::rest() const
{
    want(s.host.cc == "nscc" || s.host.cc == "fixed", 0, "host.cc is nscc or fixed");
    want(s.host.paths == "random" || s.host.paths == "template", 0,
         "host.paths is random or template");
    want(s.host.paths == "template" ? s.host.ev_per_path == 1 : !s.host.t1_choices, 0,
         "host.t1_choices is for paths = template, ev_per_path for random");
    want(s.host.t1_choices <= s.fabric.t1s, 0,
         "host.t1_choices: there are " + std::to_string(s.fabric.t1s) + " T1s");
    want(s.foreign.bitmap == "cack" || s.foreign.bitmap == "near" || s.foreign.bitmap == "none", 0,
         "foreign.bitmap is cack, near or none");
    want_host("foreign.host", s.foreign.host, 0);
    want(s.host.evs >= s.fabric.planes, 0, "host.evs: at least one EV per plane");
    want(s.run.limit_us / s.run.bucket_us < 100'000'000, 0, "run.bucket_us: too many buckets");
}

void checker::faults() const
{
    for (const fault_spec &f : s.fault) {
        want(f.kind == "cable" || f.kind == "link" || f.kind == "leaf" || f.kind == "spine" || f.kind == "plane" ||
                 f.of_host(),
             f.line, "fault.kind is cable, link, leaf, spine, plane, port, drain or forged, not " + f.kind);
        want(f.way == "up" || f.way == "down", f.line, "fault.way is up or down");
        want(f.loss_ppm == 1'000'000 || f.kind == "link", f.line, "fault.loss_ppm goes with kind \"link\"");
        want_plane("fault", f.plane, f.line);
        want(f.t0 < s.t0s(), f.line,
             "fault.t0: there are " + std::to_string(s.t0s()) + " T0s");
        want(f.kind == "forged" || f.t1 + f.count <= s.fabric.t1s, f.line,
             "fault.t1: there are " + std::to_string(s.fabric.t1s) + " T1s");
        want_host("fault.host", f.host, f.line);
        want(!f.notify || f.kind == "plane" || f.kind == "port", f.line,
             "fault.notify: only loss of a plane or of a host's port can be noticed by a host");
        want(f.notify || !f.notify_ns, f.line, "fault.notify_ns: without notify");
        want_time("fault", f.at_us, f.until_us, f.line);
    }
    want(s.fault.size() <= 255, 0, "fault: at most 255");
}

void checker::disturbances() const
{
    for (const slow_spec &x : s.slow) {
        want_plane("slow", x.plane, x.line);
        want_t1s("slow", x.t1, x.count, x.line);
        want(x.t0 == none32 || x.t0 < s.t0s(), x.line, "slow.t0: no such T0");
    }
    for (size_t i = 0; i < s.plane.size(); i++) {
        const plane_spec &x = s.plane[i];

        want_plane("plane", x.plane, x.line);
        want(x.percent == 100 || !x.rate_mbps, x.line, "plane.percent: and rate_mbps as well");
        for (size_t j = 0; j < i; j++)
            want(s.plane[j].plane != x.plane, x.line, "plane.plane: twice");
    }
    for (const path_spec &x : s.path_rule) {
        want_plane("path", x.plane, x.line);
        want_t1s("path", x.t1, x.count, x.line);
        want(x.way == "both" || x.way == "up" || x.way == "down", x.line,
             "path.way is both, up or down");
        want_time("path", x.at_us, x.until_us, x.line);
        want(x.loss_ppm || x.delay_ns || x.jitter_ns, x.line,
             "path: neither loss_ppm nor delay_ns nor jitter_ns");
    }
}

void checker::pauses() const
{
    for (const pause_spec &x : s.pause) {
        want_host("pause.host", x.host, x.line);
        want(!x.for_us != !x.every_us, x.line, "pause: for_us, or every_us, min_us and max_us");
        want(!x.for_us || !(x.min_us || x.max_us || x.until_us), x.line,
             "pause: min_us, max_us and until_us go with every_us");
        want(!x.every_us || (x.max_us && x.min_us <= x.max_us && x.max_us < x.every_us), x.line,
             "pause.max_us: at least min_us, less than every_us");
        want(!x.every_us || s.run.limit_us / x.every_us < 1'000'000, x.line,
             "pause.every_us: too many pauses until run.limit_us");
        want_time("pause", x.at_us, x.until_us, x.line);
    }
    for (const clock_spec &x : s.clock)
        want_host("clock.host", x.host, x.line);
    want_host("host.coalesce_host", s.host.coalesce_host, 0);
    want_host("host.nscc_host", s.host.nscc_host, 0);
}

void checker::flows() const
{
    u64 all = 0;

    for (const flow_spec &x : s.flow) {
        want_host("flow.src", x.src, x.line);
        want_host("flow.dst", x.dst, x.line);
        want(x.src != x.dst, x.line, "flow.dst: to itself");
        all += x.count;
        want(all <= 10'000'000, x.line, "flow.count: more than ten million messages in all");
    }
    for (const tcp_spec &x : s.tcp) {
        want_host("tcp.src", x.src, x.line);
        want_host("tcp.dst", x.dst, x.line);
        want_plane("tcp", x.plane, x.line);
        want(x.src != x.dst, x.line, "tcp.dst: to itself");
        want_time("tcp", x.start_us, x.until_us, x.line);
    }
    want(s.workload.file.empty() == (s.workload.kind != "trace"), 0, "workload.file goes with kind \"trace\"");
    want(s.workload.kind != "trace" || s.foreign.host == none32, 0,
         "foreign.host: no other implementation in a trace");
    want(s.workload.kind != "calls" || (s.tcp.empty() && s.foreign.host == none32 && s.host.qps == 1), 0,
         "workload.kind \"calls\" goes without [[tcp]], foreign.host and host.qps");
    want(s.run.probes.empty() || s.workload.kind != "calls", 0, "run.probes: not with kind \"calls\"");
    want(s.flow.empty() || s.workload.kind == "list", 0, "[[flow]] goes with kind \"list\"");
}

void checker::expectations() const
{
    want(s.status.empty() || s.known_red(), 0, "status is \"not met\", or there is none");
    want(s.known_red() || s.bound.empty(), 0, "[bound] goes with status = \"not met\"");
    want(!s.known_red() || !s.bound.empty(), 0,
         "status = \"not met\" wants a [bound]: what it must not be worse than");
}

} // namespace

void check_scenario(const scenario &s)
{
    checker c{s};

    c.fabric();
    c.rest();
    c.faults();
    c.disturbances();
    c.pauses();
    c.flows();
    c.expectations();
}

// Clocks, host time, marking and switches that do not trim are settings, but wrong all the same.
bool strip_faults(scenario &s)
{
    host_cfg &h = s.host, kind;
    bool any = !s.fault.empty() || !s.slow.empty() || !s.plane.empty() || !s.path_rule.empty() ||
               !s.pause.empty() || !s.clock.empty() || s.fabric.ecn_random ||
               s.fabric.shared_kib || !s.fabric.trim || h.clock_ns || h.drift_ppm || h.timer_slack_ns || h.rx_ns ||
               h.rx_ctl_ns || h.coalesce_ns || s.fabric.jitter_ns || !s.tcp.empty() ||
               s.foreign.host != none32;

    s.fault.clear();
    s.slow.clear();
    s.plane.clear();
    s.path_rule.clear();
    s.pause.clear();
    s.clock.clear();
    s.fabric.ecn_random = 0;
    s.fabric.shared_kib = 0;
    s.fabric.trim = true;
    h.clock_ns = kind.clock_ns;
    h.drift_ppm = kind.drift_ppm;
    h.timer_slack_ns = kind.timer_slack_ns;
    h.rx_ns = kind.rx_ns;
    h.rx_ctl_ns = kind.rx_ctl_ns;
    h.coalesce_ns = kind.coalesce_ns;
    s.fabric.jitter_ns = 0;
    s.tcp.clear();
    s.foreign.host = none32;
    return any;
}

} // namespace sim
