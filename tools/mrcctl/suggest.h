// SPDX-License-Identifier: GPL-2.0
//
// suggest.h - error texts for unknown words, with the most likely intended one. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grammar.h"

namespace mrcctl {

// The error text if @words[0] names no object.
std::string unknown_object(std::span<const std::string> words);
std::string unknown_verb(const object &o, std::string_view word);
// The error text if @word is no key of the verb, after those in @before.
std::string unknown_key(const object &o, const verb &v, std::string_view word, const arguments &before);
// The key that @word probably means; "": none.
std::string near_key(const verb &v, std::string_view word);

} // namespace mrcctl
