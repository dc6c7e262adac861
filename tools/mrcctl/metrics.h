// SPDX-License-Identifier: GPL-2.0
//
// metrics.h - mrcctl metrics: this host's state in Prometheus' text format, as mrcd's endpoint tells it.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error metrics(context &ctx, const arguments &args);

} // namespace mrcctl
