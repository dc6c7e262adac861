// SPDX-License-Identifier: GPL-2.0
// host.h - one host: its clock, its CPU, its ports, its state of each peer, its QPs.
//
// There is one CPU: work takes time, and timers and softirqs wait meanwhile. Received packets wait
// in one ring per plane. While the host pauses, nothing else happens.
#pragma once

#include "clock.h"
#include "economy.h"
#include "event_queue.h"
#include "qp.h"

#include <deque>
#include <memory>
#include <vector>

namespace sim {

// (device, remote host): path set, port status, congestion controller.
struct peer {
    mrc_evset evs = {};
    std::vector<u64> evs_mem;
    mrc_port port = {};
    mrc_spray rot = {};        // of endpoint packets
    std::vector<u16> rot_order;
    std::vector<u64> cc_mem;
    u64 port_gen = 0;
    std::vector<u32> qps;    // ids
    expense spent;
    std::vector<bool> unusable;   // of evs, when last looked at

    mrc_cc *cc() { return reinterpret_cast<mrc_cc *>(cc_mem.data()); }
    const mrc_cc *cc() const { return reinterpret_cast<const mrc_cc *>(cc_mem.data()); }
};

class host {
public:
    host(world &w, u32 id);

    u32 id() const { return id_; }
    peer &to(u32 remote) { return *peers_[remote]; }
    const peer &to(u32 remote) const { return *peers_[remote]; }
    mrc_incast &incast() { return incast_; }

    // What the engine is told; it has moved on by the work done in this event.
    u64 clock_ns() const;
    u64 sim_ps() const;
    // At @local_ns of this host's clock, or as much later as its timers are slack.
    void timer(u64 local_ns, event_kind k, u32 target, u64 arg = 0);
    // Nothing is done before: it is busy or pauses.
    u64 ready_ps() const { return std::max(busy_ps_, pause_ps_); }
    u64 wake_ps();           // when what waits for it may go on
    void pause(u64 until_ns);
    void settle();           // an event has been handled

    void transmit(u32 pkt);
    void arrive(u32 pkt);
    void run();              // softirq: what has arrived, or a batch of it
    void carrier(u32 plane, bool up);
    void on_damp_timer();
    void on_port_timer(u32 remote, u64 gen);
    void check() const;

private:
    void make_peer(u32 remote);
    void soon(u64 held_ns);
    u64 held_ns() const;     // how long its interrupts are held back
    std::vector<u32> take_batch();
    void receive(u32 pkt, std::vector<u32> &touched);
    void rx_endpoint(u32 remote, const mrc_pkt &p);
    void port_send(u32 remote);
    void ports_are(u32 up);
    void planes_changed(u32 remote);

    world &w_;
    u32 id_;
    prng rand_, slack_, wake_;
    host_clock clock_;
    u64 spent_ps_ = 0;       // CPU time spent in this event
    u64 busy_ps_ = 0, pause_ps_ = 0;
    mrc_damp damp_ = {};
    mrc_incast incast_ = {};
    std::vector<std::unique_ptr<peer>> peers_;  // by host; none to itself
    std::vector<u32> down_;  // failures known of, per plane
    u32 believed_;           // ports up, after damping
    std::vector<std::deque<u32>> rings_;  // by plane; without batches, one
    u32 ring_ = 0;           // whose turn it is
    bool run_pending_ = false;
};

} // namespace sim
