// SPDX-License-Identifier: GPL-2.0
// path_rule.cc - see path_rule.h.
#include "path_rule.h"

#include "topology.h"

namespace sim {

void path_rules::add(const path_spec &x)
{
    rule r;

    r.from = x.at_us * ps_per_us;
    r.until = x.until_us ? x.until_us * ps_per_us : never;
    r.delay_ps = x.delay_ns * ps_per_ns;
    r.jitter_ps = x.jitter_ns * ps_per_ns;
    r.loss_ppm = x.loss_ppm;
    r.plane = static_cast<u32>(x.plane);
    r.t1 = static_cast<u32>(x.t1);
    r.count = static_cast<u32>(x.count);
    r.payload = static_cast<u32>(x.payload);
    r.kills = x.kills();
    r.ways = x.way == "up" ? 2 : x.way == "down" ? 1 : 3;
    kill_ |= x.kills();
    rules_.push_back(r);
}

path_rules::path_rules(const scenario &s) : seed_(mix64(s.run.seed ^ 0x9a7b))
{
    for (const path_spec &x : s.path_rule)
        add(x);
    if (s.fabric.jitter_ns) {
        path_spec all;

        all.jitter_ns = s.fabric.jitter_ns;
        add(all);
    }
    for (const plane_spec &x : s.plane) {
        path_spec p;

        p.plane = x.plane;
        p.delay_ns = x.delay_ns;
        p.jitter_ns = x.jitter_ns;
        if (p.delay_ns || p.jitter_ns)
            add(p);
        p.delay_ns = p.jitter_ns = 0;
        p.way = "up";
        p.loss_ppm = x.loss_ppm_up;
        if (p.loss_ppm)
            add(p);
        p.way = "down";
        p.loss_ppm = x.loss_ppm_down;
        if (p.loss_ppm)
            add(p);
    }
}

// Of a connection's two ends the lower host's is even, so what goes to the odd one goes up.
bool path_rules::meets(const rule &r, const packet &p, bool crosses, u64 t)
{
    if (t < r.from || t >= r.until || !(r.ways >> (p.conn & 1) & 1))
        return false;
    if (r.payload && (!mrc_opc_is_data(p.psn_op & 0xff) || p.len < r.payload))
        return false;
    if (r.plane != none32 && r.plane != p.plane)
        return false;
    return r.t1 == none32 || (crosses && topology::ev_t1(p.ev) - r.t1 < r.count);
}

path_rules::fate path_rules::of(const packet &p, bool crosses, u64 t) const
{
    u64 draw = mix64(mix64(seed_ ^ t) ^ static_cast<u64>(p.conn) << 32 ^ p.psn_op) ^
               static_cast<u64>(p.ev) << 20 ^ p.plane;
    fate f;

    for (const rule &r : rules_) {
        draw = mix64(draw);
        if (!meets(r, p, crosses, t))
            continue;
        f.hit = true;
        f.dead |= r.kills;
        f.lost |= ((draw >> 32) * 1000000 >> 32) < r.loss_ppm;
        f.delay_ps += r.delay_ps + (r.jitter_ps ? (draw & 0xffffffff) * r.jitter_ps >> 32 : 0);
    }
    return f;
}

bool path_rules::dead(const packet &p, bool crosses, u64 t) const
{
    for (const rule &r : rules_)
        if (r.kills && meets(r, p, crosses, t))
            return true;
    return false;
}

} // namespace sim
