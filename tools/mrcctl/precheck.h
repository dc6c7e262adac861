// SPDX-License-Identifier: GPL-2.0
// precheck.h - `mrcctl fabric precheck`: before a job, shows which paths from this host to the
// others answer.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_precheck(context &ctx, const arguments &args);

} // namespace mrcctl
