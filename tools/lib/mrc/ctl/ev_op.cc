// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_op.cc - see ev_op.h.
//
// Denying an EV changes the profile, for path sets that are built later, and existing path sets.
#include "ev_op.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "ev_name.h"
#include "ev_path.h"
#include "profile.h"

namespace {

using entry = mrc_ctl_ev_op_entry;

std::vector<ev_slot>::iterator find_ev(ev_profile &p, const mrc_ctl_ev &ev,
                                       std::vector<ev_slot>::iterator from)
{
    for (; from != p.evs.end(); ++from)
        if (!std::memcmp(&from->ev, &ev, sizeof(ev)))
            break;
    return from;
}

std::vector<ev_slot>::iterator must_find(ev_profile &p, const mrc_ctl_ev &ev)
{
    auto it = find_ev(p, ev, p.evs.begin());
    if (it == p.evs.end())
        throw refused{ENOENT, "the profile has no such EV"};
    return it;
}

void check_state(mrc_ctl_ev_state state)
{
    if (state != MRC_CTL_EV_GOOD && state != MRC_CTL_EV_DENIED)
        throw refused{EINVAL, "an EV's state: GOOD or DENIED"};
}

void replace_ev(ev_profile &p, const entry &e, uint32_t ports)
{
    check_state(e.state);
    if (e.flags & ~static_cast<uint32_t>(MRC_CTL_EV_OP_F_ALL_COPIES))
        throw refused{EINVAL, "flags: ALL_COPIES or 0"};
    if (e.ev_new.port < 1 || e.ev_new.port > 32 || !(ports >> (e.ev_new.port - 1) & 1))
        throw refused{EINVAL, "ev_new: there is no port " + std::to_string(e.ev_new.port)};
    if (!ev_name_fits(p, e.ev_new))
        throw refused{EINVAL, "ev_new: it has more bits than the masks of the fields"};
    for (auto it = must_find(p, e.ev); it != p.evs.end(); it = find_ev(p, e.ev, it)) {
        it->ev = e.ev_new;
        it->state = e.state;
        ++it;
        if (!(e.flags & MRC_CTL_EV_OP_F_ALL_COPIES))
            break;
    }
}

// Calls f(entry) for each entry up to the first that is refused. Returns the reason, or nothing.
template <class F> std::optional<refused> each_entry(const mrc_ctl_ev_profile_attr &a, F &&f)
{
    try {
        for (int i = 0; i < a.ev_op.entry_count; i++)
            f(a.ev_op.entries[i]);
    } catch (const refused &r) {
        return r;
    }
    return {};
}

// The kernel gets the profile once, however long the list is.
std::optional<refused> replace_all(mrc_ctl &c, uint64_t id, ev_profile &p, const mrc_ctl_ev_profile_attr &a)
{
    uint32_t ports = ports_of(c);
    auto evs = p.evs;
    int done = 0;
    auto why = each_entry(a, [&](const entry &e) {
        replace_ev(p, e, ports);
        done++;
    });

    if (p.state != MRC_CTL_PROFILE_ONLINE || !done)
        return why;
    try {
        ev_store(c, id, p);
    } catch (...) {
        p.evs = std::move(evs);
        throw;
    }
    return why;
}

// The kernel gets the profile once, and each peer its part of the list. If a peer's part fails, the
// profile gets its old states back.
std::optional<refused> set_states(mrc_ctl &c, uint64_t id, ev_profile &p, const mrc_ctl_ev_profile_attr &a)
{
    const auto evs = p.evs;
    std::vector<ev_order> orders;
    auto why = each_entry(a, [&](const entry &e) {
        check_state(e.state);
        for (auto it = must_find(p, e.ev); it != p.evs.end(); it = find_ev(p, e.ev, it + 1))
            it->state = e.state;
        if (p.state == MRC_CTL_PROFILE_ONLINE) // the format is known
            orders.push_back({ev_wire(p, e.ev), e.state == MRC_CTL_EV_DENIED});
    });

    if (p.state != MRC_CTL_PROFILE_ONLINE || orders.empty())
        return why;
    bool stored = false;
    try {
        ev_store(c, id, p);
        stored = true;
        ev_set_states(c, id, orders);
    } catch (...) {
        p.evs = evs;
        if (stored)
            ev_store(c, id, p);
        throw;
    }
    return why;
}

// The entries of a call.
entry *entries_of(const mrc_ctl_ev_profile_attr &a)
{
    if (a.ev_op.entry_count < 0 || (a.ev_op.entry_count && !a.ev_op.entries))
        throw refused{EINVAL, "ev_op: no entries"};
    if (a.ev_op.entry_count > mrc_evs_max)
        throw refused{E2BIG, "ev_op: at most " + std::to_string(mrc_evs_max) + " entries"};
    return a.ev_op.entries;
}

// Throws if the profile has no EVs of its own: it does not exist, or (AUTO) the device chooses them
// for each peer.
void need_evs(const ev_profile &p)
{
    if (p.state == MRC_CTL_PROFILE_INIT || p.mode == MRC_CTL_EV_MODE_AUTO)
        throw refused{EINVAL, "ev_op: the profile has no EVs of its own"};
}

void query_array(const ev_profile &p, mrc_ctl_ev_profile_attr &a)
{
    int room = a.ev_op.entry_count, n = static_cast<int>(p.evs.size());

    a.ev_op.entry_count = n;
    if (room < n)
        throw refused{E2BIG, "ev_op: room for " + std::to_string(n) + " entries is needed"};
    for (int i = 0; i < n; i++) {
        a.ev_op.entries[i].ev = p.evs[static_cast<size_t>(i)].ev;
        a.ev_op.entries[i].state = p.evs[static_cast<size_t>(i)].state;
    }
}

} // namespace

void ev_op_make(mrc_ctl &c, ev_profile &p)
{
    std::set<ev_key> denied;

    for (const auto &slot : p.evs)
        if (slot.state == MRC_CTL_EV_DENIED)
            denied.insert(key_of(slot.ev));
    p.evs = ev_made(p, ports_of(c));
    for (auto &slot : p.evs)
        if (denied.contains(key_of(slot.ev)))
            slot.state = MRC_CTL_EV_DENIED;
}

void ev_op_modify(mrc_ctl &c, uint64_t id, ev_profile &p, const mrc_ctl_ev_profile_attr &a)
{
    std::optional<refused> why;

    entries_of(a);
    if (p.state != MRC_CTL_PROFILE_INIT || p.mode == MRC_CTL_EV_MODE_AUTO)
        need_evs(p);
    if (p.mode == MRC_CTL_EV_MODE_GEN && p.state != MRC_CTL_PROFILE_ONLINE)
        ev_op_make(c, p);
    if (a.ev_op.op == MRC_CTL_EV_OP_REPLACE_EV) {
        if (p.mode != MRC_CTL_EV_MODE_EXP)
            throw refused{EINVAL, "REPLACE_EV is for mode EXP"};
        why = replace_all(c, id, p, a);
    } else if (a.ev_op.op == MRC_CTL_EV_OP_MODIFY_EV_STATE) {
        why = set_states(c, id, p, a);
    } else {
        throw refused{EINVAL, "ev_op: modify takes REPLACE_EV and MODIFY_EV_STATE"};
    }
    if (why)
        throw *why;
}

void ev_op_query(mrc_ctl &c, uint64_t id, ev_profile &p, mrc_ctl_ev_profile_attr &a)
{
    entry *e = entries_of(a);

    need_evs(p);
    if (p.state == MRC_CTL_PROFILE_ONLINE)
        ev_states(c, id, p);
    else if (p.mode == MRC_CTL_EV_MODE_GEN)
        ev_op_make(c, p);
    if (a.ev_op.op == MRC_CTL_EV_OP_QUERY_EV_ARRAY) {
        query_array(p, a);
        return;
    }
    if (a.ev_op.op != MRC_CTL_EV_OP_QUERY_EV_STATE)
        throw refused{EINVAL, "ev_op: query takes QUERY_EV_STATE and QUERY_EV_ARRAY"};
    for (int i = 0; i < a.ev_op.entry_count; i++)
        e[i].state = must_find(p, e[i].ev)->state;
}
