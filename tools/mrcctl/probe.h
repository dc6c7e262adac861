// SPDX-License-Identifier: GPL-2.0
//
// probe.h - which paths to a peer are alive: EV probes, drawn plane by path.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error probe(context &ctx, const arguments &args);

} // namespace mrcctl
