// SPDX-License-Identifier: GPL-2.0
// scrub.h - removes from a text whatever a bug report must not contain: keys, PSNs, memory
// addresses, MAC addresses (also inside IPv6 addresses), and names that @name_of knows. In doubt a
// word is removed. The time is proportional to the length of the text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mrcctl {

// The replacement of a word that is a name; nullopt for other words.
using name_of = std::function<std::optional<std::string>(std::string_view word)>;

std::string scrub(std::string_view text, const name_of &names);

} // namespace mrcctl
