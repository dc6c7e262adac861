// SPDX-License-Identifier: GPL-2.0
// module.cc - see module.h.
#include "module.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <linux/mrc.h>

namespace mrcctl {

module_state loaded_module(const std::string &sys)
{
    const std::string dir = sys + "/module/" MRC_GENL_NAME;
    module_state m;
    std::error_code none;
    m.loaded = std::filesystem::is_directory(dir, none);
    std::ifstream(dir + "/version") >> m.version;
    return m;
}

std::string version_text(const std::string &version, const module_state &m)
{
    std::string text = fmt::format("mrcctl {}, netlink family {} version {}\n", version,
                                   MRC_GENL_NAME, MRC_GENL_VERSION);
    if (!m.loaded)
        return text + "module mrc: not loaded (modprobe mrc)\n";
    text += fmt::format("module mrc {}\n", m.version.empty() ? "of unknown version" : m.version);
    if (m.version != version)
        text += "the loaded module has another version than mrcctl: see mrcctl doctor\n";
    return text;
}

} // namespace mrcctl
