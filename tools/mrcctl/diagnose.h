// SPDX-License-Identifier: GPL-2.0
//
// diagnose.h - verdicts from the probes of many hosts. Exit status: 0 healthy, 1 a confirmed
// problem, 2 unknown.
#pragma once

#include "commands.h"

namespace mrcctl {

mrcnl::error fabric_diagnose(context &ctx, const arguments &args);

} // namespace mrcctl
