// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// fmt.cc - EV formats. The kernel stores a format inside a profile that is made from fields, so
// here a format always belongs to the context.
#include <cstring>
#include <numeric>

#include "profile.h"

namespace {

constexpr int all_bits = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_CUR_STATE |
                         MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP |
                         MRC_CTL_EV_FMT_VENDOR_CFG;

uint32_t bits_of(uint32_t mode)
{
    switch (mode) {
    case MRC_CTL_EV_FMT_MODE_STEV: return 32;
    case MRC_CTL_EV_FMT_MODE_UDP: return 16;
    case MRC_CTL_EV_FMT_MODE_SRV6: return 256;
    default: throw refused{EINVAL, "ev_fmt_mode " + std::to_string(mode) + ": STEV, SRV6 or UDP"};
    }
}

void set_fields(fmt_profile &p, const mrc_ctl_ev_fmt_profile_attr &a)
{
    if (a.ev_fmt_op.op != MRC_CTL_EV_FMT_OP_MODIFY_FIELDS)
        throw refused{EINVAL, "ev_fmt_op: modify takes MODIFY_FIELDS"};
    if (a.ev_fmt_op.fmt_field_count < 1 || !a.ev_fmt_op.fmt_fields)
        throw refused{EINVAL, "ev_fmt_op: no fields"};
    if (a.ev_fmt_op.fmt_field_count > mrc_fmt_fields_max)
        throw refused{E2BIG, "ev_fmt_op: at most " + std::to_string(mrc_fmt_fields_max) + " fields"};
    p.widths.clear();
    for (int i = 0; i < a.ev_fmt_op.fmt_field_count; i++)
        p.widths.push_back(a.ev_fmt_op.fmt_fields[i].width);
}

void check_fields(const fmt_profile &p)
{
    uint32_t sum = std::accumulate(p.widths.begin(), p.widths.end(), 0u);

    if (!p.mode || p.widths.empty())
        return;
    for (uint8_t width : p.widths)
        if (!width)
            throw refused{EINVAL, "ev_fmt_op: a field of no bits"};
    if (sum > bits_of(p.mode))
        throw refused{E2BIG, "ev_fmt_op: fields of " + std::to_string(sum) + " bits, the format has " +
                                 std::to_string(bits_of(p.mode))};
}

// Throws EBUSY if an EV profile of this context uses the format. For an ONLINE one the kernel is
// queried, because another controller may have removed it.
void check_unused(mrc_ctl &c, uint64_t id)
{
    for (const auto &[ev_id, ev] : c.evs) {
        ev_profile there = ev;
        if (ev.state == MRC_CTL_PROFILE_ONLINE && ev.fmt_id == id && ev_load(c, ev_id, there))
            throw refused{EBUSY, "EV profile " + std::to_string(ev_id) + " is ONLINE and uses it"};
    }
}

void check_move(mrc_ctl &c, uint64_t id, const fmt_profile &p, mrc_ctl_profile_state to)
{
    if (to == MRC_CTL_PROFILE_OFFLINE && p.state == MRC_CTL_PROFILE_INIT && !p.mode)
        throw refused{EINVAL, "to OFFLINE: the mode is needed"};
    if (to == MRC_CTL_PROFILE_ONLINE && p.widths.empty())
        throw refused{EINVAL, "to ONLINE: fields are needed"};
    if (p.state == MRC_CTL_PROFILE_ONLINE)
        check_unused(c, id);
}

void modify(mrc_ctl &c, uint64_t id, const mrc_ctl_ev_fmt_profile_attr &a, int mask)
{
    auto it = c.fmts.find(id);
    fmt_profile p = it == c.fmts.end() ? fmt_profile() : it->second;

    if (mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE && a.cur_profile_state != p.state)
        throw refused{EINVAL, "the state is " + std::to_string(p.state) + ", not " +
                                  std::to_string(a.cur_profile_state)};
    if (p.state == MRC_CTL_PROFILE_ONLINE && mask & (MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP))
        throw refused{EINVAL, "ONLINE: mode and fields stay"};
    if (mask & MRC_CTL_EV_FMT_PROFILE_MODE) {
        bits_of(a.ev_fmt_mode);
        p.mode = a.ev_fmt_mode;
    }
    if (mask & MRC_CTL_EV_FMT_PROFILE_OP)
        set_fields(p, a);
    check_fields(p);
    if (mask & MRC_CTL_EV_FMT_VENDOR_CFG)
        std::memcpy(p.vendor, a.vendor_cfg, sizeof(p.vendor));
    if (mask & MRC_CTL_EV_FMT_PROFILE_STATE && state_moves(p.state, a.profile_state)) {
        check_move(c, id, p, a.profile_state);
        p.state = a.profile_state;
        if (p.state == MRC_CTL_PROFILE_INIT) {
            c.fmts.erase(id);
            return;
        }
    }
    c.fmts[id] = std::move(p);
}

void query_fields(const fmt_profile &p, mrc_ctl_ev_fmt_profile_attr &a)
{
    int room = a.ev_fmt_op.fmt_field_count, n = static_cast<int>(p.widths.size());

    if (a.ev_fmt_op.op != MRC_CTL_EV_FMT_OP_QUERY_FIELDS)
        throw refused{EINVAL, "ev_fmt_op: query takes QUERY_FIELDS"};
    a.ev_fmt_op.fmt_field_count = n;
    if (room < n)
        throw refused{E2BIG, "ev_fmt_op: room for " + std::to_string(n) + " fields is needed"};
    if (n && !a.ev_fmt_op.fmt_fields)
        throw refused{EINVAL, "ev_fmt_op: fmt_fields is NULL"};
    for (int i = 0; i < n; i++)
        a.ev_fmt_op.fmt_fields[i].width = p.widths[static_cast<size_t>(i)];
}

void query(const mrc_ctl &c, uint64_t id, mrc_ctl_ev_fmt_profile_attr &a, int mask)
{
    auto it = c.fmts.find(id);
    fmt_profile p = it == c.fmts.end() ? fmt_profile() : it->second;

    if (mask & MRC_CTL_EV_FMT_PROFILE_OP)
        query_fields(p, a);
    if (mask & MRC_CTL_EV_FMT_PROFILE_STATE)
        a.profile_state = p.state;
    if (mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE)
        a.cur_profile_state = p.state;
    if (mask & MRC_CTL_EV_FMT_PROFILE_MODE)
        a.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(p.mode);
    if (mask & MRC_CTL_EV_FMT_VENDOR_CFG)
        std::memcpy(a.vendor_cfg, p.vendor, sizeof(p.vendor));
}

} // namespace

extern "C" {

int mrc_ctl_modify_ev_fmt_profile(struct mrc_context *ctx, uint64_t id,
                                  struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, all_bits);
        check_id(id);
        need_admin();
        modify(c, id, *attr, attr_mask);
    });
}

int mrc_ctl_query_ev_fmt_profile(struct mrc_context *ctx, uint64_t id,
                                 struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, all_bits);
        check_id(id);
        query(c, id, *attr, attr_mask);
    });
}

} // extern "C"
