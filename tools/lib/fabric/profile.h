// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// profile.h - EV profiles as values: explicit paths to one destination, or a template for the paths
// to all destinations of a prefix.
#pragma once

#include <cstdint>
#include <vector>

#include "ip.h"

namespace mrcfab {

struct Ev {
    Ip6 outer_dst;
    std::uint8_t port = 0;   // plane number

    auto operator<=>(const Ev &) const = default;
};

struct ProfileKey {
    std::uint64_t id = 0;
    Ip6 dst;                 // GID; bits beyond @len are zero
    std::uint8_t len = 128;

    auto operator<=>(const ProfileKey &) const = default;
};

// struct mrc_ev_field: @init, but in the bits of @mask one of the numbers @first to @last.
struct GenField {
    std::uint32_t width = 0, init = 0, mask = 0, first = 0, last = 0;

    auto operator<=>(const GenField &) const = default;
};

// Bits of an address that replace bits of the EV (MRC_A_GEN_COPY).
struct GenCopy {
    std::uint32_t from = 0;   // MRC_COPY_*
    std::uint32_t bit = 0, width = 0, at = 0;

    auto operator<=>(const GenCopy &) const = default;
};

struct Generator {
    std::uint8_t port = 0;
    std::vector<GenField> fields;
    std::vector<GenCopy> copies;

    auto operator<=>(const Generator &) const = default;
};

struct Profile {
    ProfileKey key;
    std::uint32_t min_active = 0;
    std::vector<Ev> evs = {};             // mode EXP, or
    std::vector<std::uint8_t> widths = {};   // mode GEN: of the format's fields,
    std::vector<Generator> gens = {};

    bool is_template() const { return !gens.empty(); }
    bool operator==(const Profile &) const = default;
};

// Limits of the module (kernel/path/mrc_profile.h, uapi).
inline constexpr unsigned kPlanesMax = 32;
inline constexpr unsigned kEvsMax = 4096;          // of one profile
inline constexpr unsigned kGeneratorsMax = 32;     // of one profile
inline constexpr unsigned kProfilesMax = 16384;    // of a device

// The EVs towards @dst from @own, in the module's order but for the turns of planes.
std::vector<Ev> expand(const Profile &profile, const Ip6 &dst, const Ip6 &own);
// That which the module would take: the longest prefix. Null: none.
const Profile *profile_for(const std::vector<Profile> &profiles, const Ip6 &dst);

}   // namespace mrcfab
