// SPDX-License-Identifier: GPL-2.0
// report.h - `mrcctl report`: one file for a bug report, with the state of MRC on this host and
// without secrets.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error report(context &ctx, const arguments &args);

} // namespace mrcctl
