// SPDX-License-Identifier: GPL-2.0
// links.cc - draws the properties of the ports (links.h).
#include "links.h"

#include "prng.h"

#include <algorithm>

namespace sim {

links::links(const options &o, const topology &t, u64 seed)
    : o_(o), topo_(t), planes_(o.planes), ports_(t.ports()), owned_(t.switches())
{
    prng odd(seed, "links/planes"), each(seed, "links/ports");

    for (u32 p = 0; p < o.planes; p++)
        draw_plane(p, odd);
    for (u32 i = 0; i < t.ports(); i++)
        draw_port(static_cast<u16>(i), t.plane_of(static_cast<u16>(i)), each);
    u64 most = 0;
    for (const plane &p : planes_)
        most = std::max(most, p.delay_ns);
    longest_ns_ = hops_max * (o.delay_ns + o.link_delay_ns) + most + o.skew_ns + o.jitter_ns;
}

// Two ports at the least.
u64 links::shortest_ns() const
{
    u64 least = ports_[0].delay_ps;

    for (const link &l : ports_)
        least = std::min(least, l.delay_ps);
    return 2 * least / 1000;
}

u64 links::slowest_kbps() const
{
    u64 least = o_.rate_mbps * 1000;

    for (const link &l : ports_)
        least = std::min(least, l.rate_kbps);
    return least;
}

// With odd_vary each draws its own, from what all others are to what is given.
void links::draw_plane(u32 p, prng &r)
{
    plane &x = planes_[p];
    u64 delay = r.below(o_.odd_delay_ns + 1);
    u64 rate = r.range(o_.odd_rate_pct, 100), queue = r.range(o_.odd_queue_pct, 100);
    u64 loss = r.below(o_.odd_loss_ppm + 1);
    bool flips = r.chance(500000);

    x.trims = o_.trim;
    if (!(o_.odd_planes >> p & 1))
        return;
    x.delay_ns = o_.odd_vary ? delay : o_.odd_delay_ns;
    x.rate_pct = o_.odd_vary ? rate : o_.odd_rate_pct;
    x.queue_pct = o_.odd_vary ? queue : o_.odd_queue_pct;
    x.loss_ppm = static_cast<u32>(o_.odd_vary ? loss : o_.odd_loss_ppm);
    x.trims ^= o_.odd_trim && (!o_.odd_vary || flips);
}

void links::draw_port(u16 port, u32 p, prng &r)
{
    link &l = ports_[port];
    u64 rate = r.range(o_.link_rate_pct, 100), queue = r.range(o_.link_queue_pct, 100);
    u64 extra_ns = r.below(o_.link_delay_ns + 1);
    bool host = topo_.is_host_port(port);

    l.delay_ps = (o_.delay_ns + extra_ns) * 1000;
    // What a plane adds, its last hop adds, so that it is the same to all hosts.
    if (topo_.is_last_hop(port))
        l.delay_ps += planes_[p].delay_ns * 1000;
    l.rate_kbps = o_.rate_mbps * 10 * planes_[p].rate_pct;
    if (!host)
        l.rate_kbps = l.rate_kbps * o_.down_pct / 100 * rate / 100;
    l.rate_kbps = std::max<u64>(l.rate_kbps, 1000);
    // No buffer is so small that it cannot take a packet or two.
    l.queue_bytes = o_.queue_bytes * planes_[p].queue_pct / 100 * queue / 100;
    if (o_.queue_bytes)
        l.queue_bytes = std::max(l.queue_bytes, std::min<u64>(o_.queue_bytes, 2 * o_.mtu + 400));
    l.loss_ppm = static_cast<u32>(r.below(o_.link_loss_ppm + 1));
    l.trims = planes_[p].trims && !r.chance(o_.link_notrim_ppm);
    l.owner = topo_.owner(port);
    if (!host)
        owned_[l.owner].push_back(port);
}

} // namespace sim
