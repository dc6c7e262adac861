// SPDX-License-Identifier: GPL-2.0
// watch.h - mrcctl latency, reorder, recovery: histograms of events during a measurement.
#pragma once

#include "../commands.h"

namespace mrcctl {

mrcnl::error watch_latency(context &ctx, const arguments &args);
mrcnl::error watch_reorder(context &ctx, const arguments &args);
mrcnl::error watch_recovery(context &ctx, const arguments &args);

} // namespace mrcctl
