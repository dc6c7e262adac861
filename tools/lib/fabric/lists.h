// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lists.h - reads [usid], [[switch]] and [[host]] of a fabric file.
#pragma once

#include "reader.h"

namespace mrcfab {

// What [fabric], [planes] and [profile] say is in @fabric already.
void read_lists(Reader &root, Fabric &fabric);

}   // namespace mrcfab
