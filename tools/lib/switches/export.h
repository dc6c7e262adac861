// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// export.h - a switch's configuration in the words of its system. The words follow published
// schemas and manuals; which ones, and what was loaded where, is in Documentation/operations/switches.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "switch_config.h"

namespace mrcsw {

// The locator, where a system names it.
inline constexpr const char *kLocator = "MRC";

// Known traps of a system stand as comments in @text, and in @traps where the text can have none.
struct Exported {
    std::string text;
    std::vector<std::string> traps;
};

struct Format {
    std::string_view name;
    std::string_view suffix;     // of a file
    bool comments = true;        // @text has the traps
    Exported (*write)(const SwitchConfig &c);
};

const std::vector<Format> &formats();
// Null: there is none of that name.
const Format *find_format(std::string_view name);

Exported export_sonic(const SwitchConfig &c);
Exported export_frr(const SwitchConfig &c);
Exported export_cumulus(const SwitchConfig &c);
Exported export_eos(const SwitchConfig &c);

// Traps of every system with these values.
std::vector<std::string> common_traps(const SwitchConfig &c);
// DSCPs of each class, in the order of Classes but for trimmed packets: these join control.
struct ClassDscps {
    std::string_view what;
    unsigned number;
    std::vector<unsigned> dscps;
};
std::vector<ClassDscps> class_dscps(const mrcfab::Qos &q);
// Each trap as comment lines that begin with @mark.
std::string as_comments(const std::vector<std::string> &traps, std::string_view mark);

}   // namespace mrcsw
