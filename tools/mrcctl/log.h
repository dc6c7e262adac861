// SPDX-License-Identifier: GPL-2.0
// log.h - `mrcctl log`: records of the module's event log; `mrcctl event`: the same, live.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error log_show(context &ctx, const arguments &args);
mrcnl::error monitor(context &ctx, const arguments &args);

} // namespace mrcctl
