// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// forward.cc - see forward.h.
#include "forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "usid.h"

namespace mrcfab {

namespace {

constexpr unsigned kHopsMax = 16;
constexpr std::size_t kKeptMax = 1u << 20;

std::size_t weight(const Desired &d)
{
    std::size_t n = 1 + d.routes.size() + d.sysctls.size();

    if (d.device)
        for (const Profile &p : d.device->profiles)
            n += 1 + p.evs.size() + p.gens.size();
    return n;
}

}   // namespace

std::shared_ptr<const Forwarding::Node> Forwarding::node(const std::string &name)
{
    if (const auto it = nodes_.find(name); it != nodes_.end())
        return it->second;
    auto want = desired_for(fabric_, name);
    assert(want);
    auto n = std::make_shared<Node>();
    n->want = std::move(*want);
    for (const WantedRoute &r : n->want.routes)
        n->routes[r.dst.len].emplace(r.dst.addr, &r);
    if (kept_ > kKeptMax) {
        nodes_.clear();
        kept_ = 0;
    }
    kept_ += weight(n->want);
    return nodes_.emplace(name, std::move(n)).first->second;
}

const Desired &Forwarding::desired(const std::string &name) { return node(name)->want; }

const WantedRoute *Forwarding::route(const Node &node, const Ip6 &dst)
{
    for (const auto &[len, of_len] : node.routes)
        if (const auto it = of_len.find(first_bits(dst, len)); it != of_len.end())
            return it->second;
    return nullptr;
}

const WantedPlane *Forwarding::plane(const Desired &host, unsigned number)
{
    const auto &planes = host.device->planes;
    const auto it = std::find_if(planes.begin(), planes.end(),
                                 [&](const WantedPlane &p) { return p.number == number; });

    return it == planes.end() ? nullptr : &*it;
}

// The module takes a packet whose outer destination is the SID of the plane it came in on.
bool Forwarding::arrive(const Node &host, const PortAt &at, const Ip6 &dst, Journey &j) const
{
    for (const WantedPlane &p : host.want.device->planes)
        if (p.link == at.port && p.sid == dst) {
            j.host = at.node;
            return false;
        }
    j.lost = fmt::format("{} receives the packet on {} for {}, which is not its SID there", at.node, at.port,
                         to_string(dst));
    return false;
}

bool Forwarding::pass(PortAt &here, Ip6 &dst, Journey &j)
{
    const auto at = cabling_.far_end(here);
    if (!at) {
        j.lost = fmt::format("{} has no cable on {}", here.node, here.port);
        return false;
    }
    const auto n = node(at->node);
    hops_++;
    if (n->want.device)
        return arrive(*n, *at, dst, j);
    j.switches.push_back(at->node);
    for (unsigned shifts = 0; shifts <= kUsidsOfAddress; shifts++) {
        const WantedRoute *r = route(*n, dst);
        if (!r) {
            j.lost = fmt::format("{} has no route to {}", at->node, to_string(dst));
            return false;
        }
        if (r->via) {
            here = {at->node, r->links.front()};
            return true;
        }
        dst = usid_shift(dst);
        j.named.push_back(at->node);
    }
    j.lost = fmt::format("{} shifts for ever", at->node);
    return false;
}

Journey Forwarding::send(const std::string &host, const Ev &ev)
{
    const auto from = node(host);
    const WantedPlane *p = plane(from->want, ev.port);
    const WantedRoute *r = route(*from, ev.outer_dst);
    Journey j;

    if (!p || !r || !r->via || r->links.front() != p->link) {
        j.lost = fmt::format("{} has no route to {} over its plane {}", host, to_string(ev.outer_dst),
                             ev.port);
        return j;
    }
    PortAt here{host, p->link};
    Ip6 dst = ev.outer_dst;
    while (pass(here, dst, j))
        if (j.switches.size() > kHopsMax) {
            j.lost = "the path is a loop";
            break;
        }
    return j;
}

}   // namespace mrcfab
