// SPDX-License-Identifier: GPL-2.0
// replace.h - writes a file as a whole.
#pragma once

#include <string>

#include "../lib/nl/error.h"

namespace mrcctl {

// A reader sees the old file or the new one, never a part.
mrcnl::error replace_file(const std::string &path, const std::string &text);

} // namespace mrcctl
