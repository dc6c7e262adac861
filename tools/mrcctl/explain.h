// SPDX-License-Identifier: GPL-2.0
//
// explain.h - `mrcctl explain`: what a name means; no kernel is asked.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error explain(context &ctx, const arguments &args);

} // namespace mrcctl
