// SPDX-License-Identifier: GPL-2.0
//
// fabric.h - what is done with fabric files: no kernel is asked.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_show(context &ctx, const arguments &args);
mrcnl::error fabric_check(context &ctx, const arguments &args);
mrcnl::error fabric_generate(context &ctx, const arguments &args);

} // namespace mrcctl
