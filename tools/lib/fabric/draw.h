// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// draw.h - draws one plane: the first switches and the last one, their cables, and the hosts below.
#pragma once

#include <string>

#include "fabric.h"

namespace mrcfab {

// @plane is one of the fabric's.
std::string draw_text(const Fabric &fabric, unsigned plane);
std::string draw_svg(const Fabric &fabric, unsigned plane);

}   // namespace mrcfab
