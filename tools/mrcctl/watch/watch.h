// SPDX-License-Identifier: GPL-2.0
// watch.h - mrcctl latency, reorder, recovery, histograms: what the BPF programs count.
#pragma once

#include "../commands.h"

namespace mrcctl {

mrcnl::error watch_latency(context &ctx, const arguments &args);
mrcnl::error watch_reorder(context &ctx, const arguments &args);
mrcnl::error watch_recovery(context &ctx, const arguments &args);
// Into a file, again and again, until a signal comes.
mrcnl::error watch_histograms(context &ctx, const arguments &args);

} // namespace mrcctl
