// SPDX-License-Identifier: GPL-2.0
// topology.h - a two-tier Clos in each plane: its output ports, by number.
//
// T0s take hosts in order, hosts_per_t0 each. Each T0 has one cable to each T1. A port is the
// sending end of one direction of a cable.
#pragma once

#include "options.h"

#include <vector>

namespace sim {

constexpr u32 hops_max = 4;

class topology {
public:
    explicit topology(const options &o)
        : hosts_(static_cast<u32>(o.hosts)), per_t0_(static_cast<u32>(o.per_t0)),
          t0s_((hosts_ + per_t0_ - 1) / per_t0_), t1s_(static_cast<u32>(o.t1s)),
          per_plane_(2 * hosts_ + 2 * t0s_ * t1s_), planes_(static_cast<u32>(o.planes))
    {
    }

    u32 hosts() const { return hosts_; }
    u32 t0s() const { return t0s_; }
    u32 t1s() const { return t1s_; }
    u32 ports() const { return planes_ * per_plane_; }
    u32 t0_of(u32 host) const { return host / per_t0_; }

    // Host to T0, T0 to host, T0 to T1, T1 to T0.
    u16 up(u32 plane, u32 host) const { return at(plane, host); }
    u16 down(u32 plane, u32 host) const { return at(plane, hosts_ + host); }
    u16 t0_t1(u32 plane, u32 t0, u32 t1) const { return at(plane, 2 * hosts_ + t0 * t1s_ + t1); }
    u16 t1_t0(u32 plane, u32 t1, u32 t0) const
    {
        return at(plane, 2 * hosts_ + (t0s_ + t0) * t1s_ + t1);
    }
    bool is_last_hop(u16 port) const
    {
        u32 i = port % per_plane_;

        return i >= hosts_ && i < 2 * hosts_;
    }
    bool is_host_port(u16 port) const { return port % per_plane_ < hosts_; }
    u32 plane_of(u16 port) const { return port / per_plane_; }

    // Switches of all planes by number, and the one that sends by this port; hosts' own
    // ports: switches().
    u32 switches() const { return planes_ * (t0s_ + t1s_); }
    u32 owner(u16 port) const
    {
        u32 i = port % per_plane_, base = plane_of(port) * (t0s_ + t1s_);

        if (i < hosts_)
            return switches();
        if (i < 2 * hosts_)
            return base + t0_of(i - hosts_);
        i -= 2 * hosts_;
        return i < t0s_ * t1s_ ? base + i / t1s_ : base + t0s_ + (i - t0s_ * t1s_) % t1s_;
    }

    // All ports that a switch's reboot takes with it.
    std::vector<u16> t0_ports(u32 plane, u32 t0) const
    {
        std::vector<u16> v;

        for (u32 h = 0; h < hosts_; h++)
            if (t0_of(h) == t0) {
                v.push_back(up(plane, h));
                v.push_back(down(plane, h));
            }
        for (u32 t1 = 0; t1 < t1s_; t1++) {
            v.push_back(t0_t1(plane, t0, t1));
            v.push_back(t1_t0(plane, t1, t0));
        }
        return v;
    }
    std::vector<u16> t1_ports(u32 plane, u32 t1) const
    {
        std::vector<u16> v;

        for (u32 t0 = 0; t0 < t0s_; t0++) {
            v.push_back(t0_t1(plane, t0, t1));
            v.push_back(t1_t0(plane, t1, t0));
        }
        return v;
    }

private:
    u16 at(u32 plane, u32 i) const { return static_cast<u16>(plane * per_plane_ + i); }

    u32 hosts_, per_t0_, t0s_, t1s_, per_plane_, planes_;
};

} // namespace sim
