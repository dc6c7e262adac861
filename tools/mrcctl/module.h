// SPDX-License-Identifier: GPL-2.0
//
// module.h - the loaded kernel module, from sysfs.
#pragma once

#include <string>

namespace mrcctl {

struct module_state {
    bool loaded = false;
    std::string version; // "": the module has none
};

// @sys: where sysfs is mounted.
module_state loaded_module(const std::string &sys = "/sys");

// The text of -V, of a tool of @version.
std::string version_text(const std::string &version, const module_state &m);

} // namespace mrcctl
