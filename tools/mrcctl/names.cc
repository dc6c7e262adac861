// SPDX-License-Identifier: GPL-2.0
//
// names.cc - see names.h.
#include "names.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <variant>

#include "../lib/fabric/usid.h"

namespace mrcctl {

using mrcnl::error;

namespace {

// A larger file of lists would take seconds, only for names.
constexpr std::uintmax_t size_max = 4 << 20;

} // namespace

fabric_names::fabric_names(const mrcfab::Fabric &fabric)
{
    const auto add = [&](const std::string &host, const std::vector<mrcfab::IfAddr> &addresses) {
        for (auto &a : addresses)
            hosts_.emplace(a.addr.gid(), host);
    };

    for (auto &sw : fabric.switches)
        names_[{sw.plane, fabric.usid(sw)}] = sw.name;
    for (auto &host : fabric.hosts)
        add(host.name, host.addresses);
    if (const auto &flat = fabric.flat)
        for (unsigned n = 1; n <= flat->hosts.size(); n++)
            add(flat->hosts[n - 1], flat->addresses(n));
    const auto &t = topology_ = fabric.topology;
    if (!t)
        return;
    for (auto &[node, difference] : t->differs)
        if (t->has(node))
            add(t->name(node), difference.addresses);
    for (unsigned plane = 1; plane <= t->planes; plane++) {
        for (unsigned n = 1; n <= t->t0s; n++)
            names_[{plane, mrcfab::Topology::usid(mrcfab::T0Id{plane, n})}] = t->name(mrcfab::T0Id{plane, n});
        for (unsigned n = 1; n <= t->t1s; n++)
            names_[{plane, mrcfab::Topology::usid(mrcfab::T1Id{plane, n})}] = t->name(mrcfab::T1Id{plane, n});
    }
}

error fabric_names::load(const std::optional<std::string> &file)
{
    std::error_code ec;

    if (!file && !(std::filesystem::file_size(default_fabric, ec) <= size_max && !ec))
        return {};
    try {
        *this = fabric_names(mrcfab::load_fabric(file.value_or(default_fabric)));
    } catch (const mrcfab::FabricError &e) {
        if (file)
            return {EINVAL, e.what(), false};
    }
    return {};
}

std::string fabric_names::of(unsigned plane, unsigned usid) const
{
    auto at = names_.find({plane, usid});
    return at == names_.end() ? "" : at->second;
}

std::vector<std::string> fabric_names::path(unsigned plane, std::span<const uint8_t> value) const
{
    std::vector<std::string> list;

    for (std::size_t i = 0; i < mrcfab::kUsidsOfAddress && 5 + 2 * i < value.size(); i++)
        if (auto name = of(plane, unsigned{value[4 + 2 * i]} << 8 | value[5 + 2 * i]); !name.empty())
            list.push_back(std::move(name));
    return list;
}

std::string fabric_names::host(std::span<const uint8_t> bytes) const
{
    mrcfab::Ip6 address;

    if (bytes.size() != address.bytes.size())
        return "";
    std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
    if (auto at = hosts_.find(address); at != hosts_.end())
        return at->second;
    if (!topology_)
        return "";
    for (auto &rule : topology_->addressing) {
        const auto id = rule.host(address);
        if (!id || !topology_->has(*id))
            continue;
        // It may have others than the rule says.
        for (auto &own : topology_->addresses(*id))
            if (own.addr.gid() == address)
                return topology_->name(*id);
    }
    return "";
}

} // namespace mrcctl
