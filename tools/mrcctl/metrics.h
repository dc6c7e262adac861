// SPDX-License-Identifier: GPL-2.0
//
// metrics.h - mrcctl metrics: the state of this host in Prometheus' text format, as mrcd's web
// server exports it.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error metrics(context &ctx, const arguments &args);

} // namespace mrcctl
