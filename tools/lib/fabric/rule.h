// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// rule.h - reads [topology] of a fabric file.
#pragma once

#include "reader.h"

namespace mrcfab {

// What [fabric], [planes] and [profile] say is in @fabric already.
Topology read_rule(Reader &root, const Fabric &fabric);

}   // namespace mrcfab
