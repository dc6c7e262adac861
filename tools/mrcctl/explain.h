// SPDX-License-Identifier: GPL-2.0
//
// explain.h - `mrcctl explain`: the meaning of a name. Needs no kernel.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error explain(context &ctx, const arguments &args);

} // namespace mrcctl
