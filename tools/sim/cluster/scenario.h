// SPDX-License-Identifier: GPL-2.0
// scenario.h - a scenario and its expectations: one TOML file.
//
// Sections fabric, host, foreign, workload and run hold options; --set section.key=value changes
// each. Tables describe deviations: [[slow]] T1s, [[plane]]s unlike the others, [[path]]s with loss
// or delay, [[fault]]s, [[pause]]s of hosts, [[clock]]s. [[flow]] lists the flows of workload
// "list", [[tcp]] competing TCP flows. [expect] is the required result. If status is "not met",
// [bound] is the limit that the result must not exceed.
#pragma once

#include "units.h"

#include <string>
#include <vector>

namespace sim {

struct fabric_cfg {
    u64 hosts = 128, hosts_per_t0 = 16, t1s = 16, planes = 1;
    u64 rate_gbps = 100; // of every link
    u64 rate_mbps = 0;   // instead of rate_gbps, unless 0
    u64 delay_ns = 1000; // of every link; also the window of the scheduler
    u64 mtu = 4096;      // payload
    u64 header = 64;     // wire bytes around a payload
    u64 control = 64;    // wire bytes of a control or trimmed packet
    u64 queue = 1000;    // per mille of a link's bandwidth-delay product
    u64 last_queue = 1000; // likewise, of the last hop
    std::string ecn = "ramp"; // off, ramp, threshold (at ecn_lo)
    u64 ecn_lo = 200, ecn_hi = 800; // per mille of a BDP
    bool ecn_last_hop = false;
    u64 ecn_random = 0; // percent of data packets marked whatever the queue
    bool trim = true;
    u64 shared_kib = 0; // a switch's buffer, shared by its ports; 0: each has a queue of its own
    u64 shared_alpha = 1000; // per mille of what is free there that one port may fill
    u64 jitter_ns = 0; // packets of every path take up to so much longer, and no queue is why
};

struct host_cfg {
    std::string cc = "nscc"; // nscc or fixed
    u64 nscc_host = none32;  // NSCC on this host whatever cc says
    u64 qps = 1;             // of each pair of hosts that talk: they share paths and window
    u64 window = 1000;       // per mille of the path's BDP, all planes: fixed's window
    u64 window_bytes = 0;    // instead, unless 0; NSCC: its first window
    u64 mpr = 8;             // PSNs that may be out, in units of 128
    u64 evs = 128;           // of a path set, all planes
    u64 ev_per_path = 1;     // EVs that lead along the same T1
    std::string paths = "random"; // or template: from one template a host, as mrcd lays them
    u64 t1_choices = 0;      // template: T1s that a host uses, from where the one before ended; 0: all
    u64 ack_evs = 0;         // of a path set that only acknowledges; 0: a few
    u64 rto_us = 500;
    u64 rto_ns = 0;          // instead of rto_us, unless 0
    u64 probe_us = 0;        // first probe of a bad EV; 0: a base round trip
    bool probe_default = false; // first probe: the engine's own choice
    bool verbs = false;         // QPs as verbs make them, else of mrc.h
    bool timestamps = true;  // else round trips from the sender's own records only
    bool incast = true;      // receivers ask for smaller windows (rcv_cwnd_pen)
    bool sleek = false;      // loss by the receiver's count, not by time
    u64 sack_pkts = 0;       // a SACK at least every so many packets; 0: the engine's choice
    u64 sack_bytes = 0;      // likewise, bytes
    u64 burst = 0;           // packets of a QP in a row by one EV; 0: by the MTU, as hosts do
    u64 clock_ns = 0;        // clocks are ahead by up to so much, drawn for each host
    u64 drift_ppm = 0;       // and fast or slow by up to so much
    u64 timer_slack_ns = 0;  // timers are late by up to so much
    u64 rx_ns = 0;           // time to take a data packet, one after the other
    u64 rx_ctl_ns = 0;       // likewise a control packet
    u64 ring = 4096;         // packets of a plane that wait to be taken; more are lost
    u64 batch = 64;          // taken from one plane before another's turn, then answered
    u64 coalesce_ns = 0;     // an idle host's interrupt comes so long after the first packet
    u64 coalesce_host = none32; // only this host's
};

// One host's ends are another implementation's (../foreign). What each habit is, habits.h says.
struct foreign_cfg {
    u64 host = none32;
    u64 sack_pkts = 4;
    std::string bitmap = "cack"; // near, none
    bool echo = true, counts = true, answers = true;
    u64 ack_every = 1;
    u64 window = 512, messages = 64;
    u64 ask_every = 0;
    bool stamps = true, probes = false, halves = true;
    u64 late_pkts = 3;
    u64 timeout_us = 500;
};

struct workload_cfg {
    std::string kind = "permutation"; // incast, ring, alltoall, list, trace, calls (../lib)
    std::string file;                 // trace: a flow list or a GOAL trace (trace.h); from the scenario's folder
    u64 bytes = 2000000;              // of a message
    u64 seed = 1;
    u64 fan_in = 32;     // incast: senders
    bool victim = false; // incast: one more flow, from a sender's rack to the receiver's
    u64 group = 32;      // ring, alltoall: ranks
};

struct run_cfg {
    u64 limit_us = 1000000;
    u64 bucket_us = 5; // of the goodput series
    u64 seed = 1;      // of the engines
    u64 seeds = 1;     // so many runs, with seed, seed + 1, ...: metrics are their means
    u64 settle_us = 0; // metrics settled_* count from here on
    u64 late_rtt = 10; // metrics late_* count from so long after the first fault
    std::string probes; // a file of probes of the fabric (probe.h); from the scenario's folder
};

// In all of these none32 is "every one", and line is where it stands in the file.

// The cables of some T1s (to one T0 or all): a share of the rate, more delay.
struct slow_spec {
    u64 t1 = 0, count = 1, percent = 25, plane = none32, t0 = none32, delay_ns = 0;
    u64 line = 0;
};

// A plane unlike the others. Delay and loss: of each direction, see path_spec.
struct plane_spec {
    u64 plane = 0, delay_ns = 0, jitter_ns = 0;
    u64 percent = 100, rate_mbps = 0; // of the fabric's rate; 0: by percent
    u64 queue = 0, last_queue = 0;    // 0: as the fabric
    u64 last_marks = 0; // percent of data packets that its last switches mark, whatever the queue
    u64 loss_ppm_up = 0, loss_ppm_down = 0;
    bool trim = true; // false: never, here
    bool nic = true;  // false: only switches send at that rate, hosts at the fabric's
    u64 line = 0;
};

// What happens to packets on some paths, for some time (until_us 0: for good). Way "up": what
// the lower-numbered host of a connection sends. A loss of 1,000,000 ppm is a fault: it kills
// the paths, and nobody is told. Packets with jitter overtake each other.
struct path_spec {
    u64 plane = none32, t1 = none32, count = 1;
    std::string way = "both"; // up, down
    u64 at_us = 0, until_us = 0;
    u64 loss_ppm = 0, delay_ns = 0, jitter_ns = 0; // one way
    u64 payload = 0; // only data packets of at least so many bytes of it
    u64 line = 0;

    bool kills() const { return loss_ppm == 1000000 && !payload; }
};

// A host takes nothing from its ports and sees no timer. Either once, for_us from at_us on;
// or at random, once in every_us, for min_us to max_us, from at_us to until_us (0: the end).
struct pause_spec {
    u64 host = none32, at_us = 0, for_us = 0;
    u64 every_us = 0, min_us = 0, max_us = 0, until_us = 0;
    u64 line = 0;
};

struct clock_spec {
    u64 host = 0, offset_ns = 0;
    s64 drift_ppm = 0;
    u64 line = 0;
};

// kind: cable (t0, t1), link (one way of it: way, loss_ppm), leaf (t0, with all its cables), spine (t1, count), plane,
// port (host's cable), drain (the host announces its port as down, which works), forged (its peers are told so in
// its name, count times, one every every_us)
struct fault_spec {
    std::string kind = "cable";
    u64 plane = 0, t0 = 0, t1 = 0, host = 0, count = 1;
    u64 at_us = 0, until_us = 0; // 0: for good
    std::string way = "up";      // from the T0 to the T1; down
    u64 loss_ppm = 1000000;      // of a link
    bool notify = false;         // hosts see their port go down; else a black hole
    u64 every_us = 100;
    u64 notify_ns = 0;           // so much later: carrier, and the Port Status Update after it
    u64 line = 0;

    // Hosts tell each other of ports.
    bool tells() const { return kind == "drain" || kind == "forged" || (kind == "port" && notify); }
    bool of_host() const { return kind == "port" || kind == "drain" || kind == "forged"; }
};

// count messages; one every every_us, or all at once.
struct flow_spec {
    u64 src = 0, dst = 0, bytes = 0, start_us = 0, count = 1, every_us = 0;
    u64 line = 0;
};

// A flow as TCP's, from start_us to until_us (0: the end), by one path of a plane.
struct tcp_spec {
    u64 src = 0, dst = 0, plane = 0, start_us = 0, until_us = 0;
    u64 line = 0;
};

// A metric of the report may not exceed the value; "<metric>_min": not be less.
struct expectation {
    std::string metric;
    double value = 0;
};

struct scenario {
    std::string path, name, about, status;
    fabric_cfg fabric;
    host_cfg host;
    foreign_cfg foreign;
    workload_cfg workload;
    run_cfg run;
    std::vector<slow_spec> slow;
    std::vector<plane_spec> plane;
    std::vector<path_spec> path_rule; // [[path]]
    std::vector<pause_spec> pause;
    std::vector<clock_spec> clock;
    std::vector<fault_spec> fault;
    std::vector<flow_spec> flow;
    std::vector<tcp_spec> tcp;
    std::vector<expectation> expect, bound;

    u64 t0s() const { return (fabric.hosts + fabric.hosts_per_t0 - 1) / fabric.hosts_per_t0; }

    // Wire time of a full packet on a link of the fabric's rate, and of a control packet.
    u64 ser_ps(u64 bytes) const { return bytes * (8192000000 / mbps()) >> 10; }
    u64 mbps() const { return fabric.rate_mbps ? fabric.rate_mbps : fabric.rate_gbps * 1000; }
    bool nscc(u32 on) const { return host.cc == "nscc" || host.nscc_host == on; }
    u64 plane_mbps(u64 plane) const;
    bool known_red() const { return status == "not met"; }
    u64 base_rtt_ps() const;
    u8 burst() const; // packets of a QP in a row by one EV
    u64 bdp_bytes(u64 mbps) const;
    u64 bdp_bytes() const { return bdp_bytes(mbps()); } // of one plane
};

// Throw std::runtime_error with a text that names the file, the line and the key.
scenario load_scenario(const std::string &path);
scenario parse_scenario(const std::string &text, const std::string &path); // path: for errors
void set_option(scenario &s, const std::string &assignment);
void check_scenario(const scenario &s);
[[noreturn]] void refuse_scenario(const std::string &what);

// The same without all that is wrong in it. False: nothing was.
bool strip_faults(scenario &s);

} // namespace sim
