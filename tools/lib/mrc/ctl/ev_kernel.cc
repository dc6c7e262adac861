// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_kernel.cc - converts EV profiles from and to netlink (profile.h).
#include <linux/mrc.h>

#include <cstring>

#include "ev_name.h"
#include "ev_path.h"
#include "profile.h"

using mrcnl::attr;
using mrcnl::attr_range;
using mrcnl::table;

namespace {

// Is it profile @id for any destination? mrc_ctl.h has no others.
bool is_ours(const table &profile, uint64_t id)
{
    return profile[MRC_A_PROFILE_ID].num() == id && !profile[MRC_A_PROFILE_DST];
}

mrc_ctl_ev_field field_of(const attr &a)
{
    table f(a);
    auto get = [&](uint16_t type) { return static_cast<uint32_t>(f[type].num()); };
    return {get(MRC_A_FIELD_WIDTH), get(MRC_A_FIELD_INIT), get(MRC_A_FIELD_FIRST),
            get(MRC_A_FIELD_LAST), get(MRC_A_FIELD_MASK)};
}

void load_head(ev_profile &p, const table &t)
{
    p.state = MRC_CTL_PROFILE_ONLINE;
    p.mode = static_cast<uint32_t>(t[MRC_A_PROFILE_MODE].num());
    p.fmt = static_cast<uint32_t>(t[MRC_A_PROFILE_FMT].num());
    p.min_active = static_cast<uint32_t>(t[MRC_A_PROFILE_MIN_ACTIVE].num());
    p.count = static_cast<uint32_t>(t[MRC_A_PROFILE_COUNT].num());
    auto widths = t[MRC_A_PROFILE_FMT_WIDTHS].bytes();
    p.widths.assign(widths.begin(), widths.end());
}

// Adds the fields that generate EVs, or (EXP) name them.
void put_fields(mrcnl::request &to, const ev_profile &p)
{
    to.put(MRC_A_PROFILE_FMT_WIDTHS, p.widths);
    to.nest(MRC_A_PROFILE_GEN, [&](auto &g) {
        for (const auto &f : p.fields)
            g.nest(MRC_A_GEN_FIELD, [&](auto &n) {
                n.u32(MRC_A_FIELD_WIDTH, f.width).u32(MRC_A_FIELD_INIT, f.init_val);
                n.u32(MRC_A_FIELD_FIRST, f.min_val).u32(MRC_A_FIELD_LAST, f.max_val);
                n.u32(MRC_A_FIELD_MASK, f.mask);
            });
    });
}

} // namespace

bool ev_load(mrc_ctl &c, uint64_t id, ev_profile &p)
{
    bool found = false;
    int rows = 0;

    c.dump(MRC_CMD_PROFILE_GET, [&](const table &t, const attr_range &) {
        table profile(t[MRC_A_PROFILE]);
        if (!is_ours(profile, id))
            return;
        if (!found) {
            load_head(p, profile);
            p.evs.clear();
            p.fields.clear();
        }
        found = true;
        for (auto a : t[MRC_A_PROFILE].nested()) {
            if (a.type() == MRC_A_PROFILE_EV)
                p.evs.push_back({ev_of(table(a)), table(a)[MRC_A_EV_STATE].num() == MRC_NL_EV_DENIED ?
                                                      MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD});
            rows += a.type() == MRC_A_PROFILE_GEN;
            if (a.type() == MRC_A_PROFILE_GEN)
                for (auto f : a.nested())
                    if (f.type() == MRC_A_GEN_FIELD)
                        p.fields.push_back(field_of(f));
        }
    });
    if (!found)
        return false;
    p.one_row = rows <= 1;
    ev_check_fields(p); // our kernel accepts only valid ones
    if (p.mode != MRC_CTL_EV_MODE_AUTO)
        p.count = static_cast<uint32_t>(p.evs.size());
    for (auto &slot : p.evs)
        slot.ev = ev_name(p, slot.ev);
    return true;
}

void ev_store(mrc_ctl &c, uint64_t id, const ev_profile &p)
{
    auto rq = c.request(MRC_CMD_PROFILE_SET);
    rq.nest(MRC_A_PROFILE, [&](auto &n) {
        n.u64(MRC_A_PROFILE_ID, id).u32(MRC_A_PROFILE_MODE, p.mode);
        n.u32(MRC_A_PROFILE_MIN_ACTIVE, p.min_active);
        if (p.mode != MRC_CTL_EV_MODE_AUTO)
            n.u32(MRC_A_PROFILE_FMT, p.fmt);
        if (p.mode != MRC_CTL_EV_MODE_EXP && p.count)
            n.u32(MRC_A_PROFILE_COUNT, p.count);
        if (p.mode != MRC_CTL_EV_MODE_AUTO && !p.fields.empty())
            put_fields(n, p);
    });
    // Next to the profile: in it, the limit of 64 KiB would be too small for 4,096. GEN: for their
    // states only.
    for (const auto &slot : p.evs) {
        const bool denied = slot.state == MRC_CTL_EV_DENIED;
        if (p.mode != MRC_CTL_EV_MODE_EXP && !denied)
            continue;
        rq.nest(MRC_A_EV, [&](auto &n) {
            const mrc_ctl_ev ev = ev_wire(p, slot.ev);
            n.put(MRC_A_EV_VALUE, {ev.val, sizeof(ev.val)}).u8(MRC_A_EV_PORT, ev.port);
            if (denied)
                n.u32(MRC_A_EV_STATE, MRC_NL_EV_DENIED);
        });
    }
    c.call(rq);
}

void ev_remove(mrc_ctl &c, uint64_t id)
{
    auto rq = c.request(MRC_CMD_PROFILE_DEL);
    rq.nest(MRC_A_PROFILE, [&](auto &n) { n.u64(MRC_A_PROFILE_ID, id); });
    c.call(rq);
}

bool ev_in_use(mrc_ctl &c, uint64_t id)
{
    bool used = false;

    c.dump(MRC_CMD_PEER_GET, [&](const table &t, const attr_range &) {
        table peer(t[MRC_A_PEER]);
        used |= is_of(peer, id) && peer[MRC_A_PEER_QPS].num();
    });
    // A path set of a profile that QPs name exists as long as these QPs.
    c.dump(MRC_CMD_EV_GET, [&](const table &t, const attr_range &) {
        table peer(t[MRC_A_PEER]);
        used |= is_of(peer, id) && peer[MRC_A_PEER_NAMED];
    });
    return used;
}

void ev_states(mrc_ctl &c, uint64_t id, ev_profile &p)
{
    std::map<ev_key, uint32_t> seen; // states of each EV at any peer

    each_path(c, id, [&](const mrc_ctl_ev &ev, const table &t, const table &) {
        auto state = t[MRC_A_EV_STATE].num();
        seen[key_of(ev)] |= state == MRC_NL_EV_DENIED      ? MRC_CTL_EV_DENIED :
                            state == MRC_NL_EV_ASSUMED_BAD ? MRC_CTL_EV_ASSUMED_BAD :
                                                             MRC_CTL_EV_GOOD;
    });
    for (auto &slot : p.evs) {
        auto it = seen.find(key_of(ev_wire(p, slot.ev)));
        if (it == seen.end())
            continue;
        slot.state = it->second & MRC_CTL_EV_GOOD        ? MRC_CTL_EV_GOOD :
                     it->second & MRC_CTL_EV_ASSUMED_BAD ? MRC_CTL_EV_ASSUMED_BAD :
                                                           MRC_CTL_EV_DENIED;
    }
}
