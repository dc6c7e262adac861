// SPDX-License-Identifier: GPL-2.0
//
// avoid.h - `mrcctl avoid`: the links that a device avoids by the word of a person, and of mrcd.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error avoid_show(context &ctx, const arguments &args);
mrcnl::error avoid_set(context &ctx, const arguments &args);
mrcnl::error avoid_clear(context &ctx, const arguments &args);

} // namespace mrcctl
