// SPDX-License-Identifier: GPL-2.0
// host.h - one host: its ports, what it knows of each peer, its QPs.
#pragma once

#include "qp.h"

#include <memory>
#include <vector>

namespace sim {

// (device, remote host): path set, port status, congestion controller.
struct peer {
    mrc_evset evs = {};
    std::vector<u64> evs_mem;
    mrc_port port = {};
    mrc_rot rot = {};        // of endpoint packets
    std::vector<u16> rot_order;
    std::vector<u64> cc_mem;
    u64 port_gen = 0;
    std::vector<u32> qps;    // ids

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

    void arrive(u32 pkt);
    void run();              // softirq: everything that has arrived
    void carrier(u32 plane, bool up);
    void on_damp_timer();
    void on_port_timer(u32 remote, u64 gen);
    void check() const;

private:
    void make_peer(u32 remote);
    void rx_endpoint(u32 remote, const mrc_pkt &p);
    void port_send(u32 remote);
    void ports_are(u32 up);
    void planes_changed(u32 remote);

    world &w_;
    u32 id_;
    prng rand_;
    mrc_damp damp_ = {};
    mrc_incast incast_ = {};
    std::vector<std::unique_ptr<peer>> peers_;  // by host; none to itself
    std::vector<u32> down_;  // failures known of, per plane
    u32 believed_;           // ports up, after damping
    std::vector<u32> rxq_;
    bool run_pending_ = false;
};

} // namespace sim
