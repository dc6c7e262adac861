// SPDX-License-Identifier: GPL-2.0
//
// status.h - mrcctl status prints one screen; mrcctl top repeats it until a key is pressed.
#pragma once

#include "../commands.h"

namespace mrcctl {

// Exit status 0: healthy; 1: a confirmed problem; 2: the state could not be read.
mrcnl::error status(context &ctx, const arguments &args);
mrcnl::error top(context &ctx, const arguments &args);

} // namespace mrcctl
