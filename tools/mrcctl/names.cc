// SPDX-License-Identifier: GPL-2.0
//
// names.cc - see names.h.
#include "names.h"

#include <cerrno>
#include <filesystem>

#include "../lib/fabric/topology.h"
#include "../lib/fabric/usid.h"

namespace mrcctl {

using mrcnl::error;

namespace {

// A larger file of lists would take seconds, only for names.
constexpr std::uintmax_t size_max = 4 << 20;

} // namespace

switch_names::switch_names(const mrcfab::Fabric &fabric)
{
    for (auto &sw : fabric.switches)
        names_[{sw.plane, fabric.usid(sw)}] = sw.name;
    const auto &t = fabric.topology;
    if (!t)
        return;
    for (unsigned plane = 1; plane <= t->planes; plane++) {
        for (unsigned n = 1; n <= t->t0s; n++)
            names_[{plane, mrcfab::Topology::usid(mrcfab::T0Id{plane, n})}] = t->name(mrcfab::T0Id{plane, n});
        for (unsigned n = 1; n <= t->t1s; n++)
            names_[{plane, mrcfab::Topology::usid(mrcfab::T1Id{plane, n})}] = t->name(mrcfab::T1Id{plane, n});
    }
}

error switch_names::load(const std::optional<std::string> &file)
{
    std::error_code ec;

    if (!file && !(std::filesystem::file_size(default_fabric, ec) <= size_max && !ec))
        return {};
    try {
        *this = switch_names(mrcfab::load_fabric(file.value_or(default_fabric)));
    } catch (const mrcfab::FabricError &e) {
        if (file)
            return {EINVAL, e.what(), false};
    }
    return {};
}

std::string switch_names::of(unsigned plane, unsigned usid) const
{
    auto at = names_.find({plane, usid});
    return at == names_.end() ? "" : at->second;
}

std::vector<std::string> switch_names::path(unsigned plane, std::span<const uint8_t> value) const
{
    std::vector<std::string> list;

    for (std::size_t i = 0; i < mrcfab::kUsidsOfAddress && 5 + 2 * i < value.size(); i++)
        if (auto name = of(plane, unsigned{value[4 + 2 * i]} << 8 | value[5 + 2 * i]); !name.empty())
            list.push_back(std::move(name));
    return list;
}

} // namespace mrcctl
