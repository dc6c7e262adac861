// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lists_text.h - writes a fabric by rule as lists: the same nodes, cables, addresses and uSIDs,
// with explicit EVs.
#pragma once

#include <string>

#include "fabric.h"

namespace mrcfab {

// Throws FabricError for what lists cannot say, and for what nobody would read.
std::string as_lists(const Fabric &fabric);

}   // namespace mrcfab
