// SPDX-License-Identifier: GPL-2.0
//
// probe.h - finds the working paths to a peer by EV probes, and draws them by plane and path.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error probe(context &ctx, const arguments &args);

} // namespace mrcctl
