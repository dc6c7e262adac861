// SPDX-License-Identifier: GPL-2.0
// fabric_export.h - `mrcctl fabric export`: configurations of switches that are not Linux with
// mrcd.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_export(context &ctx, const arguments &args);

} // namespace mrcctl
