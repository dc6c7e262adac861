// SPDX-License-Identifier: GPL-2.0
//
// status.h - mrcctl status, one screen, and mrcctl top, the same until a key ends it.
#pragma once

#include "../commands.h"

namespace mrcctl {

// Exit status 0: well; 1: a problem is confirmed; 2: it could not be looked at.
mrcnl::error status(context &ctx, const arguments &args);
mrcnl::error top(context &ctx, const arguments &args);

} // namespace mrcctl
