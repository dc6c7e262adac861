// SPDX-License-Identifier: GPL-2.0
// selfprobe.h - `mrcctl selfprobe`: packets of a host to itself, along one path each.
//
// mrcd configures them. Manual use is for tests and experts.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error selfprobe_show(context &ctx, const arguments &args);
mrcnl::error selfprobe_set(context &ctx, const arguments &args);
mrcnl::error selfprobe_del(context &ctx, const arguments &args);

} // namespace mrcctl
