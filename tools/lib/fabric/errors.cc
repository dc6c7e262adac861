// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// errors.cc - see errors.h.
#include "errors.h"

#include <fmt/format.h>

namespace mrcfab {

namespace {

constexpr std::size_t kErrorsShown = 20;   // who has more has one cause

}   // namespace

void Errors::add(const std::string &text)
{
    if (++count_ <= kErrorsShown)
        lines_ += (lines_.empty() ? "" : "\n") + text;
}

void Errors::raise() const
{
    if (none())
        return;
    if (count_ > kErrorsShown)
        throw FabricError(fmt::format("{}\nand {} more errors", lines_, count_ - kErrorsShown));
    throw FabricError(lines_);
}

}   // namespace mrcfab
