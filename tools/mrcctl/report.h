// SPDX-License-Identifier: GPL-2.0
//
// report.h - one file for a bug report: what this host knows of MRC, without secrets.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error report(context &ctx, const arguments &args);

} // namespace mrcctl
