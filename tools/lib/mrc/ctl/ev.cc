// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev.cc - EV profiles: attributes and states. Operations on single EVs: ev_op.cc; the kernel's
// form: ev_kernel.cc.
#include <cstring>

#include "ev_name.h"
#include "ev_op.h"
#include "profile.h"

namespace {

constexpr int structure = MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                          MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE;
constexpr int all_bits = structure | MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_CUR_STATE |
                         MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP |
                         MRC_CTL_EV_PROFILE_EV_FIELDS_OP | MRC_CTL_EV_PROFILE_VENDOR_CFG;

// The profile as it is. If it is ONLINE, the kernel's copy counts, whoever made it.
ev_profile look_up(mrc_ctl &c, uint64_t id)
{
    auto it = c.evs.find(id);
    ev_profile p = it == c.evs.end() ? ev_profile() : it->second;

    if (p.state == MRC_CTL_PROFILE_OFFLINE)
        return p;
    if (ev_load(c, id, p)) {
        p.given = structure | MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;
        return p;
    }
    if (p.state == MRC_CTL_PROFILE_ONLINE)
        p.state = MRC_CTL_PROFILE_OFFLINE; // another controller removed it
    return p;
}

void set_fields(ev_profile &p, const mrc_ctl_ev_profile_attr &a)
{
    if (a.ev_fields_op.op != MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS)
        throw refused{EINVAL, "ev_fields_op: modify takes MODIFY_FIELDS"};
    if (p.mode != MRC_CTL_EV_MODE_GEN && p.mode != MRC_CTL_EV_MODE_EXP)
        throw refused{EINVAL, "ev_fields_op: fields are for the modes GEN and EXP"};
    if (a.ev_fields_op.field_count < 1 || !a.ev_fields_op.fields)
        throw refused{EINVAL, "ev_fields_op: no fields"};
    if (a.ev_fields_op.field_count > mrc_fmt_fields_max)
        throw refused{E2BIG, "ev_fields_op: at most " + std::to_string(mrc_fmt_fields_max) + " fields"};
    p.fields.assign(a.ev_fields_op.fields, a.ev_fields_op.fields + a.ev_fields_op.field_count);
    p.one_row = true;
}

void set_count(ev_profile &p, uint32_t count)
{
    if (count < 1)
        throw refused{EINVAL, "ev_count 0"};
    if (count > static_cast<uint32_t>(mrc_evs_max))
        throw refused{E2BIG, "ev_count " + std::to_string(count) + ": at most " +
                                 std::to_string(mrc_evs_max)};
    p.count = count;
}

void set_mode(ev_profile &p, uint32_t mode)
{
    if (mode != MRC_CTL_EV_MODE_AUTO && mode != MRC_CTL_EV_MODE_EXP && mode != MRC_CTL_EV_MODE_GEN)
        throw refused{EINVAL, "ev_mode " + std::to_string(mode) + ": AUTO, EXP or GEN"};
    p.mode = mode;
}

void set_plain(ev_profile &p, const mrc_ctl_ev_profile_attr &a, int mask)
{
    if (mask & MRC_CTL_EV_PROFILE_MODE)
        set_mode(p, a.ev_mode);
    if (mask & MRC_CTL_EV_PROFILE_FMT_ID)
        p.fmt_id = a.ev_fmt_profile_id;
    if (mask & MRC_CTL_EV_PROFILE_COUNT)
        set_count(p, a.ev_count);
    if (mask & MRC_CTL_EV_PROFILE_MIN_ACTIVE)
        p.min_active = a.ev_min_active;
    if (mask & MRC_CTL_EV_PROFILE_EVENT_MASK) {
        if (a.ev_event_mask & ~(MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD))
            throw refused{EINVAL, "ev_event_mask: GOOD and ASSUMED_BAD"};
        p.event_mask = a.ev_event_mask;
    }
    if (mask & MRC_CTL_EV_PROFILE_VENDOR_CFG)
        std::memcpy(p.vendor, a.vendor_cfg, sizeof(p.vendor));
    p.given |= static_cast<uint32_t>(mask);
}

void apply(mrc_ctl &c, ev_profile &p, const mrc_ctl_ev_profile_attr &a, int mask)
{
    if (p.state == MRC_CTL_PROFILE_ONLINE && mask & structure)
        throw refused{EINVAL, "ONLINE: mode, format, count and min_active stay"};
    set_plain(p, a, mask);
    if (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP)
        set_fields(p, a);
    if (p.mode == MRC_CTL_EV_MODE_EXP && p.state != MRC_CTL_PROFILE_ONLINE)
        p.evs.resize(p.count);
    (void)c;
}

void check_offline(const ev_profile &p)
{
    uint32_t need = MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_COUNT;

    if (p.mode != MRC_CTL_EV_MODE_AUTO)
        need |= MRC_CTL_EV_PROFILE_FMT_ID;
    if (p.mode == MRC_CTL_EV_MODE_GEN)
        need |= MRC_CTL_EV_PROFILE_EV_FIELDS_OP;
    if ((p.given & need) != need)
        throw refused{EINVAL, "to OFFLINE: mode, count, format (EXP, GEN) and fields (GEN) are needed"};
}

// EXP: checks that each EV was replaced, and has only bits that the fields have.
void check_evs(const ev_profile &p)
{
    ev_check_fields(p);
    if (p.mode != MRC_CTL_EV_MODE_EXP)
        return;
    for (const auto &slot : p.evs) {
        if (!slot.ev.port)
            throw refused{EINVAL, "to ONLINE: every EV must be replaced by one with a port"};
        if (!ev_name_fits(p, slot.ev))
            throw refused{EINVAL, "an EV has more bits than the masks of the fields"};
    }
}

void check_online(const mrc_ctl &c, ev_profile &p)
{
    constexpr uint32_t need = MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK;

    if ((p.given & need) != need)
        throw refused{EINVAL, "to ONLINE: min_active and event_mask are needed"};
    if (p.min_active > p.count)
        throw refused{EINVAL, "min_active " + std::to_string(p.min_active) + " of " +
                                  std::to_string(p.count) + " EVs"};
    if (p.mode == MRC_CTL_EV_MODE_AUTO)
        return;
    auto fmt = c.fmts.find(p.fmt_id);
    if (fmt == c.fmts.end() || fmt->second.state != MRC_CTL_PROFILE_ONLINE)
        throw refused{EINVAL, "format profile " + std::to_string(p.fmt_id) + " is not ONLINE"};
    p.fmt = fmt->second.mode;
    p.widths = fmt->second.widths;
    check_evs(p);
}

// Creates the profile in the kernel, or removes it there.
void move(mrc_ctl &c, uint64_t id, ev_profile &p, mrc_ctl_profile_state to)
{
    if (to == MRC_CTL_PROFILE_ONLINE) {
        check_online(c, p);
        if (p.mode == MRC_CTL_EV_MODE_GEN)
            ev_op_make(c, p);
        ev_store(c, id, p);
    } else if (p.state == MRC_CTL_PROFILE_ONLINE) {
        if (ev_in_use(c, id))
            throw refused{EBUSY, "QPs use EV profile " + std::to_string(id)};
        ev_remove(c, id);
    } else if (to == MRC_CTL_PROFILE_OFFLINE) {
        check_offline(p);
    }
    p.state = to;
}

void keep(mrc_ctl &c, uint64_t id, ev_profile &p)
{
    if (p.state == MRC_CTL_PROFILE_INIT && !p.given)
        c.evs.erase(id);
    else
        c.evs[id] = std::move(p);
}

// Changes the fields of an ONLINE profile. They determine the number of EVs; EVs of EXP get other
// values on the wire. After the kernel has accepted them the call succeeds: if the EVs cannot be
// read back now, the next call reads them.
void store_fields(mrc_ctl &c, uint64_t id, ev_profile &p)
{
    const uint32_t before = p.count;

    check_evs(p);
    if (p.mode == MRC_CTL_EV_MODE_GEN) {
        p.count = 0;
        ev_op_make(c, p);
    }
    ev_store(c, id, p);
    try {
        ev_load(c, id, p);
    } catch (const refused &) {
        p.count = before;
        p.evs.clear();
    }
}

// The interface allows only one of the two.
void check_ops(int mask)
{
    constexpr int ops = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

    if ((mask & ops) == ops)
        throw refused{EINVAL, "ev_op and ev_fields_op exclude each other in one call"};
}

void modify(mrc_ctl &c, uint64_t id, mrc_ctl_ev_profile_attr &a, int mask)
{
    ev_profile p = look_up(c, id);
    const bool was_online = p.state == MRC_CTL_PROFILE_ONLINE;

    if (mask & MRC_CTL_EV_PROFILE_CUR_STATE && a.cur_profile_state != p.state)
        throw refused{EINVAL, "the state is " + std::to_string(p.state) + ", not " +
                                  std::to_string(a.cur_profile_state)};
    apply(c, p, a, mask);
    // Checked before the kernel is changed. A profile that leaves the kernel takes its new fields
    // along.
    const bool moves = mask & MRC_CTL_EV_PROFILE_STATE && state_moves(p.state, a.profile_state);
    if (was_online && !moves && mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP)
        store_fields(c, id, p);
    // Changes of a list of EVs remain, even if one of them, or the state, is refused.
    try {
        if (mask & MRC_CTL_EV_PROFILE_EV_OP)
            ev_op_modify(c, id, p, a);
        if (moves)
            move(c, id, p, a.profile_state);
    } catch (...) {
        if (mask & MRC_CTL_EV_PROFILE_EV_OP)
            keep(c, id, p);
        throw;
    }
    if (moves && p.state == MRC_CTL_PROFILE_INIT)
        p.given = 0;
    keep(c, id, p);
}

void query_fields(const ev_profile &p, mrc_ctl_ev_profile_attr &a)
{
    int room = a.ev_fields_op.field_count, n = static_cast<int>(p.fields.size());

    if (a.ev_fields_op.op != MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS)
        throw refused{EINVAL, "ev_fields_op: query takes QUERY_FIELDS"};
    a.ev_fields_op.field_count = n;
    if (room < n)
        throw refused{E2BIG, "ev_fields_op: room for " + std::to_string(n) + " fields is needed"};
    if (n && !a.ev_fields_op.fields)
        throw refused{EINVAL, "ev_fields_op: fields is NULL"};
    std::copy(p.fields.begin(), p.fields.end(), a.ev_fields_op.fields);
}

void query(mrc_ctl &c, uint64_t id, mrc_ctl_ev_profile_attr &a, int mask)
{
    ev_profile p = look_up(c, id);

    if (mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP)
        query_fields(p, a);
    if (mask & MRC_CTL_EV_PROFILE_EV_OP)
        ev_op_query(c, id, p, a);
    if (mask & MRC_CTL_EV_PROFILE_STATE)
        a.profile_state = p.state;
    if (mask & MRC_CTL_EV_PROFILE_CUR_STATE)
        a.cur_profile_state = p.state;
    if (mask & MRC_CTL_EV_PROFILE_MODE)
        a.ev_mode = static_cast<mrc_ctl_ev_mode>(p.mode);
    if (mask & MRC_CTL_EV_PROFILE_FMT_ID)
        a.ev_fmt_profile_id = p.fmt_id;
    if (mask & MRC_CTL_EV_PROFILE_COUNT)
        a.ev_count = p.count;
    if (mask & MRC_CTL_EV_PROFILE_MIN_ACTIVE)
        a.ev_min_active = p.min_active;
    if (mask & MRC_CTL_EV_PROFILE_EVENT_MASK)
        a.ev_event_mask = p.event_mask;
    if (mask & MRC_CTL_EV_PROFILE_VENDOR_CFG)
        std::memcpy(a.vendor_cfg, p.vendor, sizeof(p.vendor));
}

} // namespace

extern "C" {

int mrc_ctl_modify_ev_profile(struct mrc_context *ctx, uint64_t id,
                              struct mrc_ctl_ev_profile_attr *attr, int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, all_bits);
        check_id(id);
        need_admin();
        check_ops(attr_mask);
        modify(c, id, *attr, attr_mask);
    });
}

int mrc_ctl_query_ev_profile(struct mrc_context *ctx, uint64_t id,
                             struct mrc_ctl_ev_profile_attr *attr, int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, all_bits);
        check_id(id);
        check_ops(attr_mask);
        query(c, id, *attr, attr_mask);
    });
}

} // extern "C"
