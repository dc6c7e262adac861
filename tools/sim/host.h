// SPDX-License-Identifier: GPL-2.0
// host.h - one host: its planes, the path set to its peer, port status, its QPs.
#pragma once

#include "qp.h"

#include <memory>
#include <vector>

namespace sim {

class host {
public:
    host(world &w, u32 id);

    u32 id() const { return id_; }
    mrc_evset &evs() { return evs_; }
    void add_qp(std::unique_ptr<qp> q) { qps_.push_back(std::move(q)); }
    qp &at(u32 i) { return *qps_[i]; }
    const std::vector<std::unique_ptr<qp>> &qps() const { return qps_; }

    void arrive(u32 pkt);
    void run();              // softirq: everything that has arrived
    void carrier(u32 up);    // local ports changed
    void on_port_timer(u64 gen);
    void check() const;

private:
    void rx_endpoint(const mrc_pkt &p);
    void port_send();
    void planes_changed();

    world &w_;
    u32 id_;
    std::vector<u64> evs_mem_;
    mrc_evset evs_;
    mrc_port port_;
    mrc_rot rot_;            // of endpoint packets
    std::vector<u16> rot_order_;
    u64 port_gen_ = 0;
    std::vector<std::unique_ptr<qp>> qps_;
    std::vector<u32> rxq_;
    bool run_pending_ = false;
    prng rand_;
};

} // namespace sim
