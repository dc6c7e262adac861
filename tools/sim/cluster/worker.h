// SPDX-License-Identifier: GPL-2.0
// worker.h - the part of one thread in a window: its nodes, one after the other.
#pragma once

#include "foreign.h"
#include "world.h"

#include <algorithm>

namespace sim {

class worker {
public:
    worker(world &w, u32 id);

    // Ends whose flows start at once are made before the first window.
    void make_ends();
    void run_window();

    counters count;
    std::vector<sample> series; // by bucket of run.bucket_us
    std::vector<completion> completions; // of workload "calls"
    std::vector<u64> pending; // packets sent by this thread, by slot of their window
    u64 memory() const { return mem_.bytes(); }
    // Packets of windows that lanes do not reach yet: the first of them; take in what can be.
    u64 held_window() const { return held_.empty() ? never : held_.front().t / w_.window_ps; }
    void take_held();

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
    void hold(u32 node, const packet &p);

    // switch.cc
    void run_switch(u32 node);
    enum class loss { queue, dead, random, ring };
    void output(u32 node, port &o, packet p, bool last_hop, u32 next_node);
    bool fits(u32 node, const port &o, const link_class &k, u64 t, u32 bytes) const;
    bool marks(const link_class &k, const packet &p, u64 backlog);
    bool drawn(const packet &p, const port &o) const;
    void lose(const packet &p, loss why);

    // host.cc
    void run_rack(u32 node);
    void fetch_ahead(const due *at) const;
    void run_host(u32 id, host &h, const due *at, const due *stop);
    void wake(u32 id, host &h, u64 t);
    void take_notice(host &h, u64 t);
    void take_forged(host &h, u64 t);
    void start_flows(u32 id, host &h, u64 t);
    void post_flows(host &h, end &e, u64 t);
    void pass(host &h, u32 f, u64 t);
    void release(u32 f, moment when, u64 t);
    void run_timers(host &h, u64 t);
    void enqueue(host &h, const packet &p);
    void receive(host &h, const packet &p, u64 t);
    void turn_to_bucket(u64 t);
    sample &bucket(u64 t)
    {
        if (!bucket_ || t - bucket_from_ >= bucket_ps_)
            turn_to_bucket(t);
        return *bucket_;
    }
    void note_data(end &e, const packet &p, bool placed, u64 t);
    void look(end &e, u64 t);
    void receive_port(host &h, end &e, const mrc_pkt &p, u64 t);
    void place(const mrc_rxop &op, u64 t);
    void finish(host &h, end &e, u64 t);
    void make_ready(host &h, end &e);
    void make_first(host &h, end &e);
    end *next_ready(host &h);
    end *next_first(host &h);
    void arm(host &h, const end &e);
    static u64 deadline(const host &h, const end &e);
    u64 with_slack(u64 at) const;
    end *sibling_of(u32 id) const;
    end &end_of(host &h, u32 id, u64 t);
    void wake_siblings(host &h, end &e);
    u64 wake_time(const host &h) const;

    // tcp.cc
    void send_tcp(u32 id, host &h, const tcp_flow &f, tcp_opcode op, tcp_segment s, u64 t);
    void pull_tcp(u32 id, host &h, tcp_flow &f, u64 t);
    void run_tcp(u32 id, host &h, u64 t);
    void receive_tcp(host &h, const packet &p, u64 t);

    // probe.cc
    void send_probe(u32 id, host &h, u32 n, u64 t);
    void run_probes(u32 id, host &h, u64 t);
    void receive_probe(const packet &p, u64 t);
    void forward_probe(u32 node, packet p, u32 plane, u32 index, bool is_t0);
    void lose_probe(const packet &p);

    // foreign.cc
    void make_foreign(end &e);
    void post_foreign(host &h, end &e);
    void receive_foreign(host &h, end &e, const packet &p, u64 t);
    bool pull_foreign(u32 id, host &h, end &e, u64 t, bool &control);
    void placed(flow &x, u64 t);

    // send.cc
    void pull(u32 id, host &h, u64 t);
    bool pull_one(u32 id, host &h, end &e, u64 t, bool &control);
    bool pull_port(u32 id, host &h, end &e, u64 t);
    void transmit(u32 id, host &h, end &e, const mrc_txop &op, u64 t);
    void set_tx_free(u32 id, host &h);
    void wait_for_port(host &h, end &e);
    void end_waits(host &h, u64 t);
    bool meet_rules(u32 id, packet &p, u64 t);
    bool dead_path(u32 id, const packet &p, u64 t);
    void note_dead_path(u32 id, end &e, const packet &p, u64 t);
    void note_sent(u32 id, end &e, const packet &p, u64 t);
    void note_control(u32 id, end &e, const mrc_txop &op, const packet &p, u64 t);

    world &w_;
    u32 id_;
    u64 slack_ps_; // a host's port takes a packet while it has no more than this to send
    u64 timer_slack_ps_;
    u64 bucket_ps_, bucket_from_ = 0;
    sample *bucket_ = nullptr; // begins at bucket_from_
    chunk_pool pool_;
    arena mem_;
    std::vector<std::unique_ptr<foreign_end>> foreign_;
    std::vector<u32> nodes_;
    struct held {
        u64 t;
        u32 node;
        packet p;
    };
    static bool sent_later(const end *a, const end *b)
    {
        return a->tx_free != b->tx_free ? a->tx_free > b->tx_free : a->id > b->id;
    }
    static bool later(const held &a, const held &b) { return a.t > b.t; }

    std::vector<held> held_; // a heap
    std::vector<due> due_, sorted_;
    std::vector<u32> bin_;
};

// ---- ends with something to send or to wait for; here because they are small and hot ----

inline void worker::make_ready(host &h, end &e)
{
    if (e.ready != queued::no || e.first)
        return;
    e.ready = queued::turn;
    e.next_ready = nullptr;
    (h.ready_head ? h.ready_tail->next_ready : h.ready_head) = &e;
    h.ready_tail = &e;
}

// Where many have data, what it owes does not wait for its turn.
inline void worker::make_first(host &h, end &e)
{
    if (e.ready == queued::waits || e.first)
        return;
    e.first = true;
    e.next_first = nullptr;
    (h.first_head ? h.first_tail->next_first : h.first_head) = &e;
    h.first_tail = &e;
}

inline end *worker::next_ready(host &h)
{
    end *e = h.ready_head;

    if (e) {
        h.ready_head = e->next_ready;
        e->ready = queued::no;
    }
    return e;
}

inline end *worker::next_first(host &h)
{
    end *e = h.first_head;

    if (e) {
        h.first_head = e->next_first;
        e->first = false;
    }
    return e;
}

// When the end wants its timer, by the world's time.
inline u64 worker::deadline(const host &h, const end &e)
{
    u64 at = mrc_conn_deadline_ns(&e.conn);

    if (e.foreign)
        at = std::min(e.foreign->tx.deadline_ns(), e.foreign->rx.deadline_ns());
    if (e.port)
        at = std::min(at, mrc_port_deadline_ns(e.port));
    return h.clock.ps(at);
}

// When a host's timer comes: drawn from when it should.
inline u64 worker::with_slack(u64 at) const
{
    return timer_slack_ps_ && at != never ? at + mix64(at) % timer_slack_ps_ : at;
}

inline void worker::arm(host &h, const end &e)
{
    h.timer = std::min(h.timer, with_slack(deadline(h, e)));
}

} // namespace sim
