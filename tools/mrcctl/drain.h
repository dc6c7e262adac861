// SPDX-License-Identifier: GPL-2.0
// drain.h - `mrcctl fabric drain`: this host stops using a switch or a cable before planned work,
// and reports when it has stopped.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_drain(context &ctx, const arguments &args);
mrcnl::error fabric_undrain(context &ctx, const arguments &args);

} // namespace mrcctl
