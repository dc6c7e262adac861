// SPDX-License-Identifier: GPL-2.0
// worker.h - one thread's part of a window: its nodes, one after the other.
#pragma once

#include "world.h"

namespace sim {

class worker {
public:
    worker(world &w, u32 id);

    // Ends whose flows start at once are made before the first window.
    void make_ends();
    void run_window();

    counters count;
    std::vector<u64> series;  // payload bytes placed, by bucket of run.bucket_us
    std::vector<u64> pending; // packets sent by this thread, by slot of their window
    u64 memory() const { return mem_.bytes(); }

private:
    struct due {
        u64 key; // host in its rack << 32 | time in the window
        const packet *p;
    };

    // worker.cc
    void gather(u32 node);
    void sort_due(u64 bins);
    void drain(u32 node);
    void post(u32 node, const packet &p);

    // switch.cc
    void run_switch(u32 node);
    void output(port &o, packet p, bool last_hop, u32 next_node);
    bool marks(const link_class &k, const packet &p, u64 backlog);
    void lose(const packet &p, bool dead);

    // host.cc
    void run_rack(u32 node);
    void fetch_ahead(const due *at) const;
    void run_host(u32 id, host &h, const due *at, const due *stop);
    void wake(u32 id, host &h, u64 t);
    void take_notice(host &h, u64 t);
    void start_flows(u32 id, host &h, u64 t);
    void post_flows(host &h, end &e, u64 t);
    void run_timers(host &h, u64 t);
    void receive(host &h, const packet &p);
    void receive_port(host &h, end &e, const mrc_pkt &p, u64 t);
    void place(const mrc_rxop &op, u64 t);
    void finish(host &h, end &e, u64 t);
    void pull(u32 id, host &h, u64 t);
    bool pull_one(u32 id, host &h, end &e, u64 t, bool &control);
    bool pull_port(u32 id, host &h, end &e, u64 t);
    void transmit(u32 id, host &h, end &e, const mrc_txop &op, u64 t);
    void note_dead_path(u32 id, end &e, const packet &p, u64 t);
    void make_ready(host &h, end &e, queued how);
    end *next_ready(host &h);
    void arm(host &h, const end &e);
    end &end_of(host &h, u32 id, u64 t);
    u64 wake_time(const host &h) const;

    world &w_;
    u32 id_;
    u64 slack_ps_; // a host's port takes a packet while it has no more than this to send
    chunk_pool pool_;
    arena mem_;
    std::vector<u32> nodes_;
    std::vector<due> due_, sorted_;
    std::vector<u32> bin_;
};

} // namespace sim
