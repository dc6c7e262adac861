// SPDX-License-Identifier: GPL-2.0
// nic.cc - see nic.h.
#include "nic.h"

#include <algorithm>

namespace sim {

nic::nic(const scenario &s, u32 host)
    : pause(s, host), ring_(s.fabric.planes), data_ps_(s.host.rx_ns * ps_per_ns),
      ctl_ps_(s.host.rx_ctl_ns * ps_per_ns), limit_(s.host.ring),
      batch_(static_cast<u32>(s.host.batch)),
      coalesce_ps_(s.host.coalesce_host == none32 || s.host.coalesce_host == host
                       ? s.host.coalesce_ns * ps_per_ns
                       : 0)
{
}

// The CPU turns to its next packet.
void nic::begin()
{
    if (!in_batch_) {
        for (size_t i = 0; i < ring_.size() && ring_[at_].empty(); i++)
            at_ = (at_ + 1) % static_cast<u32>(ring_.size());
        left_ = batch_;
    }
    const packet &p = ring_[at_].front();
    u64 seen = polls_ ? p.t : p.t + coalesce_ps_;

    polls_ = true;
    due_ = std::max(free_, seen) + (p.is_data() && !(p.flags & PKT_TRIMMED) ? data_ps_ : ctl_ps_);
}

bool nic::put(const packet &p)
{
    if (ring_[p.plane].size() >= limit_)
        return false;
    ring_[p.plane].push_back(p);
    waiting_++;
    if (due_ == never)
        begin();
    return true;
}

packet nic::take(u64 t)
{
    packet p = ring_[at_].front();

    ring_[at_].pop_front();
    waiting_--;
    left_--;
    free_ = t;
    in_batch_ = left_ && !ring_[at_].empty();
    if (!in_batch_)
        at_ = (at_ + 1) % static_cast<u32>(ring_.size());
    due_ = never;
    polls_ = waiting_;
    if (waiting_)
        begin();
    return p;
}

} // namespace sim
