// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// symptom.h - the failure mode of a part: which packets are lost, and how.
#pragma once

#include "infer.h"

namespace mrcver {

// @sum: of the probes that lost packets by it. Sets gets_it and stalls of @f, too, and
// the part if it is the host that stalled.
Symptom symptom_of(Finding &f, const Counts &sum, const Layout &layout, const Evidence &evidence);

}   // namespace mrcver
