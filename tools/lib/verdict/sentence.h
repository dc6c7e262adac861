// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// sentence.h - prints a verdict as one sentence: part, direction, since when, evidence, effect,
// remedy.
#pragma once

#include <string>
#include <vector>

#include "infer.h"

namespace mrcver {

const char *symptom_word(Symptom symptom);
const char *part_word(PartKind kind);        // "uplink", ...
const char *direction_word(PartKind kind);   // "up", "down", "both"; empty: nobody can know

// @all: what else was found, @alone as of infer(). Times are UTC.
std::string sentence(const Layout &layout, const Finding &finding, const std::vector<Finding> &all,
                     bool alone = false);

// What the findings leave open; empty: nothing.
std::string not_known(const Inferred &inferred);

}   // namespace mrcver
