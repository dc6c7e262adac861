// SPDX-License-Identifier: GPL-2.0
// worker.cc - the nodes of a thread in one window: collects due events, in order (worker.h,
// world.h).
#include "worker.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace sim {

worker::worker(world &w, u32 id)
    : pending(w.slots), w_(w), id_(id), slack_ps_(w.topo.classes[0].mtu_ps),
      timer_slack_ps_(w.s.host.timer_slack_ns * ps_per_ns), bucket_ps_(w.s.run.bucket_us * ps_per_us)
{
    for (u32 node = 0; node < w.topo.nodes; node++)
        if (w.thread_of(node) == id)
            nodes_.push_back(node);
}

void worker::post(u32 node, const packet &p)
{
    u64 window_no = p.t / w_.window_ps;

    if (window_no <= w_.window)
        throw std::logic_error("a packet arrives in the window that sends it");
    if (window_no - w_.window >= w_.slots)
        return hold(node, p);
    w_.lane_of(id_, node, window_no).add(pool_) = p;
    pending[window_no & (w_.slots - 1)]++;
}

// Long queues and delays: rare, so a heap will do.
void worker::hold(u32 node, const packet &p)
{
    held_.push_back({p.t, node, p});
    std::push_heap(held_.begin(), held_.end(), later);
}

// Between windows, when w_.window is the next. Lanes are sorted when they are read.
void worker::take_held()
{
    while (!held_.empty() && held_window() < w_.window + w_.slots) {
        const held &h = held_.front();
        u64 window_no = h.t / w_.window_ps;

        w_.lane_of(id_, h.node, window_no).add(pool_) = h.p;
        pending[window_no & (w_.slots - 1)]++;
        std::pop_heap(held_.begin(), held_.end(), later);
        held_.pop_back();
    }
}

// Pointers to the packets of this window, from every thread's lane.
void worker::gather(u32 node)
{
    bool rack = w_.topo.kind(node) == node_kind::rack;
    u64 start = w_.window_start();

    due_.clear();
    for (u32 thread = 0; thread < w_.threads; thread++) {
        const lane &l = w_.lane_of(thread, node, w_.window);

        for (const chunk *c = l.head; c; c = c->next)
            for (const packet *p = c->p; p != l.end_of(c); p++) {
                u64 host = rack ? w_.work.end_host[p->conn] % w_.topo.per_t0 : 0;

                due_.push_back({host << 32 | (p->t - start), p});
            }
    }
    sort_due(rack ? w_.topo.per_t0 : 0);
}

// One pass of counting into bins (a rack's by host, a switch's by time), then each bin
// by comparison: bins are small, and ties are decided by the whole key.
void worker::sort_due(u64 hosts)
{
    auto before = [](const due &a, const due &b) {
        return a.key != b.key ? a.key < b.key : earlier(*a.p, *b.p);
    };
    u32 shift = 32, bins = static_cast<u32>(hosts);

    if (due_.size() < 24) {
        std::sort(due_.begin(), due_.end(), before);
        return;
    }
    if (!hosts) {
        u64 n = std::bit_ceil(due_.size());

        for (shift = 0; w_.window_ps >> shift >= 2 * n;)
            shift++;
        bins = static_cast<u32>((w_.window_ps >> shift) + 1);
    }
    bin_.assign(bins + 1, 0);
    for (const due &d : due_)
        bin_[(d.key >> shift) + 1]++;
    for (u32 i = 0; i < bins; i++)
        bin_[i + 1] += bin_[i];
    sorted_.resize(due_.size());
    for (const due &d : due_)
        sorted_[bin_[d.key >> shift]++] = d;
    // bin_[i] is now the end of bin i.
    for (u32 i = 0, from = 0; i < bins; from = bin_[i++])
        if (bin_[i] - from > 1)
            std::sort(sorted_.begin() + from, sorted_.begin() + bin_[i], before);
    due_.swap(sorted_);
}

void worker::drain(u32 node)
{
    for (u32 thread = 0; thread < w_.threads; thread++)
        w_.lane_of(thread, node, w_.window).give_back(pool_);
}

void worker::make_ends()
{
    std::vector<bool> wanted(w_.ends.size());

    for (const flow &f : w_.work.flows)
        if (f.start == 0 && !f.local())
            wanted[f.conn] = wanted[f.conn ^ 1] = true;
    for (u32 id = 0; id < w_.ends.size(); id++) {
        u32 host = w_.work.end_host[id];

        if (wanted[id] && w_.thread_of(w_.topo.rack_node(host)) == id_)
            end_of(w_.hosts[host], id, 0);
    }
}

void worker::run_window()
{
    for (u32 node : nodes_) {
        gather(node);
        if (w_.topo.kind(node) == node_kind::rack)
            run_rack(node);
        else if (!due_.empty())
            run_switch(node);
        drain(node);
    }
}

} // namespace sim
