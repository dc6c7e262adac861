// SPDX-License-Identifier: GPL-2.0
// options.cc - see options.h. scenario.h explains the keys.
#include "options.h"

namespace sim {

namespace {

constexpr s64 most_hosts = 1 << 22, most_mbps = 10'000'000, most_us = 10'000'000'000;
constexpr s64 most_ns = 10'000'000'000, most_t1s = MRC_EVS_MAX, most_bytes = 1ll << 31;

std::vector<option> fabric_options(fabric_cfg &f)
{
    return {
        {"fabric.hosts", &f.hosts, 1, most_hosts},
        {"fabric.hosts_per_t0", &f.hosts_per_t0, 1, 0x10000},
        {"fabric.t1s", &f.t1s, 1, most_t1s},
        {"fabric.planes", &f.planes, 1, MRC_PLANES_MAX},
        {"fabric.rate_gbps", &f.rate_gbps, 1, most_mbps / 1000},
        {"fabric.rate_mbps", &f.rate_mbps, 0, most_mbps},
        {"fabric.delay_ns", &f.delay_ns, 1, most_ns},
        {"fabric.mtu", &f.mtu, 256, 4096},
        {"fabric.header", &f.header, 0, 1000},
        {"fabric.control", &f.control, 1, 1000},
        {"fabric.queue", &f.queue, 1, 1'000'000},
        {"fabric.last_queue", &f.last_queue, 1, 1'000'000},
        {"fabric.ecn", &f.ecn},
        {"fabric.ecn_lo", &f.ecn_lo, 0, 1'000'000},
        {"fabric.ecn_hi", &f.ecn_hi, 0, 1'000'000},
        {"fabric.ecn_last_hop", &f.ecn_last_hop},
        {"fabric.ecn_random", &f.ecn_random, 0, 100},
        {"fabric.trim", &f.trim},
        {"fabric.shared_kib", &f.shared_kib, 0, 1 << 30},
        {"fabric.shared_alpha", &f.shared_alpha, 1, 1'000'000},
        {"fabric.jitter_ns", &f.jitter_ns, 0, most_ns},
    };
}

std::vector<option> host_options(host_cfg &h)
{
    return {
        {"host.cc", &h.cc},
        {"host.nscc_host", &h.nscc_host, 0, most_hosts},
        {"host.qps", &h.qps, 1, 4096},
        {"host.window", &h.window, 1, 1'000'000},
        {"host.window_bytes", &h.window_bytes, 0, MRC_CC_WND_MAX},
        {"host.mpr", &h.mpr, 1, MRC_MPR_MAX},
        {"host.evs", &h.evs, 1, MRC_EVS_MAX},
        {"host.ev_per_path", &h.ev_per_path, 1, MRC_EVS_MAX},
        {"host.paths", &h.paths},
        {"host.t1_choices", &h.t1_choices, 0, most_t1s},
        {"host.ack_evs", &h.ack_evs, 0, MRC_EVS_MAX},
        {"host.rto_us", &h.rto_us, 1, most_us},
        {"host.rto_ns", &h.rto_ns, 0, most_us * 1000},
        {"host.probe_us", &h.probe_us, 0, most_us},
        {"host.probe_default", &h.probe_default},
        {"host.verbs", &h.verbs},
        {"host.timestamps", &h.timestamps},
        {"host.incast", &h.incast},
        {"host.sleek", &h.sleek},
        {"host.sack_pkts", &h.sack_pkts, 0, 1000},
        {"host.sack_bytes", &h.sack_bytes, 0, most_bytes},
        {"host.burst", &h.burst, 0, MRC_BURST_MAX},
        {"host.clock_ns", &h.clock_ns},
        {"host.drift_ppm", &h.drift_ppm, 0, 10'000},
        {"host.timer_slack_ns", &h.timer_slack_ns, 0, most_ns},
        {"host.rx_ns", &h.rx_ns, 0, most_ns},
        {"host.rx_ctl_ns", &h.rx_ctl_ns, 0, most_ns},
        {"host.ring", &h.ring, 1, 1 << 24},
        {"host.batch", &h.batch, 1, 1 << 16},
        {"host.coalesce_ns", &h.coalesce_ns, 0, most_ns},
        {"host.coalesce_host", &h.coalesce_host, 0, most_hosts},
    };
}

std::vector<option> foreign_options(foreign_cfg &f)
{
    return {
        {"foreign.host", &f.host, 0, most_hosts},
        {"foreign.sack_pkts", &f.sack_pkts, 0, 1000},
        {"foreign.bitmap", &f.bitmap},
        {"foreign.echo", &f.echo},
        {"foreign.counts", &f.counts},
        {"foreign.answers", &f.answers},
        {"foreign.ack_every", &f.ack_every, 1, 1000},
        {"foreign.window", &f.window, 1, MRC_WINDOW_MAX},
        {"foreign.messages", &f.messages, 1, 1'000'000},
        {"foreign.ask_every", &f.ask_every, 0, 1'000'000},
        {"foreign.stamps", &f.stamps},
        {"foreign.probes", &f.probes},
        {"foreign.halves", &f.halves},
        {"foreign.late_pkts", &f.late_pkts, 1, 10'000},
        {"foreign.timeout_us", &f.timeout_us, 1, most_us},
    };
}

} // namespace

std::vector<option> options_of(scenario &s)
{
    std::vector<option> v = fabric_options(s.fabric);

    for (const option &o : host_options(s.host))
        v.push_back(o);
    for (const option &o : foreign_options(s.foreign))
        v.push_back(o);
    for (const option &o : std::vector<option>{
             {"workload.kind", &s.workload.kind},
             {"workload.file", &s.workload.file},
             {"workload.bytes", &s.workload.bytes, 1, most_bytes},
             {"workload.seed", &s.workload.seed},
             {"workload.fan_in", &s.workload.fan_in, 1, most_hosts},
             {"workload.victim", &s.workload.victim},
             {"workload.group", &s.workload.group, 1, most_hosts},
             {"run.limit_us", &s.run.limit_us, 1, most_us},
             {"run.bucket_us", &s.run.bucket_us, 1, most_us},
             {"run.seed", &s.run.seed},
             {"run.seeds", &s.run.seeds, 1, 1000},
             {"run.settle_us", &s.run.settle_us, 0, most_us},
             {"run.late_rtt", &s.run.late_rtt, 0, 1'000'000},
             {"run.probes", &s.run.probes},
         })
        v.push_back(o);
    return v;
}

std::vector<option> options_of(slow_spec &x)
{
    return {
        {"t1", &x.t1, 0, most_t1s},
        {"count", &x.count, 1, most_t1s},
        {"percent", &x.percent, 1, 100},
        {"plane", &x.plane, 0, MRC_PLANES_MAX},
        {"t0", &x.t0, 0, most_hosts},
        {"delay_ns", &x.delay_ns, 0, most_ns},
    };
}

std::vector<option> options_of(plane_spec &x)
{
    return {
        {"plane", &x.plane, 0, MRC_PLANES_MAX},
        {"delay_ns", &x.delay_ns, 0, most_ns},
        {"jitter_ns", &x.jitter_ns, 0, most_ns},
        {"percent", &x.percent, 1, 100},
        {"rate_mbps", &x.rate_mbps, 1, most_mbps},
        {"queue", &x.queue, 1, 1'000'000},
        {"last_queue", &x.last_queue, 1, 1'000'000},
        {"last_marks", &x.last_marks, 0, 100},
        {"loss_ppm_up", &x.loss_ppm_up, 0, 1'000'000},
        {"loss_ppm_down", &x.loss_ppm_down, 0, 1'000'000},
        {"trim", &x.trim},
        {"nic", &x.nic},
    };
}

std::vector<option> options_of(path_spec &x)
{
    return {
        {"plane", &x.plane, 0, MRC_PLANES_MAX},
        {"t1", &x.t1, 0, most_t1s},
        {"count", &x.count, 1, most_t1s},
        {"way", &x.way},
        {"at_us", &x.at_us, 0, most_us},
        {"until_us", &x.until_us, 0, most_us},
        {"loss_ppm", &x.loss_ppm, 0, 1'000'000},
        {"delay_ns", &x.delay_ns, 0, most_ns},
        {"jitter_ns", &x.jitter_ns, 0, most_ns},
        {"payload", &x.payload, 0, 65535},
    };
}

std::vector<option> options_of(pause_spec &x)
{
    return {
        {"host", &x.host, 0, most_hosts},
        {"at_us", &x.at_us, 0, most_us},
        {"for_us", &x.for_us, 1, most_us},
        {"every_us", &x.every_us, 1, most_us},
        {"min_us", &x.min_us, 0, most_us},
        {"max_us", &x.max_us, 1, most_us},
        {"until_us", &x.until_us, 1, most_us},
    };
}

std::vector<option> options_of(clock_spec &x)
{
    return {
        {"host", &x.host, 0, most_hosts},
        {"offset_ns", &x.offset_ns},
        {"drift_ppm", &x.drift_ppm, -10'000, 10'000},
    };
}

std::vector<option> options_of(fault_spec &x)
{
    return {
        {"kind", &x.kind},
        {"plane", &x.plane, 0, MRC_PLANES_MAX},
        {"t0", &x.t0, 0, most_hosts},
        {"t1", &x.t1, 0, most_t1s},
        {"host", &x.host, 0, most_hosts},
        {"count", &x.count, 1, most_t1s},
        {"at_us", &x.at_us, 0, most_us},
        {"until_us", &x.until_us, 0, most_us},
        {"way", &x.way},
        {"loss_ppm", &x.loss_ppm, 1, 1'000'000},
        {"notify", &x.notify},
        {"every_us", &x.every_us, 1, most_us},
        {"notify_ns", &x.notify_ns, 0, most_ns},
    };
}

std::vector<option> options_of(tcp_spec &x)
{
    return {
        {"src", &x.src, 0, most_hosts},
        {"dst", &x.dst, 0, most_hosts},
        {"plane", &x.plane, 0, MRC_PLANES_MAX},
        {"start_us", &x.start_us, 0, most_us},
        {"until_us", &x.until_us, 0, most_us},
    };
}

std::vector<option> options_of(flow_spec &x)
{
    return {
        {"src", &x.src, 0, most_hosts},
        {"dst", &x.dst, 0, most_hosts},
        {"bytes", &x.bytes, 0, most_bytes},
        {"start_us", &x.start_us, 0, most_us},
        {"count", &x.count, 1, 10'000'000},
        {"every_us", &x.every_us, 0, most_us},
    };
}

} // namespace sim
