// SPDX-License-Identifier: GPL-2.0
// lookup.h - indices for planning: a switch has thousands of ports, a host thousands of profiles.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "state.h"

namespace mrcd {

// Finds links by name or index. The vector must not change meanwhile.
class LinkIndex {
public:
    explicit LinkIndex(const std::vector<Link> &links)
    {
        for (const Link &link : links) {
            by_name_.emplace(link.name, &link);
            by_index_.emplace(link.ifindex, &link);
        }
    }

    const Link *find(std::string_view name) const { return in(by_name_, name); }
    const Link *find(int ifindex) const { return in(by_index_, ifindex); }

private:
    template <typename M, typename K> static const Link *in(const M &map, const K &key)
    {
        const auto it = map.find(key);
        return it == map.end() ? nullptr : it->second;
    }

    std::unordered_map<std::string_view, const Link *> by_name_;
    std::unordered_map<int, const Link *> by_index_;
};

struct ProfileKeyHash {
    std::size_t operator()(const ProfileKey &key) const
    {
        std::uint64_t half[2];

        std::memcpy(half, key.dst.bytes.data(), sizeof(half));
        return std::hash<std::uint64_t>()(half[0] * 31 ^ (half[1] + key.id) * 0x9e3779b97f4a7c15u ^ key.len);
    }
};

// Finds out whether a wanted profile covers a destination, by itself or by a prefix.
class Reached {
public:
    explicit Reached(const std::vector<Profile> &profiles)
    {
        for (const Profile &p : profiles)
            by_len_[p.key.len].insert(p.key.dst);
    }

    bool by(const Ip6 &dst) const
    {
        return std::any_of(by_len_.begin(), by_len_.end(), [&](const auto &of) {
            return of.second.count(first_bits(dst, of.first));
        });
    }

private:
    std::map<unsigned, std::set<Ip6>> by_len_;
};

}   // namespace mrcd
