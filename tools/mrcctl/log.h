// SPDX-License-Identifier: GPL-2.0
//
// log.h - `mrcctl log`: what the module remembers; `mrcctl event`: the same as it happens.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error log_show(context &ctx, const arguments &args);
mrcnl::error monitor(context &ctx, const arguments &args);

} // namespace mrcctl
