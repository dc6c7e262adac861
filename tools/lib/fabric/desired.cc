// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// desired.cc - see desired.h.
#include "desired.h"

#include <fmt/format.h>

#include <algorithm>

#include "desired_nodes.h"

namespace mrcfab {

namespace {

// Few enough to be read.
std::string names_of(const Fabric &f)
{
    constexpr std::size_t kShown = 8;

    if (!f.flat)
        return {};
    const auto &all = f.flat->hosts;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kShown));
    return fmt::format(": {}{}", fmt::join(all.begin(), end, ", "), all.size() > kShown ? ", ..." : "");
}

std::optional<Desired> desired_node_of(const Fabric &fabric, std::string_view name)
{
    if (fabric.flat)
        return desired_flat(*fabric.flat, name);
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

}   // namespace

std::optional<Desired> desired_for(const Fabric &fabric, std::string_view name)
{
    auto d = desired_node_of(fabric, name);

    if (d && d->device && fabric.qos)
        d->device->qos = DeviceQos{fabric.qos->dscp, fabric.qos->trim_nack};
    if (d && d->device && fabric.probing)
        d->device->probing = *fabric.probing;
    return d;
}

Desired load_desired(const std::string &file_name, const std::string &name)
{
    const Fabric fabric = load_fabric(file_name);
    auto want = desired_for(fabric, name);

    if (!want)
        throw FabricError(fmt::format("{}: there is neither a switch nor a host \"{}\" in it, "
                                      "expected the name of one (--name){}", file_name, name,
                                      names_of(fabric)));
    return std::move(*want);
}

}   // namespace mrcfab
