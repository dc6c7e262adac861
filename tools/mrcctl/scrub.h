// SPDX-License-Identifier: GPL-2.0
//
// scrub.h - takes out of a text what a bug report must not tell: keys, PSNs, memory addresses, MAC addresses (also
// where an IPv6 address is made of one), and names that @name_of knows. What it takes for one goes, needed or not.
// Work is the length of the text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mrcctl {

// What stands for a word that is a name; nothing for others.
using name_of = std::function<std::optional<std::string>(std::string_view word)>;

std::string scrub(std::string_view text, const name_of &names);

} // namespace mrcctl
