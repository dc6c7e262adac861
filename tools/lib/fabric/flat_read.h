// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// flat_read.h - reads [flat] of a fabric file.
#pragma once

#include "reader.h"

namespace mrcfab {

// And what the others of @fabric say of it: planes, mtu, prefix. Throws FabricError.
Flat read_flat(Reader &root, Fabric &fabric);

}   // namespace mrcfab
