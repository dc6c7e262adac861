// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_name.cc - see ev_name.h. The conversion is that of the engine, which the kernel uses.
#include "ev_name.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include "wire/mrc_evgen.h"
}

static_assert(sizeof(mrc_ctl_ev_t) == MRC_EV_BYTES && mrc_fmt_fields_max == MRC_EV_FIELDS_MAX);

namespace {

mrc_ev_gen gen_of(const ev_profile &p)
{
    mrc_ev_gen g = {};

    g.fmt = static_cast<uint8_t>(p.fmt);
    g.n_fmt = static_cast<uint8_t>(p.widths.size());
    std::copy(p.widths.begin(), p.widths.end(), g.fmt_width);
    for (const auto &f : p.fields)
        g.field[g.n++] = {f.width, f.init_val, f.min_val, f.max_val, f.mask};
    return g;
}

// Do the fields name EVs? Several rows of fields, which mrc_ctl.h cannot create, name EVs by their
// value.
bool names(const ev_profile &p)
{
    return p.one_row && !p.fields.empty();
}

const char *why(mrc_evgen_err err)
{
    switch (err) {
    case MRC_EVGEN_COUNT: return "more fields than the format has";
    case MRC_EVGEN_WIDTH: return "a field is wider than the format's, or has no bits, or more than 32";
    case MRC_EVGEN_INIT: return "init_val does not fit the width";
    case MRC_EVGEN_MASK: return "mask has bits beyond the width";
    case MRC_EVGEN_RANGE: return "min_val is above max_val, or max_val does not fit the mask";
    default: return "they do not fit the format";
    }
}

} // namespace

void ev_check_fields(const ev_profile &p)
{
    uint8_t k = 0;

    if (!names(p))
        return;
    mrc_ev_gen g = gen_of(p);
    if (mrc_evgen_err err = mrc_evgen_check(&g, &k); err != MRC_EVGEN_OK)
        throw refused{EINVAL, "fields, number " + std::to_string(k) + ": " + why(err)};
}

mrc_ctl_ev ev_wire(const ev_profile &p, const mrc_ctl_ev &name)
{
    mrc_ctl_ev ev = name;

    if (names(p)) {
        mrc_ev_gen g = gen_of(p);
        mrc_evgen_wire(&g, name.val, ev.val);
    }
    return ev;
}

mrc_ctl_ev ev_name(const ev_profile &p, const mrc_ctl_ev &wire)
{
    mrc_ctl_ev ev = wire;

    if (names(p)) {
        mrc_ev_gen g = gen_of(p);
        mrc_evgen_name_of(&g, wire.val, ev.val);
    }
    return ev;
}

bool ev_name_fits(const ev_profile &p, const mrc_ctl_ev &name)
{
    uint32_t width = 8 * MRC_EV_BYTES;

    if (names(p)) {
        mrc_ev_gen g = gen_of(p);
        width = std::min(width, mrc_evgen_name_width(&g));
    }
    for (uint32_t bit = width; bit < 8 * MRC_EV_BYTES; bit++)
        if (name.val[bit / 8] >> (7 - bit % 8) & 1)
            return false;
    return true;
}

std::vector<ev_slot> ev_made(const ev_profile &p, uint32_t ports)
{
    mrc_ev_gen g = gen_of(p);
    std::vector<uint8_t> port;
    std::vector<ev_slot> evs;
    uint8_t k = 0;

    // OFFLINE, the format may not exist yet; names do not depend on it.
    g.fmt = MRC_EV_FMT_SRV6;
    g.n_fmt = g.n;
    for (uint8_t i = 0; i < g.n; i++)
        g.fmt_width[i] = static_cast<uint8_t>(std::min(g.field[i].width, 255u));
    for (uint8_t i = 0; i < 32; i++)
        if (ports >> i & 1)
            port.push_back(static_cast<uint8_t>(i + 1));
    if (mrc_evgen_check(&g, &k) != MRC_EVGEN_OK || port.empty())
        return evs;
    const uint32_t count = mrc_evgen_count(&g), n_ports = static_cast<uint32_t>(port.size());
    const uint32_t take = p.count ? p.count : count;
    if (take > static_cast<uint32_t>(mrc_evs_max) || take > uint64_t(count) * n_ports)
        return evs;
    for (uint32_t i = 0; i < take; i++) {
        uint32_t value, at;
        ev_slot slot;

        mrc_evgen_deal(count, take, n_ports, i, &value, &at);
        mrc_evgen_name(&g, value, slot.ev.val);
        slot.ev.port = port[at];
        evs.push_back(slot);
    }
    return evs;
}
