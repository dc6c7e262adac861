// SPDX-License-Identifier: GPL-2.0
// layout.h - checks that a tracepoint of the running kernel has the layout of events.h. Pure.
#pragma once

#include <string>
#include <string_view>

namespace mrcctl {

// @format: the event's format file. Returns "" for the same layout, else a text with the
// difference. An event or a field that events.h does not have is no difference.
std::string layout_differs(std::string_view event, std::string_view format);

} // namespace mrcctl
