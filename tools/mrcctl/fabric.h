// SPDX-License-Identifier: GPL-2.0
//
// fabric.h - commands on fabric files. They need no kernel.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_show(context &ctx, const arguments &args);
mrcnl::error fabric_check(context &ctx, const arguments &args);
mrcnl::error fabric_generate(context &ctx, const arguments &args);

} // namespace mrcctl
