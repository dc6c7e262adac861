// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lists_text.h - a fabric by rule written out as lists: the same nodes, cables, addresses and
// uSIDs; EVs become explicit ones.
#pragma once

#include <string>

#include "fabric.h"

namespace mrcfab {

// Throws FabricError for what lists cannot say, and for what nobody would read.
std::string as_lists(const Fabric &fabric);

}   // namespace mrcfab
