// SPDX-License-Identifier: GPL-2.0
// avoid.h - `mrcctl avoid`: the links that a device avoids, in the list of mrcctl and in that of
// mrcd.
#pragma once

#include <set>
#include <string>

#include "../lib/verdict/usid_links.h"
#include "commands.h"

namespace mrcctl {

mrcnl::error avoid_show(context &ctx, const arguments &args);
mrcnl::error avoid_set(context &ctx, const arguments &args);
mrcnl::error avoid_clear(context &ctx, const arguments &args);

// The list of mrcctl.
struct avoid_list {
    std::set<mrcver::UsidLink> links;
    uint32_t expiry_s = 0; // 0: never
};

mrcnl::error read_list(context &ctx, const std::string &dev, avoid_list &list);
mrcnl::error write_list(context &ctx, const std::string &dev, const avoid_list &list);

} // namespace mrcctl
