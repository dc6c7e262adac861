// SPDX-License-Identifier: GPL-2.0
//
// precheck.h - `mrcctl fabric precheck`: before a job, from this host to each other one: which paths answer.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_precheck(context &ctx, const arguments &args);

} // namespace mrcctl
