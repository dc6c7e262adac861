// SPDX-License-Identifier: GPL-2.0
// template_paths.cc - see template_paths.h.
#include "template_paths.h"

#include <stdexcept>
#include <string>

namespace sim {

namespace {

// The two highest bits of a uSID say what it is; a T0 and a host are the last 32 bits of an address.
constexpr u32 usid_t0 = 0x4000, usid_t1 = 0x8000, usid_host = 0xc000, usid_number = 0x3fff;
constexpr u32 block = 0xfcbbbb00;
constexpr u32 addr_t0 = 12, addr_host = 14;                  // bytes of an address
constexpr u32 ev_t0 = 4, ev_t1 = 6, ev_far = 8, ev_host = 10; // and of an EV

void put16(u8 *at, u32 v)
{
    at[0] = static_cast<u8>(v >> 8);
    at[1] = static_cast<u8>(v);
}

u32 get16(const u8 *at) { return static_cast<u32>(at[0] << 8 | at[1]); }

} // namespace

template_paths::template_paths(const topology &topo, u32 own, u32 choices)
    : topo_(topo), own_(own), first_(static_cast<u32>(u64{own} * choices % topo.t1s))
{
}

// block + plane : T0 : T1 by number : the peer's T0 : the peer, at its T0
mrc_ev_gen template_paths::gen(u32 plane) const
{
    mrc_ev_gen g = {};

    g.fmt = MRC_EV_FMT_SRV6;
    g.n_fmt = g.n = 3;
    g.fmt_width[0] = g.fmt_width[1] = g.fmt_width[2] = 32;
    g.field[0] = {32, block + plane, 0, 0, 0};
    g.field[1] = {32, (usid_t0 + own_ / topo_.per_t0 + 1) << 16 | usid_t1, 1, topo_.t1s, usid_number};
    g.field[2] = {32, usid_t0 << 16 | usid_host, 0, 0, 0};
    g.n_copy = 2;
    g.copy[0] = {MRC_EV_FROM_DST, addr_t0 * 8 + 2, 14, ev_far * 8 + 2};
    g.copy[1] = {MRC_EV_FROM_DST, addr_host * 8 + 2, 14, ev_host * 8 + 2};
    return g;
}

u32 template_paths::t1(u32 plane, u32 i, u32 peer) const
{
    const u32 t0 = peer / topo_.per_t0 + 1, number = peer % topo_.per_t0 + 1;
    const mrc_ev_gen g = gen(plane);
    mrc_ev_addrs addrs = {};
    u8 ev[MRC_EV_BYTES], wrong;

    put16(addrs.dst + addr_t0, t0);
    put16(addrs.dst + addr_host, number);
    if (mrc_evgen_check(&g, &wrong) != MRC_EVGEN_OK || mrc_evgen_count(&g) != topo_.t1s)
        throw std::runtime_error("the template is not one");
    mrc_evgen_expand(&g, (first_ + i) % topo_.t1s, ev);
    mrc_evgen_copy(g.copy, g.n_copy, &addrs, ev);
    if (get16(ev + ev_t0) != usid_t0 + own_ / topo_.per_t0 + 1 || get16(ev + ev_far) != usid_t0 + t0 ||
        get16(ev + ev_host) != usid_host + number || get16(ev + ev_host + 2))
        throw std::runtime_error("an EV of host " + std::to_string(own_) + " leads not to host " +
                                 std::to_string(peer));
    return get16(ev + ev_t1) - usid_t1 - 1;
}

} // namespace sim
