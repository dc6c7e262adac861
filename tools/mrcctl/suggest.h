// SPDX-License-Identifier: GPL-2.0
//
// suggest.h - error texts for unknown words, with the most likely intended one. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grammar.h"

namespace mrcctl {

// @words[0] names no object.
std::string unknown_object(std::span<const std::string> words);
std::string unknown_verb(const object &o, std::string_view word);
// @word is none of the verb's keys, behind those that were taken already.
std::string unknown_key(const object &o, const verb &v, std::string_view word, const arguments &before);
// The key that @word is a slip of; "" if none is.
std::string near_key(const verb &v, std::string_view word);

} // namespace mrcctl
