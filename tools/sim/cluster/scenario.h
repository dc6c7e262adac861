// SPDX-License-Identifier: GPL-2.0
// scenario.h - what to simulate and what to expect: one TOML file.
//
// Sections fabric, host, workload and run hold options, each changeable by
// --set section.key=value; [[slow]] and [[fault]] list what is wrong with the
// fabric, [[flow]] the flows of workload "list", [expect] what the result must be.
#pragma once

#include "units.h"

#include <string>
#include <vector>

namespace sim {

struct fabric_cfg {
    u64 hosts = 128, hosts_per_t0 = 16, t1s = 16, planes = 1;
    u64 rate_gbps = 100; // of every link
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
};

struct host_cfg {
    std::string cc = "nscc"; // nscc or fixed
    u64 window = 1000;       // per mille of the path's BDP, all planes: fixed's window
    u64 mpr = 8;             // PSNs that may be out, in units of 128
    u64 evs = 128;           // of a path set, all planes
    u64 ev_per_path = 1;     // EVs that lead along the same T1
    u64 rto_us = 500;
    u64 probe_us = 0;        // first probe of a bad EV; 0: a base round trip
    bool timestamps = true;  // else round trips from the sender's own records only
    bool incast = true;      // receivers ask for smaller windows (rcv_cwnd_pen)
    bool sleek = false;      // loss by the receiver's count, not by time
};

struct workload_cfg {
    std::string kind = "permutation"; // incast, ring, alltoall, list
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
};

struct slow_spec {
    u64 t1 = 0, count = 1, percent = 25, plane = none32; // none32: every plane
};

// kind: cable (t0, t1), spine (t1, count), plane, port (host's cable)
struct fault_spec {
    std::string kind = "cable";
    u64 plane = 0, t0 = 0, t1 = 0, host = 0, count = 1;
    u64 at_us = 0, until_us = 0; // 0: for good
    bool notify = false;         // hosts see their port go down; else a black hole
};

struct flow_spec {
    u64 src = 0, dst = 0, bytes = 0, start_us = 0;
};

// A metric of the report may not exceed the value; "<metric>_min": not be less.
struct expectation {
    std::string metric;
    double value = 0;
};

struct scenario {
    std::string name, about, status;
    fabric_cfg fabric;
    host_cfg host;
    workload_cfg workload;
    run_cfg run;
    std::vector<slow_spec> slow;
    std::vector<fault_spec> fault;
    std::vector<flow_spec> flow;
    std::vector<expectation> expect;

    u64 t0s() const { return (fabric.hosts + fabric.hosts_per_t0 - 1) / fabric.hosts_per_t0; }

    // Wire time of a full packet on a link of the fabric's rate, and of a control packet.
    u64 ser_ps(u64 bytes) const { return bytes * (8192000 / fabric.rate_gbps) >> 10; }
    u64 base_rtt_ps() const;
    u64 bdp_bytes() const; // of one plane
};

// Throw std::runtime_error with a text that names the file or key.
scenario load_scenario(const std::string &path);
void set_option(scenario &s, const std::string &assignment);
void check_scenario(const scenario &s);

} // namespace sim
