// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "desired.h"

#include <fmt/format.h>

#include "desired_nodes.h"

namespace mrcfab {

std::optional<Desired> desired_for(const Fabric &fabric, std::string_view name)
{
    if (fabric.topology) {
        const auto node = fabric.topology->find(name);
        return node ? std::optional(desired_node(fabric, *fabric.topology, *node)) : std::nullopt;
    }
    if (const Switch *sw = fabric.find_switch(name))
        return desired_switch(fabric, *sw);
    if (const Host *host = fabric.find_host(name))
        return desired_host(fabric, *host);
    return std::nullopt;
}

Desired load_desired(const std::string &file_name, const std::string &name)
{
    auto want = desired_for(load_fabric(file_name), name);

    if (!want)
        throw FabricError(fmt::format("{}: there is neither a switch nor a host \"{}\" in it, "
                                      "expected the name of one (--name)", file_name, name));
    return std::move(*want);
}

}   // namespace mrcfab
