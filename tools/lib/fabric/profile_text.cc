// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// profile_text.cc - see profile_text.h.
#include "profile_text.h"

#include <fmt/format.h>
#include <linux/mrc.h>

namespace mrcfab {

namespace {

std::string generator_text(const Generator &g)
{
    auto text = fmt::format(" gen {}", g.port);

    for (const GenField &f : g.fields) {
        text += fmt::format(" field {},{:#x}", f.width, f.init);
        if (f.mask)
            text += fmt::format(",{:#x},{},{}", f.mask, f.first, f.last);
    }
    for (const GenCopy &c : g.copies)
        text += fmt::format(" copy {}:{}:{}:{}", c.from == MRC_COPY_DST ? "dst" : "src", c.bit, c.width,
                            c.at);
    return text;
}

}   // namespace

std::string dst_text(const ProfileKey &key)
{
    return key.len == 128 ? to_string(key.dst) : to_string(Prefix6{key.dst, key.len});
}

std::string profile_text(const Profile &p)
{
    auto text = fmt::format("id {} dst {} fmt srv6 mode {} min-active {}", p.key.id, dst_text(p.key),
                            p.is_template() ? "gen" : "exp", p.min_active);

    if (p.is_template())
        text += fmt::format(" widths {}", fmt::join(p.widths, ","));
    for (const Generator &g : p.gens)
        text += generator_text(g);
    for (const Ev &ev : p.evs)
        text += fmt::format(" ev {} {}", ev.port, to_string(ev.outer_dst));
    return text;
}

}   // namespace mrcfab
